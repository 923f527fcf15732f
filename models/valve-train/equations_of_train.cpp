#include "equations_of_train.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "subsystem/description_parts.hpp"

namespace mdpcosim::valve_train {

namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

}  // namespace

train::train(train_data d) : d_(std::move(d)) {
    description_.type = "model valve-train";
    add_shafts();
    add_followers();
    add_adjusters();
    add_valves();
    add_springs();
    energy_slot_ =
        add_output(description_, "energy", "J", "kinetic energy, and that of springs and contacts, without oil");
    resolve();
    make_structures();
}

int train::add_state(std::string name, double nominal, bool rests) {
    states_.push_back({std::move(name), nominal, rests});
    return state_count() - 1;
}

int train::add_motion(const std::string& of, double size, double speed, bool rests) {
    const int first = add_state("position of " + of, size, rests);
    add_state("velocity of " + of, speed, rests);
    motions_.emplace_back(first, first + 1);
    return first;
}

int train::show(const std::string& name, const std::string& unit, const std::string& what, shown of, int size) {
    of.slot = add_output(description_, name, unit, what, size);
    shown_.push_back(std::move(of));
    return shown_.back().slot;
}

/// A torque on a disc. What accelerates the end takes the others with it, which are told by their motion against it.
void train::send_to_disc(result_place result, const shaft_data& s, const shaft_states& at, int disc, double sign) {
    if (disc > 0) {
        send(result, at.twist[index(disc)] + 1, sign / at.inertia[index(disc)]);
        return;
    }
    if (s.prescribed) return;
    send(result, at.phi + 1, sign / at.inertia[0]);
    for (std::size_t k = 1; k < at.twist.size(); ++k) send(result, at.twist[k] + 1, -sign / at.inertia[0]);
}

void train::add_shafts() {
    for (const shaft_data& s : d_.shafts) {
        shaft_states own;
        const double usual_speed = std::max(1.0, std::fabs(s.speed));
        own.phi = add_motion(fmt::format("shaft '{}'", s.name), 1, usual_speed, false);
        own.twist.push_back(nothing);
        own.inertia.push_back(s.inertia);
        for (const int c : s.cams) {
            const cam_data& cam = d_.cams[index(c)];
            own.twist.push_back(add_motion(fmt::format("cam '{}' against the shaft's end", cam.name), 1e-3, 1));
            own.inertia.push_back(cam.inertia);
        }
        int slot =
            add_mechanical_port(description_, s.name, port_kind::rotation,
                                s.prescribed ? "rotation of the shaft's end, as prescribed; a load changes nothing"
                                             : "rotation of the shaft's end since the start");
        const int torque = description_.ports.back().load;
        if (s.prescribed) {
            description_.outputs.back().direct.clear();
            (description_.outputs.end() - 2)->rate_needs_input = false;
        }
        shown_.push_back({slot, {{own.phi, 1}}});
        shown_.push_back({slot + 1, {{own.phi + 1, 1}}});
        shown_.push_back({slot + 2, {}, {}, {{own.phi + 1, 1}}});
        const std::size_t discs = own.twist.size();
        const auto motion = [&](std::size_t k) { return own.twist[k]; };
        const auto speed = [&](std::size_t k) { return own.twist[k] < 0 ? nothing : own.twist[k] + 1; };
        if (!s.prescribed) send_to_disc(put(loads_, {}, {own.phi}, {torque}), s, own, 0, 1);
        const int drive =
            s.prescribed ? show(s.name + ".drive-torque", "N.m", "torque that its rotation takes", {}) : -1;
        const std::size_t driven = shown_.size() - 1;
        const auto add_drive = [&](result_place torque_on_end) {
            if (drive >= 0) shown_results_.push_back({driven, torque_on_end, -1});
        };
        for (std::size_t k = 0; k < discs; ++k) {
            bodies_.push_back({own.inertia[k], {own.phi + 1}});
            if (k > 0) bodies_.back().speeds.push_back(speed(k));
            const auto friction = put(bearings_, {s.friction, s.bearing_drag}, {own.phi + 1, speed(k)});
            send_to_disc(friction, s, own, static_cast<int>(k), 1);
            if (k == 0) {
                add_drive(friction);
                continue;
            }
            const auto section =
                put(torsions_, {s.stiffness, s.damping}, {motion(k - 1), speed(k - 1), motion(k), speed(k)});
            send_to_disc(section, s, own, static_cast<int>(k) - 1, 1);
            send_to_disc(section, s, own, static_cast<int>(k), -1);
            if (k == 1) {
                add_drive(section);
                show(s.name + ".torque-in-shaft", "N.m", "torque of its first section on the cams", {});
                shown_results_.push_back({shown_.size() - 1, section, -1});
            }
        }
        show(s.name + ".twist", "rad", "angle of the last cam against the end", {});
        if (discs > 1) shown_.back().states.emplace_back(motion(discs - 1), 1);
        shafts_.push_back(std::move(own));
    }
}

void train::add_followers() {
    // Cams first, in their order: their outputs do not depend on who follows.
    for (const follower_data& f : d_.followers) {
        const cam_data& c = d_.cam_of(f);
        const shaft_data& s = d_.shafts[index(c.shaft)];
        const shaft_states& at = shafts_[index(c.shaft)];
        const int y = add_motion(fmt::format("follower '{}'", f.name), 1e-3, 1);
        followers_.push_back(y);
        bodies_.push_back({f.mass, {y + 1}});
        const int twist = at.twist[index(c.disc)];
        const auto contact = put(cams_, {&c.law, c.angle, c.stiffness, c.damping, c.friction, c.base_radius},
                                 {at.phi, at.phi + 1, twist, twist + 1, y, y + 1});
        send(contact, y + 1, 1 / f.mass);
        send_to_disc(next(contact, 1), s, at, c.disc, 1);
        if (f.drag > 0) send(put(drags_, {f.drag}, {y + 1}), y + 1, 1 / f.mass);
        show(f.name + ".cam-lift", "m", "lift of the cam under it", {});
        shown_results_.push_back({shown_.size() - 1, next(contact, 2), 1});
        show(f.name + ".lift", "m", "its lift at the cam", {-1, {{y, 1}}});
        show(f.name + ".velocity", "m/s", "its velocity at the cam", {-1, {{y + 1, 1}}});
        show(f.name + ".cam-force", "N", "force of the cam on it", {});
        shown_results_.push_back({shown_.size() - 1, contact, 1});
        show(f.name + ".cam-torque", "N.m", "torque of its contact on the shaft", {});
        shown_results_.push_back({shown_.size() - 1, next(contact, 1), 1});
    }
}

void train::add_adjusters() {
    for (const gallery_data& g : d_.galleries) {
        constexpr double usual_volume = 1e-6;
        volumes_.push_back(add_state(fmt::format("volume out of gallery '{}'", g.name), usual_volume, false));
        const int slot = add_hydraulic_port(description_, g.name, "node outside; flows into it are positive");
        description_.inputs.back().start = g.pressure;
        gallery_inputs_.push_back(description_.inputs.back().slot);
        shown_.push_back({slot, {{volumes_.back(), 1}}});
        shown_.push_back({slot + 1, {}, {}, {{volumes_.back(), 1}}});
        output_named(description_, g.name + ".volume").rate_needs_input = true;
    }
    constexpr double usual_pressure = 1e5;
    shut_.assign(d_.adjusters.size(), 0);
    for (const adjuster_data& a : d_.adjusters) {
        const follower_data& f = d_.followers[index(a.follower)];
        const int y = followers_[index(a.follower)], gallery = gallery_inputs_[index(a.gallery)];
        const int z = add_motion(fmt::format("plunger of adjuster '{}'", a.name), 1e-3, 1);
        const int e = add_state(fmt::format("oil in adjuster '{}'", a.name), a.volume * usual_pressure / d_.oil.law.a);
        plungers_.push_back(z);
        oil_.push_back(e);
        bodies_.push_back({a.mass, {z + 1}});
        result_place own{};
        const char* const shut = &shut_[plungers_.size() - 1];
        if (a.ball_mass > 0) {
            const int b = add_motion(fmt::format("ball of adjuster '{}'", a.name), 1e-4, 0.1);
            bodies_.push_back({a.ball_mass, {b + 1}});
            own = put(adjusters_, {&a, &d_.oil, d_.surroundings, f.ratio, shut}, {y, y + 1, z, z + 1, e, b, b + 1},
                      {gallery});
            send(next(own, 6), b + 1, 1 / a.ball_mass);
            show(a.name + ".ball-lift", "m", "lift of the ball; below zero: pressed into its seat", {-1, {{b, 1}}});
        } else {
            own = put(light_adjusters_, {&a, &d_.oil, d_.surroundings, f.ratio, shut}, {y, y + 1, z, z + 1, e},
                      {gallery});
        }
        send(own, z + 1, 1 / a.mass);
        send(own, y + 1, -f.ratio / f.mass);
        send(next(own, 1), e, 1);
        send(next(own, 2), volumes_[index(a.gallery)], -1);
        show(a.name + ".pressure", "Pa", "pressure in its chamber", {});
        shown_results_.push_back({shown_.size() - 1, next(own, 3), 1});
        show(a.name + ".extension", "m", "how far its plunger stands out", {-1, {{z, 1}, {y, -f.ratio}}});
        show(a.name + ".force", "N", "force between plunger and follower", {});
        shown_results_.push_back({shown_.size() - 1, own, 1});
        show(a.name + ".inflow", "m3/s", "flow from the gallery through the ball", {});
        shown_results_.push_back({shown_.size() - 1, next(own, 2), 1});
        show(a.name + ".leak", "m3/s", "flow through the gap around the plunger", {});
        shown_results_.push_back({shown_.size() - 1, next(own, 4), 1});
        show(a.name + ".void", "m3", "fluid that is missing, at the vapour pressure", {});
        shown_results_.push_back({shown_.size() - 1, next(own, 5), 1});
    }
}

void train::add_valves() {
    for (const valve_data& v : d_.valves) {
        const follower_data& f = d_.follower_of(v);
        const int y = followers_[index(v.follower)], x = add_motion(fmt::format("valve '{}'", v.name), 1e-3, 1);
        double mass = v.mass;
        for (const int k : v.springs) {
            const spring_data& s = d_.springs[index(k)];
            mass += s.mass / (2 * (s.masses + 1));
        }
        valves_.push_back({x, mass});
        bodies_.push_back({mass, {x + 1}});
        const int load = add_input(description_, v.name + ".load", "N", "force that closes it");
        description_.inputs.back().start = v.load;
        const auto seat = put(seats_, {v.seat_stiffness, v.seat_damping}, {x, x + 1}, {load});
        send(seat, x + 1, 1 / mass);
        send(next(seat, 1), x + 1, 1 / mass);
        if (v.drag > 0) send(put(drags_, {v.drag}, {x + 1}), x + 1, 1 / mass);
        const bool adjusted = f.adjuster >= 0;
        const int a = adjusted ? plungers_[index(f.adjuster)] : y;
        const auto tip =
            put(tips_, {adjusted ? 1 : f.ratio, adjusted ? 0 : f.lash, f.stiffness, f.damping}, {a, a + 1, x, x + 1});
        send(tip, x + 1, 1 / mass);
        if (adjusted)
            send(tip, a + 1, -1 / d_.adjusters[index(f.adjuster)].mass);
        else
            send(tip, y + 1, -f.ratio / f.mass);
        show(v.name + ".lift", "m", "its lift; below zero: pressed into the seat", {-1, {{x, 1}}});
        show(v.name + ".velocity", "m/s", "its velocity", {-1, {{x + 1, 1}}});
        show(v.name + ".acceleration", "m/s2", "its acceleration", {-1, {}, {}, {{x + 1, 1}}});
        show(v.name + ".seat-force", "N", "force of the seat on it", {});
        shown_results_.push_back({shown_.size() - 1, seat, 1});
        show(v.name + ".tip-force", "N", "force that opens it, at its tip", {});
        shown_results_.push_back({shown_.size() - 1, tip, 1});
    }
}

void train::add_springs() {
    for (const spring_data& s : d_.springs) {
        const auto& valve = valves_[index(s.valve)];
        const int pieces = s.masses + 1;
        const double mass = s.mass / pieces;
        coil_masses_.emplace_back();
        const std::size_t at_valve = shown_.size(), at_head = at_valve + 1, clash = at_valve + 2;
        show(s.name + ".force", "N", "its force on the valve", {});
        show(s.name + ".head-force", "N", "its force on the cylinder head", {});
        show(s.name + ".clash", "N", "force of coils that touch, all of them together", {});
        const int first = add_output(description_, s.name + ".coils", "m",
                                     "displacements of its masses, from the valve on", s.masses);
        int a = valve.x;
        double mass_a = valve.mass;
        for (int k = 0; k < pieces; ++k) {
            const bool last = k + 1 == pieces;
            const int b = last ? nothing : add_motion(fmt::format("mass {} of spring '{}'", k + 1, s.name), 1e-3, 1);
            const auto piece = put(coils_,
                                   {s.preload, s.stiffness * pieces, s.damping * pieces, s.travel / pieces,
                                    s.coil_stiffness, s.coil_damping, k == 0 || last},
                                   {a, a + 1, b, last ? nothing : b + 1});
            send(piece, a + 1, -1 / mass_a);
            if (!last) {
                send(piece, b + 1, 1 / mass);
                bodies_.push_back({mass, {b + 1}});
                coil_masses_.back().push_back(b);
                shown_.push_back({first + k, {{b, 1}}});
            }
            if (k == 0) shown_results_.push_back({at_valve, piece, 1});
            if (last) shown_results_.push_back({at_head, piece, 1});
            shown_results_.push_back({clash, next(piece, 1), 1});
            a = b;
            mass_a = mass;
        }
    }
}

/// Results get their numbers among those of all groups.
void train::resolve() {
    int count = 0;
    for (term_group* g : groups_) {
        g->first_result = count;
        count += static_cast<int>(g->result_count());
    }
    results_.resize(index(count));
    rates_.resize(states_.size());
    const auto number = [](result_place r) { return r.group->first_result + r.local; };
    for (const auto& s : sent_) destinations_.push_back({number(s.result), s.row, s.weight});
    for (const auto& s : shown_results_) shown_[s.output].results.emplace_back(number(s.result), s.factor);
    for (std::size_t i = 0; i < shown_.size(); ++i)
        if (shown_[i].results.empty() && shown_[i].rates.empty() &&
            std::ranges::any_of(description_.ports, [&](const port& p) {
                return p.motion[0] == shown_[i].slot || p.motion[1] == shown_[i].slot;
            }))
            port_values_.push_back(i);
}

void train::expect(const usage& used) {
    if (used.outputs.empty()) return;
    energy_is_read_ = used.outputs[index(energy_slot_)];
    results_are_read_ = std::ranges::any_of(
        shown_, [&](const shown& s) { return used.outputs[index(s.slot)] && !(s.results.empty() && s.rates.empty()); });
}

void train::evaluate(const double* x, const double* u, double* dx) const {
    for (const term_group* g : groups_) g->evaluate(x, u, results_.data() + g->first_result);
    std::fill_n(dx, states_.size(), 0.0);
    for (const auto& [q, v] : motions_) dx[q] = x[v];
    for (const auto& d : destinations_) dx[d.row] += d.weight * results_[index(d.result)];
}

void train::derivatives(double /*t*/, const double* x, const double* u, double* dx) const { evaluate(x, u, dx); }

double train::energy(const double* x) const {
    double sum = 0;
    for (const term_group* g : groups_) sum += g->energy(x);
    for (const body& b : bodies_) {
        double v = 0;
        for (const int i : b.speeds) v += x[i];
        sum += b.mass / 2 * v * v;
    }
    return sum;
}

void train::port_outputs(double /*t*/, const double* x, const double* /*u*/, double* y) const {
    for (const std::size_t i : port_values_) {
        double sum = 0;
        for (const auto& [state, factor] : shown_[i].states) sum += factor * x[state];
        y[shown_[i].slot] = sum;
    }
}

void train::outputs(double /*t*/, const double* x, const double* u, double* y) const {
    if (results_are_read_) evaluate(x, u, rates_.data());
    for (const shown& s : shown_) {
        if (!results_are_read_ && !(s.results.empty() && s.rates.empty())) continue;
        double sum = 0;
        for (const auto& [i, factor] : s.states) sum += factor * x[i];
        for (const auto& [i, factor] : s.results) sum += factor * results_[index(i)];
        for (const auto& [i, factor] : s.rates) sum += factor * rates_[index(i)];
        y[s.slot] = sum;
    }
    if (energy_is_read_) y[energy_slot_] = energy(x);
}

}  // namespace mdpcosim::valve_train

#include "variables.hpp"

#include <algorithm>

#include "subsystem/description_parts.hpp"

namespace mdpcosim::drive {

drive_variables::drive_variables(const drive_data& d, bool rigid) : d_(d) {
    description_.type = "model chain-drive";
    for (const chain_data& c : d.chains) {
        chains_.push_back(add_output(description_, c.name + ".x", "m", "positions of the pins to the right", c.links));
        add_output(description_, c.name + ".y", "m", "positions of the pins upwards", c.links);
        add_output(description_, c.name + ".force", "N",
                   "forces of the links, from pin i to the next; positive: tension", c.links);
    }
    const auto add_port = [&](const std::string& name, port_kind kind, int coordinate, const support* fixed,
                              const std::string& what) {
        const int output = add_mechanical_port(description_, name, kind, what);
        if (fixed) {
            description_.outputs.back().direct.clear();
            (description_.outputs.end() - 2)->rate_needs_input = false;
        }
        ports_.push_back({coordinate, output, description_.ports.back().load, fixed});
    };
    for (const support& s : d.supports) {
        slots own;
        if (s.is_sprocket()) {
            add_port(s.name + ".shaft", port_kind::rotation, s.rotation, s.prescribed ? &s : nullptr,
                     s.prescribed ? "rotation since the start, as prescribed; a load changes nothing"
                                  : "rotation since the start");
            if (s.free_centre) {
                add_port(s.name + ".x", port_kind::translation, s.centre, nullptr,
                         "the centre's displacement to the right since the start");
                add_port(s.name + ".y", port_kind::translation, s.centre + 1, nullptr,
                         "the centre's displacement upwards since the start");
            }
        } else if (s.shift >= 0) {
            add_port(s.name + ".shoe", s.kind == support_kind::rail ? port_kind::translation : port_kind::rotation,
                     s.shift, nullptr,
                     "the rail's displacement since the start; a positive load pushes as the preload does");
        }
        own.contact =
            add_output(description_, s.name + ".contact", "N", "force of the chain on it, to the right and upwards", 2);
        if (s.is_sprocket())
            own.torque = add_output(description_, s.name + ".contact-torque", "N.m", "torque of the chain on it");
        if (s.prescribed)
            own.drive_torque =
                add_output(description_, s.name + ".drive-torque", "N.m", "torque that its rotation takes");
        supports_.push_back(own);
    }
    energy_ = add_output(description_, "energy", "J", "kinetic energy, and that of springs; rigid contacts have none");
    if (rigid)
        not_converged_ = add_output(description_, "not-converged", "1",
                                    "micro steps so far whose contacts were not solved to 'tolerance'");
}

void drive_variables::expect(const usage& used) {
    if (used.outputs.empty()) return;
    const auto read = [&](int slot, int count = 1) {
        return slot >= 0 && std::any_of(used.outputs.begin() + slot, used.outputs.begin() + slot + count,
                                        [](bool one) { return one; });
    };
    bool any = read(energy_);
    for (std::size_t c = 0; c < chains_.size(); ++c)
        any = any || read(chains_[c] + 2 * d_.chains[c].links, d_.chains[c].links);
    for (const auto& p : ports_) any = any || read(p.output + 2);
    for (const auto& s : supports_) any = any || read(s.contact, 2) || read(s.torque) || read(s.drive_torque);
    forces_are_read_ = any;
}

void drive_variables::add_loads(const double* u, double* f) const {
    for (const auto& p : ports_)
        if (!p.prescribed) f[p.coordinate] += u[p.input];
}

void drive_variables::motion(double t, const double* q, const double* v, double* y) const {
    for (std::size_t c = 0; c < chains_.size(); ++c) {
        const chain_data& chain = d_.chains[c];
        std::copy_n(q + d_.x(chain.first_pin), chain.links, y + chains_[c]);
        std::copy_n(q + d_.y(chain.first_pin), chain.links, y + chains_[c] + chain.links);
    }
    for (const auto& p : ports_) {
        y[p.output] = q[p.coordinate];
        y[p.output + 1] = p.prescribed ? prescribed(*p.prescribed, t).speed : v[p.coordinate];
    }
}

void drive_variables::forces(double t, const double* q, const double* v, const double* f, const drive_forces& of,
                             bool with_contacts, double* y) const {
    for (std::size_t c = 0; c < chains_.size(); ++c)
        std::copy_n(of.link_forces().begin() + d_.chains[c].first_pin, d_.chains[c].links,
                    y + chains_[c] + 2 * d_.chains[c].links);
    for (const auto& p : ports_)
        y[p.output + 2] = f[p.coordinate] * d_.inverse_mass[static_cast<std::size_t>(p.coordinate)];
    for (std::size_t k = 0; k < supports_.size(); ++k) {
        const auto& reaction = of.reactions()[k];
        y[supports_[k].contact] = reaction.x;
        y[supports_[k].contact + 1] = reaction.y;
        if (supports_[k].torque >= 0) y[supports_[k].torque] = reaction.torque;
        if (supports_[k].drive_torque < 0) continue;
        const support& s = d_.supports[k];
        double torque = s.inertia * prescribed(s, t).acceleration - reaction.torque;
        for (const shaft_data& one : d_.shafts) {
            const int other = one.first == static_cast<int>(k)    ? one.second
                              : one.second == static_cast<int>(k) ? one.first
                                                                  : -1;
            if (other < 0) continue;
            const int i = s.rotation, j = d_.supports[static_cast<std::size_t>(other)].rotation;
            torque += one.stiffness * (q[i] - q[j]) + one.damping * (v[i] - v[j]);
        }
        y[supports_[k].drive_torque] = torque;
    }
    y[energy_] = of.energy(t, q, v, with_contacts);
}

}  // namespace mdpcosim::drive

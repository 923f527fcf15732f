#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "contact/time_stepper.hpp"
#include "core/messages.hpp"
#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// m r'' = F + m (0, -g) + sum n lambda + t lambda_t,   0 <= lambda _|_ gap >= 0,   |lambda_t| <= mu lambda.

namespace mdpcosim {

namespace {

using range = parameter_info::range;

const part_info body{.kind = "body",
                     .summary = "a body that moves in a plane without turning",
                     .parameters = {{"mass", "kg", "mass", 1, range::positive, true},
                                    {"x", "m", "position to the right at the start", 0},
                                    {"y", "m", "position upwards at the start", 0},
                                    {"vx", "m/s", "velocity to the right at the start", 0},
                                    {"vy", "m/s", "velocity upwards at the start", 0}}};

const part_info contact{
    .kind = "contact",
    .summary = "a plane face on a body, or on the ground, that another body cannot get through",
    .parameters = {{"angle", "rad", "direction in which the face looks: 0 to the right, 90 deg upwards",
                    std::numbers::pi / 2},
                   {"distance", "m",
                    "from the position of 'on' (the ground: 0, 0) to that of 'of', along that direction, at touch", 0},
                   {"restitution", "1", "speed after an impact by that before it", 0, range::not_negative},
                   {"friction", "1", "coefficient of Coulomb friction", 0, range::not_negative}},
    .references = {{"of", "the body that touches", {"body"}},
                   {"on", "the body with the face; none: the ground", {"body"}, false}}};

struct face {
    std::string name;
    int of, on;  ///< numbers of bodies, -1: the ground
    double nx, ny, distance, restitution, friction;

    double gap(std::span<const double> q) const {
        const double x = q[2 * of] - (on < 0 ? 0 : q[2 * on]), y = q[2 * of + 1] - (on < 0 ? 0 : q[2 * on + 1]);
        return nx * x + ny * y - distance;
    }
    /// Rounding must not open what rests.
    bool closed(double at_gap, std::span<const double> q) const {
        return at_gap <= 1e-12 + 1e-13 * (std::fabs(distance) + std::fabs(q[2 * of]) + std::fabs(q[2 * of + 1]));
    }
};

/// What bodies and contacts were given, and the inputs of the step in work.
class plane_bodies final : public contact_system {
   public:
    plane_bodies(double gravity, const std::vector<part>& parts) : gravity_(gravity) {
        for (const part& p : parts)
            if (p.kind == body.kind) {
                names.push_back(p.name);
                masses_.push_back(p.values["mass"]);
                for (const char* name : {"x", "y"}) start.push_back(p.values[name]);
                for (const char* name : {"vx", "vy"}) start_speed.push_back(p.values[name]);
            }
        if (names.empty()) throw std::invalid_argument("it has no part of kind 'body'; add one under 'parts'");
        sizes_.assign(names.size(), 2);
        for (const part& p : parts)
            if (p.kind == contact.kind) add_face(p);
    }

    std::span<const int> body_sizes() const override { return sizes_; }
    int contact_count() const override { return static_cast<int>(faces.size()); }
    int most_terms() const override { return 8 * contact_count(); }
    void inverse_mass(int b, std::span<const double> /*q*/, std::span<double> into) const override {
        into[0] = into[3] = 1 / masses_[static_cast<std::size_t>(b)];
        into[1] = into[2] = 0;
    }
    void forces(double t, std::span<const double> /*q*/, std::span<const double> /*v*/,
                std::span<double> f) const override {
        for (std::size_t i = 0; i < f.size(); ++i) f[i] = inputs[i](t - begin);
        for (std::size_t b = 0; b < masses_.size(); ++b) f[2 * b + 1] -= masses_[b] * gravity_;
    }
    void close_contacts(double /*t*/, std::span<const double> q, contact_problem& into) const override {
        for (int k = 0; const face& one : faces) {
            const double gap = one.gap(q);
            const int i = 2 * one.of, j = 2 * one.on;
            const std::array<direction_term, 4> normal{{{i, one.nx}, {i + 1, one.ny}, {j, -one.nx}, {j + 1, -one.ny}}},
                tangent{{{i, one.ny}, {i + 1, -one.nx}, {j, -one.ny}, {j + 1, one.nx}}};
            const std::size_t terms = one.on < 0 ? 2 : 4;
            if (one.closed(gap, q))
                into.add({.id = k,
                          .restitution = one.restitution,
                          .friction = one.friction,
                          .normal = std::span(normal).first(terms),
                          .tangent = std::span(tangent).first(terms),
                          .depth = -gap});
            ++k;
        }
    }

    std::vector<std::string> names;
    std::vector<face> faces;
    std::vector<double> start, start_speed;
    std::span<const polynomial> inputs;
    double begin = 0;  ///< of their macro step

   private:
    int number_of(std::string_view name) const {
        return static_cast<int>(std::ranges::find(names, name) - names.begin());
    }

    void add_face(const part& p) {
        const double angle = p.values["angle"];
        // Right angles are meant exactly.
        const auto exact = [](double value) { return std::fabs(value) < 1e-15 ? 0 : value; };
        const std::string_view on = p.refers_to("on");
        face made{p.name,
                  number_of(p.refers_to("of")),
                  on.empty() ? -1 : number_of(on),
                  exact(std::cos(angle)),
                  exact(std::sin(angle)),
                  p.values["distance"],
                  p.values["restitution"],
                  p.values["friction"]};
        if (made.of == made.on)
            throw user_error(p.where, fmt::format("contact '{}': 'of' and 'on' are both '{}'. A contact needs two "
                                                  "bodies, or a body and the ground (leave 'on' out).",
                                                  p.name, on));
        if (made.restitution > 1)
            throw user_error(p.where, fmt::format("contact '{}': restitution {} would make energy. Allowed: 0 to 1.",
                                                  p.name, made.restitution));
        const double gap = made.gap(start);
        if (gap <
            -1e-9 * (std::fabs(made.distance) + std::fabs(start[2 * made.of]) + std::fabs(start[2 * made.of + 1])))
            throw user_error(
                p.where,
                fmt::format("contact '{}': '{}' and {} overlap by {:.6g} m at the start (direction {:.6g} deg, "
                            "distance {:.6g} m). Move one of them, or change 'distance' or 'angle'.",
                            p.name, names[static_cast<std::size_t>(made.of)],
                            on.empty() ? "the ground" : fmt::format("'{}'", on), -gap, angle * 180 / std::numbers::pi,
                            made.distance));
        faces.push_back(std::move(made));
    }

    double gravity_;
    std::vector<double> masses_;
    std::vector<int> sizes_;
};

void describe_motion(subsystem_description& d, const std::string& name, const std::string& direction) {
    port added;
    added.name = name;
    added.load = add_input(d, name + ".force", "N", "force on the body " + direction);
    added.motion[0] = add_output(d, name + ".position", "m", "position of the body " + direction);
    added.motion[1] = add_output(d, name + ".velocity", "m/s", "velocity of the body " + direction);
    added.description = "the body's motion " + direction;
    d.outputs[d.outputs.size() - 2].rate_slot = added.motion[1];
    d.ports.push_back(added);
}

class contact_bodies final : public subsystem {
   public:
    contact_bodies(const parameter_values& p, const std::vector<part>& parts)
        : system_(p["gravity"], parts),
          stepper_(system_, {.contacts = {.tolerance = p["tolerance"],
                                          .most_sweeps = static_cast<int>(std::min(p["max-sweeps"], 1e9))},
                             .correction = p["correction"]}),
          step_(p["step"]),
          forces_(3 * system_.faces.size()) {
        if (p["correction"] > 1)
            throw std::invalid_argument(
                fmt::format("'correction' is {}: more than the whole overlap. Allowed: 0 to 1", p["correction"]));
        description_.type = "model contact-bodies";
        for (const auto& name : system_.names) {
            describe_motion(description_, name + ".x", "to the right");
            describe_motion(description_, name + ".y", "upwards");
        }
        for (const face& one : system_.faces) {
            add_output(description_, one.name + ".force", "N",
                       "mean normal force over the last macro step, impacts with it");
            add_output(description_, one.name + ".friction", "N",
                       "mean friction on 'of' in it, clockwise from the normal");
            add_output(description_, one.name + ".gap", "m", "distance; negative: overlap");
        }
        add_output(description_, "not-converged", "1",
                   "micro steps so far whose contacts were not solved to 'tolerance'");
        add_output(description_, "without-rebound", "1",
                   "micro steps so far with impacts that restitution would have given energy");
    }

    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override {
        capabilities offered;
        offered.save_restore = offered.starts_again = true;
        return offered;
    }

    void initialise(double) override {
        stepper_.start(system_.start, system_.start_speed);
        std::ranges::fill(forces_, 0.0);
        not_converged_ = without_rebound_ = 0;
    }
    void reset() override {}

    void outputs(std::span<const double>, std::span<double> y) override {
        const auto q = stepper_.positions(), v = stepper_.velocities();
        std::size_t at = 0;
        for (std::size_t i = 0; i < q.size(); ++i) y[at++] = q[i], y[at++] = v[i];
        for (std::size_t k = 0; k < system_.faces.size(); ++k) {
            y[at++] = forces_[3 * k];
            y[at++] = forces_[3 * k + 1];
            y[at++] = system_.faces[k].gap(q);
        }
        y[at++] = not_converged_;
        y[at] = without_rebound_;
    }

    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        const double span = step.end - step.begin;
        const auto n = static_cast<std::int64_t>(std::clamp(std::ceil(span / step_ - 1e-9), 1.0, 1e15));
        const double h = span / static_cast<double>(n);
        system_.inputs = inputs;
        system_.begin = step.begin;
        std::ranges::fill(forces_, 0.0);
        for (std::int64_t i = 0; i < n; ++i) {
            const double t = step.begin + static_cast<double>(i) * h;
            const contact_outcome outcome = stepper_.step(t, h);
            if (outcome.impacts > 0) tell_event(t + h / 2);
            if (!outcome.converged) tell(outcome, t + h);
            without_rebound_ += outcome.without_rebound;
            for (std::size_t k = 0; k < forces_.size(); ++k) forces_[k] += stepper_.impulses()[k] / span;
        }
        if (!std::ranges::all_of(stepper_.positions(), [](double q) { return std::isfinite(q); }))
            throw run_error(fmt::format(
                "at t = {:.9g}: a position is no number any more; the forces grow beyond bounds", step.end));
        outputs({}, y);
    }

    std::unique_ptr<snapshot> make_snapshot() const override {
        auto made = std::make_unique<saved>();
        made->numbers.resize(stepper_.state_size() + forces_.size() + 2);
        return made;
    }
    void save(snapshot& into) override {
        auto& numbers = static_cast<saved&>(into).numbers;
        stepper_.save(std::span(numbers).first(stepper_.state_size()));
        auto at = std::ranges::copy(forces_, numbers.begin() + static_cast<std::ptrdiff_t>(stepper_.state_size())).out;
        *at++ = not_converged_;
        *at = without_rebound_;
    }
    void restore(const snapshot& from) override {
        const auto& numbers = static_cast<const saved&>(from).numbers;
        stepper_.restore(std::span(numbers).first(stepper_.state_size()));
        std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(stepper_.state_size()), forces_.size(),
                    forces_.begin());
        not_converged_ = numbers[numbers.size() - 2];
        without_rebound_ = numbers.back();
    }

    /// Newton iterations are the sweeps over the contacts.
    subsystem_statistics statistics() const override {
        const contact_statistics& all = stepper_.statistics();
        return {
            .micro_steps = all.steps, .evaluations = all.steps, .events = all.impacts, .newton_iterations = all.sweeps};
    }

   private:
    struct saved final : snapshot {
        std::vector<double> numbers;
        void state(state_bytes& bytes) override { bytes.fixed(numbers); }
    };

    /// The first time in words, all in an output.
    void tell(const contact_outcome& outcome, double t) {
        ++not_converged_;
        if (told_) return;
        told_ = true;
        std::string names;
        const auto unsolved = stepper_.unsolved();
        for (const int k : unsolved.first(std::min<std::size_t>(unsolved.size(), 5)))
            names += fmt::format("{}'{}'", names.empty() ? "" : ", ", system_.faces[static_cast<std::size_t>(k)].name);
        if (unsolved.size() > 5) names += fmt::format(" and {} more", unsolved.size() - 5);
        messages_.send(
            fmt::format("contact-bodies at t = {:.9g}: contacts were not solved within {} sweeps: {} still changed by "
                        "up to {:.3g} m/s. The output 'not-converged' counts such micro steps; raise 'max-sweeps'.",
                        t, outcome.sweeps, names, outcome.change));
    }

    plane_bodies system_;
    time_stepper stepper_;
    double step_;
    std::vector<double> forces_;
    double not_converged_ = 0, without_rebound_ = 0;
    bool told_ = false;
    messages messages_;
    subsystem_description description_;
};

/// Nobody says how large bodies are: balls of the page's size.
model_scene scene_of_bodies(const parameter_values&, const std::vector<part>& parts) {
    model_scene made;
    for (const part& p : parts)
        if (p.kind == body.kind)
            made.shapes.push_back({.kind = "ball",
                                   .points = {{scene_name(p.name + ".x.position"), scene_name(p.name + ".y.position")}},
                                   .ports = {p.name + ".x", p.name + ".y"}});
    return made;
}

const model_registration registered{{
    .name = "contact-bodies",
    .summary =
        "bodies in a plane that fall, bounce, stack and slide on one another; integrates itself by time stepping",
    .parameters = {{"gravity", "m/s2", "acceleration of gravity, downwards", 9.81},
                   {"step", "s", "largest micro step", 1e-4, range::positive},
                   {"tolerance", "1", "of the contacts' velocities, relative to the largest", 1e-10, range::positive},
                   {"max-sweeps", "1", "most sweeps over the contacts in a micro step", 2000, range::whole},
                   {"correction", "1", "part of an overlap that a micro step takes out; makes energy", 0,
                    range::not_negative}},
    .parts = {body, contact},
    .make_with_solver = [](const parameter_values& p, const std::vector<part>& parts) -> std::unique_ptr<subsystem> {
        return std::make_unique<contact_bodies>(p, parts);
    },
    .scene_of_parts = scene_of_bodies,
}};

}  // namespace

}  // namespace mdpcosim

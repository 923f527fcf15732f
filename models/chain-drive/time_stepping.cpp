#include "time_stepping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "contact/time_stepper.hpp"
#include "core/error.hpp"
#include "core/messages.hpp"
#include "variables.hpp"

// M v+ = M v + h f(links, bearings, loads) + sum n lambda + t lambda_t,   0 <= lambda _|_ gap' >= 0 where gap <= 0,   |lambda_t| <= mu lambda.

namespace mdpcosim::drive {

namespace {

/// The drive as the stepper sees it: every coordinate a body of its own, every pin two contacts at most, where a guide begins at a wheel.
class rigid_contacts final : public contact_system {
   public:
    rigid_contacts(const drive_data& d, drive_forces& forces, const drive_variables& variables)
        : d_(d), forces_(forces), variables_(variables), sizes_(static_cast<std::size_t>(d.coordinates), 1) {
        touched.reserve(2 * static_cast<std::size_t>(d.pins));
        count_.resize(static_cast<std::size_t>(d.pins));
        loads.resize(static_cast<std::size_t>(variables.description().input_count()));
    }

    std::span<const int> body_sizes() const override { return sizes_; }
    int contact_count() const override { return 2 * d_.pins; }
    int most_terms() const override { return 20 * d_.pins; }
    void inverse_mass(int b, std::span<const double> /*q*/, std::span<double> into) const override {
        into[0] = d_.inverse_mass[static_cast<std::size_t>(b)];
    }
    void forces(double t, std::span<const double> q, std::span<const double> v, std::span<double> f) const override {
        forces_.smooth(t, q.data(), v.data(), f.data());
        for (std::size_t i = 0; i < loads.size(); ++i) loads[i] = inputs[i](t - begin);
        variables_.add_loads(loads.data(), f.data());
    }
    void close_contacts(double t, std::span<const double> q, contact_problem& into) const override {
        for (const auto& one : touched) count_[static_cast<std::size_t>(one.at.pin)] = 0;
        touched.clear();
        for (std::size_t k = 0; k < d_.supports.size(); ++k) {
            const support& s = d_.supports[k];
            const pose p = forces_.pose_of(s, t, q.data(), q.data());  // speeds of it are not used
            const double turning = s.prescribed ? prescribed(s, t).speed : 0;
            forces_.touches(s, p, q.data(), [&](const touch& at) {
                int& count = count_[static_cast<std::size_t>(at.pin)];
                if (count == 2) return;
                const int id = 2 * at.pin + count++;
                drive_forces::row across, along;
                const std::size_t n = forces_.relative_velocity(s, p, at, at.nx, at.ny, across);
                forces_.relative_velocity(s, p, at, at.ny, -at.nx, along);
                std::array<direction_term, 5> normal, tangent;
                for (std::size_t i = 0; i < n; ++i) {
                    normal[i] = {across[i].first, across[i].second};
                    tangent[i] = {along[i].first, along[i].second};
                }
                into.add({.id = id,
                          .friction = s.friction,
                          .normal = std::span(normal).first(n),
                          .tangent = std::span(tangent).first(s.friction > 0 ? n : 0),
                          .normal_speed = -turning * (at.rx * at.ny - at.ry * at.nx),
                          .tangent_speed = turning * (at.rx * at.nx + at.ry * at.ny),
                          .depth = -at.gap});
                touched.push_back({at, k, id});
            });
        }
    }

    struct touched_pin {
        touch at;
        std::size_t support;
        int id;
    };
    mutable std::vector<touched_pin> touched;  ///< in the last step
    mutable std::vector<double> loads;
    std::span<const polynomial> inputs;
    double begin = 0;  ///< of their macro step

   private:
    const drive_data& d_;
    drive_forces& forces_;
    const drive_variables& variables_;
    std::vector<int> sizes_;
    mutable std::vector<int> count_;  ///< contacts by pin
};

class rigid_drive final : public subsystem {
   public:
    rigid_drive(const parameter_values& p, drive_data d)
        : d_(std::move(d)),
          forces_(d_),
          variables_(d_, true),
          contacts_(d_, forces_, variables_),
          stepper_(contacts_,
                   {.contacts = {.tolerance = p["tolerance"], .most_sweeps = static_cast<int>(p["max-sweeps"])},
                    .correction = p["correction"],
                    .slop = 1e-6}),
          step_(p["step"]),
          f_(static_cast<std::size_t>(d_.coordinates)) {
        for (const chain_data& c : d_.chains) {
            // A link's highest vibration, damped: h^2 4c/m + 2 h 4d/m < 4.
            const double b = 4 * c.damping / c.mass, w2 = 4 * c.stiffness / c.mass,
                         most = (-b + std::sqrt(b * b + 4 * w2)) / w2;
            if (step_ > most)
                throw user_error(c.where, fmt::format("chain '{}': the micro step of {:.4g} us is unstable with links "
                                                      "of {:.4g} N/m, {:.4g} N.s/m and {:.4g} kg. "
                                                      "Set 'step' to less than {:.4g} us.",
                                                      c.name, 1e6 * step_, c.stiffness, c.damping, c.mass, 1e6 * most));
        }
    }

    const subsystem_description& describe() const noexcept override { return variables_.description(); }
    capabilities offers() const override {
        capabilities offered;
        offered.save_restore = offered.starts_again = true;
        return offered;
    }
    void expect(const usage& used) override { variables_.expect(used); }

    void initialise(double t0) override {
        for (const support& one : d_.supports)
            if (one.prescribed) d_.v[static_cast<std::size_t>(one.rotation)] = prescribed(one, t0).speed;
        stepper_.start(d_.q, d_.v);
        time_ = t0;
        std::ranges::fill(forces_.reactions(), drive_forces::reaction{});
        not_converged_ = 0;
    }
    void reset() override {}

    void outputs(std::span<const double> u, std::span<double> y) override {
        const double *q = stepper_.positions().data(), *v = stepper_.velocities().data();
        variables_.motion(time_, q, v, y.data());
        y[static_cast<std::size_t>(variables_.not_converged())] = not_converged_;
        if (!variables_.forces_are_read()) return;
        forces_.smooth(time_, q, v, f_.data());
        for (std::size_t k = 0; k < d_.supports.size(); ++k)
            forces_.put(d_.supports[k], forces_.pose_of(d_.supports[k], time_, q, v), forces_.reactions()[k],
                        f_.data());
        variables_.add_loads(u.data(), f_.data());
        variables_.forces(time_, q, v, f_.data(), forces_, false, y.data());
    }

    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        const double span = step.end - step.begin;
        constexpr double most = 1e9;
        if (span / step_ > most)
            throw run_error(fmt::format(
                "'step' of {:g} s makes more than {:g} micro steps of a macro step of {:g} s; choose a longer one",
                step_, most, span));
        const auto n = static_cast<std::int64_t>(std::max(std::ceil(span / step_ - 1e-9), 1.0));
        const double h = span / static_cast<double>(n);
        contacts_.inputs = inputs;
        contacts_.begin = step.begin;
        std::ranges::fill(forces_.reactions(), drive_forces::reaction{});
        for (std::int64_t i = 0; i < n; ++i) {
            const double t = step.begin + static_cast<double>(i) * h;
            const contact_outcome outcome = stepper_.step(t, h);
            if (!outcome.converged) tell(outcome, t + h);
            for (const auto& one : contacts_.touched) {
                const touch& at = one.at;
                const double* impulse = &stepper_.impulses()[3 * static_cast<std::size_t>(one.id)];
                const double fx = (impulse[0] * at.nx + impulse[1] * at.ny) / span,
                             fy = (impulse[0] * at.ny - impulse[1] * at.nx) / span;
                auto& sum = forces_.reactions()[one.support];
                sum.x -= fx;
                sum.y -= fy;
                sum.torque -= at.rx * fy - at.ry * fx;
            }
        }
        time_ = step.end;
        if (!std::ranges::all_of(stepper_.positions(), [](double q) { return std::isfinite(q); }))
            throw run_error(fmt::format(
                "at t = {:.9g}: a position is no number any more; the forces grow beyond bounds", step.end));
        for (std::size_t i = 0; i < contacts_.loads.size(); ++i) contacts_.loads[i] = inputs[i](span);
        outputs(contacts_.loads, y);
    }

    std::unique_ptr<snapshot> make_snapshot() const override {
        auto made = std::make_unique<saved>();
        made->numbers.resize(stepper_.state_size() + 3 * d_.supports.size() + 2);
        return made;
    }
    void save(snapshot& into) override {
        auto& numbers = static_cast<saved&>(into).numbers;
        stepper_.save(std::span(numbers).first(stepper_.state_size()));
        auto at = numbers.begin() + static_cast<std::ptrdiff_t>(stepper_.state_size());
        for (const auto& r : forces_.reactions())
            for (const double value : {r.x, r.y, r.torque}) *at++ = value;
        *at++ = time_;
        *at = not_converged_;
    }
    void restore(const snapshot& from) override {
        const auto& numbers = static_cast<const saved&>(from).numbers;
        stepper_.restore(std::span(numbers).first(stepper_.state_size()));
        auto at = numbers.begin() + static_cast<std::ptrdiff_t>(stepper_.state_size());
        for (auto& r : forces_.reactions())
            for (double* value : {&r.x, &r.y, &r.torque}) *value = *at++;
        time_ = *at++;
        not_converged_ = *at;
    }

    /// Newton iterations are the sweeps over the contacts.
    subsystem_statistics statistics() const override {
        const contact_statistics& all = stepper_.statistics();
        return {.micro_steps = all.steps, .evaluations = all.steps, .newton_iterations = all.sweeps};
    }

   private:
    struct saved final : snapshot {
        std::vector<double> numbers;
        void state(state_bytes& bytes) override { bytes.fixed(numbers); }
    };

    /// The first time in words.
    void tell(const contact_outcome& outcome, double t) {
        if (not_converged_++ > 0) return;
        const int worst = stepper_.unsolved().front();
        std::string support;
        for (const auto& one : contacts_.touched)
            if (one.id == worst) support = d_.supports[one.support].name;
        const chain_data& c = d_.chains[static_cast<std::size_t>(d_.chain_of_pin[static_cast<std::size_t>(worst / 2)])];
        messages_.send(
            fmt::format("chain-drive at t = {:.9g}: the contacts were not solved within {} sweeps; that of pin {} of "
                        "chain '{}' on '{}' "
                        "still changed by {:.3g} m/s. Raise 'max-sweeps', or make 'step' smaller.",
                        t, outcome.sweeps, worst / 2 - c.first_pin, c.name, support, outcome.change));
    }

    drive_data d_;
    drive_forces forces_;
    drive_variables variables_;
    rigid_contacts contacts_;
    time_stepper stepper_;
    double step_, time_ = 0;
    double not_converged_ = 0;
    std::vector<double> f_;
    messages messages_;
};

}  // namespace

std::unique_ptr<subsystem> make_rigid_drive(const parameter_values& p, drive_data d) {
    return std::make_unique<rigid_drive>(p, std::move(d));
}

}  // namespace mdpcosim::drive

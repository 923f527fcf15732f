#include "analysis/nonlinear_pair.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/suggest.hpp"
#include "master/stepper.hpp"
#include "subsystem/description_parts.hpp"
#include "transport/threads.hpp"

namespace mdpcosim {

namespace {

using real = nonlinear_pair::real;

constexpr int most_terms = 24;
constexpr double longest_micro_step = 1.0 / 64;
constexpr double stiffness = 4;
using series = std::array<real, most_terms + 1>;

struct body_constants {
    real m, c, c3, d, d3, force;
};
constexpr std::array<body_constants, 2> constants{{{1, 3, 2, 0.4L, 0.3L, 1}, {0.7L, 2, 1.5L, 0.3L, 0.2L, 0}}};
constexpr real excitation = 2, excitation_phase = 0.5L;

/// Coefficient k of the product of two series.
real product(const series& a, const series& b, int k) {
    real sum = 0;
    for (int i = 0; i <= k; ++i) sum += a[i] * b[k - i];
    return sum;
}

/// Taylor coefficients of one body's motion, found one after the other.
class motion {
   public:
    motion(const body_constants& body, int terms, real t, real x, real v) : body_(body), terms_(terms) {
        x_[0] = x;
        v_[0] = v;
        const real phase = excitation * t + excitation_phase;
        real factor = body.force;
        for (int k = 0; k <= terms; ++k) {
            const real wave = k % 2 == 0 ? std::sin(phase) : std::cos(phase);
            f_[k] = factor * (k % 4 < 2 ? wave : -wave);
            factor *= excitation / (k + 1);
        }
    }

    /// Coefficient k + 1 from those up to k and the load's coefficient k.
    void extend(int k, real load) {
        xx_[k] = product(x_, x_, k);
        vv_[k] = product(v_, v_, k);
        const real forces = f_[k] + load - body_.d * v_[k] - body_.d3 * product(vv_, v_, k) - body_.c * x_[k] -
                            body_.c3 * product(xx_, x_, k);
        x_[k + 1] = v_[k] / (k + 1);
        v_[k + 1] = forces / (body_.m * (k + 1));
    }

    real x(int k) const { return x_[k]; }
    std::array<real, 2> at(real h) const {
        real x = 0, v = 0;
        for (int k = terms_; k >= 0; --k) {
            x = x * h + x_[k];
            v = v * h + v_[k];
        }
        return {x, v};
    }

   private:
    const body_constants& body_;
    int terms_;
    series x_, v_, f_, xx_, vv_;
};

/// So many that the first one left out, which behaves like (8/s h)^terms, stays below rounding.
int terms_for(real h) {
    return std::clamp(static_cast<int>(std::ceil(-50 / std::log(8 * std::abs(h)))), 6, most_terms);
}

int micro_steps(double span) { return std::max(1, static_cast<int>(std::ceil(std::abs(span) / longest_micro_step))); }

}  // namespace

nonlinear_pair::state nonlinear_pair::exact(const state& from, double t, double t_end) {
    const int steps = micro_steps(t_end - t);
    const real h = (static_cast<real>(t_end) - t) / steps;
    const int terms = terms_for(h);
    state z = from;
    for (int n = 0; n < steps; ++n) {
        const real now = t + n * h;
        motion A(constants[0], terms, now, z[0], z[1]), B(constants[1], terms, now, z[2], z[3]);
        for (int k = 0; k < terms; ++k) {
            const real u = stiffness * (A.x(k) - B.x(k));
            A.extend(k, -u);
            B.extend(k, u);
        }
        const auto [x_A, v_A] = A.at(h);
        const auto [x_B, v_B] = B.at(h);
        z = {x_A, v_A, x_B, v_B};
    }
    return z;
}

const nonlinear_pair::state& nonlinear_pair::at_begin() {
    static const state z = exact({1, 0.875L, -0.25L, -1}, 0, begin);
    return z;
}

/// One of the two with its input polynomial; outputs position and velocity.
class nonlinear_body final : public subsystem {
   public:
    nonlinear_body(const body_constants& body, int input_degree) : body_(body) {
        description_.type = "nonlinear oscillator";
        add_input(description_, "force", "N", "");
        description_.inputs[0].max_degree = input_degree;
        add_output(description_, "position", "m", "");
        add_output(description_, "velocity", "m/s", "");
    }

    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return {.save_restore = true, .why_no_save_restore = {}}; }
    void initialise(double) override {}
    void outputs(std::span<const double>, std::span<double> y) override {
        y[0] = static_cast<double>(z[0]);
        y[1] = static_cast<double>(z[1]);
    }
    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        const int steps = micro_steps(step.end - step.begin);
        const real h = (static_cast<real>(step.end) - step.begin) / steps;
        const int terms = terms_for(h);
        std::array<real, max_degree + 1> load{};
        std::copy(inputs[0].c.begin(), inputs[0].c.begin() + inputs[0].degree + 1, load.begin());
        for (int n = 0; n < steps; ++n) {
            motion m(body_, terms, step.begin + n * h, z[0], z[1]);
            for (int k = 0; k < terms; ++k) m.extend(k, k <= max_degree ? load[k] : 0);
            z = m.at(h);
            // The polynomial around the next micro step's beginning.
            for (int i = 0; i < max_degree; ++i)
                for (int k = max_degree - 1; k >= i; --k) load[k] += h * load[k + 1];
        }
        outputs({}, y);
    }

    struct stored final : snapshot {
        std::array<real, 2> z;
        void state(state_bytes& bytes) override { bytes(z); }
    };
    std::unique_ptr<snapshot> make_snapshot() const override { return std::make_unique<stored>(); }
    void save(snapshot& into) override { static_cast<stored&>(into).z = z; }
    void restore(const snapshot& from) override { z = static_cast<const stored&>(from).z; }

    std::array<real, 2> z{};

   private:
    const body_constants& body_;
    subsystem_description description_;
};

co_simulated_pair::co_simulated_pair(const extrapolation_rule& rule, const std::string& method, int input_degree) {
    const method_info* info = method_registry::instance().find(method);
    if (info == nullptr)
        throw std::invalid_argument(unknown_name("method", method, "mdpcosim", method_registry::instance().names()));
    std::vector<named_subsystem> parts;
    for (std::size_t i = 0; i < 2; ++i) {
        auto body = std::make_unique<nonlinear_body>(constants[i], input_degree);
        bodies_[i] = body.get();
        parts.push_back({i == 0 ? "A" : "B", std::move(body)});
    }
    system_.subsystems = make_thread_transport(std::move(parts), 1);
    const law_info* spring = law_registry::instance().find("spring");
    parameter_values values(spring->parameters);
    values.set("stiffness", {stiffness});
    const auto channel =
        system_.coupling.add_channel("spring", spring->make(values),
                                     {{output_slot(0), output_slot(1), 1}, {output_slot(2), output_slot(3), -1}}, rule);
    system_.coupling.add_delivery(input_slot(0), input_degree, {channel, -1});
    system_.coupling.add_delivery(input_slot(1), input_degree, {channel, 1});
    system_.coupling.finish(std::vector<double>{0, 0});
    system_.finish();
    chosen_ = info->make();
    chosen_->check(system_);
}

co_simulated_pair::~co_simulated_pair() = default;

void co_simulated_pair::start(const nonlinear_pair::state& z, double t) {
    bodies_[0]->z = {z[0], z[1]};
    bodies_[1]->z = {z[2], z[3]};
    system_.initialise(t);
    chosen_->prepare(system_);
}

void co_simulated_pair::first_step(double t, double t_end) {
    constexpr int longer = 100;  // than this one step
    constant_stepper steps(time_grid(t, t + longer * (t_end - t), t_end - t), parts_of_first_step(system_, *chosen_));
    do steps.step(system_, *chosen_);
    while (steps.within_step());
}

void co_simulated_pair::step(double t, double t_end) { chosen_->step(system_, {t, t_end, 0}); }

void co_simulated_pair::replace(const nonlinear_pair::state& z, double t) {
    const std::array<double, 1> none{0};
    for (std::size_t i = 0; i < 2; ++i) {
        bodies_[i]->z = {z[2 * i], z[2 * i + 1]};
        system_.subsystems->evaluate(subsystem_index(i), none);
    }
    system_.evaluate(t, system_.at_each_step);
}

nonlinear_pair::state co_simulated_pair::present() const {
    return {bodies_[0]->z[0], bodies_[0]->z[1], bodies_[1]->z[0], bodies_[1]->z[1]};
}

}  // namespace mdpcosim

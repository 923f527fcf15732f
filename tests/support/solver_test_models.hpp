#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "subsystem/native_subsystem.hpp"
#include "subsystem/solver.hpp"

/// Small models with known solutions, and short ways to make solvers and inputs.
namespace mdpcosim::test {

/// A model out of functions, so that a test shows its equations.
class function_model : public equations {
   public:
    using rhs = std::function<void(double t, const double* x, const double* u, double* dx)>;

    function_model(std::vector<double> x0, int inputs, rhs f) : x0_(std::move(x0)), f_(std::move(f)) {
        description_.type = "test";
        for (int i = 0; i < inputs; ++i) {
            input_variable v;
            v.name = "u" + std::to_string(i);
            v.slot = i;
            description_.inputs.push_back(v);
        }
        for (std::size_t i = 0; i < x0_.size(); ++i) {
            output_variable v;
            v.name = "x" + std::to_string(i);
            v.slot = static_cast<int>(i);
            description_.outputs.push_back(v);
        }
    }

    const subsystem_description& describe() const noexcept override { return description_; }
    int state_count() const override { return static_cast<int>(x0_.size()); }
    void initial_state(double, double* x) const override { std::copy(x0_.begin(), x0_.end(), x); }
    void derivatives(double t, const double* x, const double* u, double* dx) const override { f_(t, x, u, dx); }
    void outputs(double, const double* x, const double*, double* y) const override { std::copy_n(x, x0_.size(), y); }
    bool jacobian(double t, const double* x, const double* u, double* dfdx) const override {
        if (!jacobian_function) return equations::jacobian(t, x, u, dfdx);
        jacobian_function(t, x, dfdx);
        return true;
    }
    int event_count() const override { return events; }
    void event_indicators(double t, const double* x, const double* u, double* z) const override {
        indicators(t, x, u, z);
    }
    bool apply_event(int event, bool rising, double t, double* x, const double* u) override {
        return on_event(event, rising, t, x, u);
    }
    double next_time_event(double t) const override {
        return time_events ? time_events(t) : std::numeric_limits<double>::infinity();
    }

    bool is_algebraic(int i) const override { return std::ranges::count(algebraic, i) > 0; }
    const sparsity* structure() const override { return pattern.start.empty() ? nullptr : &pattern; }
    bool sparse_jacobian(double t, const double* x, const double*, double* values) const override {
        if (!sparse_function) return false;
        sparse_function(t, x, values);
        return true;
    }

    int events = 0;
    std::vector<int> algebraic;
    sparsity pattern;
    std::function<void(double, const double*, double*)> sparse_function;
    std::function<void(double, const double*, double*)> jacobian_function;
    std::function<void(double, const double*, const double*, double*)> indicators;
    std::function<bool(int, bool, double, double*, const double*)> on_event;
    std::function<double(double)> time_events;

   private:
    subsystem_description description_;
    std::vector<double> x0_;
    rhs f_;
};

/// x'' = -x + u, x(0) = 1, x'(0) = 0: x = cos t for u = 0.
inline std::unique_ptr<function_model> oscillator(bool with_jacobian = false) {
    auto model = std::make_unique<function_model>(std::vector{1.0, 0.0}, 1,
                                                  [](double, const double* x, const double* u, double* dx) {
                                                      dx[0] = x[1];
                                                      dx[1] = -x[0] + u[0];
                                                  });
    if (with_jacobian)
        model->jacobian_function = [](double, const double*, double* J) { J[0] = 0, J[1] = -1, J[2] = 1, J[3] = 0; };
    return model;
}

struct option {
    std::string name;
    double value;
};

inline std::unique_ptr<solver> make_solver(const std::string& name, const std::vector<option>& options = {}) {
    const solver_info* info = solver_registry::instance().find(name);
    if (!info) throw std::logic_error("no solver " + name);
    parameter_values values(info->options);
    for (const auto& o : options) values.set(o.name, {o.value});
    return info->make(values);
}

inline polynomial constant(double value) {
    polynomial p;
    p.c[0] = value;
    return p;
}

/// A solver with its model and state.
class solver_run {
   public:
    solver_run(std::unique_ptr<function_model> m, std::unique_ptr<solver> s, double t0 = 0)
        : model(std::move(m)),
          integrator(std::move(s)),
          x(static_cast<std::size_t>(model->state_count())),
          inputs(model->describe().inputs.size()),
          t(t0) {
        model->initial_state(t, x.data());
        integrator->initialise(*model, t, x);
    }

    /// n macro steps to `end` with the inputs as they stand.
    void to(double end, int n = 1) {
        const double begin = t;
        for (int i = 1; i <= n; ++i) {
            const double next = i == n ? end : begin + (end - begin) * i / n;
            integrator->integrate(t, next, inputs, x);
            t = next;
        }
    }

    std::unique_ptr<function_model> model;
    std::unique_ptr<solver> integrator;
    std::vector<double> x;
    std::vector<polynomial> inputs;
    double t;
};

inline const std::vector<std::string> all_solvers{"euler",  "rk4",         "trapezoidal", "erk-2",  "erk-3",  "erk-4",
                                                  "erk-5",  "erk-6",       "erk-8",       "dirk-2", "dirk-3", "dirk-4",
                                                  "dirk-5", "cvode-adams", "cvode-bdf",   "ida"};
inline const std::vector<std::string> fixed_solvers{"euler", "rk4", "trapezoidal"};
inline const std::vector<std::string> adaptive_solvers(all_solvers.begin() + 3, all_solvers.end());

inline bool is_fixed(const std::string& name) {
    return std::find(fixed_solvers.begin(), fixed_solvers.end(), name) != fixed_solvers.end();
}

inline bool is_multistep(const std::string& name) { return name.starts_with("cvode") || name == "ida"; }

inline std::string test_name(std::string name) {
    for (char& c : name)
        if (c == '-') c = '_';
    return name;
}

}  // namespace mdpcosim::test

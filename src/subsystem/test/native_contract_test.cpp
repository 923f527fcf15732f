#include "support/solver_test_models.hpp"
#include "support/subsystem_contract.hpp"

namespace mdpcosim::test {

namespace {

/// m x'' = F - d x' - c x at a translational port: position, velocity; acceleration depends on the force directly.
class oscillator_with_port final : public equations {
   public:
    explicit oscillator_with_port(bool with_jacobian) : with_jacobian_(with_jacobian) {
        d_.type = "test oscillator";
        d_.inputs.resize(1);
        d_.inputs[0].name = "mass.force";
        d_.outputs.resize(3);
        const char* names[] = {"mass.position", "mass.velocity", "mass.acceleration"};
        for (int i = 0; i < 3; ++i) {
            d_.outputs[static_cast<std::size_t>(i)].name = names[i];
            d_.outputs[static_cast<std::size_t>(i)].slot = i;
            d_.outputs[static_cast<std::size_t>(i)].rate_slot = i < 2 ? i + 1 : -1;
        }
        d_.outputs[1].rate_needs_input = true;
        d_.outputs[2].direct = {0};
        d_.ports.push_back({"mass", port_kind::translation, causality::takes_load, {0, 1, 2}, 0, -1, ""});
    }

    const subsystem_description& describe() const noexcept override { return d_; }
    int state_count() const override { return 2; }
    void initial_state(double, double* x) const override { x[0] = 1, x[1] = 0; }
    void derivatives(double, const double* x, const double* u, double* dx) const override {
        dx[0] = x[1];
        dx[1] = (u[0] - d * x[1] - c * x[0]) / m;
    }
    void outputs(double, const double* x, const double* u, double* y) const override {
        y[0] = x[0], y[1] = x[1];
        y[2] = (u[0] - d * x[1] - c * x[0]) / m;
    }
    bool jacobian(double, const double*, const double*, double* J) const override {
        J[0] = 0, J[1] = -c / m, J[2] = 1, J[3] = -d / m;
        return with_jacobian_;
    }

   private:
    static constexpr double m = 1, c = 40, d = 0.5;
    bool with_jacobian_;
    subsystem_description d_;
};

/// y = 3 u, no states; feed-through.
class gain final : public equations {
   public:
    gain() {
        d_.type = "test gain";
        d_.inputs.resize(1);
        d_.inputs[0].name = "in";
        d_.outputs.resize(1);
        d_.outputs[0].name = "out";
        d_.outputs[0].direct = {0};
    }
    const subsystem_description& describe() const noexcept override { return d_; }
    int state_count() const override { return 0; }
    void initial_state(double, double*) const override {}
    void derivatives(double, const double*, const double*, double*) const override {}
    void outputs(double, const double*, const double* u, double* y) const override { y[0] = 3 * u[0]; }

   private:
    subsystem_description d_;
};

/// A ball that bounces without loss while u pushes it a little, with a time event every 0.13 s that turns a wind round.
std::unique_ptr<equations> bouncing() {
    auto model = std::make_unique<function_model>(
        std::vector{0.05, 0.0}, 1, [](double t, const double* x, const double* u, double* dx) {
            dx[0] = x[1];
            dx[1] = -9.81 + 0.01 * u[0] + (static_cast<long>(t / 0.13) % 2 == 0 ? 0.5 : -0.5);
        });
    model->events = 1;
    model->indicators = [](double, const double* x, const double*, double* z) { z[0] = x[0]; };
    model->on_event = [](int, bool rising, double, double* x, const double*) {
        if (rising) return false;
        x[1] = std::fabs(x[1]);
        return true;
    };
    model->time_events = [](double t) {
        double next = 0.13 * (std::floor(t / 0.13) + 1);
        return next > t ? next : next + 0.13;
    };
    return model;
}

/// The oscillator as it would be written with the acceleration as algebraic state: x' = v, v' = a, 0 = u - d v - c x - m a.
std::unique_ptr<equations> oscillator_with_algebraic_acceleration() {
    auto model = std::make_unique<function_model>(std::vector{1.0, 0.0, 0.0}, 1,
                                                  [](double, const double* x, const double* u, double* f) {
                                                      f[0] = x[1];
                                                      f[1] = x[2];
                                                      f[2] = u[0] - 0.5 * x[1] - 40 * x[0] - x[2];
                                                  });
    model->algebraic = {2};
    return model;
}

/// Ten masses in a row, each held by a spring; u pulls the first. With its structure, with or without the Jacobian's entries.
std::unique_ptr<equations> row_of_masses(bool exact) {
    constexpr int n = 10;
    const auto neighbour = [](const double* x, int i) { return i < 0 || i >= n ? 0.0 : x[2 * i]; };
    auto model = std::make_unique<function_model>(
        std::vector<double>(2 * n, 0.1), 1, [=](double, const double* x, const double* u, double* dx) {
            for (int i = 0; i < n; ++i) {
                dx[2 * i] = x[2 * i + 1];
                dx[2 * i + 1] = 40 * (neighbour(x, i - 1) - 2 * x[2 * i] + neighbour(x, i + 1)) - 0.5 * x[2 * i + 1];
            }
            dx[1] += u[0];
        });
    model->pattern.start = {0};
    std::vector<double> values;
    const auto add = [&](int row, double value) {
        if (row < 0 || row >= 2 * n) return;
        model->pattern.rows.push_back(row);
        values.push_back(value);
    };
    for (int i = 0; i < n; ++i) {
        add(2 * i - 1, 40);
        add(2 * i + 1, -80);
        add(2 * i + 3, 40);
        model->pattern.start.push_back(static_cast<int>(values.size()));
        add(2 * i, 1);
        add(2 * i + 1, -0.5);
        model->pattern.start.push_back(static_cast<int>(values.size()));
    }
    if (exact)
        model->sparse_function = [values](double, const double*, double* into) { std::ranges::copy(values, into); };
    return model;
}

std::vector<subsystem_case> cases() {
    std::vector<subsystem_case> all;
    const auto add = [&](std::string name, const std::string& solver_name, std::vector<option> options) {
        name = test_name(name);
        const double tolerance = solver_name == "euler"                              ? 2e-3
                                 : solver_name == "erk-2" || solver_name == "dirk-2" ? 1e-4
                                                                                     : 3e-5;
        for (const bool exact : {false, true})
            all.push_back({name + (exact ? "_oscillator_with_jacobian" : "_oscillator"),
                           [=] {
                               return make_native_subsystem(std::make_unique<oscillator_with_port>(exact),
                                                            make_solver(solver_name, options));
                           },
                           0.02, tolerance});
        all.push_back(
            {name + "_gain",
             [=] { return make_native_subsystem(std::make_unique<gain>(), make_solver(solver_name, options)); }, 0.02,
             1e-12});
        all.push_back({name + "_bouncing",
                       [=] { return make_native_subsystem(bouncing(), make_solver(solver_name, options)); }, 0.02,
                       solver_name == "euler" ? 5e-2 : 1e-3});
    };
    for (const auto& name : fixed_solvers)
        add(name, name, {{"step", name == "euler" ? 2e-6 : name == "rk4" ? 1e-3 : 1e-4}});
    for (const auto& name : adaptive_solvers) add(name, name, {{"rtol", 1e-8}, {"atol", 1e-9}});
    add("cvode-adams-restart", "cvode-adams", {{"rtol", 1e-8}, {"atol", 1e-9}, {"restart", 1}});
    add("ida-restart", "ida", {{"rtol", 1e-8}, {"atol", 1e-9}, {"restart", 1}});
    add("cvode-bdf-restart", "cvode-bdf", {{"rtol", 1e-8}, {"atol", 1e-9}, {"restart", 1}});
    for (const auto& name : {"cvode-adams", "cvode-bdf", "ida"})
        all.push_back({test_name(name) + "_over_oscillator",
                       [=] {
                           return make_native_subsystem(
                               std::make_unique<oscillator_with_port>(false),
                               make_solver(name, {{"rtol", 1e-8}, {"atol", 1e-9}, {"stop", 1}}));
                       },
                       0.02, 1e-3});  // means of the inputs jump, and `over` adds the error of jumps
    for (const double restart : {0.0, 1.0}) {
        const std::string suffix = restart > 0 ? "_restart" : "";
        const std::vector<option> options{{"rtol", 1e-8}, {"atol", 1e-9}, {"restart", restart}};
        all.push_back({"ida_algebraic" + suffix,
                       [=] {
                           return make_native_subsystem(oscillator_with_algebraic_acceleration(),
                                                        make_solver("ida", options));
                       },
                       0.02, 3e-5});
        for (const bool exact : {false, true})
            for (const char* name : {"cvode-bdf", "ida"}) {
                auto sparse = options;
                sparse.push_back({"linear-solver", 2});
                all.push_back({test_name(name) + (exact ? "_sparse_exact" : "_sparse_coloured") + suffix,
                               [=] { return make_native_subsystem(row_of_masses(exact), make_solver(name, sparse)); },
                               0.02, 3e-5});
            }
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(native, subsystem_contract, testing::ValuesIn(cases()), case_name);

}  // namespace

}  // namespace mdpcosim::test

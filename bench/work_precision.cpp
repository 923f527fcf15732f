// Work and precision of erk-2 ... erk-8 beside the explicit pairs of SUNDIALS' ARKODE: error at the end against evaluations of the right-hand
// side, on eleven problems, at tolerances from 1e-3 on. `--all` prints every run. See docs/performance.md.
#include <arkode/arkode_erkstep.h>
#include <fmt/format.h>
#include <nvector/nvector_serial.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <vector>

#include "subsystem/equations.hpp"
#include "subsystem/solver.hpp"

namespace {

using namespace mdpcosim;

using right_hand_side = std::function<void(double t, const double* x, double u, double* dx)>;

struct problem {
    const char* name;
    std::vector<double> x0;
    double end;
    right_hand_side f;
    std::vector<double> exact = {};  ///< empty: from a fine integration
    polynomial input = {};
};

class problem_equations final : public equations {
   public:
    explicit problem_equations(const problem& p) : p_(p) {
        description_.type = p.name;
        input_variable u;
        u.name = "u";
        description_.inputs.push_back(u);
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    int state_count() const override { return static_cast<int>(p_.x0.size()); }
    void initial_state(double, double* x) const override { std::ranges::copy(p_.x0, x); }
    void derivatives(double t, const double* x, const double* u, double* dx) const override { p_.f(t, x, *u, dx); }
    void outputs(double, const double*, const double*, double*) const override {}

   private:
    const problem& p_;
    subsystem_description description_;
};

struct outcome {
    std::vector<double> x;
    double evaluations = 0;
};

outcome ours(const problem& p, const char* name, double tolerance) {
    const solver_info* info = solver_registry::instance().find(name);
    parameter_values options(info->options);
    options.set("rtol", {tolerance});
    options.set("atol", {tolerance});
    options.set("max-steps", {1e8});
    problem_equations model(p);
    outcome result{p.x0};
    const auto integrator = info->make(options);
    integrator->initialise(model, 0, result.x);
    integrator->integrate(0, p.end, {&p.input, 1}, result.x);
    result.evaluations = static_cast<double>(integrator->statistics().evaluations);
    return result;
}

void check(int flag, const char* call) {
    if (flag < 0) throw std::runtime_error(fmt::format("{} failed: {}", call, flag));
}

/// With the controller of our solvers.
outcome arkode(const problem& p, ARKODE_ERKTableID table, double tolerance) {
    struct called {
        const problem& p;
        long evaluations = 0;
    } user{p};
    SUNContext context = nullptr;
    check(SUNContext_Create(nullptr, &context), "SUNContext_Create");
    outcome result{p.x0};
    N_Vector y = N_VMake_Serial(static_cast<sunindextype>(p.x0.size()), result.x.data(), context);
    const auto f = [](double t, N_Vector x, N_Vector dx, void* data) {
        auto& to = *static_cast<called*>(data);
        ++to.evaluations;
        to.p.f(t, N_VGetArrayPointer(x), to.p.input(t), N_VGetArrayPointer(dx));
        return 0;
    };
    void* memory = ERKStepCreate(f, 0, y, context);
    double t = 0;
    check(ERKStepSetTableNum(memory, table), "SetTableNum");
    check(ERKStepSStolerances(memory, tolerance, tolerance), "SStolerances");
    check(ERKStepSetUserData(memory, &user), "SetUserData");
    const auto adapt = [](N_Vector, double, double h, double, double, double e, double, double, int, int order,
                          double* next, void*) {
        *next = h * std::clamp(0.9 * std::pow(std::max(e, 1e-12), -1.0 / (order + 1)), 0.1, 10.0);
        return 0;
    };
    check(ERKStepSetAdaptivityFn(memory, adapt, nullptr), "SetAdaptivityFn");
    check(ERKStepSetSafetyFactor(memory, 1 - 1e-12), "SetSafetyFactor");
    check(ERKStepSetErrorBias(memory, 1), "SetErrorBias");
    check(ERKStepSetMaxGrowth(memory, 10), "SetMaxGrowth");
    check(ERKStepSetFixedStepBounds(memory, 1, 1), "SetFixedStepBounds");
    check(ERKStepSetInterpolantDegree(memory, 1), "SetInterpolantDegree");
    check(ERKStepSetMaxNumSteps(memory, 100000000), "SetMaxNumSteps");
    // A step hook makes ERKStep evaluate f afresh after each step: it mistakes the last stage of some pairs for that.
    if (table == ARKODE_HEUN_EULER_2_1_2 || table == ARKODE_VERNER_8_5_6 || table == ARKODE_FEHLBERG_13_7_8)
        check(ERKStepSetPostprocessStepFn(memory, [](double, N_Vector, void*) { return 0; }), "SetPostprocessStepFn");
    check(ERKStepSetStopTime(memory, p.end), "SetStopTime");
    check(ERKStepEvolve(memory, p.end, y, &t, ARK_NORMAL), "Evolve");
    result.evaluations = static_cast<double>(user.evaluations);
    ERKStepFree(&memory);
    N_VDestroy(y);
    SUNContext_Free(&context);
    return result;
}

std::vector<problem> make_problems() {
    std::vector<problem> all;
    const double pi = std::acos(-1);
    all.push_back({"oscillator",
                   {1, 0},
                   20,
                   [](double, const double* x, double, double* dx) {
                       dx[0] = x[1];
                       dx[1] = -x[0];
                   },
                   {std::cos(20), -std::sin(20)}});
    const auto central = [](double, const double* x, double, double* dx) {
        const double r = std::hypot(x[0], x[1]), r3 = r * r * r;
        dx[0] = x[2];
        dx[1] = x[3];
        dx[2] = -x[0] / r3;
        dx[3] = -x[1] / r3;
    };
    const double e = 0.5;
    const std::vector<double> perihelion{1 - e, 0, 0, std::sqrt((1 + e) / (1 - e))};
    all.push_back({"Kepler, e = 0.5", perihelion, 6 * pi, central, perihelion});
    all.push_back({"Arenstorf orbit",
                   {0.994, 0, 0, -2.00158510637908252240537862224},
                   17.0652165601579625588917206249,
                   [](double, const double* x, double, double* dx) {
                       constexpr double m = 0.012277471, l = 1 - m;
                       const double a = std::hypot(x[0] + m, x[1]), b = std::hypot(x[0] - l, x[1]);
                       const double d1 = a * a * a, d2 = b * b * b;
                       dx[0] = x[2];
                       dx[1] = x[3];
                       dx[2] = x[0] + 2 * x[3] - l * (x[0] + m) / d1 - m * (x[0] - l) / d2;
                       dx[3] = x[1] - 2 * x[2] - l * x[1] / d1 - m * x[1] / d2;
                   }});
    all.push_back({"van der Pol, mu = 2", {2, 0}, 20, [](double, const double* x, double, double* dx) {
                       dx[0] = x[1];
                       dx[1] = 2 * (1 - x[0] * x[0]) * x[1] - x[0];
                   }});
    all.push_back({"Lorenz", {1, 1, 1}, 5, [](double, const double* x, double, double* dx) {
                       dx[0] = 10 * (x[1] - x[0]);
                       dx[1] = x[0] * (28 - x[2]) - x[1];
                       dx[2] = x[0] * x[1] - 8.0 / 3 * x[2];
                   }});
    const double w = std::sqrt(1 - 0.01);
    all.push_back(
        {"linear, damped",
         {1, 0},
         20,
         [](double, const double* x, double, double* dx) {
             dx[0] = x[1];
             dx[1] = -0.2 * x[1] - x[0];
         },
         {std::exp(-2.0) * (std::cos(20 * w) + 0.1 / w * std::sin(20 * w)), -std::exp(-2.0) / w * std::sin(20 * w)}});
    polynomial cubic;
    cubic.c = {0, 0.5, -0.12, 0.007};
    cubic.degree = 3;
    all.push_back({"forced by a polynomial",
                   {0, 0},
                   10,
                   [](double, const double* x, double u, double* dx) {
                       dx[0] = x[1];
                       dx[1] = -0.1 * x[1] - x[0] * (1 + x[0] * x[0]) + u;
                   },
                   {},
                   cubic});
    all.push_back({"Pleiades",
                   {3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4, 0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0},
                   3,
                   [](double, const double* x, double, double* dx) {
                       const double *y = x + 7, *v = x + 14;
                       std::copy_n(v, 14, dx);
                       for (int i = 0; i < 7; ++i) {
                           dx[14 + i] = dx[21 + i] = 0;
                           for (int j = 0; j < 7; ++j) {
                               if (i == j) continue;
                               const double r2 = (x[i] - x[j]) * (x[i] - x[j]) + (y[i] - y[j]) * (y[i] - y[j]);
                               const double g = (j + 1) / (r2 * std::sqrt(r2));
                               dx[14 + i] += g * (x[j] - x[i]);
                               dx[21 + i] += g * (y[j] - y[i]);
                           }
                       }
                   }});
    all.push_back({"Brusselator", {1.5, 3}, 20, [](double, const double* x, double, double* dx) {
                       dx[0] = 1 + x[0] * x[0] * x[1] - 4 * x[0];
                       dx[1] = 3 * x[0] - x[0] * x[0] * x[1];
                   }});
    all.push_back({"rigid body", {0, 1, 1}, 20, [](double, const double* x, double, double* dx) {
                       dx[0] = x[1] * x[2];
                       dx[1] = -x[0] * x[2];
                       dx[2] = -0.51 * x[0] * x[1];
                   }});
    all.push_back({"pendulum", {2.5, 0}, 20, [](double, const double* x, double, double* dx) {
                       dx[0] = x[1];
                       dx[1] = -std::sin(x[0]);
                   }});
    return all;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return std::sqrt(sum / std::max(size, 1e-300));
}

struct point {
    double error, evaluations;
};

/// Evaluations for an error, from the two neighbours on the curve; NaN outside.
double evaluations_for(const std::vector<point>& curve, double error) {
    for (std::size_t i = 0; i + 1 < curve.size(); ++i) {
        const auto &a = curve[i], &b = curve[i + 1];
        if (!(a.error >= error && error > b.error)) continue;
        const double part = std::log(a.error / error) / std::log(a.error / b.error);
        return std::exp(std::log(a.evaluations) + part * std::log(b.evaluations / a.evaluations));
    }
    return NAN;
}

double middle(std::vector<double> values) {
    std::erase_if(values, [](double x) { return !std::isfinite(x); });
    if (values.empty()) return NAN;
    std::ranges::sort(values);
    return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    const bool all = argc > 1 && std::strcmp(argv[1], "--all") == 0;
    struct pair {
        const char* name;
        ARKODE_ERKTableID table;
        int order;
    };
    const pair pairs[] = {{"erk-2", ARKODE_HEUN_EULER_2_1_2, 2}, {"erk-3", ARKODE_BOGACKI_SHAMPINE_4_2_3, 3},
                          {"erk-4", ARKODE_ZONNEVELD_5_3_4, 4},  {"erk-5", ARKODE_DORMAND_PRINCE_7_4_5, 5},
                          {"erk-6", ARKODE_VERNER_8_5_6, 6},     {"erk-8", ARKODE_FEHLBERG_13_7_8, 8}};
    auto problems = make_problems();
    for (auto& p : problems) {
        if (!p.exact.empty()) continue;
        p.exact = arkode(p, ARKODE_FEHLBERG_13_7_8, 1e-14).x;
        if (all)
            fmt::print("{}: references of ARKODE's erk-8 and of ours differ by {:.1e}\n", p.name,
                       distance(p.exact, ours(p, "erk-8", 1e-14).x));
    }
    fmt::print(
        "Over ARKODE's, medians over tolerances, largest in brackets: error and evaluations at equal tolerance,\n"
        "evaluations at equal error\n\n");
    for (const auto& pair : pairs) {
        fmt::print("{:28}{:>20}{:>20}{:>20}\n", pair.name, "error", "evaluations", "at equal error");
        std::vector<double> every_error, every_work, every_equal;
        for (const auto& p : problems) {
            std::vector<point> mine, theirs;
            for (int digits = 3; digits <= (pair.order == 2 ? 7 : pair.order <= 4 ? 9 : 13); ++digits) {
                const double tolerance = std::pow(10, -digits);
                const auto a = ours(p, pair.name, tolerance), b = arkode(p, pair.table, tolerance);
                mine.push_back({distance(a.x, p.exact), a.evaluations});
                theirs.push_back({distance(b.x, p.exact), b.evaluations});
                if (all)
                    fmt::print("    {:24} 1e-{:<4} {:9.2e} {:9.0f}   {:9.2e} {:9.0f}\n", p.name, digits,
                               mine.back().error, mine.back().evaluations, theirs.back().error,
                               theirs.back().evaluations);
            }
            std::vector<double> error, work, equal;
            for (std::size_t i = 0; i < mine.size(); ++i) {
                error.push_back(mine[i].error / theirs[i].error);
                work.push_back(mine[i].evaluations / theirs[i].evaluations);
                equal.push_back(mine[i].evaluations / evaluations_for(theirs, mine[i].error));
            }
            const auto cell = [](std::vector<double>& values, std::vector<double>& every) {
                every.insert(every.end(), values.begin(), values.end());
                std::vector<double> finite = values;
                std::erase_if(finite, [](double x) { return !std::isfinite(x); });
                return fmt::format("{:.2f} ({:.2f})", middle(values), finite.empty() ? NAN : std::ranges::max(finite));
            };
            fmt::print("    {:24}{:>20}{:>20}{:>20}\n", p.name, cell(error, every_error), cell(work, every_work),
                       cell(equal, every_equal));
        }
        fmt::print("    {:24}{:>20.2f}{:>20.2f}{:>20.2f}\n\n", "median of all", middle(every_error), middle(every_work),
                   middle(every_equal));
    }
}

#include <arkode/arkode_arkstep.h>

#include <cmath>
#include <cstdlib>

#include "core/error.hpp"
#include "subsystem/solvers/interval.hpp"
#include "subsystem/solvers/sundials_solver.hpp"

/// Diagonally implicit Runge-Kutta pairs of ARKODE (dirk-2 to dirk-5),
///     z_i = x_n + h sum_{j<=i} a_ij f(t_n + c_j h, z_j),   x_{n+1} = x_n + h sum_j b_j f(t_n + c_j h, z_j),
/// error estimate h sum_j (b_j - b*_j) f_j with the embedded b* of order p; the next step is
///     h 0.9 |error|^(-1/(p+1)),  at most 10 times the last one.
/// This controller has no memory, so that (x, t, h) is the whole state of the solver. Sources of the pairs: the solver
/// list below; Kennedy, Carpenter, NASA/TM-2016-219173.
namespace mdpcosim {

namespace {

struct dirk_info {
    const char* name;
    const char* summary;
    ARKODE_DIRKTableID table;
};

/// Only pairs with 0 <= c_i <= 1: nobody knows the inputs beyond the macro step.
constexpr dirk_info dirk_pairs[] = {
    {"dirk-2", "SDIRK 2(1), adaptive, implicit, A-stable", ARKODE_SDIRK_2_1_2},
    {"dirk-3", "Kennedy-Carpenter ESDIRK3(2)5L[2]SA, adaptive, implicit, L-stable", ARKODE_ESDIRK325L2SA_5_2_3},
    {"dirk-4", "Kennedy-Carpenter ESDIRK4(3)I6L[2]SA, adaptive, implicit, L-stable", ARKODE_ESDIRK43I6L2SA_6_3_4},
    {"dirk-5", "Kennedy-Carpenter ESDIRK5(4)7L[2]SA2, adaptive, implicit, L-stable", ARKODE_ESDIRK547L2SA2_7_4_5},
};

class arkode_solver final : public sundials_solver {
   public:
    arkode_solver(const dirk_info& pair, const sundials_options& options)
        : sundials_solver(pair.name, options), table_(pair.table) {}
    ~arkode_solver() override {
        if (memory_) ARKStepFree(&memory_);
    }

    std::string why_not(const equations& model) const override {
        const std::string reason = sundials_solver::why_not(model);
        return reason.empty() ? why_not_linear(options_.linear, model) : reason;
    }

    bool chooses_step() const override { return true; }
    double next_step() const override { return remembered_.size; }

   private:
    void create(double t0) override;
    void set_up_newton();
    void start(double t) override;
    int run(double stop, double limit, double& t) override;
    void find_roots(int* found) override { check(ARKStepGetRootInfo(memory_, found), "ARKStepGetRootInfo"); }
    std::string flag_name(int flag) const override;
    subsystem_statistics counters() const override;

    static int adapt(N_Vector, double t, double h, double, double, double e, double, double, int, int p, double* next,
                     void* self) {
        if (!(e <= 1) && h <= time_resolution(t)) return -1;  // a smaller step would not move the time any more
        // ARKODE bounds the growth once more, and more tightly after a failure.
        *next = static_cast<arkode_solver*>(self)->control(h, e, p + 1);
        return 0;
    }

    ARKODE_DIRKTableID table_;
    void* memory_ = nullptr;
};

void arkode_solver::create(double t0) {
    memory_ = ARKStepCreate(nullptr, right_hand_side, t0, y_.get(), context_.get());
    if (!memory_) throw run_error(name_ + ": ARKStepCreate failed");
    check(ARKStepSetErrHandlerFn(memory_, discard_message, nullptr), "ARKStepSetErrHandlerFn");
    check(ARKStepSetTableNum(memory_, table_, ARKODE_ERK_NONE), "ARKStepSetTableNum");
    set_up_newton();
    check(ARKStepSetUserData(memory_, static_cast<sundials_solver*>(this)), "ARKStepSetUserData");
    if (const vector_handle atol = absolute_tolerances())
        check(ARKStepSVtolerances(memory_, options_.rtol, atol.get()), "ARKStepSVtolerances");
    else
        check(ARKStepSStolerances(memory_, options_.rtol, options_.atol), "ARKStepSStolerances");
    check(ARKStepSetAdaptivityFn(memory_, adapt, this), "ARKStepSetAdaptivityFn");
    // control() has its own safety factor; 1 is refused
    check(ARKStepSetSafetyFactor(memory_, 1.0 - 1e-12), "ARKStepSetSafetyFactor");
    check(ARKStepSetErrorBias(memory_, 1.0), "ARKStepSetErrorBias");
    check(ARKStepSetMaxGrowth(memory_, remembered_step::most_growth), "ARKStepSetMaxGrowth");
    check(ARKStepSetMaxFirstGrowth(memory_, remembered_step::most_growth), "ARKStepSetMaxFirstGrowth");
    check(ARKStepSetFixedStepBounds(memory_, 1.0, 1.2), "ARKStepSetFixedStepBounds");
    check(ARKStepSetMaxErrTestFails(memory_, 25), "ARKStepSetMaxErrTestFails");
    if (options_.max_step > 0) check(ARKStepSetMaxStep(memory_, options_.max_step), "ARKStepSetMaxStep");
    if (event_count() > 0) {
        check(ARKStepRootInit(memory_, static_cast<int>(event_count()), indicators), "ARKStepRootInit");
        check(ARKStepSetNoInactiveRootWarn(memory_), "ARKStepSetNoInactiveRootWarn");
    } else {
        // Without roots nobody looks between the steps, and higher interpolants cost evaluations at every stop.
        check(ARKStepSetInterpolantDegree(memory_, 1), "ARKStepSetInterpolantDegree");
    }
}

void arkode_solver::set_up_newton() {
    prepare_newton();
    check(ARKStepSetLinearSolver(memory_, newton_->linear_solver(), newton_->matrix()), "ARKStepSetLinearSolver");
    const auto system = [](double t, N_Vector y, N_Vector fy, SUNMatrix A, SUNMatrix, int reuse, int* fresh,
                           double gamma, void* self, N_Vector, N_Vector, N_Vector) {
        *fresh = reuse ? SUNFALSE : SUNTRUE;
        return static_cast<arkode_solver*>(static_cast<sundials_solver*>(self))
            ->linear_system(t, y, fy, A, reuse != 0, 1, gamma);
    };
    check(ARKStepSetLinSysFn(memory_, system), "ARKStepSetLinSysFn");
    check(ARKStepSetMaxConvFails(memory_, 25), "ARKStepSetMaxConvFails");
    // f at a stage from the stage equation: evaluated anew, the rest of Newton's error would grow by h times the
    // stiffness.
    check(ARKStepSetDeduceImplicitRhs(memory_, SUNTRUE), "ARKStepSetDeduceImplicitRhs");
    // Between two factorisations Newton trusts its old convergence rate and may stop an iteration too early, which the
    // error estimate does not see: factor in every step, with an older Jacobian where it still converges.
    check(ARKStepSetLSetupFrequency(memory_, 1), "ARKStepSetLSetupFrequency");
    check(ARKStepSetJacEvalFrequency(memory_, 20), "ARKStepSetJacEvalFrequency");
}

void arkode_solver::start(double t) {
    check(ARKStepReset(memory_, t, y_.get()), "ARKStepReset");
    check(ARKStepSetInitStep(memory_, remembered_.size), "ARKStepSetInitStep");  // also forgets the error history
}

int arkode_solver::run(double stop, double limit, double& t) {
    check(ARKStepSetStopTime(memory_, limit), "ARKStepSetStopTime");
    check(ARKStepSetMaxNumSteps(memory_, static_cast<long>(steps_left(t))), "ARKStepSetMaxNumSteps");
    return ARKStepEvolve(memory_, stop, y_.get(), &t, one_micro_step() ? ARK_ONE_STEP : ARK_NORMAL);
}

std::string arkode_solver::flag_name(int flag) const {
    char* text = ARKStepGetReturnFlagName(flag);
    std::string name = text ? text : "unknown";
    std::free(text);
    return name;
}

subsystem_statistics arkode_solver::counters() const {
    long steps = 0, attempts = 0, iterations = 0, setups = 0;
    check(ARKStepGetNumSteps(memory_, &steps), "ARKStepGetNumSteps");
    check(ARKStepGetNumStepAttempts(memory_, &attempts), "ARKStepGetNumStepAttempts");
    check(ARKStepGetNumNonlinSolvIters(memory_, &iterations), "ARKStepGetNumNonlinSolvIters");
    check(ARKStepGetNumLinSolvSetups(memory_, &setups), "ARKStepGetNumLinSolvSetups");
    return {
        .micro_steps = steps, .rejected = attempts - steps, .newton_iterations = iterations, .factorisations = setups};
}

const bool registered = [] {
    for (const auto& pair : dirk_pairs)
        solver_registry::instance().add(
            {pair.name, pair.summary, newton_option_list(), [&pair](const parameter_values& values) {
                 return std::make_unique<arkode_solver>(pair, read_newton_options(values));
             }});
    return true;
}();

}  // namespace

}  // namespace mdpcosim

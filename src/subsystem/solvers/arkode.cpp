#include <arkode/arkode_arkstep.h>
#include <arkode/arkode_erkstep.h>

#include <cmath>
#include <cstdlib>

#include "core/error.hpp"
#include "subsystem/solvers/interval.hpp"
#include "subsystem/solvers/sundials_solver.hpp"

/// Embedded Runge-Kutta pairs of ARKODE: explicit (erk-2 to erk-8) and diagonally implicit (dirk-2 to dirk-5),
///     z_i = x_n + h sum_j a_ij f(t_n + c_j h, z_j),   x_{n+1} = x_n + h sum_j b_j f(t_n + c_j h, z_j),
/// error estimate h sum_j (b_j - b*_j) f_j with the embedded b* of order p; the next step is
///     h 0.9 |error|^(-1/(p+1)),  at most 10 times the last one.
/// This controller has no memory, so that (x, t, h) is the whole state of the solver. Sources of the pairs: the solver
/// list below; Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, II.4-5; Kennedy, Carpenter,
/// NASA/TM-2016-219173.
namespace mdpcosim {

namespace {

struct pair_info {
    const char* name;
    const char* summary;
    ARKODE_ERKTableID erk = ARKODE_ERK_NONE;
    ARKODE_DIRKTableID dirk = ARKODE_DIRK_NONE;
    int p = 0;  ///< order of the embedded method
    /// The last stage is at t_n + h but is not f(t_{n+1}, x_{n+1}); SUNDIALS 6.4 mistakes it for that.
    bool last_stage_misleads = false;
};

constexpr int interpolated_order = 4;  ///< embedded order up to which ARKODE's interpolant is as good as the steps

/// Only pairs with 0 <= c_i <= 1: nobody knows the inputs beyond the macro step.
constexpr pair_info pairs[] = {
    {"erk-2", "Heun-Euler 2(1), adaptive", ARKODE_HEUN_EULER_2_1_2, ARKODE_DIRK_NONE, 1, true},
    {"erk-3", "Bogacki-Shampine 3(2), adaptive", ARKODE_BOGACKI_SHAMPINE_4_2_3, ARKODE_DIRK_NONE, 2, false},
    {"erk-4", "Zonneveld 4(3), adaptive", ARKODE_ZONNEVELD_5_3_4, ARKODE_DIRK_NONE, 3, false},
    {"erk-5", "Dormand-Prince 5(4), adaptive", ARKODE_DORMAND_PRINCE_7_4_5, ARKODE_DIRK_NONE, 4, false},
    {"erk-6", "Verner 6(5), adaptive", ARKODE_VERNER_8_5_6, ARKODE_DIRK_NONE, 5, true},
    {"erk-8", "Fehlberg 8(7), adaptive", ARKODE_FEHLBERG_13_7_8, ARKODE_DIRK_NONE, 7, true},
    {"dirk-2", "SDIRK 2(1), adaptive, implicit, A-stable", ARKODE_ERK_NONE, ARKODE_SDIRK_2_1_2, 1, false},
    {"dirk-3", "Kennedy-Carpenter ESDIRK3(2)5L[2]SA, adaptive, implicit, L-stable", ARKODE_ERK_NONE,
     ARKODE_ESDIRK325L2SA_5_2_3, 2, false},
    {"dirk-4", "Kennedy-Carpenter ESDIRK4(3)I6L[2]SA, adaptive, implicit, L-stable", ARKODE_ERK_NONE,
     ARKODE_ESDIRK43I6L2SA_6_3_4, 3, false},
    {"dirk-5", "Kennedy-Carpenter ESDIRK5(4)7L[2]SA2, adaptive, implicit, L-stable", ARKODE_ERK_NONE,
     ARKODE_ESDIRK547L2SA2_7_4_5, 4, false},
};

/// ERKStep and ARKStep have the same calls under different names.
struct stepper_calls {
    int (*reset)(void*, double, N_Vector);
    int (*evolve)(void*, double, N_Vector, double*, int);
    int (*set_stop_time)(void*, double);
    int (*set_initial_step)(void*, double);
    int (*set_max_steps)(void*, long);
    int (*set_max_step)(void*, double);
    int (*set_tolerances)(void*, double, double);
    int (*set_state_tolerances)(void*, double, N_Vector);
    int (*set_user_data)(void*, void*);
    int (*set_error_handler)(void*, ARKErrHandlerFn, void*);
    int (*set_adaptivity)(void*, ARKAdaptFn, void*);
    int (*set_safety)(void*, double);
    int (*set_bias)(void*, double);
    int (*set_max_growth)(void*, double);
    int (*set_max_first_growth)(void*, double);
    int (*set_step_bounds)(void*, double, double);
    int (*set_max_failures)(void*, int);
    int (*set_interpolant_degree)(void*, int);
    int (*set_no_inactive_warning)(void*);
    int (*root_init)(void*, int, ARKRootFn);
    int (*root_info)(void*, int*);
    int (*steps)(void*, long*);
    int (*attempts)(void*, long*);
    void (*free)(void**);
};

constexpr stepper_calls erk_calls{ERKStepReset,
                                  ERKStepEvolve,
                                  ERKStepSetStopTime,
                                  ERKStepSetInitStep,
                                  ERKStepSetMaxNumSteps,
                                  ERKStepSetMaxStep,
                                  ERKStepSStolerances,
                                  ERKStepSVtolerances,
                                  ERKStepSetUserData,
                                  ERKStepSetErrHandlerFn,
                                  ERKStepSetAdaptivityFn,
                                  ERKStepSetSafetyFactor,
                                  ERKStepSetErrorBias,
                                  ERKStepSetMaxGrowth,
                                  ERKStepSetMaxFirstGrowth,
                                  ERKStepSetFixedStepBounds,
                                  ERKStepSetMaxErrTestFails,
                                  ERKStepSetInterpolantDegree,
                                  ERKStepSetNoInactiveRootWarn,
                                  ERKStepRootInit,
                                  ERKStepGetRootInfo,
                                  ERKStepGetNumSteps,
                                  ERKStepGetNumStepAttempts,
                                  ERKStepFree};

constexpr stepper_calls ark_calls{ARKStepReset,
                                  ARKStepEvolve,
                                  ARKStepSetStopTime,
                                  ARKStepSetInitStep,
                                  ARKStepSetMaxNumSteps,
                                  ARKStepSetMaxStep,
                                  ARKStepSStolerances,
                                  ARKStepSVtolerances,
                                  ARKStepSetUserData,
                                  ARKStepSetErrHandlerFn,
                                  ARKStepSetAdaptivityFn,
                                  ARKStepSetSafetyFactor,
                                  ARKStepSetErrorBias,
                                  ARKStepSetMaxGrowth,
                                  ARKStepSetMaxFirstGrowth,
                                  ARKStepSetFixedStepBounds,
                                  ARKStepSetMaxErrTestFails,
                                  ARKStepSetInterpolantDegree,
                                  ARKStepSetNoInactiveRootWarn,
                                  ARKStepRootInit,
                                  ARKStepGetRootInfo,
                                  ARKStepGetNumSteps,
                                  ARKStepGetNumStepAttempts,
                                  ARKStepFree};

class arkode_solver final : public sundials_solver {
   public:
    arkode_solver(const pair_info& pair, const sundials_options& options)
        : sundials_solver(pair.name, options), pair_(pair), call_(implicit() ? ark_calls : erk_calls) {}
    ~arkode_solver() override {
        if (memory_) call_.free(&memory_);
    }

    std::string why_not(const equations& model) const override {
        const std::string reason = sundials_solver::why_not(model);
        return reason.empty() && implicit() ? why_not_linear(options_.linear, model) : reason;
    }

    bool chooses_step() const override { return true; }
    double next_step() const override { return remembered_step_; }

   private:
    bool implicit() const { return pair_.dirk != ARKODE_DIRK_NONE; }
    bool passes_nan() const override { return !implicit(); }

    void create(double t0) override;
    void create_explicit(double t0);
    void create_implicit(double t0);
    void start(double t) override;
    int run(double stop, double limit, double& t) override;
    int sharpen_root(double stop, double limit, double& t);
    void find_roots(int* found) override { check(call_.root_info(memory_, found), "root_info"); }
    std::string flag_name(int flag) const override;
    subsystem_statistics counters() const override;

    static int adapt(N_Vector, double t, double h, double, double, double e, double, double, int, int p, double* next,
                     void* self) {
        if (!(e <= 1) && h <= time_resolution(t)) return -1;  // a smaller step would not move the time any more
        // ARKODE bounds the growth once more, and more tightly after a failure.
        *next = static_cast<arkode_solver*>(self)->control(h, e, p + 1);
        return 0;
    }

    const pair_info& pair_;
    const stepper_calls& call_;
    void* memory_ = nullptr;
    vector_handle start_state_;  ///< of the last start; only where roots are sharpened
    double started_ = 0;
};

void arkode_solver::create(double t0) {
    if (implicit())
        create_implicit(t0);
    else
        create_explicit(t0);
    check(call_.set_error_handler(memory_, discard_message, nullptr), "SetErrHandlerFn");
    check(call_.set_user_data(memory_, static_cast<sundials_solver*>(this)), "SetUserData");
    if (const vector_handle atol = absolute_tolerances())
        check(call_.set_state_tolerances(memory_, options_.rtol, atol.get()), "SVtolerances");
    else
        check(call_.set_tolerances(memory_, options_.rtol, options_.atol), "SStolerances");
    check(call_.set_adaptivity(memory_, adapt, this), "SetAdaptivityFn");
    check(call_.set_safety(memory_, 1.0 - 1e-12), "SetSafetyFactor");  // control() has its own; 1 is refused
    check(call_.set_bias(memory_, 1.0), "SetErrorBias");
    check(call_.set_max_growth(memory_, max_growth), "SetMaxGrowth");
    check(call_.set_max_first_growth(memory_, max_growth), "SetMaxFirstGrowth");
    check(call_.set_step_bounds(memory_, 1.0, implicit() ? 1.2 : 1.0), "SetFixedStepBounds");
    check(call_.set_max_failures(memory_, 25), "SetMaxErrTestFails");
    if (options_.max_step > 0) check(call_.set_max_step(memory_, options_.max_step), "SetMaxStep");
    if (event_count() > 0) {
        check(call_.root_init(memory_, static_cast<int>(event_count()), indicators), "RootInit");
        check(call_.set_no_inactive_warning(memory_), "SetNoInactiveRootWarn");
        if (pair_.p > interpolated_order) {
            start_state_.reset(N_VClone(y_.get()));
            if (!start_state_) throw run_error(name_ + ": no memory for the events");
        }
    } else {
        // Without roots nobody looks between the steps, and higher interpolants cost evaluations at every stop.
        check(call_.set_interpolant_degree(memory_, 1), "SetInterpolantDegree");
    }
}

void arkode_solver::create_explicit(double t0) {
    memory_ = ERKStepCreate(right_hand_side, t0, y_.get(), context_.get());
    if (!memory_) throw run_error(name_ + ": ERKStepCreate failed");
    check(ERKStepSetTableNum(memory_, pair_.erk), "ERKStepSetTableNum");
    // A step hook makes ERKStep evaluate f afresh after each step.
    if (pair_.last_stage_misleads)
        check(ERKStepSetPostprocessStepFn(memory_, [](double, N_Vector, void*) { return 0; }),
              "ERKStepSetPostprocessStepFn");
}

void arkode_solver::create_implicit(double t0) {
    memory_ = ARKStepCreate(nullptr, right_hand_side, t0, y_.get(), context_.get());
    if (!memory_) throw run_error(name_ + ": ARKStepCreate failed");
    check(ARKStepSetTableNum(memory_, pair_.dirk, ARKODE_ERK_NONE), "ARKStepSetTableNum");
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
    if (start_state_) {
        N_VScale(1, y_.get(), start_state_.get());
        started_ = t;
    }
    check(call_.reset(memory_, t, y_.get()), "Reset");
    check(call_.set_initial_step(memory_, remembered_step_), "SetInitStep");  // also forgets the error history
}

int arkode_solver::run(double stop, double limit, double& t) {
    check(call_.set_stop_time(memory_, limit), "SetStopTime");
    check(call_.set_max_steps(memory_, static_cast<long>(steps_left(t))), "SetMaxNumSteps");
    const int flag = call_.evolve(memory_, stop, y_.get(), &t, one_micro_step() ? ARK_ONE_STEP : ARK_NORMAL);
    return flag == ARK_ROOT_RETURN && pair_.p > interpolated_order ? sharpen_root(stop, limit, t) : flag;
}

/// The state at a root comes from ARKODE's interpolant of degree 5, whose error over the long steps of a high order is far
/// above the tolerance. The step is taken again so that it ends just behind the root: near the ends of a step the
/// interpolant is as good as the step itself.
int arkode_solver::sharpen_root(double stop, double limit, double& t) {
    constexpr double near = 1e-3;
    for (int attempt = 0; attempt < 5; ++attempt) {
        double h = 0, end = 0;
        check(ERKStepGetLastStep(memory_, &h), "GetLastStep");
        check(ERKStepGetCurrentTime(memory_, &end), "GetCurrentTime");
        double begin = end - h;
        const bool first = std::fabs(begin - started_) <= time_resolution(end);
        if (first) begin = started_;
        if (end - t <= near * h || t - begin <= near * h) break;
        // At an event the indicator is a rounding error on the side where it was put: only the very same state finds it there.
        if (first)
            N_VScale(1, start_state_.get(), y_.get());
        else
            check(ERKStepGetDky(memory_, begin, 0, y_.get()), "GetDky");
        check(call_.reset(memory_, begin, y_.get()), "Reset");
        check(call_.set_initial_step(memory_, t - begin + near / 2 * h), "SetInitStep");
        check(call_.set_stop_time(memory_, limit), "SetStopTime");
        t = begin;
        const int flag = call_.evolve(memory_, stop, y_.get(), &t, one_micro_step() ? ARK_ONE_STEP : ARK_NORMAL);
        if (flag != ARK_ROOT_RETURN) return flag;
    }
    return ARK_ROOT_RETURN;
}

std::string arkode_solver::flag_name(int flag) const {
    char* text = ARKStepGetReturnFlagName(flag);  // the names are those of ERKStep too
    std::string name = text ? text : "unknown";
    std::free(text);
    return name;
}

subsystem_statistics arkode_solver::counters() const {
    long steps = 0, attempts = 0;
    check(call_.steps(memory_, &steps), "GetNumSteps");
    check(call_.attempts(memory_, &attempts), "GetNumStepAttempts");
    subsystem_statistics now{.micro_steps = steps, .rejected = attempts - steps};
    if (implicit()) {
        long iterations = 0, setups = 0;
        check(ARKStepGetNumNonlinSolvIters(memory_, &iterations), "ARKStepGetNumNonlinSolvIters");
        check(ARKStepGetNumLinSolvSetups(memory_, &setups), "ARKStepGetNumLinSolvSetups");
        now.newton_iterations = iterations;
        now.factorisations = setups;
    }
    return now;
}

const bool registered = [] {
    for (const auto& pair : pairs) {
        const bool implicit = pair.dirk != ARKODE_DIRK_NONE;
        solver_registry::instance().add(
            {pair.name, pair.summary, implicit ? newton_option_list() : sundials_option_list(),
             [&pair, implicit](const parameter_values& values) {
                 return std::make_unique<arkode_solver>(
                     pair, implicit ? read_newton_options(values) : read_sundials_options(values));
             }});
    }
    return true;
}();

}  // namespace

}  // namespace mdpcosim

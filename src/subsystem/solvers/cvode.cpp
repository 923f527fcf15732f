#include <cvode/cvode.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <algorithm>
#include <cstdlib>

#include "core/error.hpp"
#include "subsystem/solvers/sundials_solver.hpp"

/// The multistep methods of CVODE, variable in order and step:
///     sum_{i=0..K1} alpha_{n,i} x_{n-i} + h_n sum_{i=0..K2} beta_{n,i} f(t_{n-i}, x_{n-i}) = 0.
/// cvode-adams: Adams-Moulton, orders 1 to 12, fixed-point iteration, for non-stiff models.
/// cvode-bdf: backward differentiation, orders 1 to 5, Newton iteration, for stiff models.
/// The history lives on across macro steps as long as the jump of f with the inputs stays within the tolerance over one
/// micro step; the error estimate of a high order does not see larger ones. With `restart: yes` each macro step starts
/// anew at order 1, with the step size that order 1 took last time, and the solver can be saved.
/// With `stop: over` the integrator is not disturbed by the macro points: micro steps of at most H run over the end of the
/// macro step, where the state is interpolated with the method's own polynomial, and it goes on from there in the next
/// macro step with the new inputs. The piece between the macro point and the end of the micro step is integrated with the
/// old input polynomial, extrapolated; this adds an error of the size of the inputs' jump times that piece (at most H).
/// Kraft, Meyer, Schweizer: Efficiency of Different Co-Simulation Approaches, 3.2.
/// Hindmarsh et al., SUNDIALS, ACM Transactions on Mathematical Software 31 (2005); Hairer, Norsett, Wanner I, III.5-7.
namespace mdpcosim {

namespace {

inline void free_nonlinear_solver(SUNNonlinearSolver object) { SUNNonlinSolFree(object); }
using nonlinear_solver_handle =
    std::unique_ptr<SUNNonlinearSolver, sundials_deleter<SUNNonlinearSolver, free_nonlinear_solver>>;

class cvode_solver final : public sundials_solver {
   public:
    cvode_solver(int method, const sundials_options& options)
        : sundials_solver(method == CV_BDF ? "cvode-bdf" : "cvode-adams", options), method_(method) {}
    ~cvode_solver() override {
        if (memory_) CVodeFree(&memory_);
    }

    std::string why_not(const equations& model) const override {
        std::string reason = sundials_solver::why_not(model);
        if (reason.empty()) reason = why_not_over(model);
        return reason.empty() && method_ == CV_BDF ? why_not_linear(options_.linear, model) : reason;
    }
    bool saves() const override { return options_.restart; }
    std::string why_not_saved() const override { return why_multistep_not_saved(); }

   private:
    bool restarts(double t, const double* u_before, const double* u_after) override;
    void create(double t0) override;
    void start(double t) override;
    int run(double stop, double limit, double& t) override;
    void learn_first_step();
    void find_roots(int* found) override { check(CVodeGetRootInfo(memory_, found), "CVodeGetRootInfo"); }
    std::string flag_name(int flag) const override;
    subsystem_statistics counters() const override;

    int method_;
    bool first_step_ = true;
    void* memory_ = nullptr;
    vector_handle error_, weight_, scratch_;
    nonlinear_solver_handle iteration_;
    subsystem_statistics before_;  ///< counted before the last restart
};

void cvode_solver::create(double t0) {
    memory_ = CVodeCreate(method_, context_.get());
    if (!memory_) throw run_error(name_ + ": CVodeCreate failed");
    check(CVodeSetErrHandlerFn(memory_, discard_message, nullptr), "CVodeSetErrHandlerFn");
    check(CVodeInit(memory_, right_hand_side, t0, y_.get()), "CVodeInit");
    check(CVodeSetUserData(memory_, static_cast<sundials_solver*>(this)), "CVodeSetUserData");
    if (const vector_handle atol = absolute_tolerances())
        check(CVodeSVtolerances(memory_, options_.rtol, atol.get()), "CVodeSVtolerances");
    else
        check(CVodeSStolerances(memory_, options_.rtol, options_.atol), "CVodeSStolerances");
    check(CVodeSetMaxErrTestFails(memory_, 25), "CVodeSetMaxErrTestFails");
    check(CVodeSetMaxConvFails(memory_, 25), "CVodeSetMaxConvFails");
    if (options_.max_step > 0) check(CVodeSetMaxStep(memory_, options_.max_step), "CVodeSetMaxStep");
    if (method_ == CV_BDF) {
        prepare_newton();
        check(CVodeSetLinearSolver(memory_, newton_->linear_solver(), newton_->matrix()), "CVodeSetLinearSolver");
        const auto system = [](double t, N_Vector y, N_Vector fy, SUNMatrix A, int reuse, int* fresh, double gamma,
                               void* self, N_Vector, N_Vector, N_Vector) {
            *fresh = reuse ? SUNFALSE : SUNTRUE;
            return static_cast<cvode_solver*>(static_cast<sundials_solver*>(self))
                ->linear_system(t, y, fy, A, reuse != 0, 1, gamma);
        };
        check(CVodeSetLinSysFn(memory_, system), "CVodeSetLinSysFn");
    } else {
        iteration_.reset(SUNNonlinSol_FixedPoint(y_.get(), 0, context_.get()));
        check(CVodeSetNonlinearSolver(memory_, iteration_.get()), "CVodeSetNonlinearSolver");
    }
    if (event_count() > 0) {
        check(CVodeRootInit(memory_, static_cast<int>(event_count()), indicators), "CVodeRootInit");
        check(CVodeSetNoInactiveRootWarn(memory_), "CVodeSetNoInactiveRootWarn");
    }
    error_.reset(N_VClone(y_.get()));
    weight_.reset(N_VClone(y_.get()));
    scratch_.reset(N_VClone(y_.get()));
    if (!error_ || !weight_ || !scratch_) throw run_error(name_ + ": no memory for the error estimate");
}

void cvode_solver::start(double t) {
    before_ = counters();
    check(CVodeReInit(memory_, t, y_.get()), "CVodeReInit");
    check(CVodeSetInitStep(memory_, remembered_.size), "CVodeSetInitStep");
    first_step_ = true;
}

bool cvode_solver::restarts(double t, const double* u_before, const double* u_after) {
    if (options_.restart) return true;
    if (options_.over) return false;
    if (std::equal(u_before, u_before + input_count(), u_after)) return false;
    double h = 0;
    check(CVodeGetCurrentStep(memory_, &h), "CVodeGetCurrentStep");
    check(CVodeGetErrWeights(memory_, weight_.get()), "CVodeGetErrWeights");
    right_hand_side_jump(t, u_before, u_after, error_.get(), scratch_.get());
    return !(h * N_VWrmsNorm(error_.get(), weight_.get()) <= 0.5);
}

int cvode_solver::run(double stop, double limit, double& t) {
    if (options_.over) check(CVodeSetMaxStep(memory_, largest_step()), "CVodeSetMaxStep");
    check(CVodeSetStopTime(memory_, limit), "CVodeSetStopTime");
    check(CVodeSetMaxNumSteps(memory_, static_cast<long>(steps_left(t))), "CVodeSetMaxNumSteps");
    if (first_step_ && !options_.over) {
        const int flag = CVode(memory_, stop, y_.get(), &t, CV_ONE_STEP);
        if (flag < 0) return flag;
        learn_first_step();
        if (flag != CV_SUCCESS || t >= stop || one_micro_step()) return flag;
        check(CVodeSetMaxNumSteps(memory_, static_cast<long>(steps_left(t))), "CVodeSetMaxNumSteps");
    }
    return CVode(memory_, stop, y_.get(), &t, one_micro_step() ? CV_ONE_STEP : CV_NORMAL);
}

/// The first step is of order 1; the step it should have had serves the next restart.
void cvode_solver::learn_first_step() {
    first_step_ = false;
    double h = 0;
    check(CVodeGetLastStep(memory_, &h), "CVodeGetLastStep");
    check(CVodeGetEstLocalErrors(memory_, error_.get()), "CVodeGetEstLocalErrors");
    check(CVodeGetErrWeights(memory_, weight_.get()), "CVodeGetErrWeights");
    control(h, N_VWrmsNorm(error_.get(), weight_.get()), 2);
}

std::string cvode_solver::flag_name(int flag) const {
    char* text = CVodeGetReturnFlagName(flag);
    std::string name = text ? text : "unknown";
    std::free(text);
    return name;
}

subsystem_statistics cvode_solver::counters() const {
    long steps = 0, error_failures = 0, solve_failures = 0;
    check(CVodeGetNumSteps(memory_, &steps), "CVodeGetNumSteps");
    check(CVodeGetNumErrTestFails(memory_, &error_failures), "CVodeGetNumErrTestFails");
    check(CVodeGetNumStepSolveFails(memory_, &solve_failures), "CVodeGetNumStepSolveFails");
    subsystem_statistics now{.micro_steps = steps, .rejected = error_failures + solve_failures};
    if (method_ == CV_BDF) {
        long iterations = 0, setups = 0;
        check(CVodeGetNumNonlinSolvIters(memory_, &iterations), "CVodeGetNumNonlinSolvIters");
        check(CVodeGetNumLinSolvSetups(memory_, &setups), "CVodeGetNumLinSolvSetups");
        now.newton_iterations = iterations;
        now.factorisations = setups;
    }
    return now += before_;
}

std::vector<parameter_info> options(std::vector<parameter_info> list) {
    add_multistep_options(list);
    return list;
}

const solver_registration adams{
    {"cvode-adams", "Adams-Moulton, orders 1 to 12, adaptive, for non-stiff models", options(adaptive_option_list()),
     [](const parameter_values& values) {
         return std::make_unique<cvode_solver>(
             CV_ADAMS, with_multistep_options(sundials_options{read_adaptive_options(values)}, values));
     }}};
const solver_registration bdf{
    {"cvode-bdf", "backward differentiation, orders 1 to 5, adaptive, for stiff models, also large ones",
     options(newton_option_list()), [](const parameter_values& values) {
         return std::make_unique<cvode_solver>(CV_BDF, with_multistep_options(read_newton_options(values), values));
     }}};

}  // namespace

}  // namespace mdpcosim

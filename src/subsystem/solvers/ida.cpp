#include <cvode/cvode.h>
#include <fmt/format.h>
#include <ida/ida.h>

#include <algorithm>
#include <cstdlib>

#include "core/error.hpp"
#include "subsystem/solvers/algebraic_equations.hpp"
#include "subsystem/solvers/interval.hpp"
#include "subsystem/solvers/sundials_solver.hpp"

/// IDA: backward differentiation in the fixed-leading-coefficient form, orders 1 to 5, variable in order and step, for
/// M x' = f(t, x, u) with algebraic states of index 1:
///     F = M x' - f(t, x, u) = 0,   x'_n = (1/h_n) sum_{i=0..q} alpha_{n,i} x_{n-i},   A = cj M - df/dx, cj = alpha_{n,0}/h_n.
/// Algebraic states take part in the error test, as is advised for index 1. They jump with the inputs: wherever it starts the
/// solver first solves 0 = f_a for x_a (damped Newton; where that fails, IDACalcIC with its line search) and takes
/// x' from f and from how x_a moves with time. `restart` and `stop` are those of CVODE, see there; with `stop: over` it starts
/// anew only where an algebraic state jumps by more than the tolerance, which no multistep history can follow.
/// Brenan, Campbell, Petzold: Numerical Solution of Initial-Value Problems in Differential-Algebraic Equations, 5.2;
/// Hindmarsh et al., SUNDIALS, ACM Transactions on Mathematical Software 31 (2005).
namespace mdpcosim {

namespace {

class ida_solver final : public sundials_solver {
   public:
    explicit ida_solver(const sundials_options& options) : sundials_solver("ida", options) {}
    ~ida_solver() override {
        if (memory_) IDAFree(&memory_);
    }

    std::string why_not(const equations& model) const override {
        const std::string reason = why_not_over(model);
        return reason.empty() ? why_not_linear(options_.linear, model) : reason;
    }
    bool saves() const override { return options_.restart; }
    std::string why_not_saved() const override { return why_multistep_not_saved(); }
    void solve_algebraic(double t, const double* u, std::span<double> x) override;

   private:
    using outcome = algebraic_equations::outcome;

    void create(double t0) override;
    void start(double t) override;
    int run(double stop, double limit, double& t) override;
    bool restarts(double t, const double* u_before, const double* u_after) override;
    void make_consistent(double t) override;
    void find_roots(int* found) override { check(IDAGetRootInfo(memory_, found), "IDAGetRootInfo"); }
    std::string flag_name(int flag) const override;
    int common_code(int flag) const override;
    subsystem_statistics counters() const override;

    outcome solve(double t, const double* u, double* x);
    void first_rates(double t);
    void algebraic_rates(double t);
    void calculate_consistent(double t, outcome before);
    [[noreturn]] void not_consistent(double t, const std::string& reason) const;
    void learn_first_step();

    static int residual(double t, N_Vector y, N_Vector yp, N_Vector r, void* self);
    static int jacobian(double t, double cj, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix A, void* self, N_Vector f,
                        N_Vector, N_Vector);

    void* memory_ = nullptr;
    bool first_step_ = true;
    std::optional<algebraic_equations> algebraic_;
    vector_handle yp_, id_, error_, weight_, scratch_;
    subsystem_statistics before_;  ///< counted before the last restart
};

void ida_solver::create(double t0) {
    for (auto* vector : {&yp_, &id_, &error_, &weight_, &scratch_}) {
        vector->reset(N_VClone(y_.get()));
        if (!*vector) throw run_error(name_ + ": no memory for the state");
    }
    N_VConst(0, yp_.get());
    N_VConst(1, id_.get());
    for (std::size_t i = 0; i < n_; ++i)
        if (model_->is_algebraic(static_cast<int>(i))) N_VGetArrayPointer(id_.get())[i] = 0;

    memory_ = IDACreate(context_.get());
    if (!memory_) throw run_error(name_ + ": IDACreate failed");
    check(IDASetErrHandlerFn(memory_, discard_message, nullptr), "IDASetErrHandlerFn");
    check(IDAInit(memory_, residual, t0, y_.get(), yp_.get()), "IDAInit");
    check(IDASetUserData(memory_, static_cast<sundials_solver*>(this)), "IDASetUserData");
    if (const vector_handle atol = absolute_tolerances())
        check(IDASVtolerances(memory_, options_.rtol, atol.get()), "IDASVtolerances");
    else
        check(IDASStolerances(memory_, options_.rtol, options_.atol), "IDASStolerances");
    check(IDASetId(memory_, id_.get()), "IDASetId");
    check(IDASetMaxErrTestFails(memory_, 25), "IDASetMaxErrTestFails");
    check(IDASetMaxConvFails(memory_, 25), "IDASetMaxConvFails");
    if (options_.max_step > 0) check(IDASetMaxStep(memory_, options_.max_step), "IDASetMaxStep");
    prepare_newton();
    check(IDASetLinearSolver(memory_, newton_->linear_solver(), newton_->matrix()), "IDASetLinearSolver");
    check(IDASetJacFn(memory_, jacobian), "IDASetJacFn");
    if (event_count() > 0) {
        const auto roots = [](double t, N_Vector y, N_Vector, double* z, void* self) {
            return indicators(t, y, z, self);
        };
        check(IDARootInit(memory_, static_cast<int>(event_count()), roots), "IDARootInit");
        check(IDASetNoInactiveRootWarn(memory_), "IDASetNoInactiveRootWarn");
    }
    if (has_algebraic_states(*model_))
        algebraic_.emplace(*model_, options_.linear, options_.rtol, options_.atol, y_.get(), context_.get(), t0,
                           N_VGetArrayPointer(y_.get()), u_.data());
}

int ida_solver::residual(double t, N_Vector y, N_Vector yp, N_Vector r, void* self_pointer) {
    auto& self = *static_cast<ida_solver*>(static_cast<sundials_solver*>(self_pointer));
    const int flag = right_hand_side(t, y, r, self_pointer);
    if (flag != 0) return flag;
    if (self.warming_up_)
        N_VScale(1, yp, r);
    else {
        const double *M = N_VGetArrayPointer(self.id_.get()), *dx = N_VGetArrayPointer(yp);
        double* F = N_VGetArrayPointer(r);
        for (sunindextype i = 0; i < N_VGetLength(r); ++i) F[i] = M[i] * dx[i] - F[i];
    }
    return 0;
}

int ida_solver::jacobian(double t, double cj, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix A, void* self_pointer,
                         N_Vector f, N_Vector, N_Vector) {
    auto& self = *static_cast<ida_solver*>(static_cast<sundials_solver*>(self_pointer));
    N_VProd(self.id_.get(), yp, f);  // f = M x' - F, for difference quotients
    N_VLinearSum(1, f, -1, r, f);
    return self.linear_system(t, y, f, A, false, cj, 1);
}

void ida_solver::start(double t) {
    before_ = counters();
    if (!warming_up_) {
        starting_ = false;
        make_consistent(t);
        starting_ = true;
        first_rates(t);
    }
    check(IDAReInit(memory_, t, y_.get(), yp_.get()), "IDAReInit");
    check(IDASetInitStep(memory_, remembered_.size), "IDASetInitStep");
    first_step_ = true;
}

/// x' at the start.
void ida_solver::first_rates(double t) {
    failure_ = nullptr;
    if (const int flag = right_hand_side(t, y_.get(), yp_.get(), static_cast<sundials_solver*>(this)); flag != 0)
        fail(IDA_FIRST_RES_FAIL, t);
    N_VProd(id_.get(), yp_.get(), yp_.get());
    if (algebraic_) algebraic_rates(t);
}

/// How x_a moves, from a second solution a little later: with x_a' = 0 the first error test would see all of the motion.
void ida_solver::algebraic_rates(double t) {
    double* dx = N_VGetArrayPointer(yp_.get());
    const double* x = N_VGetArrayPointer(y_.get());
    double rate = 0;
    for (std::size_t i = 0; i < n_; ++i)
        rate = std::max(rate, std::fabs(dx[i]) / (options_.rtol * std::fabs(x[i]) + options_.atol));
    double h = stop_ - t;
    if (remembered_.size > 0) h = std::min(h, remembered_.size);
    if (h * rate > 1) h = 1 / rate;
    h *= 1e-3;
    if (!(h > time_resolution(t))) return;
    double* later = N_VGetArrayPointer(scratch_.get());
    for (std::size_t i = 0; i < n_; ++i) later[i] = x[i] + h * dx[i];
    input_values(inputs_, t + h - begin_, u_.data());
    if (solve(t + h, u_.data(), later) != outcome::solved) return;
    for (std::size_t i = 0; i < n_; ++i)
        if (algebraic_->which()[i]) dx[i] = (later[i] - x[i]) / h;
}

ida_solver::outcome ida_solver::solve(double t, const double* u, double* x) {
    const auto before = algebraic_->evaluations();
    const outcome result = algebraic_->solve(t, u, x);
    evaluations_ += algebraic_->evaluations() - before;
    return result;
}

void ida_solver::solve_algebraic(double t, const double* u, std::span<double> x) {
    if (!algebraic_) return;
    if (const outcome result = solve(t, u, x.data()); result != outcome::solved) not_consistent(t, explain(result));
}

void ida_solver::make_consistent(double t) {
    if (!algebraic_) return;
    input_values(inputs_, t - begin_, u_.data());
    double* x = N_VGetArrayPointer(y_.get());
    double* solved = N_VGetArrayPointer(scratch_.get());
    std::copy_n(x, n_, solved);
    const outcome result = solve(t, u_.data(), solved);
    if (result != outcome::solved) return calculate_consistent(t, result);
    std::copy_n(solved, n_, x);
}

/// From farther away IDACalcIC's line search may help.
void ida_solver::calculate_consistent(double t, outcome before) {
    if (before == outcome::singular) not_consistent(t, explain(before));
    failure_ = nullptr;
    const int evaluated = right_hand_side(t, y_.get(), yp_.get(), static_cast<sundials_solver*>(this));
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (evaluated != 0) not_consistent(t, explain(outcome::not_finite));
    N_VProd(id_.get(), yp_.get(), yp_.get());
    check(IDAReInit(memory_, t, y_.get(), yp_.get()), "IDAReInit");
    const double h = remembered_.size > 0 ? remembered_.size : stop_ > t ? 1e-3 * (stop_ - t) : 1e-6;
    const int flag = IDACalcIC(memory_, IDA_YA_YDP_INIT, t + std::max(h, 64 * time_resolution(t)));
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    if (flag < 0) not_consistent(t, fmt::format("{} (IDACalcIC: {})", explain(before), flag_name(flag)));
    check(IDAGetConsistentIC(memory_, y_.get(), yp_.get()), "IDAGetConsistentIC");
}

void ida_solver::not_consistent(double t, const std::string& reason) const {
    throw run_error(fmt::format(
        "{} at t = {:.9g}: no consistent values: the algebraic equations cannot be solved (equation of state {} "
        "has the residual {:.3g}): {}",
        name_, t, algebraic_->worst(), algebraic_->residual(), reason));
}

bool ida_solver::restarts(double t, const double* u_before, const double* u_after) {
    if (options_.restart) return true;
    if (std::equal(u_before, u_before + input_count(), u_after)) return false;
    check(IDAGetErrWeights(memory_, weight_.get()), "IDAGetErrWeights");
    double jump = 0;
    if (!options_.over) {
        double h = 0;
        check(IDAGetCurrentStep(memory_, &h), "IDAGetCurrentStep");
        right_hand_side_jump(t, u_before, u_after, error_.get(), scratch_.get());
        N_VProd(id_.get(), error_.get(), error_.get());
        jump = h * N_VWrmsNorm(error_.get(), weight_.get());
    }
    if (algebraic_) {
        const double* x = N_VGetArrayPointer(y_.get());
        double* solved = N_VGetArrayPointer(scratch_.get());
        std::copy_n(x, n_, solved);
        if (solve(t, u_after, solved) != outcome::solved) return true;
        N_VLinearSum(1, scratch_.get(), -1, y_.get(), error_.get());
        jump = std::max(jump, N_VWrmsNorm(error_.get(), weight_.get()));
    }
    return !(jump <= 0.5);
}

int ida_solver::run(double stop, double limit, double& t) {
    if (options_.over) check(IDASetMaxStep(memory_, largest_step()), "IDASetMaxStep");
    check(IDASetStopTime(memory_, limit), "IDASetStopTime");
    check(IDASetMaxNumSteps(memory_, static_cast<long>(steps_left(t))), "IDASetMaxNumSteps");
    if (first_step_ && !options_.over) {
        const int flag = IDASolve(memory_, stop, &t, y_.get(), yp_.get(), IDA_ONE_STEP);
        if (flag < 0) return flag;
        learn_first_step();
        if (flag != IDA_SUCCESS || t >= stop || one_micro_step()) return flag;
        check(IDASetMaxNumSteps(memory_, static_cast<long>(steps_left(t))), "IDASetMaxNumSteps");
    }
    return IDASolve(memory_, stop, &t, y_.get(), yp_.get(), one_micro_step() ? IDA_ONE_STEP : IDA_NORMAL);
}

/// The first step is of order 1; the step it should have had serves the next restart.
void ida_solver::learn_first_step() {
    first_step_ = false;
    double h = 0;
    check(IDAGetLastStep(memory_, &h), "IDAGetLastStep");
    check(IDAGetEstLocalErrors(memory_, error_.get()), "IDAGetEstLocalErrors");
    check(IDAGetErrWeights(memory_, weight_.get()), "IDAGetErrWeights");
    control(h, 0.5 * N_VWrmsNorm(error_.get(), weight_.get()), 2);
}

std::string ida_solver::flag_name(int flag) const {
    char* text = IDAGetReturnFlagName(flag);
    std::string name = text ? text : "unknown";
    std::free(text);
    return name;
}

int ida_solver::common_code(int flag) const {
    switch (flag) {
        case IDA_RES_FAIL:
            return CV_RHSFUNC_FAIL;
        case IDA_FIRST_RES_FAIL:
            return CV_FIRST_RHSFUNC_ERR;
        case IDA_REP_RES_ERR:
            return CV_REPTD_RHSFUNC_ERR;
        case IDA_RTFUNC_FAIL:
            return CV_RTFUNC_FAIL;
        case IDA_TOO_MUCH_WORK:
        case IDA_TOO_MUCH_ACC:
        case IDA_ERR_FAIL:
        case IDA_CONV_FAIL:
        case IDA_LINIT_FAIL:
        case IDA_LSETUP_FAIL:
        case IDA_LSOLVE_FAIL:
        case IDA_ILL_INPUT:
            return flag;  // the same numbers
        default:
            return CV_UNRECOGNIZED_ERR;
    }
}

subsystem_statistics ida_solver::counters() const {
    long steps = 0, error_failures = 0, solve_failures = 0, iterations = 0, setups = 0;
    check(IDAGetNumSteps(memory_, &steps), "IDAGetNumSteps");
    check(IDAGetNumErrTestFails(memory_, &error_failures), "IDAGetNumErrTestFails");
    check(IDAGetNumStepSolveFails(memory_, &solve_failures), "IDAGetNumStepSolveFails");
    check(IDAGetNumNonlinSolvIters(memory_, &iterations), "IDAGetNumNonlinSolvIters");
    check(IDAGetNumLinSolvSetups(memory_, &setups), "IDAGetNumLinSolvSetups");
    subsystem_statistics now{.micro_steps = steps, .rejected = error_failures + solve_failures};
    now.newton_iterations = iterations;
    now.factorisations = setups;
    return now += before_;
}

std::vector<parameter_info> options() {
    auto list = newton_option_list();
    add_multistep_options(list);
    return list;
}

const solver_registration registered{
    {"ida",
     "backward differentiation, orders 1 to 5, adaptive, for stiff and large models and algebraic variables of index 1",
     options(), [](const parameter_values& values) {
         return std::make_unique<ida_solver>(with_multistep_options(read_newton_options(values), values));
     }}};

}  // namespace

}  // namespace mdpcosim

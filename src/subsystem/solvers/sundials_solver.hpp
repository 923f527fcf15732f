#pragma once

#include <nvector/nvector_serial.h>
#include <sundials/sundials_context.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "subsystem/solver.hpp"
#include "subsystem/solvers/event_monitor.hpp"
#include "subsystem/solvers/jacobian.hpp"

/// What the SUNDIALS integrators have in common: one context each, callbacks that let no exception into C, time and
/// state events, the remembered step size, return codes turned into run_error.
///
/// A model without states gets one state with x' = 0, so that every integrator takes it.
namespace mdpcosim {

struct sundials_options {
    double rtol = 1e-6;
    double atol = 1e-9;
    std::int64_t max_steps = 100000;  ///< micro steps in one macro step
    double max_step = 0;              ///< s; 0: no limit
};

std::vector<parameter_info> sundials_option_list();
sundials_options read_sundials_options(const parameter_values& values);

template <class T, void (*destroy)(T)>
struct sundials_deleter {
    using pointer = T;
    void operator()(T object) const { destroy(object); }
};
inline void free_context(SUNContext context) {
    SUNContext_Free(&context);
}
inline void free_linear_solver(SUNLinearSolver object) {
    SUNLinSolFree(object);
}
using context_handle = std::unique_ptr<SUNContext, sundials_deleter<SUNContext, free_context>>;
using vector_handle = std::unique_ptr<N_Vector, sundials_deleter<N_Vector, N_VDestroy>>;
using matrix_handle = std::unique_ptr<SUNMatrix, sundials_deleter<SUNMatrix, SUNMatDestroy>>;
using linear_solver_handle = std::unique_ptr<SUNLinearSolver, sundials_deleter<SUNLinearSolver, free_linear_solver>>;

class sundials_solver : public solver {
public:
    sundials_solver(std::string name, const sundials_options& options) : name_(std::move(name)), options_(options) {}

    void initialise(equations& model, double t0, std::span<double> x) final;
    void integrate(double begin, double end, std::span<const polynomial> inputs, std::span<double> x) final;
    void reset(double, std::span<const double>) final { loaded_ = false; }

    std::size_t memory_size() const final { return 1 + (monitor_ ? monitor_->count() : 0); }
    void memory(std::span<double> into) const final;
    void set_memory(std::span<const double> from) final;

    subsystem_statistics statistics() const final;

protected:
    /// Makes the integrator for y(t0); called once.
    virtual void create(double t0) = 0;
    /// Restarts at (t, y) with the remembered step.
    virtual void start(double t) = 0;
    /// Integrates to `stop` or to a root; the return code, and the time reached in `t`.
    virtual int run(double stop, double& t) = 0;
    /// After a root: +1 or -1 per indicator that crossed, 0 for the others.
    virtual void find_roots(int* found) = 0;
    virtual std::string flag_name(int flag) const = 0;
    /// Micro steps and rejected attempts of the integrator so far.
    virtual subsystem_statistics counters() const = 0;
    /// Whether the integrator has to start anew at the begin of a macro step, where the inputs jump from `u_before` to
    /// `u_after`. One-step methods always do.
    virtual bool restarts(double /*t*/, const double* /*u_before*/, const double* /*u_after*/) { return true; }
    /// True where a NaN must reach the error control as it is, because the integrator cannot retry after a failed f.
    virtual bool passes_nan() const { return false; }

    /// Throws run_error for a failed call outside integrate().
    void check(int flag, const char* call) const;
    void prepare_dense();
    /// The step the integrator should try next after an accepted or rejected one of size h with error e = O(h^k),
    /// relative to the tolerance; also kept as remembered step. A step cut by the end of its interval says little where
    /// its error is negligible: then the step remembered before stays.
    double control(double h, double e, int k);

    /// f(t, y, u_after) - f(t, y, u_before) for the present state.
    void right_hand_side_jump(double t, const double* u_before, const double* u_after, N_Vector jump, N_Vector scratch);
    std::size_t input_count() const { return u_.size(); }

    static int right_hand_side(double t, N_Vector y, N_Vector dy, void* self);
    static int indicators(double t, N_Vector y, double* z, void* self);
    static void discard_message(int, const char*, const char*, char*, void*) {}
    int linear_system(double t, N_Vector y, N_Vector fy, SUNMatrix A, bool reuse, int* fresh, double gamma);

    static constexpr double max_growth = 10;

    std::string name_;
    sundials_options options_;
    context_handle context_;
    vector_handle y_;
    matrix_handle matrix_;
    linear_solver_handle linear_solver_;
    double remembered_step_ = 0;  ///< 0: let the integrator estimate it
    std::int64_t steps_at_begin_ = 0;
    std::size_t event_count() const { return monitor_ ? monitor_->count() : 0; }
    /// What max_steps leaves for this macro step; throws when nothing is left.
    std::int64_t steps_left(double t) const;

private:
    void warm_up(double t0, std::span<double> x);
    void advance(double t, double stop, double* x, bool restart);
    bool apply_roots(double t, double* x);
    void shift_indicators(double t, const double* x);
    void evaluate(double t, const double* x, double* dx);
    [[noreturn]] void fail(int flag, double t);

    equations* model_ = nullptr;
    std::size_t n_ = 0;
    double begin_ = 0;
    std::span<const polynomial> inputs_;
    std::vector<double> u_, u_end_;  ///< scratch; the inputs at the end of the last macro step
    double no_state_ = 0;
    std::optional<event_monitor> monitor_;
    std::vector<int> roots_;
    std::vector<double> z_, shift_, x_ahead_;  ///< see shift_indicators()
    double shift_until_ = 0;
    std::vector<double> jacobian_;
    jacobian_source jacobian_source_;
    std::exception_ptr failure_;
    std::ptrdiff_t not_finite_ = -1;  ///< derivative that was not finite last
    double not_finite_time_ = 0;
    std::int64_t not_finite_evaluation_ = 0;
    bool starting_ =
        false;  ///< the next evaluation is at an accepted state: a NaN there cannot be cured by a smaller step
    bool loaded_ = false;  ///< the integrator holds the present state
    bool warming_up_ = false;
    subsystem_statistics baseline_;  ///< counted while warming up
    std::int64_t evaluations_ = 0;
    std::int64_t time_events_ = 0;
};

}  // namespace mdpcosim

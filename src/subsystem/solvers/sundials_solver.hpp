#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "subsystem/solver.hpp"
#include "subsystem/solvers/adaptive_options.hpp"
#include "subsystem/solvers/event_monitor.hpp"
#include "subsystem/solvers/newton_matrix.hpp"
#include "subsystem/solvers/sundials_handles.hpp"

/// What the SUNDIALS integrators have in common: one context each, callbacks that let no exception into C, time and
/// state events, the remembered step size, return codes turned into run_error.
///
/// A model without states gets one state with x' = 0, so that every integrator takes it.
namespace mdpcosim {

struct sundials_options : adaptive_options {
    linear_solver_choice linear = linear_solver_choice::automatic;
    bool restart = false;  ///< multistep: start anew at every macro step
    /// Multistep: micro steps of at most H run over the end of the macro step, where the state is interpolated; the next
    /// macro step goes on from where the integrator is.
    bool over = false;
};

/// Beyond the options of all: `linear-solver` of the implicit ones.
std::vector<parameter_info> newton_option_list();
sundials_options read_newton_options(const parameter_values& values);

/// Beyond those: `restart` and `stop` of the multistep ones. Throws std::invalid_argument where they contradict each other.
void add_multistep_options(std::vector<parameter_info>& list);
sundials_options with_multistep_options(sundials_options options, const parameter_values& values);

class sundials_solver : public solver {
   public:
    sundials_solver(std::string name, const sundials_options& options) : name_(std::move(name)), options_(options) {}

    void initialise(equations& model, double t0, std::span<double> x) final;
    void integrate(double begin, double end, std::span<const polynomial> inputs, std::span<double> x) final;
    void reset(double, std::span<const double>) final {
        loaded_ = false;
        if (monitor_) monitor_->forget();
    }

    std::size_t memory_size() const final { return 1 + (monitor_ ? monitor_->count() : 0); }
    void memory(std::span<double> into) const final;
    void set_memory(std::span<const double> from) final;

    subsystem_statistics statistics() const final;

   protected:
    /// Makes the integrator for y(t0); called once.
    virtual void create(double t0) = 0;
    /// Restarts at (t, y) with the remembered step.
    virtual void start(double t) = 0;
    /// Integrates to `stop` or to a root, with one_micro_step() over one micro step; the return code, and the time reached in `t`. Micro steps do not go beyond
    /// `limit`, which is `stop` but for options.over.
    virtual int run(double stop, double limit, double& t) = 0;
    /// After a root: +1 or -1 per indicator that crossed, 0 for the others.
    virtual void find_roots(int* found) = 0;
    virtual std::string flag_name(int flag) const = 0;
    /// A return code as the one of CVODE that means the same.
    virtual int common_code(int flag) const { return flag; }
    /// Micro steps, rejected attempts and Newton's work of the integrator so far.
    virtual subsystem_statistics counters() const = 0;
    /// Whether the integrator has to start anew at the begin of a macro step, where the inputs jump from `u_before` to
    /// `u_after`. One-step methods always do.
    virtual bool restarts(double /*t*/, const double* /*u_before*/, const double* /*u_after*/) { return true; }
    /// Solves the algebraic equations at t for the algebraic part of y, with the inputs at t.
    virtual void make_consistent(double /*t*/) {}

    /// Throws run_error for a failed call outside integrate().
    void check(int flag, const char* call) const;
    void prepare_newton();
    /// The absolute tolerance of each state, or nothing where it is the same for all.
    vector_handle absolute_tolerances() const;
    [[noreturn]] void fail(int flag, double t);
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
    /// A = a M - b df/dx; `reuse` keeps the last Jacobian. Differences need fy = f(t, y).
    int linear_system(double t, N_Vector y, N_Vector fy, SUNMatrix A, bool reuse, double a, double b);

    std::string name_;
    sundials_options options_;
    context_handle context_;
    vector_handle y_;
    std::optional<newton_matrix> newton_;
    remembered_step remembered_;  ///< size 0: let the integrator estimate it
    std::int64_t steps_at_begin_ = 0;
    std::size_t event_count() const { return monitor_ ? monitor_->count() : 0; }
    /// What max_steps leaves for this macro step; throws when nothing is left.
    std::int64_t steps_left(double t) const;
    /// With options.over: no micro step is larger than the macro step.
    double largest_step() const;
    std::string why_multistep_not_saved() const;
    std::string why_not_over(const equations& model) const;

    /// The model wants to see every micro step.
    bool one_micro_step() const { return watches_steps_ && !warming_up_; }

    equations* model_ = nullptr;
    std::size_t n_ = 0;
    double begin_ = 0, end_ = 0;  ///< of the macro step
    double stop_ = 0;             ///< of the present piece of it
    std::span<const polynomial> inputs_;
    std::vector<double> u_;  ///< scratch
    bool warming_up_ = false;
    /// The next evaluation is at an accepted state: a NaN there cannot be cured by a smaller step.
    bool starting_ = false;
    std::exception_ptr failure_;
    std::int64_t evaluations_ = 0;

   private:
    void warm_up(double t0, std::span<double> x);
    double advance(double t, double stop, double limit, double* x, bool restart);
    bool update(moment m, double t, double* x);
    bool apply_roots(double t, double* x);
    void look_ahead(double t, const double* x, std::span<const double> z);
    double shortest_look(double t) const;
    void shift_indicators(double t, const double* x);
    void evaluate(double t, const double* x, double* dx);

    std::vector<double> u_end_;  ///< the inputs at the end of the last macro step
    double no_state_ = 0;
    std::optional<event_monitor> monitor_;
    std::vector<int> roots_;
    std::vector<double> z_before_, z_, shift_, instant_, rate_, ahead_;  ///< per indicator, see shift_indicators()
    std::vector<double> x_ahead_, rates_;
    double shifted_ = 0;              ///< when
    std::ptrdiff_t not_finite_ = -1;  ///< derivative that was not finite last
    double not_finite_time_ = 0;
    std::int64_t not_finite_evaluation_ = 0;
    bool watches_intervals_ = false, watches_steps_ = false;
    bool loaded_ = false;            ///< the integrator holds the present state
    bool stale_ = false;             ///< the state was changed after the last micro step
    subsystem_statistics baseline_;  ///< counted while warming up
    std::int64_t time_events_ = 0;
};

}  // namespace mdpcosim

#include "subsystem/solvers/sundials_solver.hpp"

#include <cvode/cvode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/error.hpp"
#include "subsystem/solvers/interval.hpp"

namespace mdpcosim {

std::vector<parameter_info> newton_option_list() {
    auto list = adaptive_option_list();
    list.push_back(linear_solver_option());
    return list;
}

sundials_options read_newton_options(const parameter_values& values) {
    sundials_options options{read_adaptive_options(values)};
    options.linear = static_cast<linear_solver_choice>(static_cast<int>(values["linear-solver"]));
    return options;
}

void add_multistep_options(std::vector<parameter_info>& list) {
    using range = parameter_info::range;
    list.push_back({"restart",
                    "1",
                    "start anew at every macro step; makes save/restore possible",
                    0,
                    range::any,
                    false,
                    false,
                    {"no", "yes"}});
    list.push_back({"stop",
                    "1",
                    "exact: a micro step ends at each macro point; over: micro steps of at most H run over it and the "
                    "outputs are interpolated",
                    0,
                    range::any,
                    false,
                    false,
                    {"exact", "over"}});
}

sundials_options with_multistep_options(sundials_options options, const parameter_values& values) {
    options.restart = values["restart"] == 1;
    options.over = values["stop"] == 1;
    if (options.restart && options.over)
        throw std::invalid_argument(
            "the options restart: yes and stop: over contradict each other: the one begins anew at every macro point, "
            "the "
            "other runs over it");
    return options;
}

namespace {

/// What a return code means and what to try. The first codes of CVODE and ARKODE are the same numbers; those of
/// IDA are translated.
std::string explain(int flag, const sundials_options& options, bool without_newton) {
    switch (flag) {
        case CV_TOO_MUCH_WORK:
            return too_many_steps(options, without_newton);
        case CV_TOO_MUCH_ACC:
            return tolerances_too_tight(options);
        case CV_ERR_FAILURE:
            return error_test_fails(without_newton);
        case CV_CONV_FAILURE:
            return "the corrector does not converge, even with tiny micro steps; try another solver, or check the "
                   "model's Jacobian";
        case CV_LINIT_FAIL:
        case CV_LSETUP_FAIL:
        case CV_LSOLVE_FAIL:
            return "the linear solver of the Newton iteration fails; check the model's Jacobian";
        case CV_RHSFUNC_FAIL:
        case CV_FIRST_RHSFUNC_ERR:
        case CV_REPTD_RHSFUNC_ERR:
        case CV_UNREC_RHSFUNC_ERR:
            return "the right-hand side fails";
        case CV_RTFUNC_FAIL:
            return "the event indicators fail";
        case CV_ILL_INPUT:
            return "two events are too close together, or a call has illegal arguments";
        case CV_TOO_CLOSE:
            return "the interval is too short to take a step";
        default:
            return "unexpected failure of the integrator";
    }
}

}  // namespace

void sundials_solver::initialise(equations& model, double t0, std::span<double> x) {
    model_ = &model;
    n_ = x.size();
    begin_ = t0;
    u_.resize(static_cast<std::size_t>(model.describe().input_count()));
    u_end_.resize(u_.size());
    for (const auto& input : model.describe().inputs) std::fill_n(u_.begin() + input.slot, input.size, input.start);
    watches_intervals_ = model.watches(moment::interval);
    watches_steps_ = model.watches(moment::micro_step);
    if (model.event_count() > 0) {
        monitor_.emplace(model, name_);
        roots_.resize(monitor_->count());
        z_.resize(monitor_->count());
        shift_.resize(monitor_->count());
        instant_.resize(monitor_->count());
        rate_.resize(monitor_->count());
        ahead_.resize(monitor_->count());
        z_before_.resize(monitor_->count());
        x_ahead_.resize(n_);
        rates_.resize(n_);
    }
    SUNContext context = nullptr;
    check(SUNContext_Create(nullptr, &context), "SUNContext_Create");
    context_.reset(context);
    y_.reset(
        N_VMake_Serial(static_cast<sunindextype>(std::max<std::size_t>(n_, 1)), n_ ? x.data() : &no_state_, context));
    if (!y_) throw run_error(name_ + ": no memory for the state");
    create(t0);
    warm_up(t0, x);
    if (newton_) newton_->choose_pivots(t0, x.data(), u_.data());
    begin_ = end_ = stop_ = t0;
    make_consistent(t0);
}

/// SUNDIALS allocates its last vectors in the first step. A step of x' = 0 makes it do so here.
void sundials_solver::warm_up(double t0, std::span<double> x) {
    const std::vector<double> saved(x.begin(), x.end());
    warming_up_ = true;
    start(t0);
    double t = t0;
    const double length = options_.max_step > 0 ? options_.max_step : 1;
    const double stop = t0 + length + time_resolution(t0);
    check(run(stop, stop, t), "first step");
    warming_up_ = false;
    std::ranges::copy(saved, x.begin());
    no_state_ = 0;
    remembered_.size = 0;
    baseline_ = counters();
}

void sundials_solver::prepare_newton() {
    newton_.emplace(*model_, options_.linear, y_.get(), context_.get(), begin_, N_VGetArrayPointer(y_.get()),
                    u_.data());
}

vector_handle sundials_solver::absolute_tolerances() const {
    vector_handle made;
    for (std::size_t i = 0; i < n_; ++i) {
        const double nominal = model_->nominal(static_cast<int>(i));
        if (nominal == 1) continue;
        if (!made) {
            made.reset(N_VClone(y_.get()));
            if (!made) throw run_error(name_ + ": no memory for the tolerances");
            N_VConst(options_.atol, made.get());
        }
        N_VGetArrayPointer(made.get())[i] = options_.atol * nominal;
    }
    return made;
}

void sundials_solver::memory(std::span<double> into) const {
    into[0] = remembered_.size;
    if (monitor_) std::ranges::copy(monitor_->sides(), into.begin() + 1);
}

void sundials_solver::set_memory(std::span<const double> from) {
    remembered_.size = from[0];
    if (monitor_) std::ranges::copy(from.subspan(1), monitor_->sides().begin());
}

subsystem_statistics sundials_solver::statistics() const {
    if (!context_) return {};
    auto all = counters();
    all.micro_steps -= baseline_.micro_steps;
    all.rejected -= baseline_.rejected;
    all.newton_iterations -= baseline_.newton_iterations;
    all.factorisations -= baseline_.factorisations;
    all.evaluations = evaluations_;
    all.events = time_events_ + (monitor_ ? monitor_->events() : 0);
    return all;
}

void sundials_solver::integrate(double begin, double end, std::span<const polynomial> inputs, std::span<double> x) {
    inputs_ = inputs;
    begin_ = begin;
    end_ = end;
    double* state = n_ ? x.data() : &no_state_;
    N_VSetArrayPointer(state, y_.get());
    steps_at_begin_ = counters().micro_steps;
    input_values(inputs_, 0, u_.data());
    bool restart = !loaded_ || restarts(begin, u_end_.data(), u_.data());
    loaded_ = false;  // until this step is done
    if (watches_intervals_ && model_->discrete_update(moment::interval, begin, state, u_.data())) restart = true;
    if (monitor_) {
        monitor_->start_interval();
        std::ranges::fill(shift_, 0);
        if (monitor_->jump(begin, state, u_.data())) {
            make_consistent(begin);
            restart = true;
        }
    }
    stale_ = false;
    double t = begin;
    for (;;) {
        const double event = model_->next_time_event(t);
        if (!(event > t))
            throw run_error(
                fmt::format("{} at t = {:.9g}: the model gives t = {:.9g} as its next time event, which is not later",
                            name_, t, event));
        const double stop = event <= end ? just_before(event) : end;
        const double limit = options_.over && event > end ? just_before(event) : stop;
        if (stop - t > time_resolution(t)) {
            const double reached = advance(t, stop, limit, state, restart);
            if (reached < stop) {
                t = reached;
                restart = true;
                continue;
            }
        }
        if (event > end) break;
        t = event;
        restart = true;
        ++time_events_;
        model_->noticed.first_event = std::min(model_->noticed.first_event, t);
        update(moment::time_event, t, state);
        if (t == end) break;
    }
    input_values(inputs_, end - begin, u_end_.data());
    if (monitor_) monitor_->remember(end, state, u_end_.data());
    loaded_ = t != end && !stale_;  // after an event at the end the integrator starts anew
}

/// From t to `stop` through all state events between. How far it came: less than `stop` when an event of a watched model has
/// brought its next time event nearer.
double sundials_solver::advance(double t, double stop, double limit, double* x, bool restart) {
    stop_ = stop;
    for (;;) {
        if (restart) {
            starting_ = true;
            start(t);
        }
        failure_ = nullptr;
        const int flag = run(stop, limit, t);
        if (flag < 0 || failure_) fail(flag, t);
        restart = flag == CV_ROOT_RETURN && apply_roots(t, x);
        if (watches_steps_) {
            restart |= update(moment::micro_step, t, x);
            if (stop - t > time_resolution(t) && model_->next_time_event(t) < stop) return t;
        }
        stale_ = restart;
        if (stop - t <= time_resolution(t) || (flag != CV_ROOT_RETURN && !watches_steps_)) break;
    }
    return stop;
}

/// The model's discrete part at t; where that moves the state or an indicator, its events follow. True: start anew.
bool sundials_solver::update(moment m, double t, double* x) {
    input_values(inputs_, t - begin_, u_.data());
    if (!model_->discrete_update(m, t, x, u_.data())) return false;
    if (monitor_) monitor_->jump(t, x, u_.data());
    make_consistent(t);
    return true;
}

std::int64_t sundials_solver::steps_left(double t) const {
    if (warming_up_) return 1000;
    const std::int64_t left = options_.max_steps - (counters().micro_steps - steps_at_begin_);
    if (left <= 0)
        throw run_error(fmt::format("{} at t = {:.9g}: {}", name_, t, explain(CV_TOO_MUCH_WORK, options_, !newton_)));
    return left;
}

double sundials_solver::largest_step() const {
    const double H = warming_up_ ? 0 : end_ - begin_;  // 0: no limit
    return options_.max_step > 0 && (H == 0 || options_.max_step < H) ? options_.max_step : H;
}

std::string sundials_solver::why_multistep_not_saved() const {
    if (options_.restart) return {};
    if (options_.over)
        return name_ +
               " with `stop: over` is somewhere beyond the macro point, which cannot be saved; give it `stop: exact` "
               "and "
               "`restart: yes`, or take a one-step solver (erk-5, dirk-4)";
    return name_ +
           " keeps its history across macro steps, which cannot be saved; give it the option `restart: yes`, or take a "
           "one-step solver (erk-5, dirk-4)";
}

std::string sundials_solver::why_not_over(const equations& model) const {
    if (!options_.over || !model.watches(moment::micro_step)) return {};
    return "the model may change at the end of any micro step, so that none can run over the macro point; write stop: "
           "exact";
}

double sundials_solver::control(double h, double e, int k) {
    using growth = remembered_step;
    double factor = std::isfinite(e) ? growth::safety * std::pow(std::max(e, 1e-12), -1.0 / k) : growth::least_growth;
    factor = std::clamp(factor, growth::least_growth, growth::most_growth);
    remembered_.learn(h, factor, options_.max_step);
    return h * factor;
}

void sundials_solver::evaluate(double t, const double* x, double* dx) {
    input_values(inputs_, t - begin_, u_.data());
    model_->derivatives(t, x, u_.data(), dx);
    ++evaluations_;
}

void sundials_solver::right_hand_side_jump(double t, const double* u_before, const double* u_after, N_Vector jump,
                                           N_Vector scratch) {
    N_VConst(0, jump);
    if (n_ == 0) return;
    const double* x = N_VGetArrayPointer(y_.get());
    model_->derivatives(t, x, u_before, N_VGetArrayPointer(scratch));
    model_->derivatives(t, x, u_after, N_VGetArrayPointer(jump));
    evaluations_ += 2;
    N_VLinearSum(1, jump, -1, scratch, jump);
}

int sundials_solver::right_hand_side(double t, N_Vector y, N_Vector dy, void* self_pointer) {
    auto& self = *static_cast<sundials_solver*>(self_pointer);
    double* dx = N_VGetArrayPointer(dy);
    if (self.n_ == 0 || self.warming_up_) {
        N_VConst(0, dy);
        return 0;
    }
    try {
        self.evaluate(t, N_VGetArrayPointer(y), dx);
    } catch (...) {
        self.failure_ = std::current_exception();
        return -1;
    }
    const bool starting = std::exchange(self.starting_, false);
    if (all_finite(dx, self.n_)) return 0;
    std::size_t i = 0;
    while (std::isfinite(dx[i])) ++i;
    self.not_finite_ = static_cast<std::ptrdiff_t>(i);
    self.not_finite_time_ = t;
    self.not_finite_evaluation_ = self.evaluations_;
    return starting ? -1 : 1;
}

/// SUNDIALS' own difference quotients allocate, ours do not.
int sundials_solver::linear_system(double t, N_Vector y, N_Vector fy, SUNMatrix A, bool reuse, double a, double b) {
    if (!reuse && !warming_up_ && n_ > 0) try {
            input_values(inputs_, t - begin_, u_.data());
            evaluations_ += newton_->evaluate(t, N_VGetArrayPointer(y), u_.data(), N_VGetArrayPointer(fy), b / a);
        } catch (...) {
            failure_ = std::current_exception();
            return -1;
        }
    return newton_->fill(A, a, b, warming_up_) ? 0 : 1;
}

void sundials_solver::check(int flag, const char* call) const {
    if (flag < 0)
        throw run_error(fmt::format("{}: {} failed ({}): {}", name_, call, flag_name(flag),
                                    explain(common_code(flag), options_, !newton_)));
}

void sundials_solver::fail(int flag, double t) {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    constexpr int recent = 100;  // evaluations: the last attempts at a step
    if (not_finite_ >= 0 && evaluations_ - not_finite_evaluation_ < recent)
        throw run_error(
            fmt::format("{} at t = {:.9g}: {} ({})", name_, t,
                        not_finite_right_hand_side(model_->state_name(static_cast<int>(not_finite_)), not_finite_time_),
                        flag_name(flag)));
    throw run_error(fmt::format("{} at t = {:.9g}: {} ({})", name_, t, explain(common_code(flag), options_, !newton_),
                                flag_name(flag)));
}

}  // namespace mdpcosim

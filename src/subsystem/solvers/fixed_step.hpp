#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "subsystem/solver.hpp"
#include "subsystem/solvers/event_monitor.hpp"
#include "subsystem/solvers/interval.hpp"

/// The frame of all fixed-step solvers; a method supplies one micro step.
///
/// A method is a struct with
///     static constexpr const char* name;
///     std::size_t work_size(std::size_t n) const;                                 doubles of scratch it needs
///     void prepare(equations& model, const double* x, double t, double* u);       once, may allocate
///     void step(micro_step& m, double s, double h);                               m.x from begin + s to begin + s + h
/// Without events the frame costs a few comparisons. With events every micro step is searched for changes of side; the
/// time of the first is found by bracketing, re-stepping from the micro step's start with the same method.
namespace mdpcosim {

/// What a method works on.
struct micro_step {
    equations* model = nullptr;
    std::span<const polynomial> inputs;
    double begin = 0;  ///< of the macro step
    double* x = nullptr;
    double* u = nullptr;
    double* work = nullptr;
    std::size_t n = 0;
    std::int64_t evaluations = 0;
    std::int64_t newton_iterations = 0, factorisations = 0;  ///< of implicit methods

    /// f at begin + s.
    void derivatives(double s, const double* state, double* dx) {
        input_values(inputs, s, u);
        model->derivatives(begin + s, state, u, dx);
        ++evaluations;
    }
};

/// Number of equal micro steps for a span: the smallest whose size is at most `step`.
inline std::int64_t micro_step_count(double span, double step) {
    return static_cast<std::int64_t>(std::clamp(std::ceil(span / step - 1e-9), 1.0, 1e15));
}

[[noreturn]] void throw_not_finite(const char* solver, double t, const equations& model, const double* x,
                                   std::size_t n);
[[noreturn]] void throw_bad_time_event(const char* solver, double t, double event);

/// The option `step`, and the one way to read it (0: not given).
std::vector<parameter_info> fixed_step_options();
double step_option(const parameter_values& options);

/// Storage and bracketing for models with events, in its own allocation so that others stay small.
struct fixed_step_events {
    fixed_step_events(equations& model, std::size_t n, const char* name);

    event_monitor monitor;
    std::vector<double> x0;      ///< state at the micro step's start
    std::vector<double> z0, z1;  ///< indicators at its start and end
    std::vector<double> before;  ///< indicators just before the last events
    std::vector<double> dx;
    /// The side was taken from the motion after an event, which went on or turned back.
    enum class guess : char { none, on, back };
    std::vector<guess> guessed;
};

template <class Method>
class fixed_step_solver final : public solver {
   public:
    explicit fixed_step_solver(double step) : step_(step) {}

    void initialise(equations& model, double t0, std::span<double> x) override;
    void integrate(double begin, double end, std::span<const polynomial> inputs, std::span<double> x) override;
    void reset(double, std::span<const double>) override {
        next_event_ = std::numeric_limits<double>::quiet_NaN();
        if (events_) events_->monitor.forget();
    }

    std::size_t memory_size() const override { return events_ ? events_->monitor.count() : 0; }
    void memory(std::span<double> into) const override {
        if (events_) std::ranges::copy(events_->monitor.sides(), into.begin());
    }
    void set_memory(std::span<const double> from) override {
        if (events_) std::ranges::copy(from, events_->monitor.sides().begin());
    }

    subsystem_statistics statistics() const override {
        return {micro_steps_,           now_.evaluations,   0, time_events_ + (events_ ? events_->monitor.events() : 0),
                now_.newton_iterations, now_.factorisations};
    }

   private:
    void split(double begin, double end);
    void run(double s, double s_end);
    double run_watched(double s, double s_end);
    void update(moment m, double s);
    void run_with_events(double s, double s_end);
    double step_with_events(double s, double h);
    double first_change(double s, double h);
    double on_its_side(std::size_t i, double s, double h);
    double locate(std::size_t i, double s, double a, double h);
    double indicator(std::size_t i, double s, double tau);
    void apply_events(double s, double tau, double rest);
    void guess_sides(double s, double rest, double ahead);

    Method method_;
    micro_step now_;
    double step_;
    double next_event_ = std::numeric_limits<double>::quiet_NaN();  ///< cached; NaN: ask the model
    std::int64_t micro_steps_ = 0;
    std::int64_t time_events_ = 0;
    bool watches_intervals_ = false, watches_steps_ = false;
    std::unique_ptr<double[]> work_;
    std::unique_ptr<fixed_step_events> events_;
};

template <class Method>
void fixed_step_solver<Method>::initialise(equations& model, double t0, std::span<double> x) {
    now_.model = &model;
    now_.n = x.size();
    const auto inputs = static_cast<std::size_t>(model.describe().input_count());
    work_ = std::make_unique<double[]>(inputs + method_.work_size(now_.n));
    now_.u = work_.get();
    now_.work = work_.get() + inputs;
    method_.prepare(model, x.data(), t0, now_.u);
    watches_intervals_ = model.watches(moment::interval);
    watches_steps_ = model.watches(moment::micro_step);
    if (model.event_count() > 0) events_ = std::make_unique<fixed_step_events>(model, now_.n, Method::name);
}

template <class Method>
void fixed_step_solver<Method>::integrate(double begin, double end, std::span<const polynomial> inputs,
                                          std::span<double> x) {
    now_.inputs = inputs;
    now_.begin = begin;
    now_.x = x.data();
    if (watches_intervals_) update(moment::interval, 0);
    if (events_) {
        events_->monitor.start_interval();
        std::ranges::fill(events_->guessed, fixed_step_events::guess::none);
        input_values(inputs, 0, now_.u);
        events_->monitor.jump(begin, now_.x, now_.u);
    }
    if (end < next_event_ && !watches_steps_) [[likely]]
        run(0, end - begin);
    else
        split(begin, end);
    if (!all_finite(x.data(), x.size())) throw_not_finite(Method::name, end, *now_.model, x.data(), x.size());
}

/// The macro step in pieces between time events. An event of a watched model may bring the next time event forward: then its
/// piece ends early.
template <class Method>
void fixed_step_solver<Method>::split(double begin, double end) {
    double t = begin;
    for (;;) {
        const double event = now_.model->next_time_event(t);
        if (!(event > t)) throw_bad_time_event(Method::name, t, event);
        next_event_ = event;
        const double stop = event > end ? end : just_before(event);
        if (event - t > time_resolution(t) && stop - t > time_resolution(t)) {
            if (watches_steps_) {
                const double reached = run_watched(t - begin, stop - begin);
                if (reached < stop - begin) {
                    t = begin + reached;
                    continue;
                }
            } else {
                run(t - begin, stop - begin);
            }
        }
        if (event > end) return;
        t = event;
        ++time_events_;
        now_.model->noticed.first_event = std::min(now_.model->noticed.first_event, t);
        update(moment::time_event, t - begin);
        if (t == end) return;
    }
}

/// The model's discrete part at begin + s; where that moves the state or an indicator, its events follow.
template <class Method>
void fixed_step_solver<Method>::update(moment m, double s) {
    input_values(now_.inputs, s, now_.u);
    if (now_.model->discrete_update(m, now_.begin + s, now_.x, now_.u) && events_)
        events_->monitor.jump(now_.begin + s, now_.x, now_.u);
}

template <class Method>
void fixed_step_solver<Method>::run(double s, double s_end) {
    if (events_) return run_with_events(s, s_end);
    if (step_ == 0) {
        method_.step(now_, s, s_end - s);
        ++micro_steps_;
        return;
    }
    const std::int64_t n = micro_step_count(s_end - s, step_);
    const double h = (s_end - s) / static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i) method_.step(now_, s + static_cast<double>(i) * h, h);
    micro_steps_ += n;
}

/// How far it came: less than s_end when the next time event has come nearer.
template <class Method>
double fixed_step_solver<Method>::run_watched(double s, double s_end) {
    const std::int64_t n = step_ == 0 ? 1 : micro_step_count(s_end - s, step_);
    const double h = (s_end - s) / static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i) {
        const double at = s + static_cast<double>(i) * h;
        const double end = i + 1 == n ? s_end : at + h;
        double reached = end;
        if (events_) {
            input_values(now_.inputs, at, now_.u);
            std::ranges::copy(events_->monitor.evaluate(now_.begin + at, now_.x, now_.u), events_->z0.begin());
            const double cut = step_with_events(at, h);
            if (cut < at + h) reached = cut;
        } else {
            method_.step(now_, at, h);
            ++micro_steps_;
        }
        update(moment::micro_step, reached);
        if (reached < end || next_event_ > now_.model->next_time_event(now_.begin + reached)) return reached;
    }
    return s_end;
}

template <class Method>
void fixed_step_solver<Method>::run_with_events(double s, double s_end) {
    const std::int64_t n = step_ == 0 ? 1 : micro_step_count(s_end - s, step_);
    const double h = (s_end - s) / static_cast<double>(n);
    input_values(now_.inputs, s, now_.u);
    std::ranges::copy(events_->monitor.evaluate(now_.begin + s, now_.x, now_.u), events_->z0.begin());
    for (std::int64_t i = 0; i < n; ++i) step_with_events(s + static_cast<double>(i) * h, h);
}

/// One micro step, cut at every event inside it. How far it came: less than s + h when an event of a watched model has brought
/// the next time event into it.
template <class Method>
double fixed_step_solver<Method>::step_with_events(double s, double h) {
    auto& e = *events_;
    const double whole = h, end = s + h;
    while (h > 1e-13 * whole) {
        std::copy_n(now_.x, now_.n, e.x0.begin());
        method_.step(now_, s, h);
        ++micro_steps_;
        input_values(now_.inputs, s + h, now_.u);
        std::ranges::copy(e.monitor.evaluate(now_.begin + s + h, now_.x, now_.u), e.z1.begin());
        const double tau = first_change(s, h);
        if (tau > h) {
            for (std::size_t i = 0; i < e.z1.size(); ++i)
                if (e.z1[i] != 0) {
                    e.monitor.sides()[i] = e.z1[i] > 0 ? 1 : -1;
                    e.guessed[i] = fixed_step_events::guess::none;
                }
            std::swap(e.z0, e.z1);
            return end;
        }
        apply_events(s, tau, h - tau > 1e-13 * whole ? h - tau : 0);
        s += tau;
        h -= tau;
        if (watches_steps_ && now_.model->next_time_event(now_.begin + s) < now_.begin + s + h) return s;
    }
    return end;
}

/// Time of the first change of side in (0, h], or infinity. Leaves the state at the step's end untouched if there is
/// none.
template <class Method>
double fixed_step_solver<Method>::first_change(double s, double h) {
    auto& e = *events_;
    double first = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < e.z1.size(); ++i) {
        if (!(e.z1[i] * e.monitor.sides()[i] < 0)) continue;
        const double a = on_its_side(i, s, h), b = std::min(first, h);
        if (a > b || (first <= h && indicator(i, s, first) * e.monitor.sides()[i] > 0)) continue;
        first = locate(i, s, a, b);
    }
    if (first > h) {  // the search has moved the state
        std::copy(e.x0.begin(), e.x0.end(), now_.x);
        method_.step(now_, s, h);
    }
    return first;
}

/// When the indicator is on its side for the first time: at 0, or, since after an event the side is the direction of motion while
/// the indicator may still be a rounding error on the other side, a little later. Infinity: never; where the motion goes on the side
/// was wrong and there is no event, where it turns back the next event has come too soon.
template <class Method>
double fixed_step_solver<Method>::on_its_side(std::size_t i, double s, double h) {
    using guess = fixed_step_events::guess;
    auto& e = *events_;
    if (e.guessed[i] == guess::none || e.z0[i] * e.monitor.sides()[i] > 0) return 0;
    for (double tau = 1e-9 * h; tau < h; tau *= 4)
        if (indicator(i, s, tau) * e.monitor.sides()[i] > 0) return tau;
    if (e.guessed[i] == guess::back && !now_.model->is_corner(static_cast<int>(i)))
        e.monitor.fail_at_once(i, now_.begin + s);
    e.monitor.sides()[i] = e.z1[i] > 0 ? 1 : -1;
    e.guessed[i] = guess::none;
    return std::numeric_limits<double>::infinity();
}

/// Illinois method with a bisection now and then; ends on the far side of the root.
template <class Method>
double fixed_step_solver<Method>::locate(std::size_t i, double s, double a, double h) {
    auto& e = *events_;
    const double side = e.monitor.sides()[i];
    if (a == 0 && !(e.z0[i] * side > 0)) return 0;  // crossed at the very point where the micro step begins
    double z_a = a > 0 ? indicator(i, s, a) : e.z0[i];
    double b = h;
    double z_b = indicator(i, s, h);
    const double resolution = 1e-12 * h + 0.25 * time_resolution(now_.begin + s);
    for (int iteration = 1; b - a > resolution && z_b != 0 && iteration < 200; ++iteration) {
        double tau = b - z_b * (b - a) / (z_b - z_a);
        if (iteration % 4 == 0 || !(tau > a && tau < b)) tau = 0.5 * (a + b);
        const double z = indicator(i, s, tau);
        if (z * side > 0) {
            a = tau;
            z_a = z;
            z_b *= 0.5;
        } else {
            b = tau;
            z_b = z;
            z_a *= 0.5;
        }
    }
    return b;
}

/// Indicator i after a step of size tau from the micro step's start; the state is left there.
template <class Method>
double fixed_step_solver<Method>::indicator(std::size_t i, double s, double tau) {
    auto& e = *events_;
    std::copy(e.x0.begin(), e.x0.end(), now_.x);
    method_.step(now_, s, tau);
    input_values(now_.inputs, s + tau, now_.u);
    return e.monitor.evaluate(now_.begin + s + tau, now_.x, now_.u)[i];
}

/// All events at s + tau; the micro step goes on for `rest`.
template <class Method>
void fixed_step_solver<Method>::apply_events(double s, double tau, double rest) {
    auto& e = *events_;
    std::copy(e.x0.begin(), e.x0.end(), now_.x);
    method_.step(now_, s, tau);
    const double t = now_.begin + s + tau;
    input_values(now_.inputs, s + tau, now_.u);
    std::ranges::copy(e.monitor.evaluate(t, now_.x, now_.u), e.z1.begin());
    std::ranges::copy(e.z1, e.before.begin());
    // z1 becomes the list of what happened: 0 for indicators that kept their side.
    for (std::size_t i = 0; i < e.z1.size(); ++i)
        if (e.z1[i] * e.monitor.sides()[i] > 0)
            e.z1[i] = 0;
        else
            e.z1[i] = e.monitor.sides()[i] == 0 ? 0 : -e.monitor.sides()[i];
    const double small = 1e-9 * tau + 64 * time_resolution(t);
    for (std::size_t i = 0; i < e.z1.size(); ++i)
        if (e.z1[i] != 0) e.monitor.apply(i, e.z1[i] > 0, t, small, now_.x, now_.u);
    e.monitor.remember(t, now_.x, now_.u);
    std::ranges::copy(e.monitor.evaluate(t, now_.x, now_.u), e.z0.begin());
    if (rest > 0) guess_sides(s + tau, rest, small);
}

/// The sides of indicators that are at zero after their event, from the motion that follows: in `ahead`, or longer where rounding
/// hides it.
template <class Method>
void fixed_step_solver<Method>::guess_sides(double s, double rest, double ahead) {
    using guess = fixed_step_events::guess;
    auto& e = *events_;
    now_.derivatives(s, now_.x, e.dx.data());
    for (bool hidden = true; hidden && ahead < rest; ahead *= 4) {
        for (std::size_t k = 0; k < now_.n; ++k) e.x0[k] = now_.x[k] + ahead * e.dx[k];
        input_values(now_.inputs, s + ahead, now_.u);
        const auto z = e.monitor.evaluate(now_.begin + s + ahead, e.x0.data(), now_.u);
        hidden = false;
        for (std::size_t i = 0; i < z.size(); ++i) {
            const double motion = z[i] - e.z0[i];
            if (e.z1[i] == 0) continue;
            hidden |= motion == 0;
            if (motion == 0 || !event_monitor::at_zero(e.before[i], e.z0[i], motion / ahead * rest)) continue;
            e.monitor.sides()[i] = motion > 0 ? 1 : -1;
            e.guessed[i] = e.monitor.sides()[i] == e.z1[i] ? guess::on : guess::back;
        }
    }
}

template <class Method>
std::unique_ptr<solver> make_fixed_step(const parameter_values& options) {
    return std::make_unique<fixed_step_solver<Method>>(step_option(options));
}

}  // namespace mdpcosim

#include "subsystem/solvers/one_step.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace mdpcosim {

one_step_events::one_step_events(equations& model, std::size_t n, const char* name)
    : monitor(model, name),
      x0(n),
      x1(n),
      z0(monitor.count()),
      z1(monitor.count()),
      before(monitor.count()),
      dx(n),
      guessed(monitor.count()),
      left(monitor.count()) {}

void one_step_solver::initialise(equations& model, double, std::span<double> x) {
    now_.model = &model;
    now_.n = x.size();
    watches_intervals_ = model.watches(moment::interval);
    watches_steps_ = model.watches(moment::micro_step);
    if (model.event_count() > 0) events_ = std::make_unique<one_step_events>(model, now_.n, name_);
    watched_ = events_ || watches_intervals_ || watches_steps_;
}

void one_step_solver::reset(double, std::span<const double>) {
    next_event_ = std::numeric_limits<double>::quiet_NaN();
    if (!events_) return;
    events_->monitor.forget();
    std::ranges::fill(events_->guessed, one_step_events::guess::none);
}

/// The sides, twice and three times as large where they are guessed, and what the indicators were then.
void one_step_solver::memory(std::span<double> into) const {
    if (!events_) return;
    const auto sides = std::as_const(events_->monitor).sides();
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const auto guessed = events_->guessed[i];
        into[i] = sides[i] * (1 + static_cast<int>(guessed));
        into[sides.size() + i] = guessed == one_step_events::guess::none ? 0 : events_->left[i];
    }
}

void one_step_solver::set_memory(std::span<const double> from) {
    if (!events_) return;
    const auto sides = events_->monitor.sides();
    for (std::size_t i = 0; i < sides.size(); ++i) {
        const int size = static_cast<int>(std::fabs(from[i]));
        sides[i] = size == 0 ? 0 : std::copysign(1, from[i]);
        events_->guessed[i] = static_cast<one_step_events::guess>(std::max(0, size - 1));
        events_->left[i] = from[sides.size() + i];
    }
}

void one_step_solver::integrate_watched(double end) {
    forget_derivative();
    if (watches_intervals_) {
        input_values(now_.inputs, 0, now_.u);
        now_.model->discrete_update(moment::interval, now_.begin, now_.x, now_.u);
    }
    if (events_) {
        events_->monitor.start_interval();
        events_->z0 = events_->left;
        jump(0);
    }
    split(now_.begin, end);
    if (events_) end_interval(end);
}

/// Events of indicators that changed side because the inputs or the state jumped at begin + s; z0 is what they were before. A guessed side
/// stays while its indicator is not there yet: the event behind which it was guessed would come twice.
void one_step_solver::jump(double s) {
    using guess = one_step_events::guess;
    auto& e = *events_;
    const auto sides = e.monitor.sides();
    input_values(now_.inputs, s, now_.u);
    std::ranges::copy(e.monitor.evaluate(now_.begin + s, now_.x, now_.u), e.z1.begin());
    for (std::size_t i = 0; i < sides.size(); ++i) {
        if (std::fabs(e.z1[i]) > 2 * std::fabs(e.z0[i])) e.guessed[i] = guess::none;
        if (e.guessed[i] != guess::none) e.before[i] = std::exchange(sides[i], 0);
    }
    e.monitor.jump(now_.begin + s, now_.x, now_.u);
    const auto z = e.monitor.evaluate(now_.begin + s, now_.x, now_.u);
    for (std::size_t i = 0; i < sides.size(); ++i) {
        if (z[i] != e.z1[i]) e.guessed[i] = guess::none;
        if (e.guessed[i] != guess::none) sides[i] = e.before[i];
    }
}

void one_step_solver::end_interval(double end) {
    using guess = one_step_events::guess;
    auto& e = *events_;
    if (std::ranges::all_of(e.guessed, [](guess g) { return g == guess::none; })) return;
    input_values(now_.inputs, end - now_.begin, now_.u);
    const auto z = e.monitor.evaluate(end, now_.x, now_.u);
    for (std::size_t i = 0; i < z.size(); ++i) {
        e.left[i] = z[i];
        if (z[i] * e.monitor.sides()[i] > 0) e.guessed[i] = guess::none;
    }
}

/// The macro step in pieces between time events. An event of a watched model may bring the next time event forward: then its
/// piece ends early.
void one_step_solver::split(double begin, double end) {
    double t = begin;
    for (;;) {
        const double event = next_event_ = now_.model->next_time_event(t);
        if (!(event > t))
            throw run_error(
                fmt::format("{} at t = {:.9g}: the model gives t = {:.9g} as its next time event, which is not later",
                            name_, t, event));
        stop_ = event > end ? end : just_before(event);
        if (event - t > time_resolution(t) && stop_ - t > time_resolution(t)) {
            interrupted_ = false;
            const double reached = run(t - begin, stop_ - begin);
            if (interrupted_) {
                t = begin + reached;
                continue;
            }
        }
        if (event > end) return;
        t = event;
        ++time_events_;
        now_.model->noticed.first_event = std::min(now_.model->noticed.first_event, t);
        forget_derivative();
        update(moment::time_event, t - begin);
        if (t == end) return;
    }
}

/// The model's discrete part at begin + s; where that moves the state or an indicator, its events follow.
bool one_step_solver::update(moment m, double s) {
    input_values(now_.inputs, s, now_.u);
    if (!now_.model->discrete_update(m, now_.begin + s, now_.x, now_.u)) return false;
    if (events_) jump(s);
    forget_derivative();
    return true;
}

/// From micro step to micro step, cut at every event. How far it came: less than `end` when an event of a watched model has brought the
/// next time event into it.
double one_step_solver::cover(double s, double end) {
    const double least = 1e-13 * (end - s);
    const auto indicators = [&](double at, std::vector<double>& z) {
        input_values(now_.inputs, at, now_.u);
        std::ranges::copy(events_->monitor.evaluate(now_.begin + at, now_.x, now_.u), z.begin());
    };
    if (events_) indicators(s, events_->z0);
    while (end - s > least) {
        if (events_) std::copy_n(now_.x, now_.n, events_->x0.begin());
        const double h = micro(s, end);
        double reached = end - (s + h) > least ? s + h : end;
        if (events_) {
            auto& e = *events_;
            indicators(s + h, e.z1);
            const double tau = first_change(s, h);
            if (tau > h) {
                for (std::size_t i = 0; i < e.z1.size(); ++i)
                    if (e.z1[i] != 0) {
                        e.monitor.sides()[i] = e.z1[i] > 0 ? 1 : -1;
                        e.guessed[i] = one_step_events::guess::none;
                    }
                std::swap(e.z0, e.z1);
            } else {
                const double rest = end - (s + tau);
                apply_events(s, tau, rest > least ? std::min(rest, h) : h);
                reached = rest > least ? s + tau : end;
            }
        }
        s = reached;
        if (!watches_steps_) continue;
        if (update(moment::micro_step, s) && events_) indicators(s, events_->z0);
        if (now_.model->next_time_event(now_.begin + s) < stop_) {
            interrupted_ = true;
            return s;
        }
    }
    return end;
}

/// Time of the first change of side in (0, h], or infinity. Leaves the state at the step's end untouched if there is
/// none.
double one_step_solver::first_change(double s, double h) {
    auto& e = *events_;
    double first = std::numeric_limits<double>::infinity();
    bool moved = false;
    for (std::size_t i = 0; i < e.z1.size(); ++i) {
        if (!(e.z1[i] * e.monitor.sides()[i] < 0)) continue;
        if (!std::exchange(moved, true)) std::copy_n(now_.x, now_.n, e.x1.begin());
        const double a = on_its_side(i, s, h), b = std::min(first, h);
        if (a > b || (first <= h && indicator(i, s, first) * e.monitor.sides()[i] > 0)) continue;
        first = locate(i, s, a, b);
    }
    if (moved) forget_derivative();
    if (moved && first > h) std::ranges::copy(e.x1, now_.x);
    return first;
}

/// When the indicator is on its side for the first time: at 0, or, since after an event the side is the direction of motion while
/// the indicator may still be a rounding error on the other side, a little later. Infinity: never; where the motion goes on the side
/// was wrong and there is no event, where it turns back the next event has come too soon.
double one_step_solver::on_its_side(std::size_t i, double s, double h) {
    using guess = one_step_events::guess;
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
double one_step_solver::locate(std::size_t i, double s, double a, double h) {
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

/// The state after a step of size tau from the micro step's start.
void one_step_solver::step_to(double s, double tau) {
    std::ranges::copy(events_->x0, now_.x);
    again(s, tau);
}

/// Indicator i there.
double one_step_solver::indicator(std::size_t i, double s, double tau) {
    step_to(s, tau);
    input_values(now_.inputs, s + tau, now_.u);
    return events_->monitor.evaluate(now_.begin + s + tau, now_.x, now_.u)[i];
}

/// All events at s + tau; what follows is looked at over `rest`.
void one_step_solver::apply_events(double s, double tau, double rest) {
    auto& e = *events_;
    step_to(s, tau);
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
    // Exactly at zero the motion is taken to go on, until more is known: the old side would bring the same event for ever.
    for (std::size_t i = 0; i < e.z1.size(); ++i)
        if (e.z1[i] != 0 && e.z0[i] == 0) {
            e.monitor.sides()[i] = e.z1[i];
            e.guessed[i] = one_step_events::guess::on;
        }
    guess_sides(s + tau, rest, small);
}

/// The sides of indicators that are at zero after their event, from the motion that follows: in `ahead`, or longer where rounding
/// hides it.
void one_step_solver::guess_sides(double s, double rest, double ahead) {
    using guess = one_step_events::guess;
    auto& e = *events_;
    now_.derivatives(s, now_.x, e.dx.data());
    for (bool hidden = true; hidden && ahead < rest; ahead *= 4) {
        for (std::size_t k = 0; k < now_.n; ++k) e.x1[k] = now_.x[k] + ahead * e.dx[k];
        input_values(now_.inputs, s + ahead, now_.u);
        const auto z = e.monitor.evaluate(now_.begin + s + ahead, e.x1.data(), now_.u);
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

}  // namespace mdpcosim

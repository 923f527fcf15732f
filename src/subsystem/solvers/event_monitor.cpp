#include "subsystem/solvers/event_monitor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

/// More than this in one macro step is chattering: the model switches to and fro without end.
constexpr int most_events = 10000;

constexpr double never = -1;

constexpr const char* remedy =
    "Give the model a hysteresis, or a state for the motion on the boundary; in an 'ode' impacts that end at rest are "
    "'contacts'";

}  // namespace

event_monitor::event_monitor(equations& model, std::string_view solver_name)
    : model_(model),
      solver_name_(solver_name),
      z_(static_cast<std::size_t>(model.event_count())),
      side_(static_cast<std::size_t>(model.event_count())),
      last_(static_cast<std::size_t>(model.event_count())) {}

void event_monitor::forget() { std::ranges::fill(last_, applied{}); }

std::span<const double> event_monitor::evaluate(double t, const double* x, const double* u) {
    model_.event_indicators(t, x, u, z_.data());
    return z_;
}

bool event_monitor::jump(double t, double* x, const double* u) {
    evaluate(t, x, u);
    bool changed = false;
    for (std::size_t i = 0; i < z_.size(); ++i)
        if (z_[i] * side_[i] < 0) changed |= apply(i, z_[i] > 0, t, never, x, u);
    remember(t, x, u);
    return changed;
}

void event_monitor::remember(double t, const double* x, const double* u) {
    evaluate(t, x, u);
    for (std::size_t i = 0; i < z_.size(); ++i)
        if (z_[i] != 0) side_[i] = z_[i] > 0 ? 1 : -1;
}

bool event_monitor::apply(std::size_t i, bool rising, double t, double instant, double* x, const double* u) {
    if (model_.is_corner(static_cast<int>(i))) return true;
    if (++in_interval_ > most_events)
        throw run_error(
            fmt::format("{} at t = {:.9g}: more than {} events in one macro step, the last of {} (chattering). {}",
                        solver_name_, t, most_events, model_.event_name(static_cast<int>(i)), remedy));
    if (rising == last_[i].rising && t - last_[i].time <= instant) fail_at_once(i, t);
    if (!model_.apply_event(static_cast<int>(i), rising, t, x, u)) return false;
    last_[i] = {t, rising};
    ++events_;
    model_.noticed.first_event = std::min(model_.noticed.first_event, t);
    return true;
}

void event_monitor::fail_at_once(std::size_t i, double t) const {
    throw run_error(fmt::format(
        "{} at t = {:.9g}: {} comes again and again, faster than the solver can tell apart (chattering). {}; "
        "tighter tolerances see smaller motions",
        solver_name_, t, model_.event_name(static_cast<int>(i)), remedy));
}

}  // namespace mdpcosim

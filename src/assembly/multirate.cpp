#include "assembly/multirate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "master/owner.hpp"

namespace mdpcosim {

namespace {

bool is_multiple(double a, double b) {
    return b > 0 && a > b * (1 - 1e-9) && std::abs(a / b - std::round(a / b)) <= 1e-9 * (a / b);
}

/// 0: chosen by its solver.
double own_step(const scenario& s, std::size_t i) {
    const auto& step = s.subsystems[i].step;
    return step.by_solver ? 0 : step.value.value_or(s.time.step);
}

std::string own_step_text(double step) { return step > 0 ? fmt::format("{} s", step) : "chosen by its solver"; }

bool gives_samples(const subsystem_description& d) {
    return std::ranges::any_of(d.outputs, [](const auto& y) { return y.sampled; });
}

void check_delay(const delay_spec& delay, const scenario& s, const std::string& object) {
    const double span = s.time.end - s.time.start;
    if (delay.value >= span)
        throw user_error(delay.where, fmt::format("{}: delay {} s must be shorter than the run, which lasts {} s.",
                                                  object, delay.value, span));
}

}  // namespace

multirate_plan multirate_plan_of(const scenario& s) {
    const bool multirate = known_method(s).traits.own_steps;
    const auto refuse = [&](const location& where, const std::string& key) {
        throw user_error(where, fmt::format("{} needs 'method: multirate'; the method is '{}'.", key,
                                            s.method.empty() ? "explicit" : s.method.value));
    };
    multirate_plan plan{.start = s.time.start, .end = s.time.end, .macro_step = s.time.step};
    for (std::size_t i = 0; i < s.subsystems.size(); ++i) {
        const subsystem_spec& spec = s.subsystems[i];
        if (spec.step.given() && !multirate)
            refuse(spec.step.where, fmt::format("subsystem '{}': 'step', a communication step of its own,", spec.name));
        plan.steps.push_back(own_step(s, i));
    }
    if (!s.order.names.empty() && !multirate) refuse(s.order.where, "'order', who goes first,");
    const auto scheme = std::ranges::find(s.method_options, "scheme", &setting::name);
    if (!s.order.names.empty() && (scheme == s.method_options.end() || scheme->values[0].value != "sequential"))
        throw user_error(s.order.where,
                         "'order', who goes first, belongs to 'method: {name: multirate, scheme: sequential}'; in the "
                         "other schemes the "
                         "steps decide.");
    for (const text& name : s.order.names) {
        const auto at = std::ranges::find(s.subsystems, name.value, &subsystem_spec::name);
        plan.order.emplace_back(static_cast<std::size_t>(at - s.subsystems.begin()));
    }
    if (!multirate)
        refuse_delays(s, fmt::format("needs 'method: multirate'; the method is '{}'",
                                     s.method.empty() ? "explicit" : s.method.value));
    for (const auto& c : s.connections) check_delay(c.delay, s, fmt::format("connection '{}'", c.name));
    for (const auto& signal : s.signals) check_delay(signal.delay, s, fmt::format("signal '{}'", signal.name));
    if (multirate && s.step_control.given())
        throw user_error(
            s.step_control.where,
            "step-control: method 'multirate' has steps of the subsystems, which macro steps do not change. Leave "
            "'step-control' out; 'step: solver' lets a subsystem choose its own.");
    return plan;
}

void refuse_delays(const scenario& s, const std::string& why) {
    for (const auto& c : s.connections)
        if (c.delay.value > 0)
            throw user_error(c.delay.where, fmt::format("connection '{}': 'delay' {}.", c.name, why));
    for (const auto& signal : s.signals)
        if (signal.delay.value > 0)
            throw user_error(signal.delay.where, fmt::format("signal '{}': 'delay' {}.", signal.name, why));
}

void check_multirate(const scenario& s, const assembly& a) {
    const transport& t = *a.system.subsystems;
    const network& net = a.system.coupling;
    const auto where = [&](std::size_t i) {
        return s.subsystems[i].step.given() ? s.subsystems[i].step.where : s.subsystems[i].where;
    };
    if (!a.system.loops.empty())
        throw user_error(s.iteration.where,
                         fmt::format("iteration: method 'multirate' solves no algebraic loops, and there is {}. Put a "
                                     "'delay' into it, or take another method.",
                                     a.system.loops.front().path()));
    for (std::size_t i = 0; i < t.size(); ++i) {
        if (s.subsystems[i].step.by_solver && !t.offers(subsystem_index(i)).chooses_step)
            throw user_error(
                where(i),
                fmt::format("subsystem '{}': 'step: solver' needs an integrator that chooses its step and says so, as "
                            "erk-N and dirk-N of native models do. Give the step, for example 'step: {} s'.",
                            s.subsystems[i].name, s.time.step));
        if (gives_samples(t.describe(subsystem_index(i))) && !is_multiple(s.time.step, own_step(s, i)))
            throw user_error(
                where(i),
                fmt::format("subsystem '{}' is sampled, and its step, {}, never meets some of the macro points, which "
                            "lie {} s apart. Allowed: {} s divided by a whole number.",
                            s.subsystems[i].name, own_step_text(own_step(s, i)), s.time.step, s.time.step));
    }
    for (const auto& [input, delivered] : net.deliveries()) {
        const std::size_t to = owner(input.value(), t.size(), [&](subsystem_index k) { return t.input_offset(k); });
        if (a.channels[delivered.channel.value()].delay > 0 && net.has_memory(delivered.channel)) {
            const auto& c = *std::ranges::find(s.connections, net.name(delivered.channel), &connection_spec::name);
            throw user_error(c.delay.where,
                             fmt::format("connection '{}': what it integrates or remembers belongs to the present; a "
                                         "'delay' is for signals and for laws without memory.",
                                         c.name));
        }
        for (const channel_term& term : net.terms(delivered.channel)) {
            if (!term.value.valid()) continue;
            const std::size_t from =
                owner(term.value.value(), t.size(), [&](subsystem_index k) { return t.output_offset(k); });
            if (gives_samples(t.describe(subsystem_index(from))) && !is_multiple(own_step(s, from), own_step(s, to)))
                throw user_error(
                    where(to),
                    fmt::format("subsystem '{}' reads '{}', which is sampled and has the step {}; its own "
                                "step, {}, never meets some of the "
                                "samples. Allowed: {} s divided by a whole number.",
                                s.subsystems[to].name, s.subsystems[from].name, own_step_text(own_step(s, from)),
                                own_step_text(own_step(s, to)), own_step(s, from)));
        }
    }
}

}  // namespace mdpcosim

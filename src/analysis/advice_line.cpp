#include "analysis/advice_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/advice.hpp"
#include "core/error.hpp"
#include "master/method.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

namespace {

constexpr std::size_t most_subsystems = 20;  // what is found in a part of a second

std::string how_to_ask(const scenario& s) {
    return fmt::format("'mdpcosim advise {}' finds the largest stable macro step", s.path.string());
}

std::string limit_of(const advised_choice& one) {
    if (one.limit.outcome == step_limit::kind::none)
        return fmt::format("no step down to {:.3g} s is stable", one.limit.largest);
    const bool bounded = one.limit.outcome == step_limit::kind::limit || one.steep;
    return fmt::format("{} {:.4g} s", bounded ? "stable to" : "no limit up to", one.stable_step());
}

}  // namespace

std::string advice_line(const scenario& given) {
    if (given.connections.empty() && given.signals.empty()) return {};
    const bool joints = std::ranges::any_of(given.connections, &connection_spec::is_joint);
    const bool own_steps = given.method.value == "multirate";
    if (joints || own_steps || given.step_control.given()) return {};
    bool quick =
        given.subsystems.size() <= most_subsystems && std::ranges::all_of(given.subsystems, &subsystem_spec::built_in);
    for (std::size_t i = 0; quick && i < given.subsystems.size(); ++i)
        quick = is_sampled(given.subsystems[i]) || shows_equations(given, i);
    if (!quick) return how_to_ask(given) + ".";
    advice_request request;
    request.load = [&](const step_choice& choice) {
        scenario s = given;
        if (!choice.method.empty()) s.method = {choice.method, {}}, s.method_options.clear();
        return s;
    };
    request.choices = {{"", ""}};
    if (given.method.value != "one-pass") request.choices.push_back({"one-pass", ""});
    request.errors = request.confirm = false;
    request.quick = true;
    try {
        const advice found = find_advice(request);
        const advised_choice& own = found.found[0];
        const bool all = std::ranges::none_of(
            found.system.subsystems, [](const auto& one) { return one.how == identified_subsystem::way::excluded; });
        if (!all || own.refused) return how_to_ask(given) + ".";
        const double limit = own.stable_step();
        std::string text = fmt::format("macro step {:.4g} s, method {}: ", given.time.step, own.method);
        if (own.limit.outcome == step_limit::kind::none || given.time.step > limit * (1 + 1e-9))
            text += own.limit.outcome == step_limit::kind::none ? limit_of(own)
                                                                : fmt::format("ABOVE the limit of {:.4g} s", limit);
        else
            text += limit_of(own);
        if (found.found.size() > 1 && !found.found[1].refused && found.found[1].limit.outcome != step_limit::kind::none)
            text += fmt::format("; one-pass: {}", limit_of(found.found[1]));
        return text + ". " + how_to_ask(given) + " of every method and its error.";
    } catch (const std::exception&) {
        return how_to_ask(given) + ".";
    }
}

}  // namespace mdpcosim

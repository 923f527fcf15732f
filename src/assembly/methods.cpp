#include <fmt/format.h>

#include "assembly/assembly.hpp"
#include "assembly/joints.hpp"
#include "assembly/multirate.hpp"
#include "assembly/step_control.hpp"
#include "core/suggest.hpp"
#include "scenario/resolve.hpp"

namespace mdpcosim {

const method_info& known_method(const scenario& s) {
    const auto& methods = method_registry::instance();
    const std::string name = s.method.empty() ? default_method : s.method.value;
    if (const method_info* info = methods.find(name)) return *info;
    throw user_error(s.method.where, fmt::format("method '{}' does not exist. Methods: {}.{}", name,
                                                 name_list(methods.names()), did_you_mean(name, methods.names())));
}

bool goes_back(const scenario& s) { return s.step_control.given() || make_method(s)->traits().goes_back; }

std::unique_ptr<method> make_method(const scenario& s) {
    const method_info& info = known_method(s);
    const auto values = resolve_parameters(info.options, s.method_options, s.method.where, "method " + info.name);
    try {
        return info.make_with(values);
    } catch (const std::invalid_argument& problem) {
        throw user_error(s.method.where, fmt::format("method {}: {}.", info.name, problem.what()));
    }
}

namespace {

/// A method knows the system and not the file that asks for it.
template <class Check>
void told_at(const location& where, const Check& check) {
    try {
        check();
    } catch (const user_error& problem) {
        throw user_error(where, problem.what());
    }
}

}  // namespace

void check_method(const scenario& s, const assembly& a) {
    const method& chosen = *a.chosen_method;
    const coupled_system& system = a.system;
    check_joints(s, chosen, system);
    told_at(s.method.where, [&] { chosen.check(system); });
    if (chosen.traits().own_steps) check_multirate(s, a);
    if (s.step_control.given())
        told_at(s.step_control.where,
                [&] { step_controller::check(step_control_of(s), system, chosen, known_method(s).name); });
}

}  // namespace mdpcosim

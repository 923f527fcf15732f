#include "exported/places.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "scenario/read.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

exported_entry::exported_entry(const std::filesystem::path& resources, const std::string& name) {
    const scenario s = read_scenario(resources / exported_scenario_file);
    const auto found = std::ranges::find(s.subsystems, name, &subsystem_spec::name);
    if (found == s.subsystems.end())
        throw user_error(fmt::format("the FMU's {} has no subsystem '{}'.", exported_scenario_file, name));
    step = s.time.step;
    spec = on_macro_grid(*found, step, s.time.end - s.time.start);
    spec.tunable = true;
}

std::vector<std::size_t> places_of(const std::vector<exported_variable>& variables,
                                   const subsystem_description& description,
                                   const std::vector<tunable_parameter>& parameters) {
    using role = exported_variable::role;
    std::map<std::string, std::size_t> inputs, outputs, numbers;
    const auto add = [](auto& to, const auto& list) {
        for (const auto& v : list)
            for (int slot = v.slot; slot < v.slot + v.size; ++slot)
                to[element_name(v, slot)] = static_cast<std::size_t>(slot);
    };
    add(inputs, description.inputs);
    add(outputs, description.outputs);
    for (std::size_t i = 0; i < parameters.size(); ++i) numbers[parameters[i].name] = i;
    std::vector<std::size_t> places;
    std::array<std::size_t, 3> count{};
    for (const auto& v : variables) {
        if (v.what >= role::state) {
            places.push_back(count[static_cast<std::size_t>(v.what) - static_cast<std::size_t>(role::state)]++);
            continue;
        }
        const auto& known = v.what == role::input ? inputs : v.is_parameter() ? numbers : outputs;
        const auto found = known.find(v.address);
        if (found == known.end()) throw user_error(fmt::format("the FMU's subsystem has no '{}'.", v.address));
        places.push_back(found->second);
    }
    return places;
}

}  // namespace mdpcosim

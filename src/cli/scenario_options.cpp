#include <fmt/format.h>

#include "api/mdpcosim.hpp"
#include "cli/commands.hpp"

namespace mdpcosim {

void scenario_options::add_to(CLI::App& command) {
    add_without_method(command);
    command.add_option("--method", method_, "Method of the macro step (mdpcosim list methods)");
    command.add_option("--extrapolation", extrapolation_,
                       "Extrapolation of the connections (mdpcosim list extrapolations)");
}

void scenario_options::add_without_method(CLI::App& command) {
    command.add_option("scenario", path_, "The scenario file, an SSP (.ssp, .ssd), or an FMU (.fmu)")->required();
    command
        .add_option("--input", input_,
                    "For an FMU: CSV file with the columns 'time' and those of its inputs that it shall drive")
        ->type_name("CSV");
    command.add_option("--start", start_, "Start time, as 'time: {start: ...}' in the file");
    command.add_option("--end", end_, "End time");
    command.add_option("--step", step_, "Macro step");
    command
        .add_option("--set", set_,
                    "object.parameter=value: a parameter of a subsystem or connection, or a let value (name=value); "
                    "for an FMU name=value")
        ->type_name("OBJECT.PARAMETER=VALUE")
        ->allow_extra_args(false);
}

scenario scenario_options::load(const std::vector<scenario_override>& more) const {
    auto all = overrides();
    all.insert(all.end(), more.begin(), more.end());
    return load_scenario(path_, all, input_);
}

std::vector<scenario_override> scenario_options::overrides() const {
    std::vector<scenario_override> list;
    const auto add = [&](const char* address, const std::optional<std::string>& value, const char* option) {
        if (value) list.push_back({address, *value, fmt::format("{} {}", option, *value)});
    };
    add("time.start", start_, "--start");
    add("time.end", end_, "--end");
    add("time.step", step_, "--step");
    add("method", method_, "--method");
    add("extrapolation", extrapolation_, "--extrapolation");
    for (const auto& entry : set_) {
        const std::size_t equals = entry.find('=');
        if (equals == std::string::npos || equals == 0)
            throw user_error(fmt::format(
                "--set {}: write object.parameter=value, for example --set spring.stiffness='2 kN/m'.", entry));
        list.push_back({entry.substr(0, equals), entry.substr(equals + 1), "--set " + entry});
    }
    return list;
}

}  // namespace mdpcosim

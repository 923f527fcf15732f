#include "plugin/ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

#include "core/suggest.hpp"
#include "core/units.hpp"

namespace mdpcosim {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw std::invalid_argument(message); }

port_kind kind_of(const char* given, const std::string& object) {
    std::vector<std::string> allowed;
    for (const auto& k : port_kinds())
        if (k.kind != port_kind::signal) allowed.push_back(k.name);
    const std::string name = given == nullptr ? "" : given;
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end())
        refuse(fmt::format("{}: kind '{}' does not exist. Allowed: {}.{}", object, name, name_list(allowed),
                           did_you_mean(name, allowed)));
    return *find_port_kind(name);
}

causality causality_of(const char* given, const std::string& object) {
    const std::string name = given == nullptr ? "takes-load" : given;
    if (name == "takes-load") return causality::takes_load;
    if (name == "takes-motion") return causality::takes_motion;
    static const std::vector<std::string> allowed{"takes-load", "takes-motion"};
    refuse(fmt::format("{}: causality '{}' does not exist. Allowed: {}.{}", object, name, name_list(allowed),
                       did_you_mean(name, allowed)));
}

std::vector<std::string> words_of(const port_kind_info& kind) {
    std::vector<std::string> words;
    if (kind.kind == port_kind::frame) {
        for (const auto& v : frame_motion_variables()) words.push_back(v.name);
        for (const auto& v : frame_load_variables()) words.push_back(v.name);
        return words;
    }
    for (const auto& word : kind.motion)
        if (!word.empty()) words.push_back(word);
    words.push_back(kind.load);
    return words;
}

/// "position=x force=F" as a map.
std::map<std::string, std::string> mapping(const std::string& text, const port_kind_info& kind,
                                           const std::string& object) {
    std::map<std::string, std::string> result;
    const auto allowed = words_of(kind);
    std::istringstream pairs(text);
    for (std::string pair; pairs >> pair;) {
        const std::size_t sign = pair.find('=');
        if (sign == std::string::npos || sign == 0 || sign + 1 == pair.size())
            refuse(fmt::format("{}: '{}' is not of the form '{}=variable'.", object, pair, kind.load));
        const std::string word = pair.substr(0, sign);
        if (std::find(allowed.begin(), allowed.end(), word) == allowed.end())
            refuse(fmt::format("{}: {}", object,
                               unknown_name("variable", word, fmt::format("A {} port", kind.name), allowed)));
        if (!result.emplace(word, pair.substr(sign + 1)).second)
            refuse(fmt::format("{}: '{}' is given twice.", object, word));
    }
    return result;
}

}  // namespace

bool plugin_port_reader::exists(const std::string& variable, bool input) const {
    const auto same = [&](const auto& v) { return v.name == variable; };
    const auto& d = description_;
    return input ? std::any_of(d.inputs.begin(), d.inputs.end(), same)
                 : std::any_of(d.outputs.begin(), d.outputs.end(), same);
}

int plugin_port_reader::slot_of(const std::string& object, const std::string& word, const std::string& variable,
                                const std::string& unit, bool wants_input, int size) {
    const auto take = [&](auto& variables, const char* kind, const char* other) {
        const auto found =
            std::find_if(variables.begin(), variables.end(), [&](const auto& v) { return v.name == variable; });
        if (found == variables.end()) {
            if (exists(variable, !wants_input))
                refuse(fmt::format("{}: {} is '{}', which is {}, but with this causality must be {}.", object, word,
                                   variable, other, kind));
            refuse(fmt::format("{}: {}: {}", object, word,
                               unknown_name("variable", variable, who_, variable_names(variables))));
        }
        if (found->size != size)
            refuse(fmt::format("{}: {} is '{}', which has {} elements; a port takes {}.", object, word, variable,
                               found->size, size == 1 ? "one" : std::to_string(size)));
        if (!units_fit(found->unit, unit))
            refuse(fmt::format("{}: {} needs a variable in '{}', but '{}' is in '{}'.", object, word, unit, variable,
                               found->unit));
        if (found->unit.empty()) found->unit = unit;
        return found - variables.begin();
    };
    if (!wants_input)
        return description_.outputs[static_cast<std::size_t>(take(description_.outputs, "an output", "an input"))].slot;
    const auto input = static_cast<std::size_t>(take(description_.inputs, "an input", "an output"));
    if (!owner_[input].empty())
        refuse(fmt::format("{}: {} is '{}', which belongs to {} already.", object, word, variable, owner_[input]));
    owner_[input] = object;
    return description_.inputs[input].slot;
}

port plugin_port_reader::read(const std::string& name, const mdpcosim_port& given) {
    const std::string object = fmt::format("port '{}'", name);
    port made;
    made.name = name;
    made.kind = kind_of(given.kind, object);
    made.causality = causality_of(given.causality, object);
    made.description = given.description == nullptr ? "" : given.description;
    const port_kind_info& kind = info(made.kind);
    const bool takes_load = made.causality == causality::takes_load;
    const bool by_name = given.variables == nullptr;
    const auto map = by_name ? std::map<std::string, std::string>{} : mapping(given.variables, kind, object);

    // Without a mapping the port's variables are those that carry its name; what is not there is not offered.
    const auto variable = [&](const std::string& word, bool input) -> std::string {
        if (word.empty()) return {};
        if (!by_name) return map.contains(word) ? map.at(word) : std::string{};
        const std::string own = name + "." + word;
        return exists(own, input) || exists(own, !input) ? own : std::string{};
    };
    const auto missing = [&](const std::string& word) {
        refuse(fmt::format("{}: its {} is missing. {}", object, word,
                           by_name ? fmt::format("Declare '{}.{}', or give 'variables'.", name, word)
                                   : fmt::format("A {} port has: {}.", kind.name, name_list(words_of(kind)))));
    };
    if (made.kind == port_kind::frame) {
        if (!takes_load)
            refuse(fmt::format("{}: a frame takes force and torque; takes-motion is not allowed.", object));
        const auto slots = [&](const frame_variable& v, bool input, std::vector<int>& to) {
            const std::string own = variable(v.name, input);
            const int first = own.empty() ? -1 : slot_of(object, v.name, own, v.unit, input, v.size);
            for (int k = 0; k < v.size; ++k) to.push_back(own.empty() ? -1 : first + k);
            // Accelerations may be left out; joints then say what they miss.
            if (own.empty() && (input || v.first < frame_motion::acceleration)) missing(v.name);
        };
        for (const auto& v : frame_motion_variables()) slots(v, false, made.motion_slots);
        for (const auto& v : frame_load_variables()) slots(v, true, made.load_slots);
        return made;
    }
    for (std::size_t k = 0; k < 3; ++k)
        if (const std::string v = variable(kind.motion[k], !takes_load); !v.empty())
            made.motion[k] = slot_of(object, kind.motion[k], v, kind.motion_unit[k], !takes_load);
    if (const std::string v = variable(kind.load, takes_load); !v.empty())
        made.load = slot_of(object, kind.load, v, kind.load_unit, takes_load);

    // Of a hydraulic port the flow is enough: the master integrates it to the volume.
    const bool flow_only = made.kind == port_kind::hydraulic && made.motion[1] >= 0;
    if ((made.motion[0] < 0 && !flow_only) || made.load < 0) missing(made.load < 0 ? kind.load : kind.motion[0]);
    return made;
}

}  // namespace mdpcosim

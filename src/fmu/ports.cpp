#include "fmu/ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>

#include "core/units.hpp"
#include "fmu/units.hpp"

namespace mdpcosim {

namespace {

/// Names that stand for a port's variable where no unit says it.
struct known_name {
    std::string_view word;
    port_kind kind;
    std::string_view name;
};
constexpr std::array names{
    known_name{"position", port_kind::translation, "s"},      known_name{"position", port_kind::translation, "x"},
    known_name{"velocity", port_kind::translation, "v"},      known_name{"acceleration", port_kind::translation, "a"},
    known_name{"force", port_kind::translation, "f"},         known_name{"force", port_kind::translation, "F"},
    known_name{"angle", port_kind::rotation, "phi"},          known_name{"speed", port_kind::rotation, "w"},
    known_name{"speed", port_kind::rotation, "omega"},        known_name{"acceleration", port_kind::rotation, "a"},
    known_name{"acceleration", port_kind::rotation, "alpha"}, known_name{"torque", port_kind::rotation, "tau"},
    known_name{"flow", port_kind::hydraulic, "V_flow"},       known_name{"volume", port_kind::hydraulic, "V"},
    known_name{"pressure", port_kind::hydraulic, "p"},        known_name{"temperature", port_kind::thermal, "T"},
    known_name{"heat-flow", port_kind::thermal, "Q_flow"},    known_name{"heat-flow", port_kind::thermal, "heat_flow"},
    known_name{"potential", port_kind::electric, "v"},        known_name{"current", port_kind::electric, "i"},
    known_name{"charge", port_kind::electric, "q"},           known_name{"potential", port_kind::magnetic, "V_m"},
    known_name{"flux", port_kind::magnetic, "Phi"},
};

/// A variable that may belong to a port.
struct candidate {
    const fmi::variable* variable;
    std::string name;  ///< by which it may be known: the member's, or the last part of the variable's
    bool used = false;
};

/// True when the candidate can be `word` of a port of that kind.
bool plays(const fmi::description& fmu, const candidate& c, port_kind kind, const std::string& word,
           const std::string& unit) {
    if (const std::string own = unit_of(fmu, *c.variable).si; !own.empty())
        return units_fit(own, unit) && customary_unit(own) == customary_unit(unit);
    if (c.name == word) return true;
    return std::any_of(names.begin(), names.end(),
                       [&](const known_name& n) { return n.kind == kind && n.word == word && n.name == c.name; });
}

constexpr std::array kinds{port_kind::translation, port_kind::rotation, port_kind::hydraulic,
                           port_kind::thermal,     port_kind::electric, port_kind::magnetic};

/// How much two names have in common: characters up to the last separator that both have at the same place.
std::size_t kinship(const std::string& a, const std::string& b) {
    std::size_t common = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i)
        if (a[i] == '.' || a[i] == '_') common = i + 1;
    return common;
}

setting entry(const std::string& name, const std::string& value) { return {name, {}, {{value, {}}}, false}; }

/// A port of this kind around `load`, from what is not used yet; nothing where its motion is missing.
std::optional<port_spec> complete(const fmi::description& fmu, port_kind kind, candidate& load,
                                  std::vector<candidate>& all) {
    const port_kind_info& words = info(kind);
    const bool takes_load = load.variable->causality == fmi::causality::input;
    const auto wanted = takes_load ? fmi::causality::output : fmi::causality::input;
    std::array<candidate*, 3> motion{};
    for (std::size_t k = 0; k < (takes_load ? 3 : 1); ++k) {
        if (words.motion[k].empty()) continue;
        for (candidate& c : all) {
            if (c.used || c.variable->causality != wanted || &c == &load) continue;
            if (!plays(fmu, c, kind, words.motion[k], words.motion_unit[k])) continue;
            const auto kin = [&](const candidate* x) { return kinship(x->variable->name, load.variable->name); };
            if (motion[k] == nullptr || kin(&c) > kin(motion[k])) motion[k] = &c;
        }
    }
    if (motion[0] == nullptr && (kind != port_kind::hydraulic || motion[1] == nullptr)) return std::nullopt;
    port_spec made;
    made.kind.value = words.name;
    if (!takes_load) made.causality.value = "takes-motion";
    for (std::size_t k = 0; k < 3; ++k) {
        if (motion[k] == nullptr) continue;
        motion[k]->used = true;
        made.variables.push_back(entry(words.motion[k], motion[k]->variable->name));
    }
    load.used = true;
    made.variables.push_back(entry(words.load, load.variable->name));
    return made;
}

bool can_couple(const fmi::variable& v) {
    return fmi::is_float(v.type) && v.dimensions.empty() &&
           (v.causality == fmi::causality::input || v.causality == fmi::causality::output);
}

/// Ports from the candidates, every load in turn.
std::vector<port_spec> find_ports(const fmi::description& fmu, std::vector<candidate>& all) {
    std::vector<port_spec> found;
    for (const auto side : {fmi::causality::input, fmi::causality::output})
        for (candidate& load : all)
            for (const port_kind kind : kinds) {
                if (load.used || load.variable->causality != side) break;
                if (!plays(fmu, load, kind, info(kind).load, info(kind).load_unit)) continue;
                if (auto made = complete(fmu, kind, load, all)) found.push_back(std::move(*made));
            }
    return found;
}

std::string as_name(std::string text) {
    for (char& c : text)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
    while (text.ends_with('_')) text.pop_back();
    if (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0) text.insert(0, "_");
    return text;
}

void add_terminals(const fmi::description& fmu, const std::vector<fmi::terminal>& terminals, const std::string& prefix,
                   std::vector<port_spec>& found) {
    for (const fmi::terminal& t : terminals) {
        std::vector<candidate> members;
        for (const auto& m : t.members) {
            if (m.variable < 0) continue;
            const fmi::variable& v = fmu.variables[static_cast<std::size_t>(m.variable)];
            if (can_couple(v)) members.push_back({&v, m.name});
        }
        auto ports = find_ports(fmu, members);
        if (ports.size() == 1) {
            ports.front().name = as_name(prefix + t.name);
            found.push_back(std::move(ports.front()));
        }
        add_terminals(fmu, t.parts, prefix + t.name + "_", found);
    }
}

}  // namespace

std::vector<port> terminal_ports(const fmi::description& fmu, const std::vector<port_spec>& written,
                                 port_variables& variables) {
    std::vector<port_spec> found;
    add_terminals(fmu, fmu.terminals, "", found);
    // What the user mapped is mapped, whether by the terminal's name or by its variables.
    std::set<std::string> taken;
    for (const auto& p : written) {
        taken.insert(p.name);
        for (const auto& v : p.variables) taken.insert(v.values.front().value);
    }
    std::erase_if(found, [&](const port_spec& p) {
        return taken.contains(p.name) || std::any_of(p.variables.begin(), p.variables.end(), [&](const setting& v) {
                   return taken.contains(v.values.front().value);
               });
    });
    return resolve_ports(found, "terminals", variables);
}

std::vector<port_spec> propose_ports(const fmi::description& fmu) {
    std::vector<port_spec> found;
    add_terminals(fmu, fmu.terminals, "", found);
    std::set<std::string> taken;
    for (const auto& p : found)
        for (const auto& v : p.variables) taken.insert(v.values.front().value);
    std::vector<candidate> all;
    for (const fmi::variable& v : fmu.variables)
        if (can_couple(v) && !taken.contains(v.name)) all.push_back({&v, v.name.substr(v.name.find_last_of("._") + 1)});
    std::set<std::string> used;
    for (const auto& p : found) used.insert(p.name);
    for (port_spec& p : find_ports(fmu, all)) {
        const std::string& load = p.variables.back().values.front().value;
        const std::string& motion = p.variables.front().values.front().value;
        std::string stem = as_name(load.substr(0, kinship(load, motion)));
        if (stem.empty()) stem = p.kind.value;
        p.name = stem;
        for (int n = 2; !used.insert(p.name).second; ++n) p.name = fmt::format("{}_{}", stem, n);
        found.push_back(std::move(p));
    }
    return found;
}

std::string port_text(const port_spec& p) {
    std::vector<std::string> parts{"kind: " + p.kind.value};
    if (!p.causality.empty()) parts.push_back("causality: " + p.causality.value);
    for (const auto& v : p.variables) {
        const std::string& name = v.values.front().value;
        const bool plain = name.find_first_of("[]{},:#&*!|>'\"%@`") == std::string::npos;
        parts.push_back(fmt::format("{}: {}", v.name, plain ? name : fmt::format("\"{}\"", name)));
    }
    return fmt::format("{}: {{{}}}", p.name, fmt::join(parts, ", "));
}

}  // namespace mdpcosim

#include "assembly/ssp_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "archive/xml_file.hpp"
#include "assembly/ssp_parts.hpp"
#include "assembly/ssp_units.hpp"
#include "core/suggest.hpp"
#include "core/units.hpp"
#include "fmu/layout.hpp"
#include "scenario/signal_text.hpp"
#include "ssp/flatten.hpp"
#include "ssp/read.hpp"

namespace mdpcosim {

namespace {

using node_type = yaml_node::type;

std::string lower_ending(const std::filesystem::path& path) {
    std::string ending = path.extension().string();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return ending;
}

bool said_by(const std::vector<scenario_override>& overrides, std::string_view address) {
    return std::ranges::any_of(overrides, [&](const auto& o) { return o.address == address; });
}

yaml_node scalar_at(std::string text, const location& where) {
    yaml_node node;
    node.kind = node_type::scalar;
    node.where = where;
    node.scalar = std::move(text);
    return node;
}

yaml_node empty_at(node_type kind, const location& where) {
    yaml_node node;
    node.kind = kind;
    node.where = where;
    return node;
}

/// The value of the key, which is made where it is missing.
yaml_node& value_at(yaml_node& map, const std::string& key, node_type kind, const location& where) {
    if (yaml_node* found = map.find(key)) return *found;
    map.entries.push_back({{key, where}, empty_at(kind, where)});
    return map.entries.back().value;
}

void add_missing(yaml_node& map, const std::string& key, yaml_node value) {
    if (map.find(key) == nullptr) map.entries.push_back({{key, value.where}, std::move(value)});
}

/// The map in an annotation of ours, with its places in the SSD; empty where there is none.
yaml_node read_annotation(const ssp::annotation& annotation, const std::string& object) {
    if (annotation.text.find_first_not_of(" \t\r\n") == std::string::npos)
        return empty_at(node_type::map, annotation.where);
    yaml_node map =
        read_yaml_text(annotation.text, annotation.where.file, false, std::max(annotation.where.line - 1, 0));
    if (map.kind != node_type::map)
        throw user_error(annotation.where, fmt::format("{}: the annotation '{}' holds a map of keys, not {}.", object,
                                                       ssp::annotation_type, describe(map.kind)));
    return map;
}

/// A name for results and addresses, in the characters that names may have.
std::string subsystem_name(const std::vector<std::string>& names) {
    std::string name = fmt::format("{}", fmt::join(names, "_"));
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && static_cast<unsigned char>(c) < 0x80)
            c = '_';
    if (std::isdigit(static_cast<unsigned char>(name.front())) != 0 || name.front() == '-') name.insert(0, "_");
    return name;
}

class ssp_reader {
   public:
    explicit ssp_reader(const std::filesystem::path& path)
        : path_(path),
          file_(lower_ending(path) == ".ssp" ? path / "SystemStructure.ssd" : path),
          system_(ssp::flatten(
              file_, [&](const ssp::part& p, const std::string& name) { return parts_.has_variable(p, name); })) {}

    scenario read(const std::vector<scenario_override>& overrides) {
        const ssp::description& top = *system_.top;
        if (!top.annotation.text.empty() && !top.system.annotation.text.empty())
            throw user_error(top.system.annotation.where,
                             fmt::format("there are two annotations of the type '{}', of the description and of its "
                                         "system. One says how the whole is run.",
                                         ssp::annotation_type));
        root_ = read_annotation(top.annotation.text.empty() ? top.system.annotation : top.annotation, "the system");
        refuse_key(root_, "include", "the annotation", "An SSP is complete in itself.");
        if (system_.parts.empty()) throw user_error(top.system.where, "the system has no components.");
        add_subsystems();
        add_values();
        add_signals();
        add_time(overrides);
        const std::filesystem::path folder = lower_ending(path_) == ".ssp" ? path_ : path_.parent_path();
        scenario s = read_scenario_tree(std::move(root_), path_, folder, overrides);
        s.notes = std::move(system_.notes);
        return s;
    }

   private:
    static void refuse_key(const yaml_node& map, const char* key, const std::string& object, const char* why) {
        if (const yaml_node* found = map.find(key))
            throw user_error(found->where, fmt::format("{}: '{}' cannot stand here. {}", object, key, why));
    }

    static void refuse_code(const yaml_node& subsystem, const std::string& object) {
        for (const char* key : {"program", "plugin", "include"})
            refuse_key(subsystem, key, object, "Programs and libraries of this machine are no part of an SSP.");
    }

    /// A section of the annotation, in whose place an empty one stays.
    static yaml_node take(yaml_node& section, node_type kind, const char* name) {
        if (section.kind != kind)
            throw user_error(section.where, fmt::format("'{}' in the annotation is {}, not {}.", name, describe(kind),
                                                        describe(section.kind)));
        return std::exchange(section, empty_at(kind, section.where));
    }

    yaml_node& entry(int part) {
        return value_at(root_, "subsystems", node_type::map, {}).entries[static_cast<std::size_t>(part)].value;
    }

    void add_subsystems() {
        const ssp::element& top = system_.top->system;
        yaml_node said = empty_at(node_type::map, top.where);
        if (yaml_node* found = root_.find("subsystems")) said = take(*found, node_type::map, "subsystems");
        yaml_node& all = value_at(root_, "subsystems", node_type::map, top.where);
        std::set<std::string> taken;
        std::vector<std::string> renamed;
        for (const ssp::part& part : system_.parts) {
            std::string name = subsystem_name(part.names);
            for (int n = 2; !taken.insert(name).second; ++n) name = fmt::format("{}_{}", subsystem_name(part.names), n);
            if (name != part.full_name()) renamed.push_back(fmt::format("'{}' is '{}'", part.full_name(), name));
            all.entries.push_back({{name, part.what->where}, subsystem(part)});
            names_.push_back(std::move(name));
        }
        // What the annotation of the whole says of components, and subsystems that are no components.
        for (auto& [key, value] : said.entries) {
            refuse_code(value, fmt::format("subsystem '{}'", key.name));
            if (yaml_node* known = all.find(key.name))
                for (auto& [inner, what] : value.entries) add_missing(*known, inner.name, std::move(what));
            else
                all.entries.push_back({key, std::move(value)});
        }
        if (!renamed.empty())
            system_.notes.push_back(
                fmt::format("components and the names of their subsystems: {}.", name_list(renamed)));
    }

    yaml_node subsystem(const ssp::part& part) {
        const ssp::element& component = *part.what;
        const std::string object = fmt::format("component '{}'", part.full_name());
        yaml_node made = read_annotation(component.annotation, object);
        made.where = component.where;
        refuse_code(made, object);
        if (part.path.empty()) {
            if (made.find("model") == nullptr && made.find("ode") == nullptr)
                throw user_error(
                    component.where,
                    fmt::format("{}: it has no source: the SSD says what it is connected to, and not what it "
                                "does. Give it an FMU, source=\"resources/X.fmu\".",
                                object));
            return made;
        }
        for (const char* key : {"fmu", "file", "model", "ode"})
            refuse_key(made, key, object, "The component's source says what it is.");
        const std::filesystem::path relative = part.path.lexically_proximate(path_.lexically_normal());
        const bool inside = !relative.empty() && *relative.begin() != ".." && lower_ending(path_) == ".ssp";
        const std::string source =
            inside ? relative.string() : std::filesystem::absolute(part.path).lexically_normal().string();
        if (parts_.is_table(part)) {
            parts_.read_table(part, made);
            made.entries.insert(made.entries.begin(), {{"file", component.where}, scalar_at(source, component.where)});
            return made;
        }
        parts_.fmu(part);
        made.entries.insert(made.entries.begin(), {{"fmu", component.where}, scalar_at(source, component.where)});
        if (component.implementation == "ScheduledExecution")
            throw user_error(component.where, fmt::format("{}: scheduled execution is not supported. Choose "
                                                          "implementation=\"CoSimulation\" or \"ModelExchange\".",
                                                          object));
        if (component.implementation != "any")
            add_missing(made, "interface",
                        scalar_at(component.implementation == "CoSimulation" ? "co-simulation" : "model-exchange",
                                  component.where));
        for (const ssp::connector& c : component.connectors) check_connector(part, c);
        return made;
    }

    /// The kind that the SSD says must be possible for the variable.
    void check_connector(const ssp::part& part, const ssp::connector& c) {
        using fmi::causality;
        const fmi::variable& v = *parts_.variable(part, c);
        parts_.units_of(part, c);
        const bool input = v.causality == causality::input, output = v.causality == causality::output;
        if ((c.kind == ssp::kind::input && output) || (c.kind == ssp::kind::output && input))
            throw user_error(c.where, fmt::format("{} is an {} here, but an {} of the FMU {}.", title_of(part, c),
                                                  output ? "input" : "output", output ? "output" : "input",
                                                  part.path.filename().string()));
    }

    void add_values() {
        for (const ssp::binding& binding : system_.bindings) {
            const ssp::part& part = system_.parts[static_cast<std::size_t>(binding.target)];
            const fmi::description* fmu = parts_.fmu(part);
            if (fmu == nullptr || !parts_.has_variable(part, binding.variable)) {
                system_.notes.push_back(
                    fmt::format("{}: the value for '{}' of component '{}', which is no FMU, is passed over.",
                                to_string(binding.where), binding.variable, part.full_name()));
                continue;
            }
            const auto& v = fmu->variables[static_cast<std::size_t>(find_element(*fmu, binding.variable).variable)];
            add_missing(value_at(entry(binding.target), "set", node_type::map, binding.where), binding.variable,
                        ssp_value(binding, part, *fmu, v));
        }
    }

    std::string address(int part, const ssp::connector& c, const location& where) const {
        for (const char* sign : {"->", "*", "+", " - ", "$"})
            if (c.name.find(sign) != std::string::npos)
                throw user_error(where,
                                 fmt::format("{}: a signal cannot name it, since its name has '{}' in it. Give it "
                                             "another name, or leave the connection out.",
                                             title_of(system_.parts[static_cast<std::size_t>(part)], c), sign));
        return fmt::format("{}.{}", names_[static_cast<std::size_t>(part)], c.name);
    }

    void add_signals() {
        yaml_node said = empty_at(node_type::list, system_.top->system.where);
        if (yaml_node* found = root_.find("signals")) said = take(*found, node_type::list, "signals");
        std::vector<yaml_node> items;
        for (const ssp::link& link : system_.links) items.push_back(signal(link));
        if (items.empty() && said.items.empty()) return;
        for (yaml_node& item : said.items) {
            std::size_t at = items.size();
            if (const yaml_node* position = item.find(ssp_position_key)) {
                const auto number = archive::parse_integer<std::uint64_t>(position->scalar);
                if (number && *number < at) at = *number;
                std::erase_if(item.entries, [](const auto& entry) { return entry.key.name == ssp_position_key; });
            }
            items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), std::move(item));
        }
        value_at(root_, "signals", node_type::list, said.where).items = std::move(items);
    }

    yaml_node signal(const ssp::link& link) {
        const ssp::part &source = system_.parts[static_cast<std::size_t>(link.source)],
                        &target = system_.parts[static_cast<std::size_t>(link.target)];
        const location& where = link.last->where;
        const auto from = parts_.units_of(source, *link.from), to = parts_.units_of(target, *link.to);
        value_way way(from.meant(), !from.own.si.empty());
        for (std::size_t i = 0; i < link.hops.size(); ++i) {
            const ssp::hop& over = link.hops[i];
            const bool last = i + 1 == link.hops.size();
            way.pass(over,
                     last        ? to.meant()
                     : over.unit ? unit_of(*over.unit)
                                 : fmu_unit{},
                     fmt::format("connection of '{}.{}' to '{}.{}'", source.full_name(), link.from->name,
                                 target.full_name(), link.to->name));
        }
        way.finish(!to.own.si.empty());
        publish(link.source, *link.from);

        const std::string first = address(link.source, *link.from, where),
                          second = address(link.target, *link.to, where);
        std::string text = gain_text(way.gain(), from.own.si, to.own.si) + first;
        if (way.offset() != 0) text += fmt::format(" + {}", way.offset());
        yaml_node item = read_annotation(link.last->annotation, fmt::format("connection to '{}'", second));
        if (item.entries.empty()) return scalar_at(fmt::format("{} -> {}", text, second), where);
        yaml_node connect = scalar_at(fmt::format("{} -> {}", text, second), where);
        if (yaml_node* exact = item.find("connect")) {
            // The same to the last bit, as long as nobody changed the connection.
            if (is_same_line(*exact, way, first, second)) connect = *exact;
            std::erase_if(item.entries, [](const auto& entry) { return entry.key.name == "connect"; });
        }
        if (item.entries.empty()) return connect;
        item.entries.insert(item.entries.begin(), {{"connect", where}, std::move(connect)});
        return item;
    }

    /// What stands before the source. A bare gain of 1 would ask for units that fit.
    static std::string gain_text(double gain, const std::string& from, const std::string& to) {
        if (std::abs(gain) == 1 && !units_fit(from, to))
            return fmt::format("{} {}*", gain, si_unit(fmt::format("({})/({})", to, from)));
        return gain == 1 ? std::string() : fmt::format("{}*", gain);
    }

    static bool is_same_line(const yaml_node& exact, const value_way& way, const std::string& from,
                             const std::string& to) {
        signal_spec said;
        read_signal_text({exact.scalar, exact.where}, {}, said);
        const auto close = [](double a, double b, double scale) { return std::abs(a - b) <= 1e-12 * scale; };
        return said.terms.size() == 1 && said.terms.front().address.value == from && said.target.value == to &&
               close(said.terms.front().gain, way.gain(), std::abs(way.gain())) &&
               close(said.offset, way.offset(), std::max(std::abs(way.offset()), 1e-300));
    }

    /// A variable of an FMU that is none of its outputs becomes one.
    void publish(int part, const ssp::connector& c) {
        const fmi::variable* v = parts_.variable(system_.parts[static_cast<std::size_t>(part)], c);
        if (v == nullptr || v->causality == fmi::causality::output) return;
        yaml_node& outputs = value_at(entry(part), "outputs", node_type::list, c.where);
        if (outputs.kind == node_type::scalar) {
            yaml_node list = empty_at(node_type::list, outputs.where);
            list.items.push_back(std::move(outputs));
            outputs = std::move(list);
        }
        if (std::ranges::find(outputs.items, c.name, &yaml_node::scalar) == outputs.items.end())
            outputs.items.push_back(scalar_at(c.name, c.where));
    }

    void add_time(const std::vector<scenario_override>& overrides) {
        const ssp::description& top = *system_.top;
        const bool has_method = root_.find("method") != nullptr || said_by(overrides, "method");
        yaml_node& time = value_at(root_, "time", node_type::map, top.system.where);
        if (time.kind != node_type::map) return;  // the reader of the scenario tells
        if (top.start) add_missing(time, "start", scalar_at(fmt::format("{}", *top.start), top.system.where));
        if (top.stop) add_missing(time, "end", scalar_at(fmt::format("{}", *top.stop), top.system.where));
        const auto has = [&](const char* key) {
            return time.find(key) != nullptr || said_by(overrides, fmt::format("time.{}", key));
        };
        const std::string file = path_.string();
        if (!has("end"))
            throw user_error(
                fmt::format("{}: it says no stop time in its default experiment. Give one: --end 10.", file));
        std::vector<std::string> assumed;
        if (!has_method) assumed.emplace_back("method 'explicit'");
        if (!has("step")) {
            const auto [step, fmu] = shortest_step();
            if (!(step > 0))
                throw user_error(
                    fmt::format("{}: it says no macro step, and no default experiment of its FMUs does. Give "
                                "one: --step 0.01.",
                                file));
            add_missing(time, "step", scalar_at(fmt::format("{}", step), top.system.where));
            assumed.push_back(
                fmt::format("macro step {} s, the shortest one that a default experiment of its FMUs names "
                            "({})",
                            step, fmu));
        }
        if (!assumed.empty())
            system_.notes.push_back(fmt::format("assumed, since {} does not say it: {}.", path_.filename().string(),
                                                fmt::join(assumed, "; ")));
    }

    std::pair<double, std::string> shortest_step() {
        std::pair<double, std::string> shortest;
        for (const ssp::part& part : system_.parts) {
            const fmi::description* fmu = parts_.fmu(part);
            const double step = fmu == nullptr ? 0 : fmu->experiment.step.value_or(0);
            if (step > 0 && (shortest.first == 0 || step < shortest.first))
                shortest = {step, part.path.filename().string()};
        }
        return shortest;
    }

    std::filesystem::path path_, file_;
    ssp_parts parts_;
    ssp::flat_system system_;
    yaml_node root_;
    std::vector<std::string> names_;  ///< of the subsystems, by part
};

}  // namespace

bool is_ssp(const std::filesystem::path& path) {
    const std::string ending = lower_ending(path);
    return ending == ".ssp" || ending == ".ssd";
}

scenario ssp_scenario(const std::filesystem::path& path, const std::vector<scenario_override>& overrides) {
    return ssp_reader(path).read(overrides);
}

}  // namespace mdpcosim

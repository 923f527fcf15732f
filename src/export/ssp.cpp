#include "export/ssp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "archive/local_file.hpp"
#include "archive/zip_writer.hpp"
#include "assembly/ssp_scenario.hpp"
#include "assembly/ssp_units.hpp"
#include "core/files.hpp"
#include "core/suggest.hpp"
#include "core/units.hpp"
#include "export/ssp_text.hpp"
#include "export/target_file.hpp"
#include "fmi/archive.hpp"
#include "fmu/component.hpp"
#include "scenario/keys.hpp"
#include "scenario/read.hpp"
#include "scenario/signal_text.hpp"
#include "subsystem/file_csv.hpp"

namespace mdpcosim {

namespace {

using source_kind = subsystem_spec::source_kind;

/// Files that go into the archive, each once, by the names that they get there.
class packed_files {
   public:
    std::string add(const std::filesystem::path& file) {
        const auto known = names_.find(file);
        if (known != names_.end()) return known->second;
        const std::string stem = file.stem().string(), ending = file.extension().string();
        std::string name = "resources/" + stem + ending;
        for (int n = 2; !taken_.insert(name).second; ++n) name = fmt::format("resources/{}-{}{}", stem, n, ending);
        return names_[file] = name;
    }

    void write(const std::filesystem::path& archive, const std::string& ssd) const {
        archive::zip_writer zip(archive);
        zip.add("SystemStructure.ssd", ssd);
        std::vector<std::unique_ptr<archive::local_file>> open;  // until the archive is closed
        for (const auto& [file, name] : names_) {
            open.push_back(std::make_unique<archive::local_file>(file));
            zip.add_file(name, open.back()->path(), file.extension() != ".fmu");
        }
        zip.close();
    }

   private:
    std::map<std::filesystem::path, std::string> names_;
    std::set<std::string> taken_;
};

/// What the scenario has that an SSP has no words for.
std::vector<std::string> unseen_by_others(const scenario& s) {
    std::vector<std::string> unseen;
    const auto of = [](const char* what, const std::string& name, const char* object, const std::string& owner) {
        return fmt::format("{} '{}' ({} '{}')", what, name, object, owner);
    };
    for (const auto& entry : s.subsystems) {
        if (entry.kind == source_kind::model)
            unseen.push_back(of("model", entry.source.value, "subsystem", entry.name));
        if (entry.kind == source_kind::ode) unseen.push_back(fmt::format("equations (subsystem '{}')", entry.name));
    }
    for (const auto& c : s.connections)
        unseen.push_back(
            of(c.is_joint() ? "joint" : "law", c.is_joint() ? c.joint.value : c.law.value, "connection", c.name));
    for (const auto& signal : s.signals) {
        if (signal.terms.size() != 1) unseen.push_back(fmt::format("signal '{}'", signal_text(signal)));
        if (signal.delay.value > 0) unseen.push_back(fmt::format("the delay of signal '{}'", signal_text(signal)));
    }
    for (const auto& bond : s.bonds)
        if (bond.correct) unseen.push_back(fmt::format("the correction of bond '{}'", bond.name));
    return unseen;
}

void refuse_programs(const scenario& s) {
    for (const auto& entry : s.subsystems)
        if (entry.kind == source_kind::program || entry.kind == source_kind::plugin ||
            entry.kind == source_kind::system)
            throw user_error(
                entry.where,
                fmt::format("subsystem '{}': a {} of this machine cannot go into an SSP. Make an FMU of it, or "
                            "leave it out.",
                            entry.name, to_string(entry.kind)));
}

yaml_node text_node(const std::string& text) {
    yaml_node node;
    node.kind = yaml_node::type::scalar;
    node.scalar = text;
    return node;
}

yaml_node map_node() {
    yaml_node node;
    node.kind = yaml_node::type::map;
    return node;
}

std::string yaml_text(yaml_node&& map) {
    for (auto& [key, value] : map.entries) value.block = value.kind != yaml_node::type::scalar;
    return map.entries.empty() ? std::string() : write_yaml(map);
}

void remove(yaml_node& map, std::string_view key) {
    std::erase_if(map.entries, [&](const auto& entry) { return entry.key.name == key; });
}

const char* kind_word(const fmi::variable& v) {
    using fmi::causality;
    switch (v.causality) {
        case causality::input:
            return "input";
        case causality::output:
            return "output";
        case causality::parameter:
            return "parameter";
        case causality::structural_parameter:
            return "structuralParameter";
        case causality::calculated_parameter:
            return "calculatedParameter";
        default:
            return "local";
    }
}

/// The types of SSP 1.0 where it has one.
std::string type_word(fmi::base_type type, bool newer) {
    using fmi::base_type;
    if (!newer && type == base_type::float64) return "Real";
    if (!newer && type == base_type::int32) return "Integer";
    return std::string(fmi::name(type));
}

class ssp_writer {
   public:
    ssp_writer(const scenario& s, bool annotated)
        : s_(s), annotated_(annotated), tree_(write_keys(scenario_keys(), &s)) {}

    exported_ssp write(const std::filesystem::path& file) {
        describe();
        const draft_file draft(file);
        files_.write(draft.path(), ssd_text(system_));
        compare(ssp_scenario(draft.path(), {}));
        draft.put_in_place();
        return {file, static_cast<int>(system_.components.size()), static_cast<int>(system_.connections.size()),
                std::move(notes_)};
    }

   private:
    const subsystem_spec* find(const std::string& name) const {
        const auto found = std::ranges::find(s_.subsystems, name, &subsystem_spec::name);
        return found == s_.subsystems.end() ? nullptr : &*found;
    }

    void describe() {
        system_.name = s_.path.stem().string();
        system_.tool = "mdpcosim";
        system_.start = s_.time.start;
        system_.stop = s_.time.end;
        for (const auto& entry : s_.subsystems)
            if (entry.kind == source_kind::fmu) {
                const auto& files = opened_[entry.name] = fmi::open_fmu(entry.path);
                // Types of FMI 3.0 are those of SSP 2.0.
                if (files->description().version == fmi::version::v3) system_.version = "2.0";
            } else if (entry.kind != source_kind::file) {
                system_.version = "2.0";  // a component without a source
            }
        yaml_node entries = std::move(*tree_.find("subsystems"));
        for (std::size_t i = 0; i < s_.subsystems.size(); ++i)
            add_component(s_.subsystems[i], std::move(entries.entries[i].value));
        remove(tree_, "subsystems");
        add_signals();
        add_root();
    }

    // components

    void add_component(const subsystem_spec& spec, yaml_node entry) {
        ssd_component c;
        c.name = spec.name;
        if (spec.kind == source_kind::fmu) {
            const fmi::description& fmu = opened_.at(spec.name)->description();
            c.type = "application/x-fmu-sharedlibrary";
            c.source = files_.add(spec.path);
            c.implementation = fmu_interface(spec) == fmi::kind::co_simulation ? "CoSimulation" : "ModelExchange";
            for (const char* key : {"fmu", "interface", "set"}) remove(entry, key);
            for (const auto& v : fmu.variables)
                if (v.causality == fmi::causality::input || v.causality == fmi::causality::output)
                    c.connectors.push_back(connector_of(fmu, v));
            for (const fmu_start& start : read_fmu_settings(fmu, spec)) c.values.push_back(value_of(fmu, start));
        } else if (spec.kind == source_kind::file) {
            c.type = "text/csv";
            c.source = files_.add(spec.file.path);
            remove(entry, "file");
            if (!spec.file.interpolation.empty() || !spec.file.outside.empty())
                notes_.push_back(
                    fmt::format("other tools do not see how subsystem '{}' goes on between and after the rows "
                                "of its file",
                                spec.name));
        }
        if (const yaml_node* driven = entry.find("step"); driven != nullptr)
            notes_.push_back(fmt::format("other tools do not see the communication step of subsystem '{}'", spec.name));
        c.annotation = yaml_text(std::move(entry));
        system_.components.push_back(std::move(c));
    }

    bool newer() const { return system_.version == "2.0"; }

    std::string unit_name(const fmi::description& fmu, const fmi::variable& v) {
        if (v.unit.empty() || !fmi::is_float(v.type)) return {};
        const fmi::unit_definition* unit = fmu.find_unit(v.unit);
        return unit == nullptr ? std::string() : system_.definitions.add(*unit);
    }

    static std::vector<std::uint64_t> sizes_of(const fmi::variable& v) {
        std::vector<std::uint64_t> sizes;
        for (const fmi::dimension& d : v.dimensions) sizes.push_back(d.size);
        return sizes;
    }

    ssd_connector connector_of(const fmi::description& fmu, const fmi::variable& v) {
        ssd_connector c{v.name, kind_word(v), type_word(v.type, newer()), unit_name(fmu, v), {}, sizes_of(v)};
        if (!newer() && (c.kind == "local" || c.kind == "structuralParameter"))
            c.kind = c.kind == "local" ? "output" : "parameter";  // 1.0 has no word for them
        if (v.type != fmi::base_type::enumeration) return c;
        const fmi::type_definition* type = fmu.find_type(v.declared_type);
        if (type != nullptr && !type->items.empty())
            c.enumeration = system_.definitions.add(*type);
        else
            c.type = newer() ? "Int64" : "Integer";
        return c;
    }

    ssd_value value_of(const fmi::description& fmu, const fmu_start& start) {
        const fmi::variable& v = fmu.variables[static_cast<std::size_t>(start.variable)];
        ssd_value value{v.name, type_word(v.type, newer()), unit_name(fmu, v), start.texts, sizes_of(v)};
        if (!start.texts.empty()) return value;
        const fmi::type_definition* type = fmu.find_type(v.declared_type);
        for (const double number : start.numbers) {
            std::string text = fmt::format("{}", number);
            if (v.type == fmi::base_type::boolean) text = number != 0 ? "true" : "false";
            if (v.type == fmi::base_type::enumeration && type != nullptr)
                for (const auto& item : type->items)
                    if (static_cast<double>(item.value) == number) text = item.name;
            value.values.push_back(std::move(text));
        }
        return value;
    }

    // signals

    /// One end of a signal at a component; what is missing in the component is added.
    struct end_of_signal {
        ssd_component* component = nullptr;
        std::string connector;
        fmu_unit unit;  ///< in which the number is meant
        bool engine_converts = false;
    };

    std::optional<end_of_signal> find_end(const std::string& address) {
        const std::size_t dot = address.find('.');
        const subsystem_spec* spec = dot == std::string::npos ? nullptr : find(address.substr(0, dot));
        if (spec == nullptr) return {};
        const std::string name = address.substr(dot + 1);
        ssd_component& component = *std::ranges::find(system_.components, spec->name, &ssd_component::name);
        const bool there =
            std::ranges::find(component.connectors, name, &ssd_connector::name) != component.connectors.end();
        if (spec->kind == source_kind::file) {
            const auto [known, is_new] = headers_.try_emplace(spec->name);
            if (is_new) known->second = read_csv_header(*spec);
            const csv_header& header = known->second;
            const auto at = std::ranges::find(header.names, name);
            if (at == header.names.end()) return {};
            const std::string& si = header.units[static_cast<std::size_t>(at - header.names.begin())];
            if (!there) component.connectors.push_back({name, "output", newer() ? "Float64" : "Real", {}, {}, {}});
            return end_of_signal{&component, name, {si, 1, 0}, !si.empty()};
        }
        if (spec->kind != source_kind::fmu) return {};
        const fmi::description& fmu = opened_.at(spec->name)->description();
        const fmu_element found = find_element(fmu, name);
        if (found.variable < 0) return {};
        const fmi::variable& v = fmu.variables[static_cast<std::size_t>(found.variable)];
        if (name != v.name && !v.dimensions.empty()) return {};  // an element of an array
        if (!there) component.connectors.push_back(connector_of(fmu, v));
        const fmu_unit unit = unit_of(fmu, v);
        return end_of_signal{&component, name, unit, !unit.si.empty()};
    }

    void add_signals() {
        yaml_node* section = tree_.find("signals");
        if (section == nullptr) return;
        yaml_node rest = *section;
        rest.items.clear();
        for (std::size_t i = 0; i < s_.signals.size(); ++i) {
            const signal_spec& signal = s_.signals[i];
            if (add_connection(signal, section->items[i])) continue;
            if (!annotated_ && signal.terms.size() == 1)
                throw user_error(
                    signal.where,
                    fmt::format("signal '{}' cannot be a connection of SSP. Write --annotated: then it stands "
                                "in an annotation, which mdpcosim reads and other tools do not.",
                                signal_text(signal)));
            yaml_node item = section->items[i];
            if (item.kind == yaml_node::type::scalar) {
                yaml_node map = map_node();
                map.entries.push_back({{"connect", {}}, std::move(item)});
                item = std::move(map);
            }
            item.entries.push_back({{ssp_position_key, {}}, text_node(fmt::format("{}", i))});
            rest.items.push_back(std::move(item));
        }
        if (rest.items.empty())
            remove(tree_, "signals");
        else
            *section = std::move(rest);
    }

    bool add_connection(const signal_spec& signal, const yaml_node& item) {
        if (signal.terms.size() != 1) return false;
        const signal_spec::term& term = signal.terms.front();
        const auto from = find_end(term.address.value), to = find_end(signal.target.value);
        if (!from || !to) return false;
        ssd_connection c;
        c.from_element = from->component->name;
        c.from = from->connector;
        c.to_element = to->component->name;
        c.to = to->connector;
        const fmu_unit &a = from->unit, &b = to->unit;
        const double gain = term.has_gain ? term.gain : 1;
        if (term.has_gain || signal.offset != 0 || !signal.offset_unit.empty()) {
            // In numbers of the two units; where they fit, the tool converts and the gain stays as it is.
            c.keep_number = a.si.empty() || b.si.empty() || !units_fit(a.si, b.si);
            c.factor = c.keep_number ? gain * a.factor / b.factor : gain;
            c.offset = c.keep_number ? (gain * a.offset + signal.offset - b.offset) / b.factor
                                     : (signal.offset - b.offset * (1 - gain)) / b.factor;
        } else if (a.si.empty() != b.si.empty() && !(a.si.empty() ? b : a).plain()) {
            // The engine takes a number without unit as SI.
            c.keep_number = true;
            c.factor = a.factor / b.factor;
            c.offset = (a.offset - b.offset) / b.factor;
        }
        yaml_node said = item.kind == yaml_node::type::map ? item : map_node();
        remove(said, "connect");
        if (!reads_back(c, a, from->engine_converts, b, to->engine_converts, gain, signal.offset))
            said.entries.insert(said.entries.begin(), {{"connect", {}}, text_node(signal_text(signal))});
        c.annotation = yaml_text(std::move(said));
        system_.connections.push_back(std::move(c));
        return true;
    }

    /// The same gain and offset, to the last bit.
    static bool reads_back(const ssd_connection& c, const fmu_unit& a, bool from_si, const fmu_unit& b, bool to_si,
                           double gain, double offset) {
        ssp::transformation line;
        line.how = ssp::transformation::form::linear;
        line.factor = c.factor;
        line.offset = c.offset;
        value_way way(a, from_si);
        way.pass({&line, c.keep_number, {}, {}}, b, {});
        way.finish(to_si);
        return way.gain() == gain && way.offset() == offset;
    }

    // the whole

    void add_root() {
        yaml_node& time = *tree_.find("time");
        for (const char* key : {"start", "end"}) remove(time, key);
        if (s_.method.empty()) tree_.entries.push_back({{"method", {}}, text_node("explicit")});
        if (yaml_node* expected = tree_.find("expect"))
            for (std::size_t i = 0; i < expected->items.size(); ++i)
                if (!s_.expect[i].path.empty())
                    if (yaml_node* file = expected->items[i].find("file")) file->scalar = files_.add(s_.expect[i].path);
        system_.annotation = yaml_text(std::move(tree_));
    }

    // what is read back

    /// Without what may differ: places on the disk, and numbers in other words, which are compared by themselves.
    static std::string comparable(scenario s) {
        s.path.clear();
        s.included.clear();
        s.notes.clear();
        if (s.method.empty()) s.method.value = "explicit";
        for (auto& entry : s.subsystems) {
            if (entry.kind == source_kind::fmu) {
                entry.fmu.interface.value =
                    fmu_interface(entry) == fmi::kind::co_simulation ? "co-simulation" : "model-exchange";
                entry.set.clear();
            }
            entry.path = entry.file.path = "/";
        }
        for (auto& expected : s.expect) expected.path = expected.path.empty() ? "" : "/x";
        for (auto& signal : s.signals) {
            if (signal.terms.size() != 1) continue;
            signal.terms.front().has_gain = signal.terms.front().gain != 1;
            signal.terms.front().gain_unit.clear();
            signal.offset_unit.clear();
        }
        return write_scenario(s);
    }

    void compare(const scenario& back) const {
        const std::string before = comparable(s_), after = comparable(back);
        bool same = before == after;
        for (std::size_t i = 0; same && i < s_.subsystems.size(); ++i) {
            if (s_.subsystems[i].kind != source_kind::fmu) continue;
            const fmi::description& fmu = opened_.at(s_.subsystems[i].name)->description();
            const auto a = read_fmu_settings(fmu, s_.subsystems[i]), b = read_fmu_settings(fmu, back.subsystems[i]);
            same = a.size() == b.size();
            for (std::size_t k = 0; same && k < a.size(); ++k)
                same = a[k].variable == b[k].variable && a[k].numbers == b[k].numbers && a[k].texts == b[k].texts;
        }
        if (same) return;
        const auto [one, other] = std::ranges::mismatch(before, after);
        const auto rest = [](auto at, const std::string& text) {
            return text.substr(static_cast<std::size_t>(at - text.begin()), 200);
        };
        throw run_error(
            fmt::format("what was written does not read back as the same scenario, so nothing is kept. Please report "
                        "this. Before: '{}'; after: '{}'.",
                        rest(one, before), rest(other, after)));
    }

    const scenario& s_;
    bool annotated_;
    yaml_node tree_;
    ssd_system system_;
    packed_files files_;
    std::map<std::string, std::shared_ptr<const fmi::fmu_files>> opened_;
    std::map<std::string, csv_header> headers_;
    std::vector<std::string> notes_;
};

}  // namespace

exported_ssp export_ssp(const scenario& s, const std::filesystem::path& file, bool annotated) {
    refuse_programs(s);
    const std::vector<std::string> unseen = unseen_by_others(s);
    if (!unseen.empty() && !annotated)
        throw user_error(fmt::format(
            "{}: other tools would run another system: SSP has no words for {}. Make FMUs of models, and "
            "single signals of the rest; or write --annotated: then mdpcosim reads back the whole, and other "
            "tools see a part.",
            s.path.string(), name_list(unseen)));
    refuse_file(s, file, ".ssp", "SSP");
    exported_ssp made = ssp_writer(s, annotated).write(file);
    if (!unseen.empty()) made.notes.push_back("other tools do not see " + name_list(unseen));
    return made;
}

}  // namespace mdpcosim

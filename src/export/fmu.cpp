#include "export/fmu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "archive/local_file.hpp"
#include "archive/zip_writer.hpp"
#include "core/check_sum.hpp"
#include "core/coherent_units.hpp"
#include "core/common_units.hpp"
#include "core/shared_library.hpp"
#include "core/suggest.hpp"
#include "core/units.hpp"
#include "export/fmu_subsystem.hpp"
#include "export/fmu_text.hpp"
#include "export/fmu_variables.hpp"
#include "export/target_file.hpp"
#include "exported/variables.hpp"
#include "fmi/archive.hpp"
#include "fmi/instance.hpp"
#include "scenario/keys.hpp"
#include "simulation/simulation.hpp"
#include "subsystem/model.hpp"

namespace mdpcosim {

namespace {

constexpr const char* library_name = "mdpcosim-fmu.so";

/// Beside the program, as modules and plugins are; where it is, or the first place where it is not.
std::pair<std::filesystem::path, bool> find_library(const char* name) {
    std::filesystem::path first;
    for (const auto& here : own_folders())
        for (const auto& folder : {here, here.parent_path() / "lib/mdpcosim", here.parent_path()}) {
            auto file = folder / name;
            std::error_code none;
            if (std::filesystem::is_regular_file(file, none)) return {file, true};
            if (first.empty()) first = file;
        }
    return {first, false};
}

std::filesystem::path fmu_library() {
    const auto [file, found] = find_library(library_name);
    if (found) return file;
    throw user_error(fmt::format(
        "this mdpcosim cannot export FMUs: it was built without {}, which needs static libraries (tools/setup build "
        "installs them). It would be {}.",
        library_name, file.empty() ? "beside the program" : "'" + file.string() + "'"));
}

/// `two-mass` as `two_mass`: what C allows.
std::string identifier_of(const std::string& name) {
    std::string made;
    for (const char c : name)
        made += (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '_';
    return made.empty() || (made.front() >= '0' && made.front() <= '9') ? "_" + made : made;
}

/// Numbers with units that only a unit library knows, in SI; what is no number with a unit stays.
void put_in_si(yaml_node& node) {
    for (auto& item : node.items) put_in_si(item);
    for (auto& entry : node.entries) put_in_si(entry.value);
    if (node.kind != yaml_node::type::scalar) return;
    const auto q = parse_quantity(node.scalar);
    if (!q || q->unit.empty() || find_common_unit(q->unit) != nullptr || coherent_base(q->unit)) return;
    try {
        const std::string unit = si_unit(q->unit);
        node.scalar = fmt::format("{} {}", convert(q->value, q->unit, unit), unit);
    } catch (const unit_error&) {  // words
    }
}

/// What goes into resources/.
class resources {
   public:
    /// The scenario with every default, files by their names in here, and nothing that belongs to a run on this machine.
    explicit resources(scenario s) {
        s.placement = {};
        s.expect.clear();
        s.record = {};
        s.replicas = 0;
        for (auto& entry : s.subsystems) {
            entry.scene.clear();
            entry.replicas = 0;
            entry.limit = 0;
            entry.limits = {};
            entry.fmu.isolate = false;
            entry.fmu.isolate_decided = false;
            entry.fmu.isolate_because = {};
            entry.fmu.trace.clear();
        }
        yaml_node root = write_keys(scenario_keys(), &s);
        put_in_si(root);
        if (yaml_node* all = root.find("subsystems"))
            for (std::size_t i = 0; i < s.subsystems.size(); ++i) add_files(s.subsystems[i], all->entries[i].value);
        for (const char* section : {"subsystems", "connections"})
            if (yaml_node* found = root.find(section))
                for (auto& [key, value] : found->entries) value.block = true;
        scenario_ = write_yaml(root);
    }

    const std::string& scenario_text() const { return scenario_; }
    bool once_per_process() const { return once_per_process_; }

    void pack(archive::zip_writer& zip) const {
        zip.add(fmt::format("resources/{}", exported_scenario_file), scenario_);
        for (const auto& [name, file] : files_) zip.add_file("resources/" + name, file->path(), true);
    }

   private:
    using source_kind = subsystem_spec::source_kind;

    void add_files(const subsystem_spec& spec, yaml_node& entry) {
        const char* key = to_string(spec.kind);
        if (spec.kind == source_kind::fmu) entry.find(key)->scalar = add_fmu(spec.path);
        if (spec.kind == source_kind::plugin) entry.find(key)->scalar = add_file(spec.path);
        if (spec.kind == source_kind::file) entry.find(key)->scalar = add_file(spec.file.path);
    }

    std::string new_name(const std::string& stem, const std::string& ending) {
        std::string name = stem + ending;
        for (int n = 2; name == exported_scenario_file || name == exported_contents_file || !taken_.insert(name).second;
             ++n)
            name = fmt::format("{}-{}{}", stem, n, ending);
        return name;
    }

    std::string add_file(const std::filesystem::path& path) {
        if (const auto known = names_.find(path); known != names_.end()) return known->second;
        const std::string name = new_name(path.stem().string(), path.extension().string());
        files_.emplace_back(name, std::make_unique<archive::local_file>(path));
        return names_[path] = name;
    }

    /// As a folder: there is no libzip where it will run.
    std::string add_fmu(const std::filesystem::path& path) {
        if (const auto known = names_.find(path); known != names_.end()) return known->second;
        const auto fmu = opened_.emplace_back(fmi::open_fmu(path));
        const auto& d = fmu->description();
        for (const auto* offered : {&d.co_simulation, &d.model_exchange})
            once_per_process_ = once_per_process_ || (offered->has_value() && (*offered)->once_per_process);
        const std::string name = new_name(path.stem().string(), "");
        std::set<std::filesystem::path> inside;  // in one order
        for (const auto& each : std::filesystem::recursive_directory_iterator(fmu->folder()))
            if (each.is_regular_file()) inside.insert(each.path());
        for (const auto& file : inside)
            files_.emplace_back(name + "/" + file.lexically_relative(fmu->folder()).generic_string(),
                                std::make_unique<archive::local_file>(file));
        return names_[path] = name;
    }

    std::string scenario_;
    std::vector<std::pair<std::string, std::unique_ptr<archive::local_file>>> files_;
    std::vector<std::shared_ptr<const fmi::fmu_files>> opened_;
    std::map<std::filesystem::path, std::string> names_;
    std::set<std::string> taken_;
    bool once_per_process_ = false;
};

/// Libraries that its models load; they stand beside the FMU's own.
std::set<std::filesystem::path> modules_of(const scenario& s, std::vector<std::string>& notes) {
    std::set<std::filesystem::path> all;
    for (const auto& entry : s.subsystems) {
        const model_info* const model = entry.kind == subsystem_spec::source_kind::model
                                            ? model_registry::instance().find(entry.source.value)
                                            : nullptr;
        if (model == nullptr || model->module.empty()) continue;
        const auto [file, found] = find_library(model->module.c_str());
        if (!found || !all.insert(file).second) continue;
        notes.push_back(
            fmt::format("model {} brings {} along; the libraries that this needs (ldd lists them) must be "
                        "installed where the FMU runs",
                        model->name, model->module));
    }
    return all;
}

/// The same text has the same token.
std::string token_of(const std::string& text) {
    check_sum one, other;
    one.add(text.data(), text.size());
    other.add("mdpcosim", 8);
    other.add(text.data(), text.size());
    const std::string digits = fmt::format("{:016x}{:016x}", one.value(), other.value());
    return fmt::format("{{{}-{}-{}-{}-{}}}", digits.substr(0, 8), digits.substr(8, 4), digits.substr(12, 4),
                       digits.substr(16, 4), digits.substr(20));
}

void refuse_what_cannot_go(const scenario& s) {
    for (const auto& entry : s.subsystems) {
        if (entry.kind == subsystem_spec::source_kind::system)
            throw user_error(entry.where,
                             fmt::format("subsystem '{}': a system is a file of its own, which does not go into an "
                                         "FMU. Give its subsystems and connections in the scenario.",
                                         entry.name));
        if (entry.kind == subsystem_spec::source_kind::program)
            throw user_error(entry.where,
                             fmt::format("subsystem '{}': a program runs in a process of its own on this machine and "
                                         "cannot go into an FMU. Make an FMU or a plugin of it, or leave it out.",
                                         entry.name));
    }
}

/// Those that live apart, or within limits, in a run.
std::vector<std::string> watched_here(const scenario& s) {
    std::vector<std::string> names;
    for (const auto& entry : s.subsystems)
        if (entry.fmu.isolate || entry.limit > 0 || entry.limits.any()) names.push_back(entry.name);
    return names;
}

/// What a host will do first.
void try_out(const std::filesystem::path& draft, const fmu_text& text) {
    const fmi::fmu_texts texts = fmi::read_fmu_texts(draft);
    std::vector<fmi::violation> found;
    fmi::read_description(texts.description, texts.terminals, draft.string(), &found);
    if (!found.empty())
        throw run_error(
            fmt::format("the description is not as FMI wants it, so nothing is kept. Please report this: "
                        "line {}: {}",
                        found.front().line, found.front().message));
    std::string told;
    fmi::instance_options options{.name = "trial"};
    options.log = [&](const fmi::log_message& m) {
        if (m.status > 1) told = m.text;
    };
    try {
        for (const auto kind : {fmi::kind::co_simulation, fmi::kind::model_exchange}) {
            if (kind == fmi::kind::model_exchange && !text.exchange) continue;
            options.kind = kind;
            const auto trial = fmi::make_instance(fmi::open_fmu(draft), options);
            trial->set_up({.start = text.start, .stop = text.stop});
            trial->enter_initialisation();
            trial->exit_initialisation();
        }
    } catch (const std::exception& problem) {
        throw user_error(
            fmt::format("the FMU, which has no unit library, no processes and no threads, does not start, so "
                        "nothing is kept: {}",
                        told.empty() ? problem.what() : told));
    }
}

}  // namespace

exported_fmu export_fmu(const scenario& whole, const std::filesystem::path& file, fmi::version version,
                        const std::string& subsystem) {
    const scenario s = subsystem.empty() ? whole : alone(whole, subsystem);
    refuse_what_cannot_go(s);
    refuse_file(whole, file, ".fmu", "FMU");
    const std::filesystem::path library = fmu_library();
    exported_fmu made;
    made.file = file;
    const simulation system(s, {.workers = 1, .led = true});
    const resources inside(system.resolved());

    fmu_text text;
    text.version = version;
    text.name = file.stem().string();
    text.identifier = identifier_of(text.name);
    text.description = subsystem.empty() ? fmt::format("coupled system of {} subsystems, method {}",
                                                       s.subsystems.size(), system.resolved().method.value)
                                         : system.parts().system.subsystems->describe(subsystem_index(0)).type;
    text.variables = described_variables(system, made.notes);
    text.start = s.time.start;
    text.stop = s.time.end;
    text.step = s.time.step;
    text.variable_step = !subsystem.empty() || system.why_steps_are_fixed().empty();
    if (!text.variable_step)
        made.notes.push_back(fmt::format("communication steps of a host must be whole multiples of {} s: {}",
                                         s.time.step, system.why_steps_are_fixed()));
    const std::string why_no_state = system.why_not_saved();
    text.state = why_no_state.empty();
    if (!text.state) made.notes.push_back("hosts cannot save its state: " + why_no_state);
    if (const auto names = watched_here(system.resolved()); !names.empty())
        made.notes.push_back(
            fmt::format("in the FMU the code of {} has no process of its own and no limits: it can do "
                        "whatever the host's process can",
                        name_list(names)));
    text.once_per_process = inside.once_per_process();
    if (!subsystem.empty()) describe_subsystem(text, system, made.notes);
    made.exchange = text.exchange;

    exported_contents contents;
    for (const auto& v : text.variables) {
        contents.variables.push_back(v.it);
        if (v.it.what < exported_variable::role::state)
            (v.it.is_parameter() ? made.parameters : v.it.settable() ? made.inputs : made.outputs) += 1;
        made.states += v.it.what == exported_variable::role::state ? 1 : 0;
    }
    contents.subsystem = subsystem;
    contents.token = text.token = token_of(
        fmt::format("{} {} {}\n{}", name(version), text.name, write_contents(contents), inside.scenario_text()));

    const draft_file draft(file);
    archive::zip_writer zip(draft.path());
    zip.add("modelDescription.xml", model_description(text));
    if (version == fmi::version::v3 && !text.terminals.empty())
        zip.add("terminalsAndIcons/terminalsAndIcons.xml", terminals_description(text));
    zip.add_file(fmt::format("binaries/{}/{}.so", fmi::platform_name(version), text.identifier), library, true);
    for (const auto& module : modules_of(s, made.notes))
        zip.add_file(fmt::format("binaries/{}/{}", fmi::platform_name(version), module.filename().string()), module,
                     true);
    zip.add(fmt::format("resources/{}", exported_contents_file), write_contents(contents));
    inside.pack(zip);
    zip.close();
    try_out(draft.path(), text);
    draft.put_in_place();
    return made;
}

}  // namespace mdpcosim

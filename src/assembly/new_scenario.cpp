#include "assembly/new_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "assembly/fmu_scenario.hpp"
#include "assembly/ssp_scenario.hpp"
#include "core/error.hpp"
#include "fmi/archive.hpp"
#include "fmu/ports.hpp"
#include "fmu/units.hpp"

namespace mdpcosim {

namespace {

constexpr double usual_end = 10;
constexpr std::size_t most_listed = 20;

constexpr const char* two_masses =
    R"(# Two masses joined by a spring: a scenario to begin with. Run it:  mdpcosim run scenario.yaml --report
mdpcosim: 1
let: {c: 400 N/m}                     # a number with a name, used as $c
time: {end: 2 s, step: 1 ms}          # step: how often the subsystems exchange values
subsystems:                           # each brings its own solver; 'mdpcosim list models' shows which there are
  left:
    model: mass-spring-damper
    set: {mass: 2 kg, stiffness: 500 N/m, x0: 10 mm}
  right:
    model: mass-spring-damper
    set: {mass: 1 kg, stiffness: 300 N/m}
connections:                          # laws between ports; 'mdpcosim list laws'
  rod: {law: spring, between: [left.mass, right.mass], stiffness: $c}
# signals: [left.mass.position -> other.u]
record: {every: 10 ms}
)";

/// Comments are one line each, whatever somebody put into a description.
std::string one_line(std::string text, std::size_t most = 100) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    if (text.size() <= most) return text;
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // whole characters
    return text.substr(0, end) + " ...";
}

std::string in_quotes(const std::string& text) {
    std::string made = "\"";
    for (const char c : text) made += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return made + '"';
}

/// As it is seen from the folder; in quotes, as paths may hold anything.
std::string path_from(const std::filesystem::path& folder, const std::filesystem::path& file) {
    const auto whole = std::filesystem::weakly_canonical(std::filesystem::absolute(file));
    return in_quotes(
        whole.lexically_proximate(std::filesystem::weakly_canonical(std::filesystem::absolute(folder))).string());
}

struct fmu_entry {
    std::string name, path;
    std::shared_ptr<const fmi::fmu_files> files;
    std::vector<port_spec> ports;
    std::set<std::string> of_ports;  ///< variables
    const fmi::description& fmu() const { return files->description(); }
};

/// A variable that a signal may join.
struct signal_end {
    const fmu_entry* of;
    const fmi::variable* variable;
    std::string unit;
    std::string address() const { return of->name + "." + variable->name; }
};

std::string in_small(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

class fmu_writer {
   public:
    fmu_writer(const std::vector<std::filesystem::path>& from, const std::filesystem::path& folder) {
        std::set<std::string> taken;
        for (const auto& path : from) {
            fmu_entry entry;
            entry.files = fmi::open_fmu(path);
            const std::string stem = fmu_subsystem_name(entry.fmu());
            entry.name = stem;
            for (int n = 2; !taken.insert(entry.name).second; ++n) entry.name = fmt::format("{}_{}", stem, n);
            entry.path = path_from(folder, path);
            entry.ports = propose_ports(entry.fmu());
            for (const auto& p : entry.ports)
                for (const auto& v : p.variables) entry.of_ports.insert(v.values.front().value);
            entries_.push_back(std::move(entry));
        }
    }

    new_scenario write() {
        find_ends();
        std::string names;
        for (const auto& e : entries_) names += (names.empty() ? "" : ", ") + e.name;
        line("# {}. Lines behind '#' are proposals and explanations. Look at it, then run it:", one_line(names));
        line("#   mdpcosim check scenario.yaml");
        line("#   mdpcosim run scenario.yaml --report");
        line("mdpcosim: 1");
        add_time();
        line("subsystems:");
        for (const auto& e : entries_) add_subsystem(e);
        add_connections();
        add_signals();
        add_free_inputs();
        line("# record: {{every: 10 ms, only: [{}.*]}}   # without it everything, at every macro step",
             entries_.front().name);
        made_.subsystems = static_cast<int>(entries_.size());
        return std::move(made_);
    }

   private:
    template <class... Values>
    void line(fmt::format_string<Values...> text, Values&&... values) {
        made_.text += fmt::format(text, std::forward<Values>(values)...) + "\n";
    }

    void add_time() {
        double start = 0, end = 0, step = 0, fixed = 0;
        std::vector<std::string> sources;
        for (const auto& e : entries_) {
            const auto& experiment = e.fmu().experiment;
            if (experiment.start) start = sources.empty() ? *experiment.start : std::min(start, *experiment.start);
            if (!experiment.stop) continue;
            end = std::max(end, *experiment.stop);
            sources.push_back(e.name);
        }
        const bool said = end > start;
        if (!said) end = start + usual_end;
        for (const auto& e : entries_) {
            const auto kind = e.fmu().co_simulation ? fmi::kind::co_simulation : fmi::kind::model_exchange;
            const double own = fmu_macro_step(e.fmu(), kind, end - start);
            step = step == 0 ? own : std::min(step, own);
            if (kind == fmi::kind::co_simulation) fixed = std::max(fixed, e.fmu().co_simulation->fixed_step);
        }
        if (fixed > 0) step = std::max(1.0, std::round(step / fixed)) * fixed;
        const std::string from = start != 0 ? fmt::format("start: {} s, ", start) : "";
        line("time: {{{}end: {} s, step: {} s}}   # {}; smaller steps, smaller coupling errors", from, end, step,
             said ? "of the default experiments" : "no FMU says an end: 10 s is a guess");
        if (!said) made_.notes.push_back("no FMU says when its simulation ends: 10 s is a guess");
    }

    static std::string interfaces(const fmi::description& d) {
        if (d.co_simulation && d.model_exchange) return "co-simulation; 'interface: model-exchange' is offered, too";
        return d.co_simulation ? "co-simulation" : "model exchange";
    }

    void add_subsystem(const fmu_entry& e) {
        const fmi::description& d = e.fmu();
        line("  {}:", e.name);
        line("    # FMI {}, {}{}", d.version_text, interfaces(d), d.text.empty() ? "" : ": " + one_line(d.text));
        line("    fmu: {}", e.path);
        std::vector<std::string> parameters;
        std::size_t more = 0;
        for (const fmi::variable& v : d.variables) {
            if (v.causality != fmi::causality::parameter || v.start.size() != 1 || !v.dimensions.empty()) continue;
            if (parameters.size() == most_listed)
                ++more;
            else
                parameters.push_back(fmt::format("    #   {}: {}{}   {}", one_line(v.name), one_line(v.start.front()),
                                                 v.unit.empty() ? "" : " " + one_line(v.unit),
                                                 one_line(v.description)));
        }
        if (!parameters.empty()) {
            line("    # set:   # parameters, at what the FMU has without it");
            for (const auto& p : parameters) line("{}", p);
            if (more > 0) line("    #   ... and {} more: mdpcosim fmu info {} --all", more, e.path);
        }
        if (e.ports.empty()) return;
        line("    ports:   # found by units and names{}: look whether each is one",
             d.terminals.empty() ? "" : ", and the FMU's terminals");
        for (const auto& p : e.ports) line("      {}", port_text(p));
        made_.ports += static_cast<int>(e.ports.size());
    }

    // what belongs together

    void find_ends() {
        for (const auto& e : entries_)
            for (const fmi::variable& v : e.fmu().variables) {
                if (!v.dimensions.empty() || v.type == fmi::base_type::clock) continue;
                const signal_end end{&e, &v, unit_of(e.fmu(), v).si};
                if (v.causality == fmi::causality::input) inputs_.push_back(end);
                if (v.causality == fmi::causality::output) outputs_.push_back(end);
            }
    }
    static bool of_port(const signal_end& e) { return e.of->of_ports.contains(e.variable->name); }
    static bool fit(const signal_end& from, const signal_end& to) {
        const auto kind = [](const signal_end& e) {
            return fmi::is_float(e.variable->type)     ? 0
                   : fmi::is_integer(e.variable->type) ? 1
                                                       : 2 + static_cast<int>(e.variable->type);
        };
        return from.of != to.of && from.unit == to.unit && kind(from) == kind(to) && !of_port(from);
    }
    /// The only output that `which` finds for an input; nullptr: none, or several.
    template <class Which>
    const signal_end* only(const Which& which) const {
        const signal_end* found = nullptr;
        for (const auto& y : outputs_) {
            if (!which(y)) continue;
            if (found != nullptr) return nullptr;
            found = &y;
        }
        return found;
    }

    /// A law to begin with between two ports of a kind, and what a user has to say about it.
    static std::string law_of(const std::string& kind) {
        if (kind == "translation") return "law: spring-damper, stiffness: 1e5 N/m, damping: 100 N.s/m";
        if (kind == "rotation") return "law: spring-damper, stiffness: 1e4 N.m/rad, damping: 10 N.m.s/rad";
        if (kind == "hydraulic") return "law: node, volume: 10 cm3, modulus: 1.4 GPa";
        if (kind == "thermal") return "law: conductor, conductance: 10 W/K";
        if (kind == "electric") return "law: conductor, conductance: 1 S";
        return "law: conductor, conductance: 1e-6 H";
    }
    void add_connections() {
        std::vector<std::string> proposed;
        for (std::size_t i = 0; i < entries_.size(); ++i)
            for (std::size_t j = i + 1; j < entries_.size(); ++j)
                for (const auto& a : entries_[i].ports)
                    for (const auto& b : entries_[j].ports)
                        if (a.kind.value == b.kind.value && a.causality.value == b.causality.value &&
                            proposed.size() < most_listed)
                            proposed.push_back(fmt::format("#   {0}-{2}: {{{4}, between: [{0}.{1}, {2}.{3}]}}",
                                                           entries_[i].name, a.name, entries_[j].name, b.name,
                                                           law_of(a.kind.value)));
        if (proposed.empty()) return;
        line("# connections:   # ports of one kind; which law, and how stiff, is yours to say ('mdpcosim list laws')");
        for (const auto& p : proposed) line("{}", p);
    }

    void add_signals() {
        std::vector<std::string> likely;
        for (const auto& u : inputs_) {
            const auto same_name = [&](const signal_end& y) {
                return fit(y, u) && in_small(y.variable->name) == in_small(u.variable->name);
            };
            if (const signal_end* y = of_port(u) ? nullptr : only(same_name)) {
                likely.push_back(fmt::format("  - {}", in_quotes(y->address() + " -> " + u.address())));
                driven_.insert(u.address());
            }
        }
        made_.signals = static_cast<int>(likely.size());
        if (!likely.empty()) {
            line("signals:   # an output and an input with the same name, unit and type");
            for (const auto& s : likely) line("{}", s);
        }
        std::vector<std::string> possible;
        for (const auto& u : inputs_) {
            if (driven_.contains(u.address()) || of_port(u) || u.unit.empty() || u.unit == "1") continue;
            if (const signal_end* y = only([&](const signal_end& x) { return fit(x, u); }))
                possible.push_back(fmt::format("#  - {}", in_quotes(y->address() + " -> " + u.address())));
        }
        if (possible.empty()) return;
        if (likely.empty()) line("# signals:");
        line("#  possible, as nothing else has the unit:");
        for (const auto& s : possible) line("{}", s);
    }

    void add_free_inputs() {
        std::vector<const signal_end*> free;
        for (const auto& u : inputs_)
            if (!driven_.contains(u.address()) && !of_port(u)) free.push_back(&u);
        made_.free_inputs = static_cast<int>(free.size());
        if (free.empty()) return;
        line(
            "# Inputs that nothing drives keep their start values. A signal drives one, 'other.y -> {}', or a column "
            "of a file:",
            one_line(free.front()->address()));
        line("#   subsystems: {{demand: {{file: demand.csv}}}}       signals: [demand.x -> {}]",
             one_line(free.front()->address()));
        for (std::size_t i = 0; i < std::min(free.size(), most_listed); ++i) {
            const fmi::variable& v = *free[i]->variable;
            line("#   {}   {}{}   {}", one_line(free[i]->address()),
                 v.start.size() == 1 ? one_line(v.start.front()) : "-", v.unit.empty() ? "" : " " + one_line(v.unit),
                 one_line(v.description));
        }
        if (free.size() > most_listed) line("#   ... and {} more", free.size() - most_listed);
    }

    std::vector<fmu_entry> entries_;
    std::vector<signal_end> inputs_, outputs_;
    std::set<std::string> driven_;
    new_scenario made_;
};

new_scenario of_ssp(const std::filesystem::path& path, const std::filesystem::path& folder) {
    const std::string from = path_from(folder, path);
    scenario s = ssp_scenario(path, {});
    new_scenario made;
    made.notes = std::move(s.notes);
    s.notes.clear();
    made.subsystems = static_cast<int>(s.subsystems.size());
    made.signals = static_cast<int>(s.signals.size());
    for (auto& entry : s.subsystems) {
        made.ports += static_cast<int>(entry.ports.size());
        for (auto* file : {&entry.path, &entry.file.path})
            if (!file->empty()) *file = std::filesystem::weakly_canonical(std::filesystem::absolute(*file));
    }
    made.text = fmt::format(
        "# What mdpcosim understands of {}: its components, connections and parameters. Run it:\n"
        "#   mdpcosim run scenario.yaml --report\n"
        "# The FMUs stay in there. Ports, laws, another method, more outputs: docs/scenario.md.\n",
        one_line(from));
    for (const auto& note : made.notes) made.text += "# " + one_line(note, 1000) + "\n";
    made.text += write_scenario(s);
    return made;
}

}  // namespace

new_scenario make_new_scenario(const std::vector<std::filesystem::path>& from, const std::filesystem::path& folder) {
    if (from.empty()) return {two_masses, 2, 0, 0, 0, {}};
    for (const auto& path : from) {
        if (is_ssp(path) && from.size() > 1)
            throw user_error(
                fmt::format("--from {}: a system stands alone; FMUs can stand side by side. Take it without "
                            "the others, and add them to the scenario.",
                            path.string()));
        if (!is_ssp(path) && in_small(path.extension().string()) != ".fmu")
            throw user_error(fmt::format(
                "--from {}: a scenario is made from FMUs (.fmu) or from one system (.ssp, .ssd).", path.string()));
    }
    return is_ssp(from.front()) ? of_ssp(from.front(), folder) : fmu_writer(from, folder).write();
}

}  // namespace mdpcosim

#include "scenario/entry_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "scenario/read.hpp"

namespace mdpcosim {

namespace {

// Every place that messages can name, in one order for who writes and who reads.

template <class Visit>
void visit_places(text& t, const Visit& visit) {
    visit(t.where);
}

template <class Visit>
void visit_places(std::vector<text>& all, const Visit& visit) {
    for (auto& t : all) visit_places(t, visit);
}

template <class Visit>
void visit_places(std::vector<setting>& all, const Visit& visit) {
    for (auto& s : all) {
        visit(s.where);
        visit_places(s.values, visit);
    }
}

template <class Visit>
void visit_places(ode_spec& ode, const Visit& visit) {
    for (auto* settings : {&ode.parameters, &ode.states, &ode.algebraic, &ode.inputs, &ode.equations})
        visit_places(*settings, visit);
    for (auto& o : ode.outputs) {
        visit(o.where);
        visit_places(o.expression, visit);
        visit_places(o.unit, visit);
    }
    for (auto& e : ode.events) {
        visit(e.where);
        visit_places(e.when, visit);
        visit_places(e.direction, visit);
        visit_places(e.set, visit);
    }
    for (auto& c : ode.contacts) {
        visit(c.where);
        for (auto* written : {&c.gap, &c.restitution, &c.rest_speed}) visit_places(*written, visit);
        visit_places(c.impulse, visit);
    }
}

template <class Visit>
void visit_places(std::vector<part_spec>& parts, const Visit& visit) {
    for (auto& p : parts) {
        visit(p.where);
        visit_places(p.kind, visit);
        visit_places(p.values, visit);
        visit_places(p.parts, visit);
    }
}

template <class Visit>
void visit_places(subsystem_spec& s, const Visit& visit) {
    visit(s.where);
    visit_places(s.parts, visit);
    visit_places(s.source, visit);
    visit_places(s.set, visit);
    visit_places(s.solver.name, visit);
    visit_places(s.solver.options, visit);
    if (s.sample)
        for (auto* where : {&s.sample->where, &s.sample->time_where, &s.sample->offset_where, &s.sample->delay_where})
            visit(*where);
    visit(s.step.where);
    for (auto& p : s.ports) {
        visit(p.where);
        visit_places(p.kind, visit);
        visit_places(p.causality, visit);
        visit_places(p.variables, visit);
    }
    for (auto& shape : s.scene) {
        visit_places(shape.kind, visit);
        for (auto& point : shape.points) visit_places(point, visit);
        visit_places(shape.size, visit);
        visit_places(shape.rotation, visit);
        visit_places(shape.port, visit);
        visit_places(shape.vectors, visit);
        visit_places(shape.place, visit);
    }
    visit_places(s.inertia, visit);
    visit_places(s.ode, visit);
    visit_places(s.file.units, visit);
    visit_places(s.file.kinds, visit);
    visit_places(s.file.interpolation, visit);
    visit_places(s.file.outside, visit);
    visit_places(s.fmu.interface, visit);
    visit_places(s.fmu.outputs, visit);
    visit_places(s.fmu.driven, visit);
    visit_places(s.fmu.exact, visit);
    visit_places(s.fmu.log, visit);
}

void put_part(std::string& out, const char* name, std::string_view content) {
    out += fmt::format("{} {}\n", name, content.size());
    out += content;
    out += '\n';
}

/// The parts of a text, one after the other.
class part_reader {
   public:
    explicit part_reader(std::string_view text) : rest_(text) {}

    std::string_view take(std::string_view name) {
        if (!rest_.starts_with(name) || rest_.size() <= name.size() || rest_[name.size()] != ' ') refuse();
        rest_.remove_prefix(name.size() + 1);
        const auto length = number<std::size_t>(rest_);
        if (!rest_.starts_with('\n') || rest_.size() < length + 2 || rest_[length + 1] != '\n') refuse();
        const std::string_view content = rest_.substr(1, length);
        rest_.remove_prefix(length + 2);
        return content;
    }

    /// The number at the begin of `from`, which loses it and a blank behind it.
    template <class T>
    static T number(std::string_view& from) {
        T value{};
        const auto [end, status] = std::from_chars(from.data(), from.data() + from.size(), value);
        if (status != std::errc{}) refuse();
        from.remove_prefix(static_cast<std::size_t>(end - from.data()));
        if (from.starts_with(' ')) from.remove_prefix(1);
        return value;
    }

    [[noreturn]] static void refuse() {
        throw run_error("the text of a subsystem's entry is cut short or comes from another version of mdpcosim");
    }

   private:
    std::string_view rest_;
};

/// Files once each, then for every place the number of its file, line and column.
void put_places(std::string& out, subsystem_spec& spec) {
    std::vector<std::string_view> files;
    std::string places;
    visit_places(spec, [&](location& where) {
        auto found = std::ranges::find(files, where.file);
        if (found == files.end()) found = files.insert(found, where.file);
        places += fmt::format("{} {} {} ", found - files.begin(), where.line, where.column);
    });
    put_part(out, "files", fmt::format("{}", files.size()));
    for (const auto file : files) put_part(out, "file", file);
    put_part(out, "places", places);
}

void take_places(part_reader& from, subsystem_spec& spec) {
    auto count = from.take("files");
    std::vector<std::string_view> files(part_reader::number<std::size_t>(count));
    for (auto& file : files) file = intern(from.take("file"));
    std::string_view places = from.take("places");
    visit_places(spec, [&](location& where) {
        const auto file = part_reader::number<std::size_t>(places);
        if (file >= files.size()) part_reader::refuse();
        where.file = files[file];
        where.line = part_reader::number<int>(places);
        where.column = part_reader::number<int>(places);
    });
    if (!places.empty()) part_reader::refuse();
}

}  // namespace

std::string write_entry(const subsystem_spec& spec) {
    scenario alone;
    alone.time = {0, 1, 1};
    alone.subsystems.push_back(spec);
    subsystem_spec& entry = alone.subsystems.front();
    entry.name = "entry";
    entry.path = entry.file.path = entry.program.folder = "/";  // they follow byte by byte
    std::string lets;
    for (const auto& [name, value] : spec.ode.lets) {
        alone.let.push_back({name, {}, {{"0", {}}}, false});
        lets += fmt::format("{} ", std::bit_cast<std::uint64_t>(value));
    }
    std::string out;
    put_part(out, "scenario", write_scenario(alone));
    put_part(out, "name", spec.name);
    put_part(out, "source", spec.source.value);
    put_part(out, "path", spec.path.native());
    put_part(out, "data", spec.file.path.native());
    put_part(out, "folder", spec.program.folder.native());
    put_part(out, "trace", spec.fmu.trace.native());
    put_part(out, "lets", lets);
    put_places(out, entry);
    return out;
}

subsystem_spec read_entry(const std::string& text) {
    part_reader parts(text);
    scenario alone = read_scenario_text(std::string(parts.take("scenario")), "entry");
    subsystem_spec spec = std::move(alone.subsystems.at(0));
    spec.name = parts.take("name");
    spec.source.value = parts.take("source");
    spec.path = parts.take("path");
    spec.file.path = parts.take("data");
    spec.program.folder = parts.take("folder");
    spec.fmu.trace = parts.take("trace");
    std::string_view lets = parts.take("lets");
    for (auto& [name, value] : spec.ode.lets) value = std::bit_cast<double>(part_reader::number<std::uint64_t>(lets));
    take_places(parts, spec);
    return spec;
}

}  // namespace mdpcosim

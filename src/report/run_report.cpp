#include "report/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <map>

#include "core/error.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "report/reduce.hpp"
#include "report/scene_tracks.hpp"
#include "results/compare.hpp"
#include "results/result_table.hpp"

namespace mdpcosim {

namespace {

// What a page may take, in bytes before base64: all of it stays below 3 MiB.
constexpr std::size_t series_budget = 1'600'000;
constexpr std::size_t most_columns = 2000;
constexpr std::size_t most_profile_events = 6000;
constexpr std::size_t most_text = 256'000'000;  // that is read of a file
constexpr std::size_t most_scenario_text = 200'000;

std::string text_of(const std::filesystem::path& file) {
    try {
        return read_input(file, most_text);
    } catch (const file_problem& problem) {
        if (problem.code() == ENOENT) return {};
        throw user_error(fmt::format("{}: the file cannot be read ({}).", file.string(), problem.what()));
    }
}

/// A JSON file of the run; null where it is missing or was cut off.
json read_json(const std::filesystem::path& file) { return json::parse_if_valid(text_of(file)).value_or(json()); }

/// A file that is JSON, but not what a run writes.
template <class Use>
auto using_file(const std::filesystem::path& file, const Use& use) {
    try {
        return use(read_json(file));
    } catch (const user_error&) {
        throw;
    } catch (const std::exception& problem) {
        throw user_error(fmt::format("{}: this is not what a run has written ({}). Run again, or remove the file.",
                                     file.string(), problem.what()));
    }
}

std::map<std::string, std::string> units_of(const json& system) {
    std::map<std::string, std::string> units;
    if (system.is_object() && system.contains("columns"))
        for (const auto& column : system["columns"]) units.emplace(column.value("name", ""), column.value("unit", ""));
    return units;
}

json series_json(const result_table& table, const std::map<std::string, std::string>& units, std::size_t budget) {
    const std::size_t rows = table.rows(), columns = std::min(table.columns(), most_columns);
    const reduction reduced_to = choose_reduction(rows, columns, budget);
    json out{{"rows", rows},
             {"stride", reduced_to.stride},
             {"single", reduced_to.single},
             {"left_out", table.columns() - columns}};
    out["time"] = encode(rows == 0 ? table.time : bucket_times(table.time, reduced_to.stride));
    json list = json::array();
    std::vector<double> values(rows);
    for (std::size_t k = 0; k < columns; ++k) {
        for (std::size_t i = 0; i < rows; ++i) values[i] = table.value(i, k);
        const reduced_column reduced =
            rows == 0 ? reduced_column{} : reduce_column(table.time, values, reduced_to.stride);
        const auto unit = units.find(table.names[k]);
        json entry{{"name", table.names[k]}, {"unit", unit == units.end() ? "" : unit->second}};
        entry["y"] = encode(reduced.values, reduced_to.single);
        if (!reduced.at.empty()) entry["at"] = encode(reduced.at);
        list.push_back(std::move(entry));
    }
    out["columns"] = std::move(list);
    return out;
}

/// Events as [subsystem, worker, macro step, begin, duration] in us; subsystem -1 is the whole step. Of many steps every n-th is shown.
json profile_json(const json& trace) {
    if (!trace.is_object() || !trace.contains("traceEvents")) return {};
    std::vector<std::string> names;
    std::map<std::string, int> number;
    struct event {
        int name;
        std::int64_t worker, step;
        double begin, length;
    };
    std::vector<event> events;
    std::map<std::int64_t, std::size_t> steps;
    for (const auto& e : trace["traceEvents"]) {
        if (e.value("ph", "") != "X") continue;
        const std::string name = e.value("name", "");
        int id = -1;
        if (name != "macro step") {
            const auto [found, added] = number.try_emplace(name, static_cast<int>(names.size()));
            if (added) names.push_back(name);
            id = found->second;
        }
        const std::int64_t step = e.at("args").value("step", std::int64_t{0});
        events.push_back({id, e.value("tid", std::int64_t{0}), step, e.value("ts", 0.0), e.value("dur", 0.0)});
        steps.emplace(step, 0);
    }
    const std::size_t every = events.size() / most_profile_events + 1;
    std::size_t place = 0;
    for (auto& [step, at] : steps) at = place++;
    json list = json::array();
    for (const auto& e : events)
        if (steps[e.step] % every == 0) list.push_back({e.name, e.worker, e.step, e.begin, e.length});
    return {{"names", names}, {"events", std::move(list)}, {"every", every}, {"steps", steps.size()}};
}

/// The lists of coupling.json, packed.
json coupling_json(json trace) {
    if (!trace.is_object() || !trace.contains("time")) return {};
    const auto pack = [](json& list, bool single) {
        std::vector<double> values;
        for (const auto& v : list) values.push_back(v.is_number() ? v.get<double>() : std::nan(""));
        list = encode(values, single);
    };
    pack(trace["time"], false);
    for (const char* name : {"H_min", "H_max", "rejected", "H_rejected", "error"}) pack(trace[name], true);
    for (auto& connection : trace["connections"])
        for (const char* name : {"jump", "residual", "energy_error"}) pack(connection[name], true);
    if (trace.contains("bonds"))
        for (auto& bond : trace["bonds"])
            for (const char* name : {"residual", "energy_error"}) pack(bond[name], true);
    return trace;
}

json scenario_json(const std::filesystem::path& file) {
    std::string text = text_of(file);
    const bool cut = text.size() > most_scenario_text;
    if (cut) text.resize(std::min(text.rfind('\n', most_scenario_text), most_scenario_text));
    return {{"text", text}, {"cut", cut}};
}

std::string label_of(const std::filesystem::path& folder) {
    const auto name = folder.filename().empty() ? folder.parent_path().filename() : folder.filename();
    return name.empty() || name == "." ? std::filesystem::absolute(folder).lexically_normal().string() : name.string();
}

result_table all_results(const std::filesystem::path& folder) {
    return read_results(folder, [](std::string_view) { return true; });
}

json with_json(const result_table& a, const std::filesystem::path& with,
               const std::map<std::string, std::string>& units, std::size_t budget) {
    const result_table b = all_results(with);
    const comparison c = compare_tables(a, b);
    json out{{"label", label_of(with)}, {"interpolated", c.interpolated}, {"only_a", c.only_a}, {"only_b", c.only_b}};
    json errors = json::array();
    for (const auto& e : c.errors)
        errors.push_back({{"name", e.name},
                          {"max", e.max_error},
                          {"time", e.time},
                          {"rms", e.rms},
                          {"range", e.range},
                          {"relative", e.relative}});
    out["errors"] = std::move(errors);
    out["series"] = series_json(b, units, budget);
    out["error_series"] = series_json(difference(a, b), units, budget);
    if (std::error_code none; std::filesystem::is_directory(with, none))
        out["summary"] = read_json(with / "summary.json");
    return out;
}

}  // namespace

std::string run_report_json(const report_request& request) {
    const auto& folder = request.folder;
    if (std::error_code none; !std::filesystem::is_directory(folder, none))
        throw user_error(fmt::format("{}: there is no such folder. Give the folder that a run has left (run --out).",
                                     folder.string()));
    const result_table table = all_results(folder);
    json system, scene;
    const auto units = using_file(folder / "system.json", [&](json read) {
        auto found = units_of(read);
        if (!read.is_object()) return found;
        scene = scene_tracks(read.contains("scenes") ? read.at("scenes") : json(), table);
        read.erase("columns");
        read.erase("scenes");
        system = std::move(read);
        return found;
    });
    const std::size_t budget = request.with.empty() ? series_budget : series_budget / 3;
    json document{{"kind", "run"}, {"label", label_of(folder)}};
    document["summary"] = read_json(folder / "summary.json");
    document["system"] = std::move(system);
    if (!scene.is_null()) document["scene"] = std::move(scene);
    document["coupling"] = using_file(folder / "coupling.json", coupling_json);
    document["cut"] = table.cut;
    document["series"] = series_json(table, units, budget);
    if (!request.with.empty()) document["with"] = with_json(table, request.with, units, budget);
    document["profile"] = using_file(folder / "profile.json", profile_json);
    document["scenario"] = scenario_json(folder / "scenario.yaml");
    return document.dump();
}

}  // namespace mdpcosim

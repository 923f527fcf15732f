#include "study/study_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <system_error>

#include "core/files.hpp"
#include "core/suggest.hpp"
#include "core/units.hpp"
#include "scenario/map_reader.hpp"
#include "scenario/resolve.hpp"
#include "scenario/yaml.hpp"

namespace mdpcosim {

namespace {

constexpr std::size_t most_text = 16'000'000;
constexpr int most_count = 1'000'000'000;

const let_table& no_lets() {
    static const let_table none;
    return none;
}

constexpr std::array kinds = {
    std::pair{"start", measure_spec::kind::start},
    std::pair{"end", measure_spec::kind::end},
    std::pair{"min", measure_spec::kind::min},
    std::pair{"max", measure_spec::kind::max},
    std::pair{"mean", measure_spec::kind::mean},
    std::pair{"rms", measure_spec::kind::rms},
    std::pair{"integral", measure_spec::kind::integral},
    std::pair{"settling-time", measure_spec::kind::settling_time},
    std::pair{"overshoot", measure_spec::kind::overshoot},
    std::pair{"crossing", measure_spec::kind::crossing},
    std::pair{"energy", measure_spec::kind::energy},
    std::pair{"value", measure_spec::kind::value},
};

/// A number in SI with its unit, or a word.
struct study_value {
    text written;
    std::optional<double> number;
    std::string unit;
};

study_value read_value(const yaml_node& node, const std::string& object) {
    study_value v{read_text(node, no_lets(), object), {}, {}};
    const auto q = parse_quantity(v.written.value);
    if (!q) return v;
    try {
        v.unit = si_unit(q->unit);
        v.number = convert(q->value, q->unit, v.unit);
    } catch (const unit_error& problem) {
        throw user_error(v.written.where, fmt::format("{}: {}", object, problem.message()));
    }
    if (!std::isfinite(*v.number))
        throw user_error(v.written.where, fmt::format("{}: '{}' is too large a number.", object, v.written.value));
    return v;
}

/// A number in the unit of the ones before; the first with a unit decides.
double read_in_unit(const yaml_node& node, const std::string& object, std::string& unit) {
    const study_value v = read_value(node, object);
    if (!v.number)
        throw user_error(v.written.where,
                         fmt::format("{}: '{}' is not a number with a unit.", object, v.written.value));
    if (unit.empty()) unit = v.unit;
    if (!v.unit.empty() && !units_fit(v.unit, unit))
        throw user_error(v.written.where, fmt::format("{}: '{}' does not fit the values before, which are in {}.",
                                                      object, v.written.value, unit));
    return *v.number;
}

void check_order(double low, double high, const location& where, const std::string& object) {
    if (low < high) return;
    throw user_error(where, fmt::format("{}: the range from {:.6g} to {:.6g} is {}. 'from' must be below 'to'.", object,
                                        low, high, low == high ? "empty" : "upside down"));
}

bool read_scale(map_reader& map, double low, const std::string& object) {
    const text scale = map.find_text("scale");
    if (scale.empty() || scale.value == "linear") return false;
    if (scale.value != "logarithmic")
        throw user_error(scale.where, fmt::format("{}: scale '{}' does not exist. There are: linear, logarithmic.",
                                                  object, scale.value));
    if (low <= 0)
        throw user_error(scale.where,
                         fmt::format("{}: a logarithmic range begins above zero, not at {:.6g}.", object, low));
    return true;
}

void read_range(study_parameter& p, const yaml_node& node, const std::string& object) {
    map_reader map(node, no_lets(), object);
    const double low = read_in_unit(map.need("from"), object + ": from", p.unit);
    const yaml_node& to = map.need("to");
    const double high = read_in_unit(to, object + ": to", p.unit);
    check_order(low, high, to.where, object);
    const text count = map.need_text("count");
    const int n = read_whole(count, 2, object + ": count");
    if (n > most_count)
        throw user_error(count.where, fmt::format("{}: count {} is too high; at most {}.", object, n, most_count));
    const bool logarithmic = read_scale(map, low, object);
    map.finish();
    p.values.reserve(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
        const double share = static_cast<double>(i) / (n - 1);
        p.values.push_back(i == 0        ? low
                           : i == n - 1  ? high
                           : logarithmic ? low * std::pow(high / low, share)
                                         : low + (high - low) * share);
    }
}

void read_list(study_parameter& p, const yaml_node& node, const std::string& object) {
    if (node.items.empty())
        throw user_error(node.where, fmt::format("{}: the list is empty. Give at least one value.", object));
    const bool words = !read_value(node.items.front(), object).number;
    for (const yaml_node& item : node.items) {
        if (!words) {
            p.values.push_back(read_in_unit(item, object, p.unit));
            continue;
        }
        const study_value v = read_value(item, object);
        if (v.number)
            throw user_error(item.where, fmt::format("{}: '{}' is a number among words.", object, v.written.value));
        p.words.push_back(v.written.value);
    }
}

study_parameter read_varied(const yaml_entry& entry) {
    study_parameter p{.address = entry.key.name, .where = entry.key.where};
    const std::string object = fmt::format("vary '{}'", p.address);
    if (entry.value.kind == yaml_node::type::map)
        read_range(p, entry.value, object);
    else if (entry.value.kind == yaml_node::type::list)
        read_list(p, entry.value, object);
    else
        throw user_error(entry.value.where,
                         fmt::format("{} must be a list of values or a range such as {{from: 1 N/m, to: 2 N/m, count: "
                                     "5}}. A value that all variants share belongs to 'set'.",
                                     object));
    return p;
}

std::vector<double> read_numbers(const yaml_node& node, std::size_t count, const char* form, std::string& unit,
                                 const std::string& object) {
    if (node.kind != yaml_node::type::list || node.items.size() != count)
        throw user_error(node.where, fmt::format("{} must be {}.", object, form));
    std::vector<double> numbers;
    for (const yaml_node& item : node.items) numbers.push_back(read_in_unit(item, object, unit));
    return numbers;
}

study_parameter read_sampled(const yaml_entry& entry) {
    using distribution = study_parameter::distribution;
    study_parameter p{.address = entry.key.name, .where = entry.key.where};
    const std::string object = fmt::format("sample '{}'", p.address);
    const auto& map = entry.value;
    if (map.kind != yaml_node::type::map || map.entries.size() != 1)
        throw user_error(map.where, fmt::format("{} must be one of {{uniform: [low, high]}}, {{normal: [mean, standard "
                                                "deviation]}}, {{triangular: [low, mode, high]}}, "
                                                "{{log-normal: [median, factor]}}.",
                                                object));
    const auto& [key, value] = map.entries.front();
    const std::string inner = fmt::format("{}: {}", object, key.name);
    if (key.name == "uniform") {
        const auto n = read_numbers(value, 2, "[low, high]", p.unit, inner);
        p.kind = distribution::uniform;
        p.first = n[0], p.second = n[1];
        check_order(p.first, p.second, value.where, inner);
    } else if (key.name == "normal") {
        const auto n = read_numbers(value, 2, "[mean, standard deviation]", p.unit, inner);
        p.kind = distribution::normal;
        p.first = n[0], p.second = n[1];
        if (p.second <= 0)
            throw user_error(value.items[1].where,
                             fmt::format("{}: the standard deviation {:.6g} is not above zero.", inner, p.second));
    } else if (key.name == "triangular") {
        const auto n = read_numbers(value, 3, "[low, mode, high]", p.unit, inner);
        p.kind = distribution::triangular;
        p.first = n[0], p.second = n[1], p.third = n[2];
        check_order(p.first, p.third, value.where, inner);
        if (p.second < p.first || p.second > p.third)
            throw user_error(value.items[1].where, fmt::format("{}: the mode {:.6g} lies outside {:.6g} to {:.6g}.",
                                                               inner, p.second, p.first, p.third));
    } else if (key.name == "log-normal") {
        if (value.kind != yaml_node::type::list || value.items.size() != 2)
            throw user_error(value.where, fmt::format("{} must be [median, factor].", inner));
        p.kind = distribution::log_normal;
        p.first = read_in_unit(value.items[0], inner, p.unit);
        std::string none;
        p.second = read_in_unit(value.items[1], inner, none);
        if (p.first <= 0)
            throw user_error(value.items[0].where,
                             fmt::format("{}: the median {:.6g} is not above zero.", inner, p.first));
        if (p.second <= 1)
            throw user_error(value.items[1].where,
                             fmt::format("{}: the factor {:.6g} is not above one; two thirds of the values lie within "
                                         "median / factor and median * factor.",
                                         inner, p.second));
    } else {
        throw user_error(key.where,
                         unknown_name("distribution", key.name, object,
                                      std::vector<std::string>{"uniform", "normal", "triangular", "log-normal"}));
    }
    return p;
}

study_parameter read_sought(const yaml_entry& entry) {
    study_parameter p{.address = entry.key.name, .where = entry.key.where};
    const std::string object = fmt::format("parameter '{}'", p.address);
    map_reader map(entry.value, no_lets(), object);
    p.low = read_in_unit(map.need("from"), object + ": from", p.unit);
    const yaml_node& to = map.need("to");
    p.high = read_in_unit(to, object + ": to", p.unit);
    check_order(p.low, p.high, to.where, object);
    p.logarithmic = read_scale(map, p.low, object);
    p.start = p.logarithmic ? std::sqrt(p.low * p.high) : 0.5 * (p.low + p.high);
    if (const yaml_node* start = map.find("start")) {
        p.start = read_in_unit(*start, object + ": start", p.unit);
        if (p.start < p.low || p.start > p.high)
            throw user_error(start->where, fmt::format("{}: the start {:.6g} lies outside {:.6g} to {:.6g}.", object,
                                                       p.start, p.low, p.high));
    }
    map.finish();
    return p;
}

std::vector<study_parameter> read_parameters(const yaml_node& map, const char* key,
                                             study_parameter (*read)(const yaml_entry&)) {
    if (map.kind != yaml_node::type::map || map.entries.empty())
        throw user_error(map.where,
                         fmt::format("'{}' must be a map from addresses, as --set takes them, to values.", key));
    std::vector<study_parameter> all;
    for (const yaml_entry& entry : map.entries) all.push_back(read(entry));
    return all;
}

void read_sample(study_spec& s, const yaml_node& node) {
    map_reader map(node, no_lets(), "sample");
    s.how = study_spec::way::sample;
    s.samples = read_whole(map.need_text("count"), 1, "sample: count");
    const text by = map.find_text("by");
    s.sampling = by.empty() ? "latin-hypercube" : by.value;
    const std::vector<std::string> ways = {"latin-hypercube", "random", "sobol"};
    if (std::ranges::find(ways, s.sampling) == ways.end())
        throw user_error(by.where, unknown_name("sampling", s.sampling, "sample", ways));
    if (const text seed = map.find_text("seed"); !seed.empty())
        s.seed = static_cast<std::uint64_t>(read_whole(seed, 0, "sample: seed"));
    s.parameters = read_parameters(map.need("parameters"), "parameters", read_sampled);
    map.finish();
}

void read_search(study_goal& goal, map_reader& map, const std::string& object, int usual_evaluations) {
    const std::vector<std::string> names = {"bobyqa", "cobyla", "nelder-mead", "direct", "crs"};
    if (const text algorithm = map.find_text("algorithm"); !algorithm.empty()) {
        if (std::ranges::find(names, algorithm.value) == names.end())
            throw user_error(algorithm.where, unknown_name("algorithm", algorithm.value, object, names));
        goal.algorithm = algorithm.value;
    }
    goal.evaluations = usual_evaluations;
    if (const text n = map.find_text("evaluations"); !n.empty())
        goal.evaluations = read_whole(n, 1, object + ": evaluations");
    goal.tolerance = 1e-6;
    if (const text t = map.find_text("tolerance"); !t.empty()) {
        goal.tolerance = read_number(t, "1", object + ": tolerance");
        if (goal.tolerance <= 0 || goal.tolerance >= 1)
            throw user_error(t.where,
                             fmt::format("{}: tolerance {:.6g} must lie between 0 and 1.", object, goal.tolerance));
    }
}

void read_optimise(study_spec& s, const yaml_node& node) {
    map_reader map(node, no_lets(), "optimise");
    s.how = study_spec::way::optimise;
    s.goal.given = true;
    s.goal.where = node.where;
    const text least = map.find_text("minimise"), most = map.find_text("maximise");
    if (least.empty() == most.empty())
        throw user_error(node.where, "optimise: give either 'minimise' or 'maximise' with the name of a measure.");
    s.goal.maximise = least.empty();
    s.goal.measure = least.empty() ? most : least;
    if (const yaml_node* list = map.find("subject-to"))
        s.goal.subject_to = read_setting({"subject-to", list->where}, *list, no_lets(), "optimise").values;
    read_search(s.goal, map, "optimise", 200);
    s.parameters = read_parameters(map.need("parameters"), "parameters", read_sought);
    map.finish();
    if (!s.goal.subject_to.empty() && !s.goal.algorithm.empty() && s.goal.algorithm != "cobyla")
        throw user_error(node.where, fmt::format("optimise: algorithm '{}' takes no 'subject-to'; 'cobyla' does.",
                                                 s.goal.algorithm));
}

void read_fit(study_spec& s, const yaml_node& node) {
    map_reader map(node, no_lets(), "fit");
    s.how = study_spec::way::fit;
    s.goal.given = true;
    s.goal.where = node.where;
    const text data = map.need_text("data");
    s.goal.data = (s.path.parent_path() / data.value).lexically_normal();
    s.goal.data_where = data.where;
    const yaml_node& columns = map.need("columns");
    s.goal.columns = read_settings(&columns, no_lets(), "fit: columns");
    if (s.goal.columns.empty())
        throw user_error(columns.where,
                         "fit: 'columns' must say which variable is which column: {body.mass.position: x}.");
    read_search(s.goal, map, "fit", 400);
    s.parameters = read_parameters(map.need("parameters"), "parameters", read_sought);
    map.finish();
}

/// A share, `2 %` or `0.02`.
double read_share(const text& written, const std::string& object) {
    std::string value = written.value;
    double factor = 1;
    if (value.ends_with('%')) {
        value.pop_back();
        factor = 0.01;
    }
    const auto q = parse_quantity(value);
    if (!q || !q->unit.empty() || !(q->value * factor > 0) || q->value * factor >= 1)
        throw user_error(written.where,
                         fmt::format("{}: '{}' is no share between 0 and 1, such as 2 %.", object, written.value));
    return q->value * factor;
}

measure_spec read_measure(const yaml_entry& entry) {
    measure_spec m{.name = entry.key.name, .where = entry.key.where};
    check_name(entry.key, "measure");
    const std::string object = fmt::format("measure '{}'", m.name);
    map_reader map(entry.value, no_lets(), object);
    std::vector<std::string> names;
    int found = 0;
    for (const auto& [name, kind] : kinds) {
        names.emplace_back(name);
        const text of = map.find_text(name);
        if (of.empty()) continue;
        m.what = kind;
        m.of = of;
        ++found;
    }
    if (found != 1) {
        for (const auto& [key, value] : entry.value.entries)
            if (found == 0 && key.name != "within" && key.name != "level")
                throw user_error(key.where, unknown_name("measure", key.name, object, names));
        throw user_error(m.where, fmt::format("{} must say one thing out of: {}.", object, name_list(names)));
    }
    if (m.what == measure_spec::kind::settling_time) {
        const text within = map.find_text("within");
        m.within = within.empty() ? 0.02 : read_share(within, object + ": within");
        if (const yaml_node* to = map.find("to")) {
            std::string unit;
            m.to = read_in_unit(*to, object + ": to", unit);
        }
    }
    if (m.what == measure_spec::kind::crossing) {
        std::string unit;
        m.level = read_in_unit(map.need("level"), object + ": level", unit);
        const text direction = map.find_text("direction");
        const std::vector<std::string> ways = {"rising", "falling", "both"};
        if (!direction.empty() && std::ranges::find(ways, direction.value) == ways.end())
            throw user_error(direction.where, unknown_name("direction", direction.value, object, ways));
        m.direction = direction.value == "rising" ? 1 : direction.value == "falling" ? -1 : 0;
        if (const text number = map.find_text("number"); !number.empty())
            m.number = read_whole(number, 1, object + ": number");
    }
    map.finish();
    return m;
}

void read_set(study_spec& s, const yaml_node& node) {
    if (node.kind != yaml_node::type::map)
        throw user_error(node.where, "'set' must be a map from addresses, as --set takes them, to values.");
    for (const auto& [key, value] : node.entries) {
        const text given = read_text(value, no_lets(), fmt::format("set '{}'", key.name));
        s.set.push_back({key.name, given.value, fmt::format("{}: set {}", to_string(given.where), key.name)});
    }
}

void read_way(study_spec& s, map_reader& map) {
    int found = 0;
    if (const yaml_node* vary = map.find("vary")) {
        s.parameters = read_parameters(*vary, "vary", read_varied);
        ++found;
    }
    const text combine = map.find_text("combine");
    if (!combine.empty()) {
        if (found == 0) throw user_error(combine.where, "study: 'combine' belongs to 'vary'.");
        if (combine.value != "grid" && combine.value != "zip")
            throw user_error(combine.where, unknown_name("combination", combine.value, "vary",
                                                         std::vector<std::string>{"grid", "zip"}));
        if (combine.value == "zip") s.how = study_spec::way::zip;
    }
    if (const yaml_node* node = map.find("sample")) read_sample(s, *node), ++found;
    if (const yaml_node* node = map.find("optimise")) read_optimise(s, *node), ++found;
    if (const yaml_node* node = map.find("fit")) read_fit(s, *node), ++found;
    if (found != 1)
        throw user_error(map.where(), fmt::format("study: {} of 'vary', 'sample', 'optimise' and 'fit' {} given; one "
                                                  "of them says what the variants are.",
                                                  found == 0 ? "none" : "several", found == 0 ? "is" : "are"));
    if (s.how != study_spec::way::zip) return;
    for (const study_parameter& p : s.parameters)
        if (p.count() != s.parameters.front().count())
            throw user_error(
                p.where, fmt::format("vary '{}' has {} values and '{}' has {}: 'combine: zip' takes one of "
                                     "each for a variant.",
                                     p.address, p.count(), s.parameters.front().address, s.parameters.front().count()));
}

}  // namespace

const char* to_string(measure_spec::kind kind) {
    return std::ranges::find(kinds, kind, [](const auto& k) { return k.second; })->first;
}

study_spec read_study(const std::filesystem::path& path) {
    study_spec s;
    s.path = path;
    try {
        s.text = read_input(path, most_text);
    } catch (const file_problem& problem) {
        throw user_error(fmt::format("{}: the study cannot be read: {}", path.string(), problem.what()));
    }
    const yaml_node root = read_yaml_text(s.text, path.string());
    map_reader map(root, no_lets(), "study");
    const text version = map.find_text("study");
    if (!version.empty() && version.value != "1")
        throw user_error(version.where,
                         fmt::format("study: version '{}' is not known; this is version 1.", version.value));
    const text scenario = map.need_text("scenario");
    s.scenario = (path.parent_path() / scenario.value).lexically_normal();
    s.scenario_where = scenario.where;
    if (std::error_code none; !std::filesystem::is_regular_file(s.scenario, none))
        throw user_error(scenario.where, fmt::format("scenario: there is no file {}.", s.scenario.string()));
    if (const yaml_node* set = map.find("set")) read_set(s, *set);
    read_way(s, map);
    if (const yaml_node* measures = map.find("measure")) {
        if (measures->kind != yaml_node::type::map)
            throw user_error(measures->where, "'measure' must be a map: peak: {max: body.mass.position}.");
        for (const yaml_entry& entry : measures->entries) s.measures.push_back(read_measure(entry));
    }
    const text keep = map.find_text("keep");
    if (!keep.empty() && keep.value != "all" && keep.value != "none")
        throw user_error(keep.where,
                         unknown_name("choice", keep.value, "keep", std::vector<std::string>{"none", "all"}));
    s.keep = keep.value == "all";
    if (const text limit = map.find_text("limit"); !limit.empty()) {
        s.limit = read_number(limit, "s", "study: limit");
        if (s.limit <= 0) throw user_error(limit.where, "study: limit must be above zero.");
    }
    map.finish();
    for (const study_parameter& p : s.parameters)
        for (const measure_spec& m : s.measures)
            if (p.address == m.name)
                throw user_error(m.where, fmt::format("measure '{}' has the name of a parameter that varies.", m.name));
    return s;
}

}  // namespace mdpcosim

#include "remote/program_interview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/suggest.hpp"
#include "scenario/resolve.hpp"

namespace mdpcosim {

namespace {

constexpr std::int64_t most_elements = 10'000'000;

const char* or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

void check_elements(const std::vector<program_variable>& variables) {
    std::int64_t sum = 0;
    for (const auto& v : variables) sum += std::max(v.size, 1);
    if (sum > most_elements)
        throw std::invalid_argument(
            fmt::format("{} elements of variables are too many; at most {}.", sum, most_elements));
}

/// "program python3 mass.py": without the folder of the file and without options, and not too long.
std::string type_of(const program_spec& program) {
    constexpr std::size_t most = 40;
    std::string type = "program " + std::filesystem::path(program.command.front()).filename().string();
    for (const auto& word : std::span(program.command).subspan(1))
        if (!word.starts_with('-')) type += " " + word;
    return type.size() <= most ? type : type.substr(0, most - 3) + "...";
}

}  // namespace

program_interview::program_interview(const subsystem_spec& spec)
    : spec_(spec), owner_(fmt::format("subsystem '{}' ({})", spec.name, type_of(spec.program))) {
    reader_.description().type = type_of(spec.program);
}

void program_interview::refuse(const std::string& reason) const {
    throw user_error(spec_.source.where, fmt::format("{}: {}", owner_, reason));
}

const setting* program_interview::given(const std::string& name) const {
    const auto found = std::ranges::find(spec_.set, name, &setting::name);
    return found == spec_.set.end() ? nullptr : &*found;
}

program_answer program_interview::answer(const program_question& q) {
    using kind = program_question::kind;
    const double first = q.numbers.empty() ? 0 : q.numbers.front();
    const mdpcosim_parameter declared{q.name.c_str(), or_null(q.unit), or_null(q.description),
                                      q.required ? std::numeric_limits<double>::quiet_NaN() : first, MDPCOSIM_ANY};
    std::vector<parameter_info> infos;
    try {
        infos.push_back(reader_.read_parameter(declared));
    } catch (const std::invalid_argument& problem) {
        refuse(problem.what());
    }
    const std::string& name = infos.front().name;
    asked_.push_back(name);
    const setting* set = given(name);
    const std::span<const setting> settings(set, set == nullptr ? 0 : 1);
    program_answer told;
    subsystem_description::parameter shown{name, {}, q.form == kind::list};
    if (q.form != kind::text) {
        infos.front().list = q.form == kind::list;
        told.numbers = resolve_parameters(infos, settings, spec_.where, owner_).list(name);
        if (set == nullptr) told.numbers = q.numbers;
        const bool plain = q.unit.empty() || q.unit == "1";
        for (const double number : told.numbers)
            shown.values.push_back(plain ? fmt::format("{}", number) : fmt::format("{} {}", number, q.unit));
    } else {
        if (set == nullptr && q.required) resolve_parameters(infos, settings, spec_.where, owner_);
        if (set != nullptr && set->list)
            throw user_error(set->where, fmt::format("{}: parameter '{}': a single text is expected, not a list of {}.",
                                                     owner_, name, set->values.size()));
        told.text = set == nullptr ? q.text : set->values.front().value;
        shown.values.push_back(told.text);
    }
    reader_.description().parameters.push_back(std::move(shown));
    return told;
}

remote_member program_interview::meet(const program_declaration& d) {
    for (const auto& s : spec_.set)
        if (std::ranges::find(asked_, s.name) == asked_.end())
            throw user_error(s.where, fmt::format("{}: {}", owner_, unknown_name("parameter", s.name, "It", asked_)));
    std::vector<mdpcosim_input> inputs;
    for (const auto& v : d.inputs)
        inputs.push_back({v.name.c_str(), or_null(v.unit), or_null(v.description), v.size,
                          v.max_degree == 0 ? MDPCOSIM_CONSTANT : v.max_degree, v.start, static_cast<int>(v.type)});
    std::vector<mdpcosim_output> outputs;
    for (const auto& v : d.outputs)
        outputs.push_back({v.name.c_str(), or_null(v.unit), or_null(v.description), v.size, or_null(v.rate),
                           or_null(v.direct), static_cast<int>(v.type)});
    std::vector<mdpcosim_port> ports;
    for (const auto& p : d.ports)
        ports.push_back(
            {p.name.c_str(), p.kind.c_str(), or_null(p.causality), or_null(p.variables), or_null(p.description)});
    try {
        check_elements(d.inputs);
        check_elements(d.outputs);
        reader_.read_inputs(inputs);
        reader_.read_outputs(outputs);
        reader_.read_ports(ports);
    } catch (const std::invalid_argument& problem) {
        refuse(problem.what());
    }
    remote_member member{std::move(reader_.description()), {}};
    for (auto& v : member.description.inputs) v.sampled |= d.sampled;
    for (auto& v : member.description.outputs) v.sampled |= d.sampled;
    for (const auto& name : d.tunable) {
        if (std::ranges::find(asked_, name) == asked_.end())
            refuse(fmt::format("tunable parameter '{}' was never asked for.", name));
        member.offers.parameters.push_back({name, true});
    }
    member.offers.save_restore = d.saves;
    if (!d.saves) member.offers.why_no_save_restore = fmt::format("{} gives no 'save' and 'restore'", owner_);
    return member;
}

}  // namespace mdpcosim

#include "assembly/signal_targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "core/suggest.hpp"
#include "fmu/component.hpp"
#include "subsystem/file_csv.hpp"

namespace mdpcosim {

namespace {

using source_kind = subsystem_spec::source_kind;

/// "[2, 3]", or "a single value".
std::string shape_text(const std::vector<std::uint64_t>& shape) {
    return shape.empty() ? "a single value" : fmt::format("an array [{}]", fmt::join(shape, ", "));
}

std::string lower_case(std::string_view word) {
    std::string lower(word);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

bool is_plain(const signal_spec& s) {
    return s.terms.size() == 1 && !s.terms.front().has_gain && s.offset == 0 && s.offset_unit.empty();
}

/// Whoever makes the subsystem tells what is wrong with its file; elsewhere, where others are served, it may not be there.
template <class Read>
std::invoke_result_t<Read> if_there(const Read& read) {
    try {
        return read();
    } catch (const user_error&) {
        return {};
    }
}

class target_resolver {
   public:
    target_resolver(scenario s, bool digits) : s_(std::move(s)), digits_(digits) {
        for (std::size_t i = 0; i < s_.subsystems.size(); ++i) by_name_.emplace(s_.subsystems[i].name, i);
    }

    scenario resolve() {
        std::vector<signal_spec> signals;
        for (signal_spec& s : std::exchange(s_.signals, {})) add(std::move(s), signals);
        s_.signals = std::move(signals);
        return std::move(s_);
    }

   private:
    /// One side of a signal: the subsystem and what is behind its name.
    struct end {
        subsystem_spec* of = nullptr;  ///< nullptr: there is no such subsystem
        std::string rest = {};
        const fmi::variable* variable = nullptr;  ///< of an FMU
        bool whole = false;                       ///< an array, not one of its elements

        std::vector<std::uint64_t> shape() const {
            std::vector<std::uint64_t> sizes;
            if (whole)
                for (const fmi::dimension& d : variable->dimensions) sizes.push_back(d.size);
            return sizes;
        }
        bool is(source_kind kind) const { return of != nullptr && of->kind == kind; }
    };

    end find(const std::string& address) {
        const std::size_t dot = address.find('.');
        const auto found = by_name_.find(address.substr(0, dot));
        if (dot == std::string::npos || found == by_name_.end()) return {};
        end e{.of = &s_.subsystems[found->second], .rest = address.substr(dot + 1)};
        if (e.of->kind != source_kind::fmu) return e;
        const auto [opened, is_new] = fmus_.try_emplace(found->second);
        auto& files = opened->second;
        if (is_new) files = if_there([&] { return open_fmu_of(*e.of); });
        if (!files) return e;
        const fmu_element at = find_element(files->description(), e.rest);
        if (at.variable < 0) return e;
        e.variable = &files->description().variables[static_cast<std::size_t>(at.variable)];
        e.whole = e.rest == e.variable->name && !e.variable->dimensions.empty();
        return e;
    }

    void add(signal_spec s, std::vector<signal_spec>& to) {
        const end target = find(s.target.value);
        std::vector<end> sources;
        for (const auto& term : s.terms) sources.push_back(find(term.address.value));
        if (target.variable != nullptr) {
            drive(s, target, sources);
            for (const end& source : sources)
                if (source.is(source_kind::file)) find_kind(s, source, target);
        }
        const bool arrays = target.whole || std::ranges::any_of(sources, &end::whole);
        if (!arrays) return to.push_back(std::move(s));
        check_shapes(s, target, sources);
        for (std::uint64_t k = 0; k < target.variable->element_count(); ++k) {
            signal_spec one = s;
            const std::string element = fmt::format("[{}]", k);
            one.target.value += element;
            one.name += element;
            for (auto& term : one.terms) term.address.value += element;
            to.push_back(std::move(one));
        }
    }

    [[noreturn]] static void refuse(const signal_spec& s, const std::string& why) {
        throw user_error(s.where, fmt::format("signal to '{}': {}", s.target.value, why));
    }

    void check_shapes(const signal_spec& s, const end& target, const std::vector<end>& sources) {
        for (std::size_t i = 0; i < sources.size(); ++i) {
            const std::string& source = s.terms[i].address.value;
            if (sources[i].is(source_kind::file) && target.whole) continue;  // it has the shape that is asked for
            const bool known = target.variable != nullptr && sources[i].variable != nullptr;
            if (known && sources[i].shape() == target.shape()) continue;
            const std::string shapes =
                known          ? fmt::format("the input is {}, but '{}' is {}.", shape_text(target.shape()), source,
                                             shape_text(sources[i].shape()))
                : target.whole ? fmt::format("the input is {}.", shape_text(target.shape()))
                               : fmt::format("'{}' is {}.", source, shape_text(sources[i].shape()));
            const auto element = [](const end& e, const std::string& address) {
                return address + (e.whole ? "[0]" : "");
            };
            refuse(s, fmt::format("{} Whole arrays are coupled where the shapes are equal; else couple element by "
                                  "element, '{} -> {}'.",
                                  shapes, element(sources[i], source), element(target, s.target.value)));
        }
    }

    /// Parameters and clocks are inputs where a signal leads to them.
    void drive(const signal_spec& s, const end& target, const std::vector<end>& sources) {
        using fmi::causality;
        const fmi::variable& v = *target.variable;
        const bool clock = v.type == fmi::base_type::clock && v.causality == causality::input;
        if (!clock && v.causality != causality::parameter && v.causality != causality::structural_parameter &&
            v.causality != causality::calculated_parameter)
            return;
        const auto& fmu = fmus_[by_name_.at(target.of->name)]->description();
        if (const std::string why = why_not_driven(fmu, v); !why.empty()) refuse(s, fmt::format("it {}", why));
        if (clock && !(is_plain(s) && is_clock(sources.front())))
            refuse(s, fmt::format("it is a clock; it ticks with one output clock of an FMU, 'a.clock -> {}', without "
                                  "gains and sums.",
                                  s.target.value));
        add_name(target.of->fmu.driven, v.name, s.where);
    }

    /// As far as it is known here.
    static bool is_clock(const end& source) {
        if (!source.is(source_kind::fmu)) return false;
        return source.variable == nullptr ||
               (source.variable->type == fmi::base_type::clock && source.variable->causality == fmi::causality::output);
    }

    static void add_name(std::vector<text>& names, const std::string& name, const location& where) {
        if (std::ranges::find(names, name, &text::value) == names.end()) names.push_back({name, where});
    }

    /// A column leads to an FMU: it holds what the input takes.
    void find_kind(const signal_spec& s, const end& source, const end& target) {
        const fmi::variable& v = *target.variable;
        auto& columns = columns_[source.of];
        if (!columns) columns = if_there([&] { return read_csv_header(*source.of).names; });
        auto& kinds = source.of->file.kinds;
        const auto given = std::ranges::find(kinds, source.rest, &setting::name);
        if (std::ranges::find(*columns, source.rest) == columns->end()) return;
        if (given != kinds.end() && asked_.count({source.of, source.rest}) == 0)  // by the user
            return make_exact(*given, v, s, target);
        const setting wanted = kind_for(s, source, target);
        if (wanted.values.empty()) return;
        if (given == kinds.end()) {
            asked_.emplace(std::pair(source.of, source.rest), s.target.value);
            kinds.push_back(wanted);
            return make_exact(wanted, v, s, target);
        }
        if (!std::ranges::equal(given->values, wanted.values, {}, &text::value, &text::value))
            refuse(s, fmt::format("column '{}' of '{}' would be {} here, but {} for '{}'. Let the file have a column "
                                  "for each.",
                                  source.rest, source.of->name, words_of(wanted), words_of(*given),
                                  asked_.at({source.of, source.rest})));
        make_exact(wanted, v, s, target);
    }

    static std::string words_of(const setting& kind) {
        std::vector<std::string> words;
        for (const text& t : kind.values) words.push_back(t.value);
        return fmt::format("[{}]", fmt::join(words, ", "));
    }

    void make_exact(const setting& kind, const fmi::variable& v, const signal_spec& s, const end& target) const {
        const std::string& word = kind.values.empty() ? std::string() : kind.values.front().value;
        if ((word == "int64" || word == "uint64") && fmi::has_64_bits(v.type) && is_plain(s))
            add_name(target.of->fmu.exact, v.name, s.where);
    }

    /// Without values: numbers that are interpolated.
    setting kind_for(const signal_spec& s, const end& source, const end& target) {
        const fmi::variable& v = *target.variable;
        setting kind{.name = source.rest, .where = s.where, .values = {}, .list = true};
        const auto add = [&](std::string word) { kind.values.push_back({std::move(word), s.where}); };
        if (v.type == fmi::base_type::binary || v.type == fmi::base_type::clock)
            refuse(s, fmt::format("it takes a {}, which a CSV file cannot hold. Couple it to an output of that kind.",
                                  lower_case(fmi::name(v.type))));
        const bool number = v.type < fmi::base_type::string;
        if (fmi::is_float(v.type) || (number && !is_plain(s))) {
            const auto& continuous = target.of->fmu.continuous;
            const bool held = v.variability != fmi::variability::continuous &&
                              std::ranges::find(continuous, v.name, &text::value) == continuous.end() &&
                              std::ranges::find(continuous, target.rest, &text::value) == continuous.end();
            if (!held && !target.whole) return kind;
            add("real");
            if (held) add("held");
        } else if (fmi::has_64_bits(v.type)) {
            add(digits_ ? lower_case(fmi::name(v.type)) : "integer");
        } else {
            add(lower_case(fmi::name(v.type)));
        }
        if (target.whole) add(fmt::format("{}", v.element_count()));
        if (v.type == fmi::base_type::enumeration && kind.values.front().value == "enumeration") {
            const auto& fmu = fmus_[by_name_.at(target.of->name)]->description();
            const fmi::type_definition* type = fmu.find_type(v.declared_type);
            if (type == nullptr || type->items.empty()) {
                kind.values.front().value = "integer";
                return kind;
            }
            for (const auto& item : type->items) add(fmt::format("{}={}", item.name, item.value));
        }
        return kind;
    }

    scenario s_;
    bool digits_;
    std::unordered_map<std::string, std::size_t> by_name_;
    std::map<std::size_t, std::shared_ptr<const fmi::fmu_files>> fmus_;                 // by subsystem, when needed
    std::map<const subsystem_spec*, std::optional<std::vector<std::string>>> columns_;  // of files
    std::map<std::pair<const subsystem_spec*, std::string>, std::string>
        asked_;  // column -> input that decided its kind
};

}  // namespace

bool may_have_signal_targets(const scenario& s) {
    return !s.signals.empty() &&
           std::ranges::any_of(s.subsystems, [](const auto& spec) { return spec.kind == source_kind::fmu; });
}

scenario with_signal_targets(scenario s, bool digits) { return target_resolver(std::move(s), digits).resolve(); }

}  // namespace mdpcosim

#include "scenario/signal_text.hpp"

#include <fmt/format.h>

#include "core/units.hpp"
#include "scenario/resolve.hpp"

namespace mdpcosim {

namespace {

std::string_view trimmed(std::string_view s) {
    while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
    while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
    return s;
}

/// Splits `2*a.y - b.y + 3` at ' + ' and ' - ' (with blanks: names may hold a '-'); the signs go with the terms.
std::vector<std::pair<double, std::string>> signed_terms(std::string_view sum) {
    std::vector<std::pair<double, std::string>> terms;
    double sign = 1;
    sum = trimmed(sum);
    if (!sum.empty() && sum.front() == '-') {
        sign = -1;
        sum.remove_prefix(1);
    }
    while (true) {
        const std::size_t plus = sum.find(" + ");
        const std::size_t minus = sum.find(" - ");
        const std::size_t at = std::min(plus, minus);
        terms.emplace_back(sign, std::string(trimmed(sum.substr(0, at))));
        if (at == std::string_view::npos) return terms;
        sign = plus < minus ? 1 : -1;
        sum.remove_prefix(at + 3);
    }
}

quantity read_gain(const std::string& written, const location& where, const let_table& let, const std::string& object) {
    yaml_node node;
    node.kind = yaml_node::type::scalar;
    node.scalar = written;
    node.where = where;
    const text value = read_text(node, let, object);
    const auto parsed = parse_quantity(value.value);
    if (!parsed)
        throw user_error(where, fmt::format("{}: '{}' is not a number. A signal is a sum of terms like 'a.y', '2*a.y', "
                                            "'3', with blanks around '+' and '-'.",
                                            object, value.value));
    if (parsed->unit.empty()) return *parsed;
    // Gains and offsets are kept in SI.
    const double number = read_number(value, {}, object);
    const std::string si = si_unit(parsed->unit);
    if (find_conversion(parsed->unit, si).offset != 0)
        throw user_error(
            where,
            fmt::format("{}: '{}' cannot stand in a sum, since '{}' does not count from zero. Write the value in '{}'.",
                        object, value.value, parsed->unit, si));
    return {number, si};
}

void add_offset(signal_spec& signal, double sign, const quantity& offset, const std::string& object) {
    if (!units_fit(offset.unit, signal.offset_unit))
        throw user_error(signal.where, fmt::format("{}: numbers in '{}' and '{}' do not add.", object,
                                                   signal.offset_unit, offset.unit));
    signal.offset += sign * offset.value;
    if (!offset.unit.empty()) signal.offset_unit = offset.unit;
}

void add_term(signal_spec& signal, double sign, const std::string& written, const let_table& let,
              const std::string& object) {
    if (written.empty()) throw user_error(signal.where, fmt::format("{}: a term is missing.", object));
    if (written.find('+') != std::string::npos && !parse_quantity(written) && written.front() != '$')
        throw user_error(signal.where, fmt::format("{}: write blanks around '+' in '{}', as in 'a.y + b.y -> c.u'.",
                                                   object, written));
    const std::size_t star = written.rfind('*');
    if (star != std::string::npos) {
        const quantity gain = read_gain(std::string(trimmed(written.substr(0, star))), signal.where, let, object);
        signal.terms.push_back(
            {{std::string(trimmed(written.substr(star + 1))), signal.where}, sign * gain.value, gain.unit, true});
    } else if (written.front() == '$' || parse_quantity(written)) {
        add_offset(signal, sign, read_gain(written, signal.where, let, object), object);
    } else {
        signal.terms.push_back({{written, signal.where}, sign, {}, sign < 0});
    }
}

}  // namespace

void read_signal_text(const text& connect, const let_table& let, signal_spec& signal) {
    signal.where = connect.where;
    const std::string object = fmt::format("signal '{}'", connect.value);
    const std::size_t arrow = connect.value.find("->");
    if (arrow == std::string::npos || connect.value.find("->", arrow + 2) != std::string::npos)
        throw user_error(connect.where, fmt::format("{}: exactly one '->' is expected, as in 'a.y -> b.u'.", object));
    for (const auto& [sign, term] : signed_terms(std::string_view(connect.value).substr(0, arrow)))
        add_term(signal, sign, term, let, object);
    signal.target = {std::string(trimmed(std::string_view(connect.value).substr(arrow + 2))), connect.where};
    if (signal.target.empty()) throw user_error(connect.where, fmt::format("{}: the target is missing.", object));
}

std::string signal_text(const signal_spec& s) {
    std::string sum;
    for (const auto& term : s.terms) {
        if (!sum.empty()) sum += " + ";
        const std::string unit = term.gain_unit.empty() ? "" : " " + term.gain_unit;
        sum += term.has_gain ? fmt::format("{}{}*{}", term.gain, unit, term.address.value) : term.address.value;
    }
    if (s.offset != 0 || !s.offset_unit.empty() || sum.empty())
        sum +=
            fmt::format("{}{}{}", sum.empty() ? "" : " + ", s.offset, s.offset_unit.empty() ? "" : " " + s.offset_unit);
    return fmt::format("{} -> {}", sum, s.target.value);
}

}  // namespace mdpcosim

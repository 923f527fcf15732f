#include <fmt/format.h>

#include "core/units.hpp"
#include "scenario/map_reader.hpp"
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

extrapolation_spec read_extrapolation(const yaml_node& node, const let_table& let, const std::string& object) {
    extrapolation_spec spec;
    spec.where = node.where;
    if (node.kind == yaml_node::type::scalar || node.kind == yaml_node::type::null) {
        spec.name = read_text(node, let, object);
        return spec;
    }
    map_reader map(node, let, object);
    spec.name = map.find_text("name");
    if (!spec.name.empty()) {
        const text F = map.find_text("F");
        if (!F.empty()) spec.F = read_number(F, "1", object + ": 'F'");
        map.finish();
        return spec;
    }
    spec.degree = read_whole(map.need_text("degree"), 0, object + ": degree");
    const auto numbers = [&](const char* key) {
        std::vector<double> list;
        const yaml_node* values = map.find(key);
        if (values == nullptr) return list;
        for (const auto& value : read_setting({key, values->where}, *values, let, object).values)
            list.push_back(read_number(value, "1", fmt::format("{}: '{}'", object, key)));
        return list;
    };
    spec.a = numbers("a");
    spec.b = numbers("b");
    const text continuous = map.find_text("continuous");
    if (!continuous.empty() && continuous.value != "true" && continuous.value != "false")
        throw user_error(continuous.where,
                         fmt::format("{}: 'continuous' is true or false, not '{}'.", object, continuous.value));
    spec.continuous = continuous.value == "true";
    map.finish();
    if (spec.a.empty())
        throw user_error(node.where, fmt::format("{}: key 'a' (a list of numbers) is missing.", object));
    if (spec.b.empty()) spec.b.assign(spec.a.size(), 0.0);
    return spec;
}

connection_spec read_connection(const yaml_key& key, const yaml_node& node, const let_table& let) {
    check_name(key, "connection");
    connection_spec spec;
    spec.name = key.name;
    spec.where = key.where;
    const std::string object = fmt::format("connection '{}'", key.name);
    map_reader map(node, let, object);
    spec.joint = map.find_text("joint");
    if (!spec.is_joint()) {
        spec.law = map.need_text("law");
    } else if (const text law = map.find_text("law"); !law.empty()) {
        throw user_error(law.where, fmt::format("{}: it has a joint and a law; give one of the two.", object));
    }
    const yaml_node& between = map.need("between");
    if (between.kind != yaml_node::type::list)
        throw user_error(between.where,
                         fmt::format("{}: 'between' is a list of ports, [first.port, second.port], not {}.", object,
                                     describe(between.kind)));
    for (const auto& item : between.items) spec.between.push_back(read_text(item, let, object + ": 'between'"));
    if (const yaml_node* rule = map.find("extrapolation"))
        spec.extrapolation = read_extrapolation(*rule, let, object + ": extrapolation");
    spec.delay = read_delay(map.find_text("delay"), object);
    spec.parameters = map.rest();
    return spec;
}

signal_spec read_signal(const yaml_node& node, const let_table& let) {
    signal_spec signal;
    text connect;
    if (node.kind == yaml_node::type::map) {
        map_reader map(node, let, "signal");
        connect = map.need_text("connect");
        const text name = map.find_text("name");
        if (!name.empty()) check_name({name.value, name.where}, "signal");
        signal.name = name.value;
        if (const yaml_node* rule = map.find("extrapolation"))
            signal.extrapolation = read_extrapolation(*rule, let, "signal '" + connect.value + "': extrapolation");
        signal.delay = read_delay(map.find_text("delay"), "signal '" + connect.value + "'");
        map.finish();
    } else {
        connect = read_text(node, let, "signal");
    }
    signal.where = connect.where;
    const std::string object = fmt::format("signal '{}'", connect.value);
    const std::size_t arrow = connect.value.find("->");
    if (arrow == std::string::npos || connect.value.find("->", arrow + 2) != std::string::npos)
        throw user_error(connect.where, fmt::format("{}: exactly one '->' is expected, as in 'a.y -> b.u'.", object));
    for (const auto& [sign, term] : signed_terms(std::string_view(connect.value).substr(0, arrow)))
        add_term(signal, sign, term, let, object);
    signal.target = {std::string(trimmed(std::string_view(connect.value).substr(arrow + 2))), connect.where};
    if (signal.target.empty()) throw user_error(connect.where, fmt::format("{}: the target is missing.", object));
    if (signal.name.empty()) signal.name = signal.target.value;
    return signal;
}

}  // namespace mdpcosim

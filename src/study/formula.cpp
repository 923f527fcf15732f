#include "study/formula.hpp"

#include <fmt/format.h>

#include <cctype>

namespace mdpcosim {

namespace {

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_name(char c) {
    return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '[' ||
           c == ']';
}

std::size_t number_end(const std::string& s, std::size_t at) {
    const auto digits = [&] {
        while (at < s.size() && (std::isdigit(static_cast<unsigned char>(s[at])) != 0 || s[at] == '.')) ++at;
    };
    digits();
    if (at < s.size() && (s[at] == 'e' || s[at] == 'E')) {
        ++at;
        if (at < s.size() && (s[at] == '+' || s[at] == '-')) ++at;
        digits();
    }
    return at;
}

}  // namespace

expression parse_formula(const text& written, const std::string& object,
                         const std::function<int(const std::string&)>& find,
                         const std::function<std::string(const std::string&)>& why_unknown) {
    const std::string& s = written.value;
    std::string plain;  // with names that the parser of expressions takes
    for (std::size_t at = 0; at < s.size();) {
        if (std::isdigit(static_cast<unsigned char>(s[at])) != 0) {
            const std::size_t end = number_end(s, at);
            plain += s.substr(at, end - at);
            at = end;
            continue;
        }
        if (!begins_name(s[at])) {
            plain += s[at++];
            continue;
        }
        std::size_t end = at;
        while (end < s.size() && in_name(s[end])) ++end;
        const std::size_t longest = end;
        int index = -1;
        std::string name;
        while (end > at) {
            name = s.substr(at, end - at);
            index = find(name);
            if (index >= 0 || is_reserved_name(name)) break;
            end = name.rfind('-') == std::string::npos ? at : at + name.rfind('-');
        }
        if (end == at) {
            name = s.substr(at, longest - at);
            throw user_error(written.where, fmt::format("{}: {}", object, why_unknown(name)));
        }
        plain += index >= 0 ? fmt::format("value_{}", index) : name;
        at = end;
    }
    const symbol_table symbols{.find = [](std::string_view name) -> std::optional<expression> {
                                   if (!name.starts_with("value_")) return {};
                                   return expression(variable_id{0, std::stoi(std::string(name.substr(6)))});
                               },
                               .names = {}};
    try {
        const expression formula = parse_expression(plain, symbols);
        if (has_undefined_constant(formula))
            throw user_error(written.where, fmt::format("{}: '{}' is never a number.", object, s));
        return formula;
    } catch (const expression_error& problem) {
        throw user_error(written.where, fmt::format("{}: '{}': {}", object, s, problem.what()));
    }
}

}  // namespace mdpcosim

#include "subsystem/file_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/suggest.hpp"

namespace mdpcosim {

namespace {

constexpr double all_whole = 0x1p53;  // beyond that doubles have no room for every whole number

struct whole_type {
    const char* name;
    double least, most;
};
constexpr std::array<whole_type, 7> whole_types{{{"integer", -all_whole, all_whole},
                                                 {"int8", -0x1p7, 0x1p7 - 1},
                                                 {"uint8", 0, 0x1p8 - 1},
                                                 {"int16", -0x1p15, 0x1p15 - 1},
                                                 {"uint16", 0, 0x1p16 - 1},
                                                 {"int32", -0x1p31, 0x1p31 - 1},
                                                 {"uint32", 0, 0x1p32 - 1}}};

const whole_type& whole_type_of(const std::string& word) {
    return *std::ranges::find(whole_types, word, [](const whole_type& t) { return std::string(t.name); });
}

std::optional<double> finite(std::string_view field) {
    if (field.starts_with('+')) field.remove_prefix(1);
    double value = 0;
    const auto [end, status] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (status != std::errc{} || end != field.data() + field.size() || !std::isfinite(value)) return {};
    return value;
}

std::optional<double> whole(std::string_view field, double least, double most) {
    const auto value = finite(field);
    return value && *value == std::floor(*value) && *value >= least && *value <= most ? value : std::nullopt;
}

/// The digits without what does not count; `3.0` is whole, too, as long as doubles hold it.
template <class Integer>
std::optional<std::string> digits(std::string_view field) {
    const std::string_view bare = field.starts_with('+') ? field.substr(1) : field;
    Integer value = 0;
    const auto [end, status] = std::from_chars(bare.data(), bare.data() + bare.size(), value);
    if (status == std::errc{} && end == bare.data() + bare.size()) return fmt::format("{}", value);
    const double least = std::is_signed_v<Integer> ? -all_whole : 0;
    if (bare.find_first_of(".eE") == std::string_view::npos) return {};
    if (const auto rounded = whole(field, least, all_whole)) return fmt::format("{}", static_cast<Integer>(*rounded));
    return {};
}

std::optional<double> boolean(std::string_view field) {
    for (const char* yes : {"true", "True", "TRUE"})
        if (field == yes) return 1;
    for (const char* no : {"false", "False", "FALSE"})
        if (field == no) return 0;
    return whole(field, 0, 1);
}

const std::vector<std::string>& words() {
    static const std::vector<std::string> all{"real",  "boolean", "string", "enumeration", "integer", "int8",   "uint8",
                                              "int16", "uint16",  "int32",  "uint32",      "int64",   "uint64", "skip"};
    return all;
}

column_kind::type type_of(const std::string& word) {
    if (word == "real") return column_kind::type::real;
    if (word == "boolean") return column_kind::type::boolean;
    if (word == "string") return column_kind::type::string;
    if (word == "enumeration") return column_kind::type::enumeration;
    if (word == "skip") return column_kind::type::skip;
    return word == "int64" || word == "uint64" ? column_kind::type::digits : column_kind::type::whole;
}

}  // namespace

std::optional<double> column_kind::number(std::string_view field) const {
    switch (is) {
        case type::real:
            return finite(field);
        case type::boolean:
            return boolean(field);
        case type::whole: {
            const whole_type& range = whole_type_of(word);
            return whole(field, range.least, range.most);
        }
        case type::enumeration:
            for (const auto& [name, value] : items)
                if (name == field) return static_cast<double>(value);
            for (const auto& [name, value] : items)
                if (finite(field) == static_cast<double>(value)) return static_cast<double>(value);
            return {};
        default:
            return {};
    }
}

std::optional<std::string> column_kind::text(std::string_view field) const {
    if (is == type::string)  // in C a zero byte would end it
        return field.find('\0') == std::string_view::npos ? std::optional(std::string(field)) : std::nullopt;
    return word == "int64" ? digits<std::int64_t>(field) : digits<std::uint64_t>(field);
}

std::string column_kind::expected() const {
    switch (is) {
        case type::boolean:
            return "true, false, 1 or 0";
        case type::whole: {
            const whole_type& range = whole_type_of(word);
            return fmt::format("a whole number from {:.0f} to {:.0f} ({})", range.least, range.most, word);
        }
        case type::digits:
            return word == "int64"
                       ? fmt::format("a whole number from {} to {} (int64)", std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::max())
                       : fmt::format("a whole number from 0 to {} (uint64)", std::numeric_limits<std::uint64_t>::max());
        case type::enumeration: {
            std::vector<std::string> names;
            for (const auto& [name, value] : items) names.push_back(fmt::format("{} ({})", name, value));
            return fmt::format("an item of the enumeration: {}", name_list(names));
        }
        case type::string:
            return "a string without zero bytes";
        default:
            return "a finite number";
    }
}

column_kind read_column_kind(const setting& written, const std::string& object) {
    const auto fail = [&](const text& at, const std::string& why) {
        throw user_error(at.where, fmt::format("{}: kinds: column '{}': {}", object, written.name, why));
    };
    if (written.values.empty())
        throw user_error(written.where, fmt::format("{}: kinds: column '{}': a kind is missing. Kinds: {}.", object,
                                                    written.name, name_list(words())));
    const text& word = written.values.front();
    if (std::ranges::find(words(), word.value) == words().end())
        fail(word, fmt::format("'{}' is no kind. Kinds: {}.{}", word.value, name_list(words()),
                               did_you_mean(word.value, words())));
    column_kind kind{.is = type_of(word.value), .word = word.value};
    kind.held = kind.is != column_kind::type::real;
    for (std::size_t i = 1; i < written.values.size(); ++i) {
        const text& more = written.values[i];
        const std::size_t equals = more.value.rfind('=');
        const bool item = kind.is == column_kind::type::enumeration && equals != std::string::npos;
        const std::string number = item ? more.value.substr(equals + 1) : more.value;
        std::int64_t value = 0;
        const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), value);
        const bool is_number = status == std::errc{} && end == number.data() + number.size();
        if (more.value == "held") {
            kind.held = true;
        } else if (item && is_number) {
            kind.items.emplace_back(more.value.substr(0, equals), value);
        } else if (!item && is_number && value >= 0 && value <= 1'000'000 && kind.is != column_kind::type::skip) {
            kind.count = static_cast<int>(value);
        } else {
            fail(more, fmt::format("'{}' is not allowed behind '{}'. Allowed are 'held', the number of elements of an "
                                   "array, and 'name=number' for the items of an enumeration.",
                                   more.value, word.value));
        }
    }
    if (kind.is == column_kind::type::enumeration && kind.items.empty())
        fail(word, "an enumeration needs its items: '[enumeration, off=1, on=2]'.");
    return kind;
}

}  // namespace mdpcosim

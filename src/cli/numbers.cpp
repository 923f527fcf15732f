#include "cli/numbers.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

template <class Number>
std::optional<Number> plain(std::string_view text) {
    Number value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<double> plain_number(std::string_view text) {
    const auto value = plain<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<double> fraction(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return plain_number(text);
    const auto top = plain_number(text.substr(0, slash)), bottom = plain_number(text.substr(slash + 1));
    if (!top || !bottom || *bottom == 0) return std::nullopt;
    return *top / *bottom;
}

double number(const std::string& option, const std::string& text) {
    const std::size_t caret = text.find('^');
    std::optional<double> value;
    if (caret == std::string::npos) {
        value = fraction(text);
    } else {
        const auto base = plain_number(std::string_view(text).substr(0, caret));
        const auto exponent = fraction(std::string_view(text).substr(caret + 1));
        if (base && exponent) value = std::pow(*base, *exponent);
    }
    if (!value || !std::isfinite(*value))
        throw user_error(fmt::format("{} {}: '{}' is not a number. Examples: 3.16, 1e-2, 10^1/2.", option, text, text));
    constexpr double most = 1e12;  // beyond, the analyses' own arithmetic overflows
    if (std::fabs(*value) > most)
        throw user_error(fmt::format("{} {}: '{}' is too high; at most {:g}.", option, text, text, most));
    return *value;
}

std::optional<std::int64_t> whole(const std::string& text, std::int64_t low, std::int64_t high) {
    const auto value = plain<std::int64_t>(text);
    return value && *value >= low && *value <= high ? value : std::nullopt;
}

std::string no_whole_number(const std::string& text, std::int64_t low, std::int64_t high) {
    return fmt::format("'{}' must be a whole number from {} to {}.", text, low, high);
}

CLI::Validator bounded(const char* least, bool (*fits)(double), double high) {
    const auto check = [=](std::string& text) -> std::string {
        const auto value = plain_number(text);
        if (!value || !fits(*value)) return fmt::format("'{}' must be a number {}.", text, least);
        return *value <= high ? std::string() : fmt::format("'{}' is too high; at most {:.0f}.", text, high);
    };
    return {check, ""};
}

}  // namespace

CLI::Validator whole_number(std::int64_t low, std::int64_t high) {
    const auto read = [=](std::string& text) -> std::string {
        const auto value = whole(text, low, high);
        if (!value) return no_whole_number(text, low, high);
        text = fmt::format("{}", *value);
        return {};
    };
    return {read, ""};
}

CLI::Validator positive_value(double high) {
    return bounded(
        "above zero", [](double v) { return v > 0; }, high);
}

CLI::Validator value_not_negative(double high) {
    return bounded(
        "not below zero", [](double v) { return v >= 0; }, high);
}

double positive_number(const std::string& option, const std::string& text) {
    const double value = number(option, text);
    if (value <= 0) throw user_error(fmt::format("{} {}: '{}' must be greater than zero.", option, text, text));
    return value;
}

double number_not_negative(const std::string& option, const std::string& text) {
    const double value = number(option, text);
    if (value < 0) throw user_error(fmt::format("{} {}: '{}' must not be negative.", option, text, text));
    return value;
}

int whole_number(const std::string& option, const std::string& text, int low, int high) {
    const auto value = whole(text, low, high);
    if (!value) throw user_error(fmt::format("{} {}: {}", option, text, no_whole_number(text, low, high)));
    return static_cast<int>(*value);
}

}  // namespace mdpcosim

#include "cli/output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

std::string finite_value(const std::string& text, bool (*fits)(double), const char* expected) {
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status == std::errc{} && end == text.data() + text.size() && std::isfinite(value) && fits(value)) return {};
    return fmt::format("'{}' must be a number {}.", text, expected);
}

}  // namespace

void show(const std::string& text, bool is_json) { say("{}", is_json ? text : escaped(text)); }

int finish_output(int status) {
    errno = 0;
    std::cout.flush();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return status;
    const int why = errno;
    std::clearerr(stdout);
    std::cout.clear();
    if (why == EBADF) return status;  // closed by who started the program: nothing was wanted
    // The reason is known to the first who met it.
    tell("mdpcosim: standard output cannot be written{}; what was printed is not complete\n",
         why != 0 ? fmt::format(" ({})", std::strerror(why)) : std::string());
    return status == 0 ? 1 : status;
}

void refuse_empty_values(CLI::App& app) {
    for (CLI::Option* option : app.get_options())
        if (option->get_expected_min() > 0)
            option->check(
                [](const std::string& value) { return value.empty() ? "the value is empty." : std::string(); });
    for (CLI::App* command : app.get_subcommands({})) refuse_empty_values(*command);
}

std::string positive_value(const std::string& text) {
    return finite_value(
        text, [](double v) { return v > 0; }, "above zero");
}

std::string value_not_negative(const std::string& text) {
    return finite_value(
        text, [](double v) { return v >= 0; }, "not below zero");
}

}  // namespace mdpcosim

#include "simulation/blame.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "assembly/address_book.hpp"
#include "simulation/trust.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

namespace {

/// The norms of solvers are made of squares.
bool is_unusable(double value) { return !(std::abs(value) < 1e150); }

/// "'a.y' = 1e+308, rate 2"
std::string source_text(const assembly& a, const address_book& book, const channel_term& term) {
    const std::span<const double> y = a.system.outputs();
    if (!term.value.valid()) return fmt::format("'{}' = {:.6g}", book.output_address(term.rate), y[term.rate.value()]);
    std::string text = fmt::format("'{}' = {:.6g}", book.output_address(term.value), y[term.value.value()]);
    if (term.rate.valid()) text += fmt::format(", rate {:.6g}", y[term.rate.value()]);
    return text;
}

/// What delivers to its inputs.
std::vector<channel_index> drivers_of(const assembly& a, const std::string& subsystem) {
    const transport& all = *a.system.subsystems;
    std::size_t i = 0;
    while (i < all.size() && all.name(subsystem_index(i)) != subsystem) ++i;
    if (i == all.size()) return {};
    const std::size_t first = all.input_offset(subsystem_index(i));
    const auto count = static_cast<std::size_t>(all.describe(subsystem_index(i)).input_count());
    std::vector<channel_index> found;
    for (const network::connected& c : a.system.coupling.deliveries())
        if (c.input.value() >= first && c.input.value() < first + count) found.push_back(c.delivered.channel);
    return found;
}

}  // namespace

std::string unusable_values(const assembly& a, channel_index channel, double t) {
    const coupled_system& system = a.system;
    const polynomial p = system.coupling.channel_polynomial(channel);
    const double u = system.u[channel.value()], du = system.du[channel.value()];
    const auto coefficients = std::span(p.c).first(static_cast<std::size_t>(p.degree) + 1);
    const auto bad = std::ranges::find_if(coefficients, is_unusable);
    if (!is_unusable(u) && !is_unusable(du) && bad == coefficients.end()) return {};

    const channel_report& report = a.channels[channel.value()];
    const address_book book(*system.subsystems);
    constexpr std::size_t most_sources = 4;
    std::vector<std::string> sources;
    for (const channel_term& term : system.coupling.terms(channel))
        if (sources.size() < most_sources) sources.push_back(source_text(a, book, term));
    const std::string name = fmt::format("{} '{}'", report.is_signal ? "signal to" : "connection", report.connection());
    const std::string value = is_unusable(u) ? fmt::format("is {:.6g}", u)
                              : is_unusable(du)
                                  ? fmt::format("is {:.6g} with the rate {:.6g}", u, du)
                                  : fmt::format("is {:.6g}, and {:.6g} where it is extrapolated", u, *bad);
    return fmt::format("{} {} at t = {:.10g} s{}{}", name, value, t, sources.empty() ? "" : ", made of ",
                       fmt::join(sources, "; "));
}

std::string explained(const assembly& a, const coupling_watch* watch, const run_error& problem, double t) {
    const auto* failure = dynamic_cast<const subsystem_failure*>(&problem);
    std::string driver;
    if (failure != nullptr) {
        const auto drivers = drivers_of(a, failure->subsystem_name());
        if (drivers.empty()) return problem.what();  // it failed by itself
        for (std::size_t i = 0; i < drivers.size() && driver.empty(); ++i) driver = unusable_values(a, drivers[i], t);
    }
    const std::string cause = watch != nullptr ? cause_of_failure(a, *watch) : "";
    return fmt::format("{}{}{}{}{}", driver, driver.empty() ? "" : ". Therefore: ", problem.what(),
                       cause.empty() ? "" : ". ", cause);
}

}  // namespace mdpcosim

#include "exported/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/check_sum.hpp"
#include "core/error.hpp"
#include "core/files.hpp"
#include "core/polynomial.hpp"
#include "core/state_bytes.hpp"

namespace mdpcosim {

namespace {

/// How far the host's time may be from the model's, as a part of its step: a host that adds steps up is off by rounding.
constexpr double clock_slack = 1e-2;
constexpr std::size_t most_list_bytes = std::size_t{1} << 30;

std::uint64_t sum_of(const void* bytes, std::size_t size) {
    check_sum sum;
    sum.add(bytes, size);
    return sum.value();
}

}  // namespace

exported_model::exported_model(exported_contents contents)
    : contents_(std::move(contents)), values_(contents_.variables.size()), given_(contents_.variables.size()) {
    use_start_values();
}

void exported_model::use_start_values() {
    for (std::size_t i = 0; i < values_.size(); ++i) {
        values_[i] = variable(i).start;
        given_[i] = 0;
    }
}

void exported_model::begin(double start, std::optional<double> stop) {
    if (!std::isfinite(start)) throw user_error(fmt::format("the simulation cannot start at t = {} s.", start));
    if (stop && !(*stop > start))
        throw user_error(
            fmt::format("the simulation ends at {} s, which is not behind its start, {} s.", *stop, start));
    start_ = start;
    has_stop_ = stop.has_value() && std::isfinite(*stop);
    stop_ = has_stop_ ? *stop : 0;
    reached_ = stage::initialising;
    stale_ = true;
}

std::vector<double> exported_model::settings() const {
    std::vector<double> all{start_, has_stop_ ? stop_ : std::numeric_limits<double>::infinity()};
    for (std::size_t i = 0; i < values_.size(); ++i)
        if (variable(i).is_parameter()) all.push_back(values_[i]);
    return all;
}

void exported_model::bring_up_to_date() {
    if (made_ && !stale_) return;
    if (!made_ || failed() || !make_again()) {
        forget();
        made_ = false;
        make();
    }
    made_ = true;
    stale_ = false;
}

double exported_model::get(std::size_t i) {
    if (variable(i).settable()) return values_[i];
    if (reached_ == stage::set_up)
        throw user_error(fmt::format("'{}' has no value before the initialisation.", variable(i).address));
    if (reached_ == stage::initialising) bring_up_to_date();
    return output(i);
}

void exported_model::set(std::size_t i, double value) {
    const exported_variable& v = variable(i);
    if (!v.settable()) throw user_error(fmt::format("'{}' is an output and cannot be set.", v.address));
    if (!std::isfinite(value)) throw user_error(fmt::format("'{}' cannot be set to {}.", v.address, value));
    if (reached_ == stage::running) {
        if (v.what == exported_variable::role::parameter)
            throw user_error(
                fmt::format("parameter '{}' is fixed: it can be set before the initialisation ends.", v.address));
        if (values_[i] == value) return;
        write(i, value);
    }
    values_[i] = value;
    given_[i] = 1;
    stale_ = reached_ != stage::running;
}

void exported_model::initialise() {
    bring_up_to_date();
    reached_ = stage::running;
    started();
}

bool exported_model::advance(double t, double h) {
    if (reached_ != stage::running) throw user_error("a step before the end of the initialisation.");
    if (!std::isfinite(h) || h <= 0) throw user_error(fmt::format("a step over {} s.", h));
    if (!(std::abs(t - now()) <= clock_slack * h))
        throw user_error(fmt::format("a step from t = {:.10g} s on; the last one ended at t = {:.10g} s.", t, now()));
    return go_on(h);
}

void exported_model::set_derivative(std::size_t input, int order, double value) {
    const exported_variable& v = variable(input);
    if (v.what != exported_variable::role::input || v.type != variable_type::real)
        throw user_error(fmt::format("'{}' is no input with derivatives.", v.address));
    if (!std::isfinite(value)) throw user_error(fmt::format("a derivative of '{}' is {}.", v.address, value));
    if (order < 1 || order > max_degree)
        throw user_error(fmt::format("derivatives of '{}' have orders from 1 to {}.", v.address, max_degree));
    if (reached_ == stage::running) slope(input, order, value);
}

void exported_model::slope(std::size_t, int, double) { throw user_error("inputs of this FMU have no derivatives."); }

void exported_model::directional_derivative(std::span<const std::size_t> unknowns, std::span<const std::size_t> knowns,
                                            std::span<const double> seed, std::span<double> sensitivity) {
    if (reached_ == stage::set_up) throw user_error("derivatives are not known before the initialisation.");
    if (reached_ == stage::initialising) bring_up_to_date();
    differentiate(unknowns, knowns, seed, sensitivity);
}

void exported_model::differentiate(std::span<const std::size_t>, std::span<const std::size_t>, std::span<const double>,
                                   std::span<double>) {
    throw user_error("this FMU offers no directional derivatives.");
}

void exported_model::reset() {
    use_start_values();
    reached_ = stage::set_up;
    stale_ = true;
}

std::string exported_model::save() {
    state_bytes bytes;
    bytes.write();
    std::string inside = reached_ == stage::running ? saved() : std::string();
    bytes(reached_, start_, has_stop_, stop_, values_, given_, inside);
    std::string all(reinterpret_cast<const char*>(bytes.bytes().data()), bytes.bytes().size());
    const std::uint64_t sum = sum_of(all.data(), all.size());
    return all.append(reinterpret_cast<const char*>(&sum), sizeof sum);
}

void exported_model::load(const std::string& state) {
    // Models take what they have written themselves, and nothing else: a damaged number could be one that they never end with.
    std::uint64_t sum = 0;
    const std::size_t size = state.size() - std::min(state.size(), sizeof sum);
    std::memcpy(&sum, state.data() + size, state.size() - size);
    if (size == 0 || sum != sum_of(state.data(), size))
        throw user_error("the state is damaged, or is none of this FMU.");
    state_bytes bytes;
    const auto* first = reinterpret_cast<const std::byte*>(state.data());
    bytes.bytes().assign(first, first + size);
    bytes.read();
    stage reached{};
    double start = 0, stop = 0;
    bool has_stop = false;
    std::vector<double> values;
    std::vector<char> given;
    std::string inside;
    try {
        bytes(reached, start, has_stop, stop, values, given, inside);
        bytes.finish();
    } catch (const state_mismatch&) {
        throw user_error("the state is damaged, or is none of this FMU.");
    }
    if (values.size() != values_.size() || given.size() != given_.size())
        throw user_error("the state is that of another FMU.");
    // The model that is there takes it where nothing differs but what may change between steps.
    bool same = made_ && !stale_ && reached_ == stage::running && reached == stage::running && start == start_ &&
                has_stop == has_stop_ && stop == stop_ && !failed();
    for (std::size_t i = 0; same && i < values.size(); ++i)
        same = values[i] == values_[i] || variable(i).what == exported_variable::role::input;
    values_ = values;
    given_ = given;
    start_ = start;
    stop_ = stop;
    has_stop_ = has_stop;
    stale_ = true;
    if (reached != stage::running) {
        reached_ = reached;
        return;
    }
    if (same) try {
            restore(inside);
            stale_ = false;
            return;
        } catch (const user_error&) {  // a parameter was set here and had its old value again
        }
    reached_ = stage::initialising;  // should it fail
    forget();
    made_ = false;
    bring_up_to_date();
    restore(inside);
    reached_ = reached;
}

std::unique_ptr<exported_model> make_exported_model(const std::filesystem::path& resources, const std::string& token,
                                                    bool exchange, const message_sink& sink) {
    exported_contents contents;
    const auto file = resources / exported_contents_file;
    try {
        contents = read_contents(read_input(file, most_list_bytes));
    } catch (const file_problem& problem) {
        throw user_error(fmt::format("the FMU's resources cannot be read: '{}' {}.", file.string(), problem.what()));
    }
    if (token != contents.token)
        throw user_error(
            fmt::format("the resources in '{}' are those of another FMU: they belong to the token {}, the "
                        "host has {}.",
                        resources.string(), contents.token, token));
    const message_scope to_host(sink);
    if (!contents.subsystem.empty())
        return exchange ? make_exported_equations(std::move(contents), resources)
                        : make_exported_subsystem(std::move(contents), resources);
    if (exchange) throw user_error("this FMU is for co-simulation.");
    return make_exported_scenario(std::move(contents), resources, sink);
}

}  // namespace mdpcosim

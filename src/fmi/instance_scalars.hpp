#pragma once

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "fmi/instance_base.hpp"
#include "fmi/log_text.hpp"

/// What the calls of FMI 1.0 and 2.0 have in common: variables are scalars of four types, states a vector. Private to fmi/.
namespace mdpcosim::fmi {

/// `Types` names the version's functions and its types Boolean, Integer and String.
template <class Types>
class scalar_instance : public instance_base {
    using boolean = typename Types::boolean;
    using integer = typename Types::integer;
    using string = typename Types::string;

   public:
    scalar_instance(std::shared_ptr<fmu_library> library, const instance_options& options,
                    const typename Types::functions& functions)
        : instance_base(std::move(library), options), f_(functions) {}

    void enter_configuration() override { throw std::logic_error("fmi: no configuration mode before FMI 3.0"); }
    void exit_configuration() override { throw std::logic_error("fmi: no configuration mode before FMI 3.0"); }
    void enter_step_mode() override { throw std::logic_error("fmi: no step mode before FMI 3.0"); }

    status get(value_block& block, std::span<double> values) override {
        const std::size_t n = block.references.size();
        const value_reference* vr = block.references.data();
        const auto access = [&](const auto& function, auto* to) {
            return call(
                function, discard_in_access_,
                [&] { return fmt::format("{}) gives ({}", list_text(vr, n), list_text(to, n)); }, vr, n, to);
        };
        switch (block.type) {
            case base_type::float64:
                return access(f_.GetReal, values.data());
            case base_type::boolean:
                return get_as<boolean>(block, values, [&](boolean* raw) {
                    const status result = access(f_.GetBoolean, raw);
                    for (std::size_t i = 0; i < n; ++i) raw[i] = raw[i] != 0;
                    return result;
                });
            case base_type::int32:
            case base_type::enumeration:
                return get_as<integer>(block, values, [&](integer* raw) { return access(f_.GetInteger, raw); });
            default:
                throw std::logic_error("fmi: not a number");
        }
    }

    status set(value_block& block, std::span<const double> values) override {
        const std::size_t n = block.references.size();
        const value_reference* vr = block.references.data();
        const auto access = [&](const auto& function, const auto* from) {
            return call(
                function, discard_in_access_,
                [&] { return fmt::format("{}, {}", list_text(vr, n), list_text(from, n)); }, vr, n, from);
        };
        switch (block.type) {
            case base_type::float64:
                return access(f_.SetReal, values.data());
            case base_type::boolean: {
                auto* raw = reinterpret_cast<boolean*>(block.raw.data());
                for (std::size_t i = 0; i < n; ++i) raw[i] = values[i] != 0 ? 1 : 0;
                return access(f_.SetBoolean, raw);
            }
            case base_type::int32:
            case base_type::enumeration:
                return set_as<integer>(block, values, [&](integer* raw) { return access(f_.SetInteger, raw); });
            default:
                throw std::logic_error("fmi: not a number");
        }
    }

    std::vector<std::string> get_texts(int index) override {
        const value_reference vr = description().variables[index].reference;
        string text = nullptr;
        call(
            f_.GetString, discard::refused, [&] { return fmt::format("[{}]) gives (\"{}\"", vr, read_text(text)); },
            &vr, std::size_t{1}, &text);
        return {text == nullptr ? "" : read_text(text, longest_string)};
    }
    void set_texts(int index, std::span<const std::string> values) override {
        if (values.size() != 1) throw std::logic_error("fmi: no arrays before FMI 3.0");
        const value_reference vr = description().variables[index].reference;
        const string text = values[0].c_str();
        call(
            f_.SetString, discard::refused, [&] { return fmt::format("[{}], \"{}\"", vr, text); }, &vr, std::size_t{1},
            &text);
    }

    void set_input_derivatives(const value_block& block, int order, std::span<const double> values) override {
        const std::size_t n = block.references.size();
        std::fill_n(orders_.begin(), n, order);
        call(
            f_.SetRealInputDerivatives, discard::refused,
            [&] {
                return fmt::format("{}, order {}, {}", list_text(block.references.data(), n), order,
                                   list_text(values.data(), n));
            },
            block.references.data(), n, orders_.data(), values.data());
    }
    void get_output_derivatives(const value_block& block, int order, std::span<double> values) override {
        const std::size_t n = block.references.size();
        std::fill_n(orders_.begin(), n, order);
        call(
            f_.GetRealOutputDerivatives, discard::refused,
            [&] {
                return fmt::format("{}, order {}) gives ({}", list_text(block.references.data(), n), order,
                                   list_text(values.data(), n));
            },
            block.references.data(), n, orders_.data(), values.data());
    }

    void set_time(double t) override {
        call(
            f_.SetTime, discard::refused, [&] { return fmt::format("{}", t); }, t);
    }
    std::size_t indicator_count() const override { return description().event_indicator_count; }
    status set_states(std::span<const double> x) override { return vector_call(f_.SetContinuousStates, x); }
    status get_states(std::span<double> x) override { return vector_call(f_.GetContinuousStates, x); }
    status get_derivatives(std::span<double> dx) override { return vector_call(f_.GetDerivatives, dx); }
    status get_indicators(std::span<double> z) override { return vector_call(f_.GetEventIndicators, z); }

   protected:
    /// After a step that was thrown away: how far the FMU came. It may not know.
    step_result after_discard(double t) override {
        double reached = t;
        const bool known = f_.GetRealStatus.address != nullptr &&
                           call(
                               f_.GetRealStatus, discard::returned,
                               [&] { return fmt::format("last successful time) gives ({}", reached); },
                               Types::last_successful_time, &reached) == status::ok;
        return {.status = status::discard, .reached = known ? reached : t};
    }

    const char* name_of(direct_call which) const override {
        return which == direct_call::get   ? f_.GetReal.name
               : which == direct_call::set ? f_.SetReal.name
                                           : f_.DoStep.name;
    }

    const typename Types::functions& f_;
};

}  // namespace mdpcosim::fmi

#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "core/arithmetic.hpp"
#include "core/error.hpp"
#include "exported/model.hpp"

/// What the functions of both versions of FMI share: an instance of the exported model, its log, and the way from exceptions to statuses, which no
/// exception leaves. The statuses of both versions have the same numbers.
namespace mdpcosim::fmu_library {

enum { ok = 0, warning = 1, discard = 2, error = 3, fatal = 4 };

struct instance {
    std::function<void(int status, const char* category, const std::string& text)> log;
    std::unique_ptr<exported_model> model;
    bool logging = false, ended = false;
    double start = 0, stop = 0;  ///< as the host has said, where the two come one after the other
    bool has_stop = false;

    void tell(int status, const std::string& text) const {
        if (!log || (status == ok && !logging)) return;
        log(status, status == ok ? "logAll" : status == warning ? "logStatusWarning" : "logStatusError", text);
    }
};

/// The host's process computes as it likes: in here it is as usual.
template <class Work>
int guarded(const instance* self, const char* call, const Work& work) noexcept {
    if (self == nullptr) return error;
    const usual_arithmetic as_usual;
    try {
        try {
            if constexpr (std::is_void_v<decltype(work())>)
                return work(), ok;
            else
                return work();
        } catch (const std::bad_alloc&) {
            self->tell(error, "there is not enough memory");
        } catch (const std::exception& problem) {
            self->tell(error, std::string(call) + ": " + presentable(problem.what()));
        } catch (...) {
            self->tell(error, std::string(call) + ": an exception of unknown type");
        }
    } catch (...) {  // no memory for words
    }
    return error;
}

/// Reads the resources and makes the model; nullptr, told to `log`, where that fails.
instance* make_instance(instance made, const char* call, const char* token, const char* resources, bool uri,
                        bool exchange) noexcept;

/// For the functions of model exchange; throws user_error for an instance for co-simulation.
exported_exchange& exchange_of(instance& self);

/// The host's array, which has to be as long as there are states, or indicators.
template <class Number>
std::span<Number> states_of(instance& self, Number x[], std::size_t count) {
    if (count == exchange_of(self).state_count()) return {x, count};
    throw user_error("there are " + std::to_string(exchange_of(self).state_count()) + " states, not " +
                     std::to_string(count));
}
template <class Number>
std::span<Number> indicators_of(instance& self, Number z[], std::size_t count) {
    if (count == exchange_of(self).indicator_count()) return {z, count};
    throw user_error("there are " + std::to_string(exchange_of(self).indicator_count()) + " event indicators, not " +
                     std::to_string(count));
}

/// By arrays of references, as both versions have it.
void get_directional_derivative(instance& self, std::span<const unsigned> unknowns, std::span<const unsigned> knowns,
                                const double seed[], double sensitivity[]);

/// The variable behind a value reference, of the type that was asked for; throws user_error.
std::size_t variable_at(const exported_model& model, unsigned reference, variable_type type);

/// Values of one type; the host's type may be smaller.
template <class Value>
void get_values(instance& self, const unsigned references[], std::size_t count, Value values[], variable_type type) {
    for (std::size_t i = 0; i < count; ++i) {
        const double value = self.model->get(variable_at(*self.model, references[i], type));
        constexpr double beyond = -static_cast<double>(std::numeric_limits<Value>::lowest());
        if (type == variable_type::integer && !(value >= -beyond && value < beyond && value == std::trunc(value)))
            throw user_error(self.model->variables()[references[i] - 1].address + " does not fit an integer");
        values[i] = static_cast<Value>(value);
    }
}
template <class Value>
void set_values(instance& self, const unsigned references[], std::size_t count, const Value values[],
                variable_type type) {
    for (std::size_t i = 0; i < count; ++i)
        self.model->set(variable_at(*self.model, references[i], type), static_cast<double>(values[i]));
}

}  // namespace mdpcosim::fmu_library

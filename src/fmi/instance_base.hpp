#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <deque>
#include <mutex>

#include "fmi/library.hpp"

/// What the instances of all versions share: calls and their status, log, trace, saved states. Private to fmi/.
namespace mdpcosim::fmi {

inline constexpr std::size_t longest_string = 1 << 24;
inline const auto no_arguments = [] { return std::string(); };

/// For traces: "[1, 2, 3]", long lists cut.
template <class Value>
std::string list_text(const Value* values, std::size_t count) {
    constexpr std::size_t most = 20;
    std::string text = "[";
    for (std::size_t i = 0; i < std::min(count, most); ++i) {
        if (i > 0) text += ", ";
        // The Boolean of FMI 1.0 is a char.
        if constexpr (std::is_same_v<Value, char>)
            text += fmt::format("{}", static_cast<int>(values[i]));
        else
            text += fmt::format("{}", values[i]);
    }
    return count > most ? text + fmt::format(", ... {} in all]", count) : text + "]";
}

class instance_base : public instance {
   public:
    const fmi::description& description() const final { return library_->fmu->description(); }
    const interface_description& offers() const final { return offers_; }
    value_block make_block(std::span<const int> variables) const override;
    std::unique_ptr<saved_state> make_state() final;
    std::string last_messages() final;

    /// What the FMU's logger was called with, from any of its threads; `environment` is what the FMU hands back.
    static void receive_log(void* environment, int status, const char* category, std::string text);
    /// The instance behind that pointer, or nullptr where an FMU hands back something else.
    static bool is_live(const void* environment);

   protected:
    /// Where the FMU is in its life, as far as the end needs to know.
    enum class phase { instantiated, configuration, running, terminated, failed, dead };
    enum class discard { refused, returned };

    instance_base(std::shared_ptr<fmu_library> library, const instance_options& options);
    ~instance_base() override;

    /// Calls f(component, arguments...) and judges its status; `describe` gives the arguments for the trace.
    template <class Type, class Describe, class... Arguments>
    status call(const function<Type>& f, discard d, const Describe& describe, Arguments... arguments) {
        const int result = invoke(f, arguments...);
        if (traced_) [[unlikely]]
            trace(f.name, describe(), result);
        return result == 0 ? status::ok : judge(f.name, result, d);
    }
    template <class Type, class... Arguments>
    int invoke(const function<Type>& f, Arguments... arguments) {
        if (phase_ == phase::dead || f.address == nullptr) [[unlikely]]
            cannot_call(f.name, f.address != nullptr);
        try {
            note_call(f.name);
            return static_cast<int>(f.address(component_, arguments...));
        } catch (...) {
            exception_left(f.name);
        }
    }

    template <class Type, class Value>
    status vector_call(const function<Type>& function, std::span<Value> x) {
        if (x.empty()) return status::ok;
        return call(
            function, discard::returned, [&] { return list_text(x.data(), x.size()); }, x.data(), x.size());
    }

    /// Reads or writes values of the FMU's type `Value` as doubles; `access` makes the call on the raw values.
    template <class Value, class Access>
    status get_as(value_block& block, std::span<double> values, const Access& access) {
        auto* raw = reinterpret_cast<Value*>(block.raw.data());
        const status result = access(raw);
        if (result == status::ok)
            for (std::size_t i = 0; i < block.elements; ++i) values[i] = static_cast<double>(raw[i]);
        return result;
    }
    template <class Value, class Access>
    status set_as(value_block& block, std::span<const double> values, const Access& access) {
        auto* raw = reinterpret_cast<Value*>(block.raw.data());
        for (std::size_t i = 0; i < block.elements; ++i) raw[i] = to_value<Value>(values[i], block.type);
        return access(raw);
    }

    /// `made` is what the FMU's instantiation gives; nothing is a user_error with what the FMU said about it.
    template <class Make>
    void instantiate(const char* function, const Make& make) {
        if (!claimed_) claim();
        try {
            note_call(function);
            component_ = make();
        } catch (const std::exception& problem) {
            not_instantiated(fmt::format("an exception left {}: {}", function, problem.what()));
        } catch (...) {
            not_instantiated(fmt::format("an exception left {}", function));
        }
        if (options_.trace) trace(function, fmt::format("\"{}\"", options_.name), component_ == nullptr ? 3 : 0);
        if (component_ == nullptr) not_instantiated(fmt::format("{} gave no instance", function));
    }

    status judge_direct(direct_call which, int result) final;
    void exception_left_direct(direct_call which) final;
    virtual const char* name_of(direct_call which) const = 0;

    /// To be called by the destructors of the versions: ends and frees the FMU's instance in order.
    void finish() noexcept;
    virtual void free_component() = 0;
    virtual void free_state(void*& state) = 0;

    [[noreturn]] void fail(const std::string& message, bool fatal);
    void log(int status, std::string_view category, std::string_view text);
    /// Elements of a variable at present; structural parameters may have changed.
    virtual std::size_t elements_of(const variable& x) const { return x.element_count(); }
    void declared_nominals(std::span<double> nominal) const;  ///< of the states, from the description
    static void*& handle(const saved_state& state);

    std::shared_ptr<fmu_library> library_;
    instance_options options_;
    const interface_description& offers_;
    mutable std::vector<int> orders_;  ///< of derivatives: one per variable of the largest block

   private:
    friend struct state_handle;

    template <class Value>
    Value to_value(double x, base_type type) {
        if constexpr (std::same_as<Value, bool>) {
            return x != 0;
        } else if constexpr (std::floating_point<Value>) {
            if (std::isfinite(x) && std::abs(x) > std::numeric_limits<Value>::max()) does_not_fit(x, type);
            return static_cast<Value>(x);
        } else {
            const double whole = std::nearbyint(x);
            const double end = std::ldexp(1.0, std::numeric_limits<Value>::digits);
            if (!(whole >= static_cast<double>(std::numeric_limits<Value>::min()) && whole < end))
                does_not_fit(x, type);
            return static_cast<Value>(whole);
        }
    }
    [[noreturn]] void does_not_fit(double x, base_type type);
    [[noreturn]] void cannot_call(const char* function, bool exists);
    [[noreturn]] void exception_left(const char* function);
    [[noreturn]] void not_instantiated(const std::string& message);
    status judge(const char* function, int result, discard d);
    void trace(const char* function, const std::string& arguments, int result);
    void claim();

    std::mutex message_mutex_;
    std::deque<std::string> messages_;  ///< the last ones above "ok"
    std::vector<struct state_handle*> states_;
    int warnings_ = 0;
    bool claimed_ = false;

   protected:
    // What every call needs, last: beside the functions of the version.
    const bool traced_;
    const discard discard_in_access_;
    phase phase_ = phase::instantiated;
    void* component_ = nullptr;
};

/// For traces: "tolerance 1e-6, start 0, stop 10", 0 for what is not set.
inline std::string setup_text(const experiment_setup& of) {
    return fmt::format("tolerance {}, start {}, stop {}", of.tolerance.value_or(0), of.start, of.stop.value_or(0));
}

}  // namespace mdpcosim::fmi

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/foreign_call.hpp"
#include "core/hot_memory.hpp"
#include "fmi/archive.hpp"
#include "fmi/fmi2_functions.h"
#include "fmi/fmi3_functions.h"

/// One instance of an FMU behind an interface that is the same for all versions of the standard. instance_1.cpp to
/// instance_3.cpp translate it into calls of the C functions, and nothing else: who calls what, when and why stands in
/// subsystem/.
///
/// Call order: make_instance; set_up; set start values; enter_initialisation; set inputs; exit_initialisation; then
///   co-simulation    set inputs, do_step, get outputs; with event mode enter_event_mode, update_discrete_states, enter_step_mode
///   model exchange   initialise ends in event mode: update_discrete_states until nothing is needed, enter_continuous_mode; then
///                    set_time, set_states, inputs, get_derivatives, get_indicators, completed_step, enter_event_mode
/// Every call checks the status: warning is logged; discard is returned where the standard gives it a meaning (do_step, and
/// get/set in model exchange), elsewhere it is an error; error and fatal throw fmu_failure; after fatal no function is called
/// any more. A C++ exception that leaves the library becomes fmu_failure. Values that a call needs as another type
/// (float32, int8 ...) are converted in buffers made beforehand: get and set allocate nothing.
namespace mdpcosim::fmi {

enum class kind { co_simulation, model_exchange };
enum class status { ok, discard };

/// What an FMU returned or threw: which call, with which status, what it logged last. Without the FMU's name and the time,
/// which the caller adds.
class fmu_failure : public std::runtime_error {
   public:
    fmu_failure(const std::string& message, bool fatal) : std::runtime_error(message), fatal_(fatal) {}
    bool fatal() const { return fatal_; }

   private:
    bool fatal_;
};

struct log_message {
    std::string_view instance, category, text;
    int status = 0;  ///< fmi1Status, fmi2Status, fmi3Status
};

struct instance_options {
    std::string name;
    fmi::kind kind = fmi::kind::co_simulation;
    bool logging = false;
    bool event_mode = false;                        ///< co-simulation 3.0: the importer handles events
    bool early_return = false;                      ///< 3.0
    std::function<void(const log_message&)> log{};  ///< may be called from the FMU's threads
    std::function<void(std::string_view)> trace{};  ///< every call with its arguments and status; empty: none
    std::function<void(class instance&, double)>
        intermediate{};  ///< 3.0: inputs may be set at that time inside the step
};

/// A block of variables of one base type, addressed together in one call; made once by instance::make_block().
struct value_block {
    std::vector<value_reference> references;
    base_type type = base_type::float64;
    std::vector<unsigned char> raw;    ///< values as the FMU's type, where that is not double
    std::size_t elements = 0;          ///< of all variables, arrays flattened
    std::vector<std::size_t> negated;  ///< elements that the FMU has with the other sign (1.0)
};

struct experiment_setup {
    double start = 0;
    std::optional<double> stop = {}, tolerance = {};
};

struct step_result {
    fmi::status status = fmi::status::ok;
    double reached = 0;  ///< where the FMU is now
    bool event = false;  ///< event mode is needed (3.0)
    bool terminate = false;
    bool early = false;  ///< returned early
};

struct discrete_update {
    bool again = false;
    bool terminate = false;
    bool states_changed = false, nominals_changed = false;
    double next_event = std::numeric_limits<double>::infinity();
};

/// Storage for one FMU state; freed by the instance it belongs to.
class saved_state {
   public:
    virtual ~saved_state() = default;
};

/// What every step calls stands in one cache line, without virtual functions between.
class alignas(64) instance : public in_hot_memory {
   public:
    instance() = default;
    instance(const instance&) = delete;
    instance& operator=(const instance&) = delete;
    virtual ~instance() = default;  ///< terminates where due and frees; never throws

    virtual const fmi::description& description() const = 0;
    virtual const interface_description& offers() const = 0;

    virtual void enter_configuration() = 0;  ///< 3.0: structural parameters are set between the two
    virtual void exit_configuration() = 0;
    /// Before start values: some FMUs take this as their beginning and forget what was set earlier.
    virtual void set_up(const experiment_setup& of) = 0;
    virtual void enter_initialisation() = 0;
    virtual void exit_initialisation() = 0;
    virtual void terminate() = 0;
    virtual void reset() = 0;
    /// What the FMU logged last, as a sentence behind a message of ours; empty: nothing.
    virtual std::string last_messages() = 0;

    /// Numbers of any type as doubles (booleans 0 and 1); `variables` are indices into the description, all of one base type.
    virtual value_block make_block(std::span<const int> variables) const = 0;
    virtual status get(value_block& block, std::span<double> values) = 0;
    virtual status set(value_block& block, std::span<const double> values) = 0;
    /// The same for variables of type float64 by their references, where has_direct_calls().
    [[gnu::always_inline]] status get_directly(std::span<const value_reference> references, std::span<double> values) {
        return directly(direct_call::get, [&] {
            const std::size_t n = references.size();
            if (direct_.get_2 != nullptr) {
                note_call("fmi2GetReal");
                return static_cast<int>(direct_.get_2(direct_.component, references.data(), n, values.data()));
            }
            if (direct_.get_3 == nullptr) return broken_down;
            note_call("fmi3GetFloat64");
            return static_cast<int>(
                direct_.get_3(direct_.component, references.data(), n, values.data(), values.size()));
        });
    }
    [[gnu::always_inline]] status set_directly(std::span<const value_reference> references,
                                               std::span<const double> values) {
        return directly(direct_call::set, [&] {
            const std::size_t n = references.size();
            if (direct_.set_2 != nullptr) {
                note_call("fmi2SetReal");
                return static_cast<int>(direct_.set_2(direct_.component, references.data(), n, values.data()));
            }
            if (direct_.set_3 == nullptr) return broken_down;
            note_call("fmi3SetFloat64");
            return static_cast<int>(
                direct_.set_3(direct_.component, references.data(), n, values.data(), values.size()));
        });
    }
    bool has_direct_calls() const { return direct_.component != nullptr; }
    /// What the FMU calls its instance: most often where its memory begins.
    const void* component() const { return direct_.component; }
    /// Strings, the bytes of binaries, or the digits of 64-bit integers, by element.
    virtual std::vector<std::string> get_texts(int variable) = 0;
    virtual void set_texts(int variable, std::span<const std::string> values) = 0;

    // Co-simulation
    virtual step_result do_step(double t, double H, bool keep_state_before) = 0;
    /// True: the step was done to its end, without event; otherwise stopped() says what happened.
    [[gnu::always_inline]] bool do_whole_step(double t, double H, bool keep_state_before) {
        if (direct_.step_2 == nullptr) return is_whole(t, H, stopped_ = do_step(t, H, keep_state_before));
        const auto step = [&] {
            note_call("fmi2DoStep");
            return static_cast<int>(direct_.step_2(direct_.component, t, H, keep_state_before ? fmi2False : fmi2True));
        };
        if (directly(direct_call::step, step) == status::ok) [[likely]]
            return true;
        stopped_ = after_discard(t);
        return false;
    }
    const step_result& stopped() const { return stopped_; }
    virtual void set_input_derivatives(const value_block& block, int order, std::span<const double> values) = 0;
    virtual void get_output_derivatives(const value_block& block, int order, std::span<double> values) = 0;
    virtual void enter_step_mode() = 0;

    // Both, where there are events
    virtual void enter_event_mode() = 0;
    virtual discrete_update update_discrete_states() = 0;
    // Clocks (3.0), in event mode; other versions have none.
    virtual void set_clock(value_reference clock);  ///< it ticks until update_discrete_states()
    virtual bool get_clock(value_reference clock);
    /// Also in initialisation mode. `interval` in seconds is as it was, has changed, or is not known.
    enum class interval_is { unknown, unchanged, changed };
    virtual interval_is get_interval(value_reference clock, double& interval);
    virtual double get_shift(value_reference clock);

    // Model exchange
    virtual void enter_continuous_mode() = 0;
    virtual void set_time(double t) = 0;
    virtual std::size_t state_count() const = 0;
    virtual std::size_t indicator_count() const = 0;
    virtual status set_states(std::span<const double> x) = 0;
    virtual status get_states(std::span<double> x) = 0;
    virtual status get_derivatives(std::span<double> dx) = 0;
    virtual status get_indicators(std::span<double> z) = 0;
    virtual void get_nominals(std::span<double> nominal) = 0;
    /// The variable that is the state, where the FMU tells it only when asked (1.0); -1: not known.
    virtual int state_variable(std::size_t) { return -1; }
    /// True: the FMU wants event mode now (a step event).
    virtual bool completed_step(bool keep_state_before, bool& terminate) = 0;

    // Capabilities
    virtual std::unique_ptr<saved_state>
    make_state() = 0;  ///< holds the present state, so that save() finds its memory
    virtual void save(saved_state& into) = 0;
    virtual void restore(const saved_state& from) = 0;
    /// The saved state as bytes, and back, where offers().serialise.
    virtual void write(const saved_state& state, std::vector<std::byte>& bytes) = 0;
    virtual void read(saved_state& state, const std::vector<std::byte>& bytes) = 0;
    /// d unknowns / d knowns * seed; blocks of floats.
    virtual void directional_derivative(const value_block& unknowns, const value_block& knowns,
                                        std::span<const double> seed, std::span<double> sensitivity) = 0;

   protected:
    enum class direct_call { get, set, step };
    static constexpr int broken_down = -1;  ///< instead of a status

    /// Functions of one version; none where calls are traced or the FMU broke down.
    struct direct_functions {
        void* component = nullptr;
        fmi2GetRealTYPE* get_2 = nullptr;
        fmi2SetRealTYPE* set_2 = nullptr;
        fmi2DoStepTYPE* step_2 = nullptr;
        fmi3GetFloat64TYPE* get_3 = nullptr;
        fmi3SetFloat64TYPE* set_3 = nullptr;
    };
    direct_functions direct_;

   private:
    step_result stopped_;

    /// A status that is not ok, and an exception that left the FMU.
    virtual status judge_direct(direct_call which, int result) = 0;
    [[noreturn]] virtual void exception_left_direct(direct_call which) = 0;
    virtual step_result after_discard(double t) = 0;

    static bool is_whole(double t, double H, const step_result& done) {
        return done.status == status::ok && !done.event && !done.terminate && done.reached - t >= (1 - 1e-9) * H;
    }

    template <class Call>
    [[gnu::always_inline]] status directly(direct_call which, const Call& call) {
        int result = 0;
        try {
            result = call();
        } catch (...) {
            exception_left_direct(which);
        }
        return result == 0 ? status::ok : judge_direct(which, result);
    }
};

/// Loads the library (once per FMU and process) and instantiates. Throws user_error: kind not offered, library missing or not
/// loadable (which symbol, which library), token refused, a second instance of an FMU that allows one per process.
std::unique_ptr<instance> make_instance(const std::shared_ptr<const fmu_files>& fmu, const instance_options& options);

}  // namespace mdpcosim::fmi

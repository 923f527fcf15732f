#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fmi/archive.hpp"

/// One instance of an FMU behind an interface that is the same for all versions of the standard. instance_2.cpp and
/// instance_3.cpp translate it into calls of the C functions, and nothing else: who calls what, when and why stands in
/// subsystem/.
///
/// Call order: make_instance; set start values; enter_initialisation; set inputs; exit_initialisation; then
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
    int status = 0;  ///< fmi2Status, fmi3Status
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
    std::vector<unsigned char> raw;  ///< values as the FMU's type, where that is not double
    std::size_t elements = 0;        ///< of all variables, arrays flattened
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

class instance {
   public:
    instance() = default;
    instance(const instance&) = delete;
    instance& operator=(const instance&) = delete;
    virtual ~instance() = default;  ///< terminates where due and frees; never throws

    virtual const fmi::description& description() const = 0;
    virtual const interface_description& offers() const = 0;

    virtual void enter_configuration() = 0;  ///< 3.0: structural parameters are set between the two
    virtual void exit_configuration() = 0;
    virtual void enter_initialisation(double t0, std::optional<double> stop, std::optional<double> tolerance) = 0;
    virtual void exit_initialisation() = 0;
    virtual void terminate() = 0;
    virtual void reset() = 0;

    /// Numbers of any type as doubles (booleans 0 and 1); `variables` are indices into the description, all of one base type.
    virtual value_block make_block(std::span<const int> variables) const = 0;
    virtual status get(value_block& block, std::span<double> values) = 0;
    virtual status set(value_block& block, std::span<const double> values) = 0;
    virtual std::vector<std::string> get_strings(int variable) = 0;
    virtual void set_strings(int variable, std::span<const std::string> values) = 0;

    // Co-simulation
    virtual step_result do_step(double t, double H, bool keep_state_before) = 0;
    virtual void set_input_derivatives(const value_block& block, int order, std::span<const double> values) = 0;
    virtual void get_output_derivatives(const value_block& block, int order, std::span<double> values) = 0;
    virtual void enter_step_mode() = 0;

    // Both, where there are events
    virtual void enter_event_mode() = 0;
    virtual discrete_update update_discrete_states() = 0;

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
    /// True: the FMU wants event mode now (a step event).
    virtual bool completed_step(bool keep_state_before, bool& terminate) = 0;

    // Capabilities
    virtual std::unique_ptr<saved_state>
    make_state() = 0;  ///< holds the present state, so that save() finds its memory
    virtual void save(saved_state& into) = 0;
    virtual void restore(const saved_state& from) = 0;
    /// d unknowns / d knowns * seed; blocks of floats.
    virtual void directional_derivative(const value_block& unknowns, const value_block& knowns,
                                        std::span<const double> seed, std::span<double> sensitivity) = 0;
};

/// Loads the library (once per FMU and process) and instantiates. Throws user_error: kind not offered, library missing or not
/// loadable (which symbol, which library), token refused, a second instance of an FMU that allows one per process.
std::unique_ptr<instance> make_instance(std::shared_ptr<const fmu_files> fmu, const instance_options& options);

}  // namespace mdpcosim::fmi

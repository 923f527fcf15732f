#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/foreign_call.hpp"
#include "core/messages.hpp"
#include "fmi/instance.hpp"
#include "fmu/clocks.hpp"
#include "fmu/layout.hpp"
#include "fmu/sensitivities.hpp"
#include "fmu/settings.hpp"
#include "scenario/spec.hpp"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// What a scenario's entry with `fmu:` says, resolved against the FMU.
struct fmu_model {
    std::shared_ptr<const fmi::fmu_files> files;  ///< its description has the sizes that the structural parameters give
    fmi::kind kind = fmi::kind::co_simulation;
    std::vector<fmu_start> starts;
    fmu_layout layout;

    const fmi::description& description() const { return files->description(); }
    const fmi::interface_description& offers() const {
        return kind == fmi::kind::co_simulation ? *description().co_simulation : *description().model_exchange;
    }
    void give_starts(std::span<double> y) const;  ///< outputs as the description says
    std::string why_not_saved() const;            ///< empty: its state can be kept and put back
    std::string why_fixed_step() const;           ///< empty: it takes steps of any length
    std::string file() const { return files->path().filename().string(); }  ///< for messages
};

/// The interface that the entry asks for, or the default. User errors: no such file, no FMU, not offered, not available.
fmi::kind fmu_interface(const subsystem_spec& spec);

/// The FMU of an entry, with the sizes that its structural parameters give to arrays.
std::shared_ptr<const fmi::fmu_files> open_fmu_of(const subsystem_spec& spec);

/// User errors, at their place in the scenario: as above, and everything wrong with `set`, `ports`, `outputs`.
fmu_model read_fmu(const subsystem_spec& spec);

/// An instance of the FMU with the entry's name, start values and log. A failure of the FMU becomes a run_error with the
/// FMU's file, the call and the time.
class fmu_component {
   public:
    /// `adjust` may change how the instance is made, knowing what the FMU offers.
    using adjustment = std::function<void(fmi::instance_options&, const fmi::interface_description&)>;
    fmu_component(const subsystem_spec& spec, fmu_model model, const adjustment& adjust = {});
    fmu_component(const fmu_component&) = delete;
    fmu_component& operator=(const fmu_component&) = delete;
    ~fmu_component();

    const fmu_model& model() const { return model_; }
    fmi::instance& instance() { return *instance_; }
    bool event_mode() const { return event_mode_; }  ///< in co-simulation: the importer handles events

    /// After a reset structural parameters, then set-up, start values, enter_initialisation. `time` is where its owner keeps the present time,
    /// for traces: it lives as long as this object. `end`: of the run; infinite where nobody knows.
    void enter_initialisation(const double& time, double end);
    /// update_discrete_states() until nothing changes; what the last one says, and whether any of them changed states.
    fmi::discrete_update update_discrete_states(double t, fmu_clocks& clocks);

    /// Runs `calls`; `t` is read when something fails.
    template <class Function>
    decltype(auto) call(const double& t, const Function& calls) const {
        const foreign_scope inside(code_, t);
        try {
            return calls();
        } catch (const fmi::fmu_failure& problem) {
            fail(t, problem.what());
        }
    }

    /// Numbers that are parameters of the FMU, and new values for them, in SI. A user_error for a value that is not allowed. Before the
    /// initialisation a value is a start value; later it is set at once.
    std::vector<tunable_parameter> parameters() const;
    void tune(int parameter, double value, bool at_once);

    /// Strings and binaries, by their slot in the layout.
    void set_text(int input, std::string_view text);
    void get_text(int output, std::string& into) const;
    void get_start_text(int output, std::string& into) const;  ///< what the description says

    /// The FMU's state in one of its saved states, to bytes or from them.
    void state(state_bytes& bytes, fmi::saved_state& saved, double t) const;
    /// As capabilities::why_no_bytes.
    std::string why_no_bytes() const;

    /// How the rates of all outputs answer to an input, for inputs that are set: see fmu_sensitivities, which `known` are. What the FMU
    /// promised and does not give is told.
    void rate_sensitivities(fmu_sensitivities& known, int input, std::span<double> by_output) const;

    /// With the names of subsystem and FMU before it.
    void tell(const std::string& what) const;
    [[noreturn]] void fail(double t, const std::string& reason) const;

   private:
    std::unique_ptr<fmi::instance> make_instance(fmi::instance_options& options);
    void configure();
    void set_starts(bool structural);
    void set(const fmu_start& start);

    messages messages_;
    fmu_model model_;
    bool event_mode_ = false;
    std::vector<int> tunable_;  ///< variables; none unless the entry wants to be tunable
    std::string name_;          ///< of the subsystem
    foreign_code code_;
    std::optional<double> tolerance_;
    const double* time_ = nullptr;  ///< before the initialisation there is none
    std::unique_ptr<fmi::instance> instance_;
    bool configured_ = false;
};

}  // namespace mdpcosim

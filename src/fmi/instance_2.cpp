#include <cstdlib>
#include <stdexcept>

#include "fmi/instance_scalars.hpp"
#include "fmi/instance_versions.hpp"
#include "fmi/log_text.hpp"

/// Calls of FMI 2.0.
namespace mdpcosim::fmi {

namespace {

extern "C" void log_of_2(fmi2ComponentEnvironment environment, fmi2String, fmi2Status status, fmi2String category,
                         fmi2String message, ...) {
    std::va_list arguments;
    va_start(arguments, message);
    try {
        instance_base::receive_log(environment, status, category, format_log(message, arguments));
    } catch (...) {  // no memory: nothing to be told
    }
    va_end(arguments);
}

struct types_2 {
    using functions = functions_2;
    using boolean = fmi2Boolean;
    using integer = fmi2Integer;
    using string = fmi2String;
    static constexpr fmi2StatusKind last_successful_time = fmi2LastSuccessfulTime;
};

class instance_2 final : public scalar_instance<types_2> {
   public:
    instance_2(const std::shared_ptr<fmu_library>& library, const instance_options& options)
        : scalar_instance(library, options, library->v2) {
        callbacks_ = {log_of_2, std::calloc, std::free, nullptr, this};
        const std::string resources = library_->fmu->resource_location();
        instantiate(f_.Instantiate.name, [&] {
            return f_.Instantiate.address(options_.name.c_str(),
                                          options_.kind == kind::co_simulation ? fmi2CoSimulation : fmi2ModelExchange,
                                          description().token.c_str(), resources.c_str(), &callbacks_, fmi2False,
                                          options_.logging ? fmi2True : fmi2False);
        });
        if (!traced_)
            direct_ = {.component = component_,
                       .get_2 = f_.GetReal.address,
                       .set_2 = f_.SetReal.address,
                       .step_2 = f_.DoStep.address};
    }
    ~instance_2() override { finish(); }

    void set_up(const experiment_setup& of) override {
        call(
            f_.SetupExperiment, discard::refused, [&] { return setup_text(of); }, of.tolerance ? fmi2True : fmi2False,
            of.tolerance.value_or(0), of.start, of.stop ? fmi2True : fmi2False, of.stop.value_or(0));
    }
    void enter_initialisation() override { call(f_.EnterInitializationMode, discard::refused, no_arguments); }
    void exit_initialisation() override {
        call(f_.ExitInitializationMode, discard::refused, no_arguments);
        phase_ = phase::running;
    }
    void terminate() override {
        phase_ = phase::terminated;
        call(f_.Terminate, discard::refused, no_arguments);
    }
    void reset() override {
        call(f_.Reset, discard::refused, no_arguments);
        phase_ = phase::instantiated;
    }

    step_result do_step(double t, double H, bool keep_state_before) override {
        step_result result;
        result.status = call(
            f_.DoStep, discard::returned, [t, H] { return fmt::format("t {}, H {}", t, H); }, t, H,
            keep_state_before ? fmi2False : fmi2True);
        result.reached = t + H;
        return result.status == status::discard ? after_discard(t) : result;
    }

    void enter_event_mode() override { call(f_.EnterEventMode, discard::refused, no_arguments); }
    discrete_update update_discrete_states() override {
        fmi2EventInfo info{};
        call(
            f_.NewDiscreteStates, discard::refused,
            [&] {
                return fmt::format(") gives (again {}, terminate {}, next event {}", info.newDiscreteStatesNeeded,
                                   info.terminateSimulation, info.nextEventTimeDefined ? info.nextEventTime : INFINITY);
            },
            &info);
        discrete_update update;
        update.again = info.newDiscreteStatesNeeded != fmi2False;
        update.terminate = info.terminateSimulation != fmi2False;
        update.states_changed = info.valuesOfContinuousStatesChanged != fmi2False;
        update.nominals_changed = info.nominalsOfContinuousStatesChanged != fmi2False;
        if (info.nextEventTimeDefined != fmi2False) update.next_event = info.nextEventTime;
        return update;
    }

    void enter_continuous_mode() override { call(f_.EnterContinuousTimeMode, discard::refused, no_arguments); }
    std::size_t state_count() const override { return description().derivatives.size(); }
    void get_nominals(std::span<double> nominal) override {
        declared_nominals(nominal);
        if (f_.GetNominalsOfContinuousStates.address != nullptr) vector_call(f_.GetNominalsOfContinuousStates, nominal);
    }
    bool completed_step(bool keep_state_before, bool& wants_end) override {
        wants_end = false;
        if (!offers_.completed_step) return false;
        fmi2Boolean event = fmi2False, end = fmi2False;
        call(
            f_.CompletedIntegratorStep, discard::refused,
            [&] { return fmt::format(") gives (event {}, terminate {}", event, end); },
            keep_state_before ? fmi2False : fmi2True, &event, &end);
        wants_end = end != fmi2False;
        return event != fmi2False;
    }

    void save(saved_state& into) override { call(f_.GetFMUstate, discard::refused, no_arguments, &handle(into)); }
    void restore(const saved_state& from) override {
        call(f_.SetFMUstate, discard::refused, no_arguments, handle(from));
    }
    void write(const saved_state& state, std::vector<std::byte>& bytes) override {
        std::size_t size = 0;
        call(f_.SerializedFMUstateSize, discard::refused, no_arguments, handle(state), &size);
        bytes.resize(size);
        call(f_.SerializeFMUstate, discard::refused, no_arguments, handle(state),
             reinterpret_cast<fmi2Byte*>(bytes.data()), size);
    }
    void read(saved_state& state, const std::vector<std::byte>& bytes) override {
        call(f_.DeSerializeFMUstate, discard::refused, no_arguments, reinterpret_cast<const fmi2Byte*>(bytes.data()),
             bytes.size(), &handle(state));
    }
    void directional_derivative(const value_block& unknowns, const value_block& knowns, std::span<const double> seed,
                                std::span<double> sensitivity) override {
        const std::size_t n = unknowns.references.size(), m = knowns.references.size();
        call(
            f_.GetDirectionalDerivative, discard::refused,
            [&] {
                return fmt::format("{}, {}, {}) gives ({}", list_text(unknowns.references.data(), n),
                                   list_text(knowns.references.data(), m), list_text(seed.data(), m),
                                   list_text(sensitivity.data(), n));
            },
            unknowns.references.data(), n, knowns.references.data(), m, seed.data(), sensitivity.data());
    }

   private:
    step_result after_discard(double t) override {
        fmi2Boolean end = fmi2False;
        if (f_.GetBooleanStatus.address != nullptr)
            call(
                f_.GetBooleanStatus, discard::returned, [&] { return fmt::format("terminated) gives ({}", end); },
                fmi2Terminated, &end);
        step_result result = scalar_instance::after_discard(t);
        result.terminate = end != fmi2False;
        return result;
    }

    void free_component() override {
        if (options_.trace) options_.trace(f_.FreeInstance.name);
        note_call(f_.FreeInstance.name);
        f_.FreeInstance.address(component_);
    }
    void free_state(void*& state) override { call(f_.FreeFMUstate, discard::refused, no_arguments, &state); }

    fmi2CallbackFunctions callbacks_{};
};

}  // namespace

std::unique_ptr<instance> make_instance_2(std::shared_ptr<fmu_library> library, const instance_options& options) {
    return std::make_unique<instance_2>(std::move(library), options);
}

}  // namespace mdpcosim::fmi

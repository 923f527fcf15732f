#include <cstdlib>
#include <stdexcept>

#include "fmi/instance_base.hpp"
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

constexpr std::size_t longest_string = 1 << 24;
const auto no_arguments = [] { return std::string(); };

class instance_2 final : public instance_base {
   public:
    instance_2(std::shared_ptr<fmu_library> library, const instance_options& options)
        : instance_base(std::move(library), options), f_(library_->v2) {
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

    void enter_configuration() override { throw std::logic_error("fmi: FMI 2.0 has no configuration mode"); }
    void exit_configuration() override { throw std::logic_error("fmi: FMI 2.0 has no configuration mode"); }

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

    status get(value_block& block, std::span<double> values) override {
        const std::size_t n = block.references.size();
        const fmi2ValueReference* vr = block.references.data();
        const auto access = [&](const auto& function, auto* to) {
            return call(
                function, discard_in_access_,
                [&] { return fmt::format("{}) gives ({}", list_text(vr, n), list_text(to, n)); }, vr, n, to);
        };
        switch (block.type) {
            case base_type::float64:
                return access(f_.GetReal, values.data());
            case base_type::boolean:
                return get_as<fmi2Boolean>(block, values, [&](fmi2Boolean* raw) {
                    const status result = access(f_.GetBoolean, raw);
                    for (std::size_t i = 0; i < n; ++i) raw[i] = raw[i] != 0;
                    return result;
                });
            case base_type::int32:
            case base_type::enumeration:
                return get_as<fmi2Integer>(block, values, [&](fmi2Integer* raw) { return access(f_.GetInteger, raw); });
            default:
                throw std::logic_error("fmi: not a number");
        }
    }

    status set(value_block& block, std::span<const double> values) override {
        const std::size_t n = block.references.size();
        const fmi2ValueReference* vr = block.references.data();
        const auto access = [&](const auto& function, const auto* from) {
            return call(
                function, discard_in_access_,
                [&] { return fmt::format("{}, {}", list_text(vr, n), list_text(from, n)); }, vr, n, from);
        };
        switch (block.type) {
            case base_type::float64:
                return access(f_.SetReal, values.data());
            case base_type::boolean:
                return set_as<fmi2Boolean>(block, values, [&](fmi2Boolean* raw) {
                    for (std::size_t i = 0; i < n; ++i) raw[i] = raw[i] != 0 ? fmi2True : fmi2False;
                    return access(f_.SetBoolean, raw);
                });
            case base_type::int32:
            case base_type::enumeration:
                return set_as<fmi2Integer>(block, values, [&](fmi2Integer* raw) { return access(f_.SetInteger, raw); });
            default:
                throw std::logic_error("fmi: not a number");
        }
    }

    std::vector<std::string> get_texts(int index) override {
        const fmi2ValueReference vr = description().variables[index].reference;
        fmi2String text = nullptr;
        call(
            f_.GetString, discard::refused, [&] { return fmt::format("[{}]) gives (\"{}\"", vr, read_text(text)); },
            &vr, std::size_t{1}, &text);
        return {text == nullptr ? "" : read_text(text, longest_string)};
    }
    void set_texts(int index, std::span<const std::string> values) override {
        if (values.size() != 1) throw std::logic_error("fmi: FMI 2.0 has no arrays");
        const fmi2ValueReference vr = description().variables[index].reference;
        const fmi2String text = values[0].c_str();
        call(
            f_.SetString, discard::refused, [&] { return fmt::format("[{}], \"{}\"", vr, text); }, &vr, std::size_t{1},
            &text);
    }

    step_result do_step(double t, double H, bool keep_state_before) override {
        step_result result;
        result.status = call(
            f_.DoStep, discard::returned, [t, H] { return fmt::format("t {}, H {}", t, H); }, t, H,
            keep_state_before ? fmi2False : fmi2True);
        result.reached = t + H;
        return result.status == status::discard ? after_discard(t) : result;
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
    void enter_step_mode() override { throw std::logic_error("fmi: FMI 2.0 has no step mode"); }

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
    void set_time(double t) override {
        call(
            f_.SetTime, discard::refused, [&] { return fmt::format("{}", t); }, t);
    }
    std::size_t state_count() const override { return description().derivatives.size(); }
    std::size_t indicator_count() const override { return description().event_indicator_count; }
    status set_states(std::span<const double> x) override { return vector_call(f_.SetContinuousStates, x); }
    status get_states(std::span<double> x) override { return vector_call(f_.GetContinuousStates, x); }
    status get_derivatives(std::span<double> dx) override { return vector_call(f_.GetDerivatives, dx); }
    status get_indicators(std::span<double> z) override { return vector_call(f_.GetEventIndicators, z); }
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
    template <class Type, class Value>
    status vector_call(const function<Type>& function, std::span<Value> x) {
        if (x.empty()) return status::ok;
        return call(
            function, discard::returned, [&] { return list_text(x.data(), x.size()); }, x.data(), x.size());
    }

    /// After a step that was thrown away: how far the FMU came, whether it wants to end. It may not know.
    step_result after_discard(double t) override {
        step_result result{.status = status::discard, .reached = t};
        fmi2Boolean end = fmi2False;
        if (f_.GetBooleanStatus.address != nullptr)
            call(
                f_.GetBooleanStatus, discard::returned, [&] { return fmt::format("terminated) gives ({}", end); },
                fmi2Terminated, &end);
        result.terminate = end != fmi2False;
        double reached = t;
        if (f_.GetRealStatus.address != nullptr &&
            call(
                f_.GetRealStatus, discard::returned,
                [&] { return fmt::format("last successful time) gives ({}", reached); }, fmi2LastSuccessfulTime,
                &reached) == status::ok)
            result.reached = reached;
        return result;
    }

    const char* name_of(direct_call which) const override {
        return which == direct_call::get   ? f_.GetReal.name
               : which == direct_call::set ? f_.SetReal.name
                                           : f_.DoStep.name;
    }

    void free_component() override {
        if (options_.trace) options_.trace(f_.FreeInstance.name);
        note_call(f_.FreeInstance.name);
        f_.FreeInstance.address(component_);
    }
    void free_state(void*& state) override { call(f_.FreeFMUstate, discard::refused, no_arguments, &state); }

    const functions_2& f_;
    fmi2CallbackFunctions callbacks_{};
};

}  // namespace

std::unique_ptr<instance> make_instance_2(std::shared_ptr<fmu_library> library, const instance_options& options) {
    return std::make_unique<instance_2>(std::move(library), options);
}

}  // namespace mdpcosim::fmi

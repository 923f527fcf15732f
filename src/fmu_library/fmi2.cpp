// FMI 2.0 over an exported model.
#include "fmi/fmi2_functions.h"

#include <cmath>
#include <cstring>

#include "fmu_library/instance.hpp"

using namespace mdpcosim;
using namespace mdpcosim::fmu_library;

namespace {

instance* of(fmi2Component c) { return static_cast<instance*>(c); }

template <class Work>
fmi2Status call(fmi2Component c, const char* name, const Work& work) noexcept {
    return static_cast<fmi2Status>(guarded(of(c), name, [&] { return work(*of(c)); }));
}

/// In a message '#' begins a reference to a variable.
std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) result += c == '#' ? "##" : std::string(1, c);
    return result;
}

std::string& state_of(fmi2FMUstate state) {
    if (state == nullptr) throw user_error("there is no state");
    return *static_cast<std::string*>(state);
}

}  // namespace

extern "C" {

const char* fmi2GetTypesPlatform() { return fmi2TypesPlatform; }
const char* fmi2GetVersion() { return "2.0"; }

fmi2Component fmi2Instantiate(fmi2String instance_name, fmi2Type type, fmi2String guid, fmi2String resource_uri,
                              const fmi2CallbackFunctions* callbacks, fmi2Boolean, fmi2Boolean logging) {
    if (callbacks == nullptr) return nullptr;
    instance made;
    made.logging = logging != fmi2False;
    if (callbacks->logger != nullptr)
        made.log = [callbacks, name = std::string(instance_name == nullptr ? "" : instance_name)](
                       int status, const char* category, const std::string& text) {
            callbacks->logger(callbacks->componentEnvironment, name.c_str(), static_cast<fmi2Status>(status), category,
                              "%s", escaped(text).c_str());
        };
    return make_instance(std::move(made), "fmi2Instantiate", guid, resource_uri, true, type == fmi2ModelExchange);
}

void fmi2FreeInstance(fmi2Component c) { delete of(c); }

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t, const fmi2String[]) {
    return call(c, __func__, [&](instance& self) { self.logging = on != fmi2False; });
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean, fmi2Real, fmi2Real start, fmi2Boolean stop_defined,
                               fmi2Real stop) {
    return call(c, __func__, [&](instance& self) {
        self.start = start;
        self.has_stop = stop_defined != fmi2False;
        self.stop = stop;
    });
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    return call(c, __func__, [](instance& self) {
        self.model->begin(self.start, self.has_stop ? std::optional(self.stop) : std::nullopt);
    });
}
fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
    return call(c, __func__, [](instance& self) { self.model->initialise(); });
}
fmi2Status fmi2Terminate(fmi2Component c) {
    return call(c, __func__, [](instance&) {});
}
fmi2Status fmi2Reset(fmi2Component c) {
    return call(c, __func__, [](instance& self) {
        self.model->reset();
        self.ended = false;
        self.start = 0;
        self.has_stop = false;
    });
}

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Real values[]) {
    return call(c, __func__, [&](instance& self) { get_values(self, vr, count, values, variable_type::real); });
}
fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Integer values[]) {
    return call(c, __func__, [&](instance& self) { get_values(self, vr, count, values, variable_type::integer); });
}
fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Boolean values[]) {
    return call(c, __func__, [&](instance& self) { get_values(self, vr, count, values, variable_type::boolean); });
}
fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Real values[]) {
    return call(c, __func__, [&](instance& self) { set_values(self, vr, count, values, variable_type::real); });
}
fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Integer values[]) {
    return call(c, __func__, [&](instance& self) { set_values(self, vr, count, values, variable_type::integer); });
}
fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Boolean values[]) {
    return call(c, __func__, [&](instance& self) { set_values(self, vr, count, values, variable_type::boolean); });
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean) {
    return call(c, __func__, [&](instance& self) -> int {
        if (self.model->advance(time, step)) return ok;
        self.ended = true;
        return discard;  // with fmi2Terminated
    });
}
fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real* value) {
    return call(c, __func__, [&](instance& self) -> int {
        if (kind != fmi2LastSuccessfulTime) return discard;
        *value = self.model->time();
        return ok;
    });
}
fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean* value) {
    return call(c, __func__, [&](instance& self) -> int {
        if (kind != fmi2Terminated) return discard;
        *value = self.ended ? fmi2True : fmi2False;
        return ok;
    });
}

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate* state) {
    return call(c, __func__, [&](instance& self) {
        std::string bytes = self.model->save();
        if (*state == nullptr)
            *state = new std::string(std::move(bytes));
        else
            state_of(*state) = std::move(bytes);
    });
}
fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
    return call(c, __func__, [&](instance& self) {
        self.model->load(state_of(state));
        self.ended = false;
    });
}
fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate* state) {
    return call(c, __func__, [&](instance&) {
        delete static_cast<std::string*>(*state);
        *state = nullptr;
    });
}
fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t* size) {
    return call(c, __func__, [&](instance&) { *size = state_of(state).size(); });
}
fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
    return call(c, __func__, [&](instance&) {
        const std::string& all = state_of(state);
        if (size < all.size()) throw user_error("there is not enough room for the state");
        std::memcpy(bytes, all.data(), all.size());
    });
}
fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate* state) {
    return call(c, __func__, [&](instance&) { *state = new std::string(bytes, size); });
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t unknown_count,
                                        const fmi2ValueReference knowns[], size_t known_count, const fmi2Real seed[],
                                        fmi2Real sensitivity[]) {
    return call(c, __func__, [&](instance& self) {
        get_directional_derivative(self, {unknowns, unknown_count}, {knowns, known_count}, seed, sensitivity);
    });
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                       const fmi2Integer orders[], const fmi2Real values[]) {
    return call(c, __func__, [&](instance& self) {
        for (size_t i = 0; i < count; ++i)
            self.model->set_derivative(variable_at(*self.model, vr[i], variable_type::real), orders[i], values[i]);
    });
}

// Model exchange

fmi2Status fmi2EnterEventMode(fmi2Component c) {
    return call(c, __func__, [](instance& self) { exchange_of(self).enter_event_mode(); });
}
fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo* info) {
    return call(c, __func__, [&](instance& self) {
        const auto changed = exchange_of(self).update();
        info->newDiscreteStatesNeeded = fmi2False;
        info->terminateSimulation = changed.terminate ? fmi2True : fmi2False;
        info->nominalsOfContinuousStatesChanged = fmi2False;
        info->valuesOfContinuousStatesChanged = changed.states ? fmi2True : fmi2False;
        info->nextEventTimeDefined = std::isfinite(changed.next_event) ? fmi2True : fmi2False;
        info->nextEventTime = std::isfinite(changed.next_event) ? changed.next_event : 0;
    });
}
fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
    return call(c, __func__, [](instance& self) { exchange_of(self).enter_continuous_mode(); });
}
fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean, fmi2Boolean* event_mode, fmi2Boolean* terminate) {
    return call(c, __func__, [&](instance& self) {
        bool end = false;
        *event_mode = exchange_of(self).completed_step(end) ? fmi2True : fmi2False;
        *terminate = end ? fmi2True : fmi2False;
    });
}
fmi2Status fmi2SetTime(fmi2Component c, fmi2Real time) {
    return call(c, __func__, [&](instance& self) { exchange_of(self).set_time(time); });
}
fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t count) {
    return call(c, __func__, [&](instance& self) { exchange_of(self).set_states(states_of(self, x, count)); });
}
fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t count) {
    return call(c, __func__, [&](instance& self) { exchange_of(self).get_states(states_of(self, x, count)); });
}
fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real dx[], size_t count) {
    return call(c, __func__, [&](instance& self) { exchange_of(self).get_derivatives(states_of(self, dx, count)); });
}
fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t count) {
    return call(c, __func__, [&](instance& self) { exchange_of(self).get_nominals(states_of(self, nominals, count)); });
}
fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real z[], size_t count) {
    return call(c, __func__, [&](instance& self) { exchange_of(self).get_indicators(indicators_of(self, z, count)); });
}

}  // extern "C"

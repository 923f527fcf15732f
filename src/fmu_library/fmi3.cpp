// FMI 3.0 over an exported model.
#include "fmi/fmi3_functions.h"

#include <cmath>
#include <cstring>

#include "fmu_library/instance.hpp"

using namespace mdpcosim;
using namespace mdpcosim::fmu_library;

namespace {

instance* of(fmi3Instance c) { return static_cast<instance*>(c); }

template <class Work>
fmi3Status call(fmi3Instance c, const char* name, const Work& work) noexcept {
    return static_cast<fmi3Status>(guarded(of(c), name, [&] { return work(*of(c)); }));
}

std::string& state_of(fmi3FMUState state) {
    if (state == nullptr) throw user_error("there is no state");
    return *static_cast<std::string*>(state);
}

void check_count(size_t references, size_t values) {
    if (references != values)
        throw user_error("there are " + std::to_string(references) + " value references and " + std::to_string(values) +
                         " values");
}

instance with_log(fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, bool logging) {
    instance made;
    made.logging = logging;
    if (log != nullptr)
        made.log = [environment, log](int status, const char* category, const std::string& text) {
            log(environment, static_cast<fmi3Status>(status), category, text.c_str());
        };
    return made;
}

}  // namespace

extern "C" {

const char* fmi3GetVersion() { return "3.0"; }

fmi3Instance fmi3InstantiateCoSimulation(fmi3String, fmi3String token, fmi3String resource_path, fmi3Boolean,
                                         fmi3Boolean logging, fmi3Boolean, fmi3Boolean, const fmi3ValueReference[],
                                         size_t, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback) {
    return make_instance(with_log(environment, log, logging), __func__, token, resource_path, false, false);
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String, fmi3String token, fmi3String resource_path, fmi3Boolean,
                                          fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log) {
    return make_instance(with_log(environment, log, logging), __func__, token, resource_path, false, true);
}

void fmi3FreeInstance(fmi3Instance c) { delete of(c); }

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t, const fmi3String[]) {
    return call(c, __func__, [&](instance& self) { self.logging = on; });
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean, fmi3Float64, fmi3Float64 start,
                                       fmi3Boolean stop_defined, fmi3Float64 stop) {
    return call(c, __func__,
                [&](instance& self) { self.model->begin(start, stop_defined ? std::optional(stop) : std::nullopt); });
}
fmi3Status fmi3ExitInitializationMode(fmi3Instance c) {
    return call(c, __func__, [](instance& self) { self.model->initialise(); });
}
fmi3Status fmi3Terminate(fmi3Instance c) {
    return call(c, __func__, [](instance&) {});
}
fmi3Status fmi3Reset(fmi3Instance c) {
    return call(c, __func__, [](instance& self) {
        self.model->reset();
        self.ended = false;
    });
}

fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float64 values[],
                          size_t value_count) {
    return call(c, __func__, [&](instance& self) {
        check_count(count, value_count);
        for (size_t i = 0; i < count; ++i)  // time is a variable
            if (vr[i] == 0)
                values[i] = self.model->time();
            else
                get_values(self, vr + i, 1, values + i, variable_type::real);
    });
}
fmi3Status fmi3GetInt64(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Int64 values[],
                        size_t value_count) {
    return call(c, __func__, [&](instance& self) {
        check_count(count, value_count);
        get_values(self, vr, count, values, variable_type::integer);
    });
}
fmi3Status fmi3GetBoolean(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Boolean values[],
                          size_t value_count) {
    return call(c, __func__, [&](instance& self) {
        check_count(count, value_count);
        get_values(self, vr, count, values, variable_type::boolean);
    });
}
fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Float64 values[],
                          size_t value_count) {
    return call(c, __func__, [&](instance& self) {
        check_count(count, value_count);
        set_values(self, vr, count, values, variable_type::real);
    });
}
fmi3Status fmi3SetInt64(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Int64 values[],
                        size_t value_count) {
    return call(c, __func__, [&](instance& self) {
        check_count(count, value_count);
        set_values(self, vr, count, values, variable_type::integer);
    });
}
fmi3Status fmi3SetBoolean(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Boolean values[],
                          size_t value_count) {
    return call(c, __func__, [&](instance& self) {
        check_count(count, value_count);
        set_values(self, vr, count, values, variable_type::boolean);
    });
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 step, fmi3Boolean, fmi3Boolean* event,
                      fmi3Boolean* terminate, fmi3Boolean* early_return, fmi3Float64* last_successful_time) {
    return call(c, __func__, [&](instance& self) {
        *event = *terminate = *early_return = false;
        *last_successful_time = time;
        *terminate = !self.model->advance(time, step);
        self.ended = *terminate;
        // The host's own number, unless the end came inside.
        *last_successful_time = self.ended ? self.model->time() : time + step;
        *early_return = false;
    });
}

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState* state) {
    return call(c, __func__, [&](instance& self) {
        std::string bytes = self.model->save();
        if (*state == nullptr)
            *state = new std::string(std::move(bytes));
        else
            state_of(*state) = std::move(bytes);
    });
}
fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state) {
    return call(c, __func__, [&](instance& self) {
        self.model->load(state_of(state));
        self.ended = false;
    });
}
fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState* state) {
    return call(c, __func__, [&](instance&) {
        delete static_cast<std::string*>(*state);
        *state = nullptr;
    });
}
fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t* size) {
    return call(c, __func__, [&](instance&) { *size = state_of(state).size(); });
}
fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
    return call(c, __func__, [&](instance&) {
        const std::string& all = state_of(state);
        if (size < all.size()) throw user_error("there is not enough room for the state");
        std::memcpy(bytes, all.data(), all.size());
    });
}
fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState* state) {
    return call(c, __func__, [&](instance&) { *state = new std::string(reinterpret_cast<const char*>(bytes), size); });
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t unknown_count,
                                        const fmi3ValueReference knowns[], size_t known_count, const fmi3Float64 seed[],
                                        size_t seed_count, fmi3Float64 sensitivity[], size_t sensitivity_count) {
    return call(c, __func__, [&](instance& self) {
        check_count(known_count, seed_count);
        check_count(unknown_count, sensitivity_count);
        get_directional_derivative(self, {unknowns, unknown_count}, {knowns, known_count}, seed, sensitivity);
    });
}

// Model exchange

fmi3Status fmi3EnterEventMode(fmi3Instance c) {
    return call(c, __func__, [](instance& self) { exchange_of(self).enter_event_mode(); });
}
fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean* again, fmi3Boolean* terminate,
                                    fmi3Boolean* nominals_changed, fmi3Boolean* values_changed,
                                    fmi3Boolean* next_event_defined, fmi3Float64* next_event) {
    return call(c, __func__, [&](instance& self) {
        const auto changed = exchange_of(self).update();
        *again = *nominals_changed = false;
        *terminate = changed.terminate;
        *values_changed = changed.states;
        *next_event_defined = std::isfinite(changed.next_event);
        *next_event = *next_event_defined ? changed.next_event : 0;
    });
}
fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c) {
    return call(c, __func__, [](instance& self) { exchange_of(self).enter_continuous_mode(); });
}
fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean, fmi3Boolean* event_mode, fmi3Boolean* terminate) {
    return call(c, __func__, [&](instance& self) {
        *terminate = false;
        *event_mode = exchange_of(self).completed_step(*terminate);
    });
}
fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 time) {
    return call(c, __func__, [&](instance& self) { exchange_of(self).set_time(time); });
}
fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t count) {
    return call(c, __func__, [&](instance& self) { exchange_of(self).set_states(states_of(self, x, count)); });
}
fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t count) {
    return call(c, __func__, [&](instance& self) { exchange_of(self).get_states(states_of(self, x, count)); });
}
fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 dx[], size_t count) {
    return call(c, __func__, [&](instance& self) { exchange_of(self).get_derivatives(states_of(self, dx, count)); });
}
fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t count) {
    return call(c, __func__, [&](instance& self) { exchange_of(self).get_nominals(states_of(self, nominals, count)); });
}
fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 z[], size_t count) {
    return call(c, __func__, [&](instance& self) { exchange_of(self).get_indicators(indicators_of(self, z, count)); });
}
fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t* count) {
    return call(c, __func__, [&](instance& self) { *count = exchange_of(self).state_count(); });
}
fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t* count) {
    return call(c, __func__, [&](instance& self) { *count = exchange_of(self).indicator_count(); });
}

}  // extern "C"

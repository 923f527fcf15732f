/* The functions of FMI 2.0 that are unlike those of 3.0. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "framework.h"

#define ENTER(call, modes)                                  \
    fmu* m = c;                                             \
    const int status = fmu_enter(m, call, modes, __func__); \
    if (status != fmu_ok && status != fmu_warning) return (fmi2Status)status

const char* fmi2GetTypesPlatform(void) { return fmi2TypesPlatform; }
const char* fmi2GetVersion(void) { return "2.0"; }

void fmu_send(fmu* m, int status, const char* category, const char* text) {
    const fmi2CallbackFunctions* callbacks = m->callbacks;
    if (callbacks->logger)
        callbacks->logger(callbacks->componentEnvironment, m->name, (fmi2Status)status, category, "%s", text);
}

void fmu_log_badly(fmu* m, fmu_bad_log how) {
    const fmi2CallbackFunctions* callbacks = m->callbacks;
    static char long_message[100001];
    int n = 0;
    switch (how) {
        case fmu_format_with_arguments:
            callbacks->logger(m->environment, m->name, fmi2Warning, "logEvents", "%s%n%d", "text", &n, 7);
            break;
        case fmu_format_without_arguments:
            callbacks->logger(m->environment, m->name, fmi2Warning, "logEvents", "%s%n%d");
            break;
        case fmu_null_message:
            callbacks->logger(m->environment, NULL, fmi2Warning, NULL, NULL);
            break;
        case fmu_long_message:
            memset(long_message, 0xff, sizeof long_message - 1);
            callbacks->logger(m->environment, m->name, fmi2Warning, "logEvents", long_message);
    }
}

bool fmu_intermediate_update_at(fmu* m, double time, bool finished, double* return_time) {
    (void)m, (void)time, (void)finished, (void)return_time;
    return false;
}

void* fmu_allocate(fmu* m, size_t size) {
    const fmi2CallbackFunctions* callbacks = m->callbacks;
    return callbacks->allocateMemory ? callbacks->allocateMemory(size, 1) : calloc(size, 1);
}

void fmu_release(fmu* m, void* memory) {
    const fmi2CallbackFunctions* callbacks = m->callbacks;
    if (callbacks->freeMemory)
        callbacks->freeMemory(memory);
    else
        free(memory);
}

/* "file:///a%20b/resources" or "file:/a%20b/resources" as a path. */
static char* path_of(const char* uri) {
    if (!uri || strncmp(uri, "file:/", 6) != 0) return NULL;
    uri += strncmp(uri, "file:///", 8) == 0 ? 7 : 5;
    char *path = malloc(strlen(uri) + 1), *end = path;
    while (*uri) {
        unsigned code;
        if (*uri == '%' && sscanf(uri + 1, "%2x", &code) == 1) {
            *end++ = (char)code;
            uri += 3;
        } else {
            *end++ = *uri++;
        }
    }
    *end = 0;
    return path;
}

fmi2Component fmi2Instantiate(fmi2String instance_name, fmi2Type type, fmi2String guid, fmi2String resource_uri,
                              const fmi2CallbackFunctions* callbacks, fmi2Boolean visible, fmi2Boolean logging) {
    (void)visible;
    fmu* m = calloc(1, sizeof *m);
    m->callbacks = callbacks;
    m->environment = callbacks->componentEnvironment;
    m->co_simulation = type == fmi2CoSimulation;
    m->resources = path_of(resource_uri);
    return fmu_instantiate(m, instance_name, guid, logging);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean stop_defined, fmi2Real stop) {
    (void)tolerance_defined, (void)tolerance;
    ENTER(fmu_call_set_up, fmu_instantiated);
    if (stop_defined && !(stop > start)) return (fmi2Status)fmu_fail(m, __func__, "from %g s to %g s", start, stop);
    m->state->time = start;
    m->state->stop = stop_defined ? stop : -1;
    m->state->set_up = true;
    return (fmi2Status)status;
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
    ENTER(fmu_call_enter_initialization, fmu_instantiated);
    if (!m->state->set_up) return (fmi2Status)fmu_fail(m, __func__, "fmi2SetupExperiment comes first");
    m->state->mode = fmu_initialization;
    m->dirty = true;
    return (fmi2Status)status;
}

enum {
    real = 1U << fmu_float64,
    integer = 1U << fmu_int32 | 1U << fmu_enumeration,
    boolean = 1U << fmu_boolean,
    string = 1U << fmu_string
};

#define ACCESS(Type, types, member)                                                                               \
    fmi2Status fmi2Get##Type(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2##Type values[]) { \
        ENTER(fmu_call_get, fmu_any_mode);                                                                        \
        for (size_t i = 0; i < count; ++i) {                                                                      \
            const fmu_value* value = fmu_read(m, __func__, vr[i], types);                                         \
            if (!value) return fmi2Error;                                                                         \
            values[i] = (fmi2##Type)value->member;                                                                \
        }                                                                                                         \
        return (fmi2Status)status;                                                                                \
    }                                                                                                             \
    fmi2Status fmi2Set##Type(fmi2Component c, const fmi2ValueReference vr[], size_t count,                        \
                             const fmi2##Type values[]) {                                                         \
        ENTER(fmu_call_set, fmu_any_mode);                                                                        \
        for (size_t i = 0; i < count; ++i) {                                                                      \
            fmu_value* value = fmu_write(m, __func__, vr[i], types);                                              \
            if (!value) return fmi2Error;                                                                         \
            value->member = values[i];                                                                            \
        }                                                                                                         \
        return (fmi2Status)status;                                                                                \
    }

ACCESS(Real, real, f64)
ACCESS(Integer, integer, i)
ACCESS(Boolean, boolean, i)

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2String values[]) {
    ENTER(fmu_call_get, fmu_any_mode);
    for (size_t i = 0; i < count; ++i) {
        values[i] = (const char*)fmu_read(m, __func__, vr[i], string);
        if (!values[i]) return fmi2Error;
    }
    return (fmi2Status)status;
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2String values[]) {
    ENTER(fmu_call_set, fmu_any_mode);
    for (size_t i = 0; i < count; ++i) {
        char* value = (char*)fmu_write(m, __func__, vr[i], string);
        if (!value) return fmi2Error;
        if (strlen(values[i]) >= FMU_TEXT_SIZE) return (fmi2Status)fmu_fail(m, __func__, "the text is too long");
        strcpy(value, values[i]);
    }
    return (fmi2Status)status;
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t unknown_count,
                                        const fmi2ValueReference knowns[], size_t known_count, const fmi2Real seed[],
                                        fmi2Real sensitivity[]) {
    ENTER(fmu_call_directional, fmu_initialization | fmu_event | fmu_continuous_time | fmu_step_mode | fmu_terminated);
    const int result = fmu_directional(m, __func__, unknowns, unknown_count, knowns, known_count, seed, sensitivity);
    return (fmi2Status)(result ? result : status);
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo* info) {
    ENTER(fmu_call_update, fmu_event);
    fmu_update update = {false, false, false};
    if (m->model->update) m->model->update(m, &update);
    m->dirty = true;
    const double next = m->model->next_event ? m->model->next_event(m) : HUGE_VAL;
    info->newDiscreteStatesNeeded = update.again;
    info->terminateSimulation = m->state->terminate = m->state->terminate || update.terminate;
    info->nominalsOfContinuousStatesChanged = fmi2False;
    info->valuesOfContinuousStatesChanged = update.states_changed;
    info->nextEventTimeDefined = next < HUGE_VAL;
    info->nextEventTime = next;
    return (fmi2Status)status;
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                       const fmi2Integer orders[], const fmi2Real values[]) {
    ENTER(fmu_call_set, fmu_instantiated | fmu_initialization | fmu_step_mode);
    const int result = fmu_set_input_rates(m, __func__, vr, count, orders, values);
    return (fmi2Status)(result ? result : status);
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t count,
                                        const fmi2Integer orders[], fmi2Real values[]) {
    ENTER(fmu_call_get, fmu_step_mode | fmu_terminated);
    const int result = fmu_output_rates(m, __func__, vr, count, orders, values);
    return (fmi2Status)(result ? result : status);
}

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean no_return_before_now) {
    ENTER(fmu_call_step, fmu_step_mode);
    m->state->keeps_state = !no_return_before_now;
    fmu_step_result result;
    const int stepped = fmu_step(m, time, step, &result);
    return (fmi2Status)(stepped ? stepped : status);
}

fmi2Status fmi2CancelStep(fmi2Component c) { return (fmi2Status)fmu_fail(c, __func__, "steps are synchronous"); }

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status* value) {
    (void)kind, (void)value;
    return (fmi2Status)fmu_fail(c, __func__, "steps are synchronous");
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real* value) {
    if (kind != fmi2LastSuccessfulTime) return (fmi2Status)fmu_fail(c, __func__, "kind %d is no Real", kind);
    *value = ((fmu*)c)->state->time;
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer* value) {
    (void)value;
    return (fmi2Status)fmu_fail(c, __func__, "kind %d is no Integer", kind);
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean* value) {
    if (kind != fmi2Terminated) return (fmi2Status)fmu_fail(c, __func__, "kind %d is no Boolean", kind);
    *value = ((fmu*)c)->state->terminate;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String* value) {
    (void)kind, (void)value;
    return (fmi2Status)fmu_fail(c, __func__, "steps are synchronous");
}

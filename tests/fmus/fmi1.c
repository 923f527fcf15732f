/* The functions of FMI 1.0. Their names begin with the model identifier, so that this file is compiled for each model
 * (IDENTIFIER). There are no modes: what comes before the initialisation is "instantiated", what comes after it is event
 * mode in model exchange, where everything may be set, and step mode in co-simulation. Nothing can be read before. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "framework.h"

#define PASTE(a, b) a##_fmi##b
#define NAMED(a, b) PASTE(a, b)
#define FMI1(name) NAMED(IDENTIFIER, name)
#define FMI1_PROTOTYPE(name, result, arguments) FMU_EXPORT result FMI1(name) arguments;
FMI1_FUNCTIONS(FMI1_PROTOTYPE)

#define ENTER(call, modes)                                  \
    fmu* m = c;                                             \
    const int status = fmu_enter(m, call, modes, __func__); \
    if (status != fmu_ok && status != fmu_warning) return (fmi1Status)status

enum { model = fmu_event, slave = fmu_step_mode, running = model | slave };

const char* FMI1(GetVersion)(void) { return "1.0"; }
const char* FMI1(GetTypesPlatform)(void) { return fmi1TypesPlatform; }
const char* FMI1(GetModelTypesPlatform)(void) { return fmi1TypesPlatform; }

void fmu_send(fmu* m, int status, const char* category, const char* text) {
    const fmi1SlaveCallbacks* callbacks = m->callbacks;
    fmu* const known = m->state ? m : NULL; /* nothing to name while it is being made */
    callbacks->logger(known, m->name, (fmi1Status)status, category, "%s", text);
}

void fmu_log_badly(fmu* m, fmu_bad_log how) {
    const fmi1SlaveCallbacks* callbacks = m->callbacks;
    static char long_message[100001];
    int n = 0;
    switch (how) {
        case fmu_format_with_arguments:
            callbacks->logger(m, m->name, fmi1Warning, "logEvents", "%s%n%d", "text", &n, 7);
            break;
        case fmu_format_without_arguments:
            callbacks->logger(m, m->name, fmi1Warning, "logEvents", "%s%n%d");
            break;
        case fmu_null_message:
            callbacks->logger(m, NULL, fmi1Warning, NULL, NULL);
            break;
        case fmu_long_message:
            memset(long_message, 0xff, sizeof long_message - 1);
            callbacks->logger(m, m->name, fmi1Warning, "logEvents", long_message);
    }
}

bool fmu_intermediate_update_at(fmu* m, double time, bool finished, double* return_time) {
    (void)m, (void)time, (void)finished, (void)return_time;
    return false;
}

void* fmu_allocate(fmu* m, size_t size) { return ((const fmi1SlaveCallbacks*)m->callbacks)->allocateMemory(size, 1); }
void fmu_release(fmu* m, void* memory) { ((const fmi1SlaveCallbacks*)m->callbacks)->freeMemory(memory); }

static fmu* instantiate(fmi1String name, fmi1String guid, fmi1SlaveCallbacks callbacks, fmi1Boolean logging,
                        bool co_simulation, const char* uri) {
    /* Callbacks come by value and the instance's memory goes before its end: they are kept beside it. */
    struct made {
        fmu instance;
        fmi1SlaveCallbacks callbacks;
    }* made = calloc(1, sizeof *made);
    made->callbacks = callbacks;
    fmu* m = &made->instance;
    m->callbacks = &made->callbacks;
    m->co_simulation = co_simulation;
    if (uri && strncmp(uri, "file:///", 8) == 0) {
        m->resources = malloc(strlen(uri) + sizeof "/resources");
        sprintf(m->resources, "%s/resources", uri + 7);
    }
    return fmu_instantiate(m, name, guid, logging);
}

fmi1Component FMI1(InstantiateModel)(fmi1String instance_name, fmi1String guid, fmi1ModelCallbacks callbacks,
                                     fmi1Boolean logging) {
    const fmi1SlaveCallbacks all = {callbacks.logger, callbacks.allocateMemory, callbacks.freeMemory, NULL};
    return instantiate(instance_name, guid, all, logging, false, NULL);
}

fmi1Component FMI1(InstantiateSlave)(fmi1String instance_name, fmi1String guid, fmi1String fmu_uri,
                                     fmi1String mime_type, fmi1Real timeout, fmi1Boolean visible,
                                     fmi1Boolean interactive, fmi1SlaveCallbacks callbacks, fmi1Boolean logging) {
    (void)timeout, (void)visible, (void)interactive;
    if (!mime_type || strcmp(mime_type, fmi1SharedLibrary) != 0) return NULL;
    return instantiate(instance_name, guid, callbacks, logging, true, fmu_uri);
}

void FMI1(FreeModelInstance)(fmi1Component c) { fmu_free(c); }
void FMI1(FreeSlaveInstance)(fmi1Component c) { fmu_free(c); }

fmi1Status FMI1(SetDebugLogging)(fmi1Component c, fmi1Boolean on) {
    ENTER(fmu_call_other, fmu_any_mode);
    m->logging = on;
    return (fmi1Status)status;
}

/* What the other versions do in two calls. */
static int initialise(fmu* m, unsigned mode, const char* function) {
    const int status = fmu_enter(m, fmu_call_exit_initialization, fmu_instantiated, function);
    if (status != fmu_ok && status != fmu_warning) return status;
    fmu_evaluate(m);
    m->state->mode = mode;
    return status;
}

static void tell_events(fmu* m, const fmu_update* update, fmi1EventInfo* info) {
    const double next = m->model->next_event ? m->model->next_event(m) : HUGE_VAL;
    info->iterationConverged = fmi1True;
    info->stateValueReferencesChanged = fmi1False;
    info->stateValuesChanged = update->states_changed;
    info->terminateSimulation = m->state->terminate = m->state->terminate || update->terminate;
    info->upcomingTimeEvent = next < HUGE_VAL;
    info->nextEventTime = next;
}

fmi1Status FMI1(Initialize)(fmi1Component c, fmi1Boolean tolerance_defined, fmi1Real tolerance, fmi1EventInfo* info) {
    (void)tolerance_defined, (void)tolerance;
    ENTER(fmu_call_enter_initialization, fmu_instantiated);
    if (m->co_simulation || !m->state->set_up) return (fmi1Status)fmu_fail(m, __func__, "fmiSetTime comes first");
    const int initialised = initialise(m, model, __func__);
    const fmu_update nothing = {false, false, false};
    if (!(m->model->capabilities & fmu_silent_start)) tell_events(m, &nothing, info);
    return (fmi1Status)(initialised ? initialised : status);
}

fmi1Status FMI1(InitializeSlave)(fmi1Component c, fmi1Real start, fmi1Boolean stop_defined, fmi1Real stop) {
    ENTER(fmu_call_enter_initialization, fmu_instantiated);
    if (stop_defined && !(stop > start)) return (fmi1Status)fmu_fail(m, __func__, "from %g s to %g s", start, stop);
    m->state->time = start;
    const int initialised = initialise(m, slave, __func__);
    return (fmi1Status)(initialised ? initialised : status);
}

fmi1Status FMI1(Terminate)(fmi1Component c) {
    ENTER(fmu_call_terminate, model);
    m->state->mode = fmu_terminated;
    return (fmi1Status)status;
}

fmi1Status FMI1(TerminateSlave)(fmi1Component c) {
    ENTER(fmu_call_terminate, slave);
    m->state->mode = fmu_terminated;
    return (fmi1Status)status;
}

fmi1Status FMI1(ResetSlave)(fmi1Component c) {
    ENTER(fmu_call_reset, fmu_any_mode);
    return (fmi1Status)fmu_fail(m, __func__, "not provided, as in many FMUs");
}

enum {
    real = 1U << fmu_float64,
    integer = 1U << fmu_int32 | 1U << fmu_enumeration,
    boolean = 1U << fmu_boolean,
    string = 1U << fmu_string
};

#define ACCESS(Type, types, member)                                                                                 \
    fmi1Status FMI1(Get##Type)(fmi1Component c, const fmi1ValueReference vr[], size_t count, fmi1##Type values[]) { \
        ENTER(fmu_call_get, running | fmu_terminated);                                                              \
        for (size_t i = 0; i < count; ++i) {                                                                        \
            const fmu_value* value = fmu_read(m, __func__, vr[i], types);                                           \
            if (!value) return fmi1Error;                                                                           \
            values[i] = (fmi1##Type)value->member;                                                                  \
        }                                                                                                           \
        return (fmi1Status)status;                                                                                  \
    }                                                                                                               \
    fmi1Status FMI1(Set##Type)(fmi1Component c, const fmi1ValueReference vr[], size_t count,                        \
                               const fmi1##Type values[]) {                                                         \
        ENTER(fmu_call_set, fmu_any_mode);                                                                          \
        for (size_t i = 0; i < count; ++i) {                                                                        \
            fmu_value* value = fmu_write(m, __func__, vr[i], types);                                                \
            if (!value) return fmi1Error;                                                                           \
            value->member = values[i];                                                                              \
        }                                                                                                           \
        return (fmi1Status)status;                                                                                  \
    }

ACCESS(Real, real, f64)
ACCESS(Integer, integer, i)
ACCESS(Boolean, boolean, i)

fmi1Status FMI1(GetString)(fmi1Component c, const fmi1ValueReference vr[], size_t count, fmi1String values[]) {
    ENTER(fmu_call_get, running | fmu_terminated);
    for (size_t i = 0; i < count; ++i) {
        values[i] = (const char*)fmu_read(m, __func__, vr[i], string);
        if (!values[i]) return fmi1Error;
    }
    return (fmi1Status)status;
}

fmi1Status FMI1(SetString)(fmi1Component c, const fmi1ValueReference vr[], size_t count, const fmi1String values[]) {
    ENTER(fmu_call_set, fmu_any_mode);
    for (size_t i = 0; i < count; ++i) {
        char* value = (char*)fmu_write(m, __func__, vr[i], string);
        if (!value) return fmi1Error;
        if (strlen(values[i]) >= FMU_TEXT_SIZE) return (fmi1Status)fmu_fail(m, __func__, "the text is too long");
        strcpy(value, values[i]);
    }
    return (fmi1Status)status;
}

/* Model exchange */

fmi1Status FMI1(SetTime)(fmi1Component c, fmi1Real time) {
    ENTER(fmu_call_set_time, fmu_instantiated | model);
    m->state->time = time;
    m->state->set_up = true;
    m->dirty = true;
    return (fmi1Status)status;
}

static bool counts(fmu* m, const char* function, size_t count, size_t expected) {
    if (count != expected) fmu_fail(m, function, "%zu values, there are %zu", count, expected);
    return count == expected;
}

fmi1Status FMI1(SetContinuousStates)(fmi1Component c, const fmi1Real x[], size_t count) {
    ENTER(fmu_call_set_states, model);
    if (!counts(m, __func__, count, m->state_count)) return fmi1Error;
    for (size_t i = 0; i < count; ++i) m->value[m->state_element[i]].f64 = x[i];
    m->dirty = true;
    return (fmi1Status)status;
}

fmi1Status FMI1(GetContinuousStates)(fmi1Component c, fmi1Real x[], size_t count) {
    ENTER(fmu_call_other, model);
    if (!counts(m, __func__, count, m->state_count)) return fmi1Error;
    for (size_t i = 0; i < count; ++i) x[i] = m->value[m->state_element[i]].f64;
    return (fmi1Status)status;
}

fmi1Status FMI1(GetDerivatives)(fmi1Component c, fmi1Real dx[], size_t count) {
    ENTER(fmu_call_derivatives, model);
    if (!counts(m, __func__, count, m->state_count)) return fmi1Error;
    if (m->dirty) fmu_evaluate(m);
    for (size_t i = 0; i < count; ++i) dx[i] = m->value[m->derivative_element[i]].f64;
    return (fmi1Status)status;
}

fmi1Status FMI1(GetEventIndicators)(fmi1Component c, fmi1Real z[], size_t count) {
    ENTER(fmu_call_indicators, model);
    size_t there = 0;
    while (m->model->indicators[there]) ++there;
    if (!counts(m, __func__, count, there)) return fmi1Error;
    if (m->dirty) fmu_evaluate(m);
    for (size_t i = 0; i < count; ++i) z[i] = *fmu_real(m, m->model->indicators[i]);
    return (fmi1Status)status;
}

fmi1Status FMI1(GetNominalContinuousStates)(fmi1Component c, fmi1Real nominals[], size_t count) {
    ENTER(fmu_call_other, fmu_any_mode);
    if (!counts(m, __func__, count, m->state_count)) return fmi1Error;
    for (size_t i = 0; i < count; ++i) nominals[i] = m->model->nominal > 0 ? m->model->nominal : 1;
    return (fmi1Status)status;
}

fmi1Status FMI1(GetStateValueReferences)(fmi1Component c, fmi1ValueReference vr[], size_t count) {
    ENTER(fmu_call_other, fmu_any_mode);
    if (!counts(m, __func__, count, m->state_count)) return fmi1Error;
    size_t at = 0;
    for (unsigned r = 0; r < m->model->variable_count; ++r)
        if (m->model->variables[r].derivative_of) vr[at++] = m->model->variables[r].derivative_of;
    return (fmi1Status)status;
}

fmi1Status FMI1(CompletedIntegratorStep)(fmi1Component c, fmi1Boolean* call_event_update) {
    ENTER(fmu_call_completed_step, model);
    *call_event_update = m->model->completed_step && m->model->completed_step(m);
    return (fmi1Status)status;
}

/* Without intermediate results the FMU iterates by itself. */
fmi1Status FMI1(EventUpdate)(fmi1Component c, fmi1Boolean intermediate_results, fmi1EventInfo* info) {
    ENTER(fmu_call_update, model);
    fmu_update update, all = {false, false, false};
    do {
        memset(&update, 0, sizeof update);
        if (m->model->update) m->model->update(m, &update);
        all.states_changed = all.states_changed || update.states_changed;
        all.terminate = all.terminate || update.terminate;
    } while (update.again && !intermediate_results);
    m->dirty = true;
    tell_events(m, &all, info);
    info->iterationConverged = !update.again;
    return (fmi1Status)status;
}

/* Co-simulation */

fmi1Status FMI1(SetRealInputDerivatives)(fmi1Component c, const fmi1ValueReference vr[], size_t count,
                                         const fmi1Integer orders[], const fmi1Real values[]) {
    ENTER(fmu_call_set, fmu_instantiated | slave);
    const int result = fmu_set_input_rates(m, __func__, vr, count, orders, values);
    return (fmi1Status)(result ? result : status);
}

fmi1Status FMI1(GetRealOutputDerivatives)(fmi1Component c, const fmi1ValueReference vr[], size_t count,
                                          const fmi1Integer orders[], fmi1Real values[]) {
    ENTER(fmu_call_get, slave);
    const int result = fmu_output_rates(m, __func__, vr, count, orders, values);
    return (fmi1Status)(result ? result : status);
}

fmi1Status FMI1(DoStep)(fmi1Component c, fmi1Real time, fmi1Real step, fmi1Boolean new_step) {
    (void)new_step;
    ENTER(fmu_call_step, slave);
    fmu_step_result result;
    const int stepped = fmu_step(m, time, step, &result);
    return (fmi1Status)(stepped ? stepped : status);
}

fmi1Status FMI1(CancelStep)(fmi1Component c) { return (fmi1Status)fmu_fail(c, __func__, "steps are synchronous"); }

fmi1Status FMI1(GetStatus)(fmi1Component c, const fmi1StatusKind kind, fmi1Status* value) {
    (void)kind, (void)value;
    return (fmi1Status)fmu_fail(c, __func__, "steps are synchronous");
}

fmi1Status FMI1(GetRealStatus)(fmi1Component c, const fmi1StatusKind kind, fmi1Real* value) {
    if (kind != fmi1LastSuccessfulTime) return (fmi1Status)fmu_fail(c, __func__, "kind %d is no Real", kind);
    *value = ((fmu*)c)->state->time;
    return fmi1OK;
}

fmi1Status FMI1(GetIntegerStatus)(fmi1Component c, const fmi1StatusKind kind, fmi1Integer* value) {
    (void)value;
    return (fmi1Status)fmu_fail(c, __func__, "kind %d is no Integer", kind);
}

fmi1Status FMI1(GetBooleanStatus)(fmi1Component c, const fmi1StatusKind kind, fmi1Boolean* value) {
    (void)value;
    return (fmi1Status)fmu_fail(c, __func__, "kind %d is no Boolean", kind);
}

fmi1Status FMI1(GetStringStatus)(fmi1Component c, const fmi1StatusKind kind, fmi1String* value) {
    (void)kind, (void)value;
    return (fmi1Status)fmu_fail(c, __func__, "steps are synchronous");
}

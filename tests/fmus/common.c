/* FMI functions that differ between the versions in their prefix only. */
#include <stdlib.h>
#include <string.h>

#include "framework.h"

#define ENTER(call, modes)                                  \
    fmu* m = c;                                             \
    const int status = fmu_enter(m, call, modes, __func__); \
    if (status != fmu_ok && status != fmu_warning) return (FMI(Status))status

enum { running = fmu_event | fmu_continuous_time | fmu_step_mode };

void FMI(FreeInstance)(fmu_handle c) { fmu_free(c); }

FMI(Status) FMI(SetDebugLogging)(fmu_handle c, FMI(Boolean) on, size_t count, const FMI(String) categories[]) {
    ENTER(fmu_call_other, fmu_any_mode);
    for (size_t i = 0; i < count; ++i)
        if (strcmp(categories[i], "logStatusError") != 0 && strcmp(categories[i], "logEvents") != 0)
            return (FMI(Status))fmu_fail(m, __func__, "there is no category '%s'", categories[i]);
    m->logging = on;
    return (FMI(Status))status;
}

FMI(Status) FMI(ExitInitializationMode)(fmu_handle c) {
    ENTER(fmu_call_exit_initialization, fmu_initialization);
    fmu_evaluate(m);
    m->state->mode = m->co_simulation && !m->event_mode_used ? fmu_step_mode : fmu_event;
    return (FMI(Status))status;
}

FMI(Status) FMI(Terminate)(fmu_handle c) {
    ENTER(fmu_call_terminate, running);
    m->state->mode = fmu_terminated;
    return (FMI(Status))status;
}

FMI(Status) FMI(Reset)(fmu_handle c) {
    ENTER(fmu_call_reset, fmu_any_mode & ~fmu_intermediate);
    memset(m->state, 0, sizeof *m->state + m->value_count * sizeof *m->value);
    m->state->mode = fmu_instantiated;
    fmu_lay_out(m, false);
    return (FMI(Status))status;
}

FMI(Status) FMI(EnterEventMode)(fmu_handle c) {
    ENTER(fmu_call_other, fmu_continuous_time | (((fmu*)c)->event_mode_used ? fmu_step_mode : 0U));
    m->state->mode = fmu_event;
    return (FMI(Status))status;
}

FMI(Status) FMI(EnterContinuousTimeMode)(fmu_handle c) {
    ENTER(fmu_call_other, ((fmu*)c)->co_simulation ? 0U : fmu_event);
    m->state->mode = fmu_continuous_time;
    return (FMI(Status))status;
}

FMI(Status)
FMI(CompletedIntegratorStep)
(fmu_handle c, FMI(Boolean) no_return_before_now, FMI(Boolean) * enter_event_mode, FMI(Boolean) * terminate) {
    ENTER(fmu_call_completed_step, fmu_continuous_time);
    m->state->keeps_state = !no_return_before_now;
    m->dirty = true;
    *enter_event_mode = m->model->completed_step && m->model->completed_step(m);
    *terminate = m->state->terminate;
    return (FMI(Status))status;
}

FMI(Status) FMI(SetTime)(fmu_handle c, double time) {
    ENTER(fmu_call_set_time, ((fmu*)c)->co_simulation ? 0U : fmu_event | fmu_continuous_time);
    m->state->time = time;
    m->dirty = true;
    return (FMI(Status))status;
}

static bool counts(fmu* m, const char* function, size_t count, size_t expected) {
    if (count != expected) fmu_fail(m, function, "%zu values, there are %zu", count, expected);
    return count == expected;
}

FMI(Status) FMI(SetContinuousStates)(fmu_handle c, const double x[], size_t count) {
    ENTER(fmu_call_set_states, fmu_continuous_time);
    if (!counts(m, __func__, count, m->state_count)) return FMI(Error);
    for (size_t i = 0; i < count; ++i) m->value[m->state_element[i]].f64 = x[i];
    m->dirty = true;
    return (FMI(Status))status;
}

FMI(Status) FMI(GetContinuousStates)(fmu_handle c, double x[], size_t count) {
    ENTER(fmu_call_other, fmu_initialization | running | fmu_terminated);
    if (!counts(m, __func__, count, m->state_count)) return FMI(Error);
    if (m->dirty) fmu_evaluate(m);
    for (size_t i = 0; i < count; ++i) x[i] = m->value[m->state_element[i]].f64;
    return (FMI(Status))status;
}

#if FMI_VERSION == 2
FMI(Status) fmi2GetDerivatives(fmu_handle c, double dx[], size_t count) {
#else
FMI(Status) fmi3GetContinuousStateDerivatives(fmu_handle c, double dx[], size_t count) {
#endif
    ENTER(fmu_call_derivatives, fmu_initialization | running | fmu_terminated);
    if (!counts(m, __func__, count, m->state_count)) return FMI(Error);
    if (m->dirty) fmu_evaluate(m);
    for (size_t i = 0; i < count; ++i) dx[i] = m->value[m->derivative_element[i]].f64;
    return (FMI(Status))status;
}

FMI(Status) FMI(GetNominalsOfContinuousStates)(fmu_handle c, double nominals[], size_t count) {
    ENTER(fmu_call_other, fmu_any_mode);
    if (!counts(m, __func__, count, m->state_count)) return FMI(Error);
    for (size_t i = 0; i < count; ++i) nominals[i] = m->model->nominal > 0 ? m->model->nominal : 1;
    return (FMI(Status))status;
}

static size_t indicator_count(const fmu* m) {
    size_t count = 0;
    while (m->model->indicators[count]) ++count;
    return count;
}

FMI(Status) FMI(GetEventIndicators)(fmu_handle c, double z[], size_t count) {
    ENTER(fmu_call_indicators, fmu_initialization | running | fmu_terminated);
    if (!counts(m, __func__, count, indicator_count(m))) return FMI(Error);
    if (m->dirty) fmu_evaluate(m);
    for (size_t i = 0; i < count; ++i) z[i] = *fmu_real(m, m->model->indicators[i]);
    return (FMI(Status))status;
}

#if FMI_VERSION == 3
fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t* count) {
    ENTER(fmu_call_other, fmu_any_mode);
    *count = indicator_count(m);
    return (fmi3Status)status;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t* count) {
    ENTER(fmu_call_other, fmu_any_mode);
    *count = m->state_count;
    return (fmi3Status)status;
}
#endif

/* The state of an FMU: what changes in an instance, as one block. */
#if FMI_VERSION == 2
#define STATE(before, after) fmi2##before##FMUstate##after
#define DESERIALIZE fmi2DeSerializeFMUstate
typedef fmi2FMUstate block;
#else
#define STATE(before, after) fmi3##before##FMUState##after
#define DESERIALIZE fmi3DeserializeFMUState
typedef fmi3FMUState block;
#endif

static size_t block_size(const fmu* m) { return sizeof *m->state + m->value_count * sizeof *m->value; }

FMI(Status) STATE(Get, )(fmu_handle c, block* state) {
    ENTER(fmu_call_save, fmu_any_mode & ~fmu_intermediate);
    if (!*state) *state = malloc(block_size(m));
    memcpy(*state, m->state, block_size(m));
    return (FMI(Status))status;
}

FMI(Status) STATE(Set, )(fmu_handle c, block state) {
    ENTER(fmu_call_restore, fmu_any_mode & ~fmu_intermediate);
    memcpy(m->state, state, block_size(m));
    m->dirty = true;
    return (FMI(Status))status;
}

FMI(Status) STATE(Free, )(fmu_handle c, block* state) {
    ENTER(fmu_call_other, fmu_any_mode);
    free(*state);
    *state = NULL;
    return (FMI(Status))status;
}

FMI(Status) STATE(Serialized, Size)(fmu_handle c, block state, size_t* size) {
    (void)state;
    ENTER(fmu_call_other, fmu_any_mode);
    *size = block_size(m);
    return (FMI(Status))status;
}

FMI(Status) STATE(Serialize, )(fmu_handle c, block state, FMI(Byte) bytes[], size_t size) {
    ENTER(fmu_call_other, fmu_any_mode);
    if (!counts(m, __func__, size, block_size(m))) return FMI(Error);
    memcpy(bytes, state, size);
    return (FMI(Status))status;
}

FMI(Status) DESERIALIZE(fmu_handle c, const FMI(Byte) bytes[], size_t size, block* state) {
    ENTER(fmu_call_other, fmu_any_mode);
    if (!counts(m, __func__, size, block_size(m))) return FMI(Error);
    if (!*state) *state = malloc(size);
    memcpy(*state, bytes, size);
    return (FMI(Status))status;
}

/* The functions of FMI 3.0 that are unlike those of 2.0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "framework.h"

#define ENTER(call, modes)                                  \
    fmu* m = c;                                             \
    const int status = fmu_enter(m, call, modes, __func__); \
    if (status != fmu_ok && status != fmu_warning) return (fmi3Status)status

const char* fmi3GetVersion(void) { return "3.0"; }

void fmu_send(fmu* m, int status, const char* category, const char* text) {
    if (m->log) ((fmi3LogMessageCallback)m->log)(m->environment, (fmi3Status)status, category, text);
}

void* fmu_allocate(fmu* m, size_t size) {
    (void)m;
    return calloc(size, 1);
}

void fmu_release(fmu* m, void* memory) {
    (void)m;
    free(memory);
}

void fmu_log_badly(fmu* m, fmu_bad_log how) {
    static char long_message[100001];
    memset(long_message, 0xff, sizeof long_message - 1);
    const char* const messages[] = {"%s%n%d", "%s%n%d", NULL, long_message};
    fmu_send(m, fmi3Warning, how == fmu_null_message ? NULL : "logEvents", messages[how]);
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String instance_name, fmi3String token, fmi3String resource_path,
                                          fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                          fmi3LogMessageCallback log) {
    (void)visible;
    fmu* m = calloc(1, sizeof *m);
    m->environment = environment;
    m->resources = resource_path ? strdup(resource_path) : NULL;
    m->log = (void (*)(void))log;
    return fmu_instantiate(m, instance_name, token, logging);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String instance_name, fmi3String token, fmi3String resource_path,
                                         fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode_used,
                                         fmi3Boolean early_return_allowed,
                                         const fmi3ValueReference intermediate_variables[],
                                         size_t intermediate_variable_count, fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback intermediate_update) {
    (void)visible, (void)intermediate_variables, (void)intermediate_variable_count;
    if (event_mode_used && (fmu_get_model()->capabilities & fmu_refuses_event_mode)) return NULL;
    fmu* m = calloc(1, sizeof *m);
    m->environment = environment;
    m->resources = resource_path ? strdup(resource_path) : NULL;
    m->log = (void (*)(void))log;
    m->co_simulation = true;
    const unsigned capabilities = fmu_get_model()->capabilities;
    m->event_mode_used = event_mode_used && (capabilities & fmu_event_mode);
    m->early_return_allowed = early_return_allowed && (capabilities & fmu_early_return);
    if (capabilities & fmu_intermediate_update) m->update = (void (*)(void))intermediate_update;
    return fmu_instantiate(m, instance_name, token, logging);
}

bool fmu_intermediate_update_at(fmu* m, double time, bool finished, double* return_time) {
    bool early = false;
    if (finished && m->dirty) fmu_evaluate(m);
    ((fmi3IntermediateUpdateCallback)m->update)(m->environment, time, !finished, finished, finished,
                                                finished && m->early_return_allowed, &early, return_time);
    return early && finished && m->early_return_allowed;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean tolerance_defined, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop) {
    (void)tolerance_defined, (void)tolerance;
    ENTER(fmu_call_enter_initialization, fmu_instantiated);
    if (stop_defined && !(stop > start)) return (fmi3Status)fmu_fail(m, __func__, "from %g s to %g s", start, stop);
    m->state->time = start;
    m->state->stop = stop_defined ? stop : -1;
    m->state->mode = fmu_initialization;
    m->dirty = true;
    return (fmi3Status)status;
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance c) {
    ENTER(fmu_call_other, fmu_instantiated);
    m->state->mode = fmu_configuration;
    return (fmi3Status)status;
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance c) {
    ENTER(fmu_call_other, fmu_configuration);
    m->state->mode = fmu_instantiated;
    fmu_lay_out(m, true);
    return (fmi3Status)status;
}

/* Elements behind `count` references, checked against what the caller brought. */
static bool elements_match(fmu* m, const char* function, const unsigned* vr, size_t count, size_t value_count) {
    size_t elements = 0;
    for (size_t i = 0; i < count; ++i) elements += vr[i] < m->model->variable_count ? m->size[vr[i]] : 1;
    if (elements != value_count) fmu_fail(m, function, "%zu values for %zu elements", value_count, elements);
    return elements == value_count;
}

#define ACCESS(Type, types, member)                                                                                  \
    fmi3Status fmi3Get##Type(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3##Type values[],       \
                             size_t value_count) {                                                                   \
        ENTER(fmu_call_get, fmu_any_mode);                                                                           \
        if (!elements_match(m, __func__, vr, count, value_count)) return fmi3Error;                                  \
        for (size_t i = 0; i < count; ++i) {                                                                         \
            const fmu_value* value = fmu_read(m, __func__, vr[i], types);                                            \
            if (!value) return fmi3Error;                                                                            \
            for (unsigned k = 0; k < m->size[vr[i]]; ++k) *values++ = (fmi3##Type)value[k].member;                   \
        }                                                                                                            \
        return (fmi3Status)status;                                                                                   \
    }                                                                                                                \
    fmi3Status fmi3Set##Type(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3##Type values[], \
                             size_t value_count) {                                                                   \
        ENTER(fmu_call_set, fmu_any_mode);                                                                           \
        if (!elements_match(m, __func__, vr, count, value_count)) return fmi3Error;                                  \
        for (size_t i = 0; i < count; ++i) {                                                                         \
            fmu_value* value = fmu_write(m, __func__, vr[i], types);                                                 \
            if (!value) return fmi3Error;                                                                            \
            for (unsigned k = 0; k < m->size[vr[i]]; ++k) value[k].member = *values++;                               \
        }                                                                                                            \
        return (fmi3Status)status;                                                                                   \
    }

ACCESS(Float64, 1U << fmu_float64, f64)
ACCESS(Float32, 1U << fmu_float32, f32)
ACCESS(Int8, 1U << fmu_int8, i)
ACCESS(UInt8, 1U << fmu_uint8, i)
ACCESS(Int16, 1U << fmu_int16, i)
ACCESS(UInt16, 1U << fmu_uint16, i)
ACCESS(Int32, 1U << fmu_int32, i)
ACCESS(UInt32, 1U << fmu_uint32, i)
ACCESS(Int64, 1U << fmu_int64 | 1U << fmu_enumeration, i)
ACCESS(UInt64, 1U << fmu_uint64, u)
ACCESS(Boolean, 1U << fmu_boolean, i)

fmi3Status fmi3GetString(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3String values[],
                         size_t value_count) {
    ENTER(fmu_call_get, fmu_any_mode);
    if (!elements_match(m, __func__, vr, count, value_count)) return fmi3Error;
    for (size_t i = 0; i < count; ++i) {
        values[i] = (const char*)fmu_read(m, __func__, vr[i], 1U << fmu_string);
        if (!values[i]) return fmi3Error;
    }
    return (fmi3Status)status;
}

fmi3Status fmi3SetString(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3String values[],
                         size_t value_count) {
    ENTER(fmu_call_set, fmu_any_mode);
    if (!elements_match(m, __func__, vr, count, value_count)) return fmi3Error;
    for (size_t i = 0; i < count; ++i) {
        char* value = (char*)fmu_write(m, __func__, vr[i], 1U << fmu_string);
        if (!value) return fmi3Error;
        if (strlen(values[i]) >= FMU_TEXT_SIZE) return (fmi3Status)fmu_fail(m, __func__, "the text is too long");
        strcpy(value, values[i]);
    }
    return (fmi3Status)status;
}

fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t count, size_t sizes[],
                         fmi3Binary values[], size_t value_count) {
    ENTER(fmu_call_get, fmu_any_mode);
    if (!elements_match(m, __func__, vr, count, value_count)) return fmi3Error;
    for (size_t i = 0; i < count; ++i) {
        const fmu_value* value = fmu_read(m, __func__, vr[i], 1U << fmu_binary);
        if (!value) return fmi3Error;
        sizes[i] = value->u;
        values[i] = (const uint8_t*)(value + 1);
    }
    return (fmi3Status)status;
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const size_t sizes[],
                         const fmi3Binary values[], size_t value_count) {
    ENTER(fmu_call_set, fmu_any_mode);
    if (!elements_match(m, __func__, vr, count, value_count)) return fmi3Error;
    for (size_t i = 0; i < count; ++i) {
        fmu_value* value = fmu_write(m, __func__, vr[i], 1U << fmu_binary);
        if (!value) return fmi3Error;
        if (sizes[i] > FMU_TEXT_SIZE - sizeof *value) return (fmi3Status)fmu_fail(m, __func__, "too many bytes");
        value->u = sizes[i];
        memcpy(value + 1, values[i], sizes[i]);
    }
    return (fmi3Status)status;
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t unknown_count,
                                        const fmi3ValueReference knowns[], size_t known_count, const fmi3Float64 seed[],
                                        size_t seed_count, fmi3Float64 sensitivity[], size_t sensitivity_count) {
    ENTER(fmu_call_directional, fmu_initialization | fmu_event | fmu_continuous_time | fmu_step_mode | fmu_terminated);
    if (seed_count != known_count || sensitivity_count != unknown_count)
        return (fmi3Status)fmu_fail(m, __func__, "%zu seeds, %zu results", seed_count, sensitivity_count);
    const int result = fmu_directional(m, __func__, unknowns, unknown_count, knowns, known_count, seed, sensitivity);
    return (fmi3Status)(result ? result : status);
}

static void end_ticks(fmu* m, fmu_causality causality) {
    for (unsigned r = 0; r < m->model->variable_count; ++r) {
        const fmu_variable* v = &m->model->variables[r];
        if (v->type == fmu_clock && v->causality == causality) *fmu_integer(m, r) = 0;
    }
}

static bool is_clock(fmu* m, const char* function, unsigned reference, fmu_causality causality) {
    const bool right = reference < m->model->variable_count && m->model->variables[reference].type == fmu_clock &&
                       m->model->variables[reference].causality == causality;
    if (!right) fmu_fail(m, function, "%u is no such clock", reference);
    return right;
}

fmi3Status fmi3GetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Clock values[]) {
    ENTER(fmu_call_get, fmu_event);
    for (size_t i = 0; i < count; ++i) {
        if (!is_clock(m, __func__, vr[i], fmu_output)) return fmi3Error;
        values[i] = *fmu_integer(m, vr[i]) != 0;
    }
    return (fmi3Status)status;
}

fmi3Status fmi3SetClock(fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Clock values[]) {
    ENTER(fmu_call_set, fmu_event);
    for (size_t i = 0; i < count; ++i) {
        if (!is_clock(m, __func__, vr[i], fmu_input)) return fmi3Error;
        *fmu_integer(m, vr[i]) = values[i];
    }
    m->dirty = true;
    return (fmi3Status)status;
}

fmi3Status fmi3GetIntervalDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float64 intervals[],
                                  fmi3IntervalQualifier qualifiers[]) {
    ENTER(fmu_call_get, fmu_initialization | fmu_event);
    for (size_t i = 0; i < count; ++i) {
        if (!is_clock(m, __func__, vr[i], fmu_input)) return fmi3Error;
        intervals[i] = m->model->interval(m, vr[i]);
        qualifiers[i] = isnan(intervals[i]) ? fmi3IntervalUnchanged : fmi3IntervalChanged;
    }
    return (fmi3Status)status;
}

fmi3Status fmi3GetShiftDecimal(fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float64 shifts[]) {
    ENTER(fmu_call_get, fmu_initialization | fmu_event);
    for (size_t i = 0; i < count; ++i) {
        if (!is_clock(m, __func__, vr[i], fmu_input)) return fmi3Error;
        const char* shift = m->model->variables[vr[i]].shift;
        shifts[i] = shift ? strtod(shift, NULL) : 0;
    }
    return (fmi3Status)status;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean* update_needed, fmi3Boolean* terminate,
                                    fmi3Boolean* nominals_changed, fmi3Boolean* values_changed,
                                    fmi3Boolean* next_event_time_defined, fmi3Float64* next_event_time) {
    ENTER(fmu_call_update, fmu_event);
    fmu_update update = {false, false, false};
    if (m->dirty) fmu_evaluate(m);
    end_ticks(m, fmu_output);
    if (m->model->update) m->model->update(m, &update);
    end_ticks(m, fmu_input);
    m->dirty = true;
    *next_event_time = m->model->next_event ? m->model->next_event(m) : HUGE_VAL;
    *next_event_time_defined = *next_event_time < HUGE_VAL;
    *update_needed = update.again;
    *terminate = m->state->terminate = m->state->terminate || update.terminate;
    *nominals_changed = false;
    *values_changed = update.states_changed;
    return (fmi3Status)status;
}

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c) {
    ENTER(fmu_call_other, fmu_initialization | fmu_event);
    return (fmi3Status)status;
}

fmi3Status fmi3EnterStepMode(fmi3Instance c) {
    ENTER(fmu_call_other, ((fmu*)c)->event_mode_used ? fmu_event : 0U);
    m->state->mode = fmu_step_mode;
    return (fmi3Status)status;
}

fmi3Status fmi3GetOutputDerivatives(fmi3Instance c, const fmi3ValueReference vr[], size_t count,
                                    const fmi3Int32 orders[], fmi3Float64 values[], size_t value_count) {
    ENTER(fmu_call_get, fmu_step_mode | fmu_intermediate | fmu_terminated);
    if (value_count != count) return (fmi3Status)fmu_fail(m, __func__, "%zu values", value_count);
    const int result = fmu_output_rates(m, __func__, vr, count, orders, values);
    return (fmi3Status)(result ? result : status);
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 time, fmi3Float64 step, fmi3Boolean no_return_before_now,
                      fmi3Boolean* event_handling_needed, fmi3Boolean* terminate, fmi3Boolean* early_return,
                      fmi3Float64* last_successful_time) {
    ENTER(fmu_call_step, fmu_step_mode);
    m->state->keeps_state = !no_return_before_now;
    fmu_step_result result;
    const int stepped = fmu_step(m, time, step, &result);
    *event_handling_needed = result.event;
    *terminate = result.terminate;
    *early_return = result.early;
    *last_successful_time = result.reached;
    return (fmi3Status)(stepped ? stepped : status);
}

/* There is no scheduled execution; times of clocks are no fractions and are not set; there are no dependencies of single elements and no adjoint derivatives. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define NOT_PROVIDED(name, result, arguments) \
    result fmi3##name arguments { return (result)fmu_fail(c, __func__, "not provided"); }
#define NOT_PROVIDED_OTHERS(F)                                                                                        \
    F(GetIntervalFraction, fmi3Status,                                                                                \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3UInt64 counters[], fmi3UInt64 resolutions[],  \
       fmi3IntervalQualifier qualifiers[]))                                                                           \
    F(GetShiftFraction, fmi3Status,                                                                                   \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3UInt64 counters[], fmi3UInt64 resolutions[])) \
    F(SetIntervalDecimal, fmi3Status,                                                                                 \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Float64 intervals[]))                   \
    F(SetIntervalFraction, fmi3Status,                                                                                \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3UInt64 counters[],                      \
       const fmi3UInt64 resolutions[]))                                                                               \
    F(SetShiftDecimal, fmi3Status,                                                                                    \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Float64 shifts[]))                      \
    F(SetShiftFraction, fmi3Status,                                                                                   \
      (fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3UInt64 counters[],                      \
       const fmi3UInt64 resolutions[]))                                                                               \
    F(GetNumberOfVariableDependencies, fmi3Status, (fmi3Instance c, fmi3ValueReference vr, size_t * count))           \
    F(GetVariableDependencies, fmi3Status,                                                                            \
      (fmi3Instance c, fmi3ValueReference dependent, size_t dependent_elements[], fmi3ValueReference independents[],  \
       size_t independent_elements[], fmi3DependencyKind kinds[], size_t count))                                      \
    F(GetAdjointDerivative, fmi3Status,                                                                               \
      (fmi3Instance c, const fmi3ValueReference unknowns[], size_t unknown_count, const fmi3ValueReference knowns[],  \
       size_t known_count, const fmi3Float64 seed[], size_t seed_count, fmi3Float64 sensitivity[],                    \
       size_t sensitivity_count))
fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instance_name, fmi3String token, fmi3String resource_path,
                                               fmi3Boolean visible, fmi3Boolean logging,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                               fmi3ClockUpdateCallback clock_update, fmi3LockPreemptionCallback lock,
                                               fmi3UnlockPreemptionCallback unlock) {
    return NULL;
}

fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time) {
    return (fmi3Status)fmu_fail(c, __func__, "not provided");
}

NOT_PROVIDED_OTHERS(NOT_PROVIDED)

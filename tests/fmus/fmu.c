/* Instances, modes and values of test FMUs, alike in all versions. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "framework.h"

static _Atomic int instances; /* alive in this process */

static unsigned elements_of(const fmu_variable* v) {
    return v->type == fmu_string || v->type == fmu_binary ? FMU_TEXT_SIZE / sizeof(fmu_value) : 1;
}

/* The largest size that a dimension can take: storage is made for it once. */
enum { max_dimension = 8 };

static void set_start(fmu* m, unsigned reference) {
    const fmu_variable* v = &m->model->variables[reference];
    fmu_value* value = &m->value[m->offset[reference]];
    const char* text = v->start ? v->start : "";
    if (v->type == fmu_string) {
        strncpy((char*)value, text, FMU_TEXT_SIZE - 1);
        return;
    }
    if (v->type == fmu_binary) { /* two hexadecimal digits per byte */
        uint8_t* bytes = (uint8_t*)(value + 1);
        for (value->u = 0; text[2 * value->u]; ++value->u) {
            const char digits[3] = {text[2 * value->u], text[2 * value->u + 1], 0};
            bytes[value->u] = (uint8_t)strtoul(digits, NULL, 16);
        }
        return;
    }
    for (unsigned i = 0; i < m->size[reference]; ++i) {
        char* end;
        const double number = strtod(text, &end);
        if (v->type == fmu_float64)
            value[i].f64 = number;
        else if (v->type == fmu_float32)
            value[i].f32 = (float)number;
        else
            value[i].i = strtoll(text, NULL, 10);
        text = end;
    }
}

void fmu_lay_out(fmu* m, bool keep_structure) {
    const fmu_model* model = m->model;
    unsigned offset = 0;
    m->state_count = 0;
    for (unsigned r = 0; r < model->variable_count; ++r) {
        const fmu_variable* v = &model->variables[r];
        m->offset[r] = offset;
        m->size[r] = 1;
        bool usual = true;
        for (int k = 0; k < 2; ++k) {
            if (!v->dimensions[k]) continue;
            const unsigned n = (unsigned)*fmu_integer(m, v->dimensions[k]);
            m->size[r] *= n;
            usual = usual && n == (unsigned)strtoul(model->variables[v->dimensions[k]].start, NULL, 10);
        }
        if (v->causality != fmu_structural || !keep_structure) {
            for (unsigned i = 0; i < m->size[r]; ++i) m->value[offset + i].u = 0;
            if (usual) set_start(m, r);
        }
        offset += m->size[r] * elements_of(v);
        if (!v->derivative_of) continue;
        for (unsigned i = 0; i < m->size[r]; ++i) {
            m->state_element[m->state_count] = m->offset[v->derivative_of] + i;
            m->derivative_element[m->state_count++] = m->offset[r] + i;
        }
    }
    m->dirty = true;
}

static void destroy(fmu* m) {
    if (m->state) {
        --instances;
        fmu_release(m, m->state);
    }
    free(m->offset);
    free(m->size);
    free(m->name);
    free(m->resources);
    free(m);
}

static void destroy_unfinished(fmu** m) {
    if (*m) destroy(*m);
}

fmu* fmu_instantiate(fmu* m, const char* name, const char* token, bool logging) {
    __attribute__((cleanup(destroy_unfinished))) fmu* unfinished = m; /* also when the model throws */
    m->model = fmu_get_model();
    m->name = strdup(name ? name : "");
    m->logging = logging;
    char own_token[128];
    snprintf(own_token, sizeof own_token, "{mdpcosim-%s}", m->model->name);
    char text[512];
    text[0] = 0;
    if (!token || strcmp(token, own_token) != 0)
        snprintf(text, sizeof text, "the library's token is %s, the given one %s", own_token, token ? token : "none");
    else if ((m->model->capabilities & fmu_one_instance) && instances > 0)
        snprintf(text, sizeof text, "there can be one instance in a process, and there is one");
    if (text[0]) {
        fmu_log(m, fmu_error, "logStatusError", text);
        return NULL;
    }
    ++instances;
    for (unsigned r = 0; r < m->model->variable_count; ++r) {
        const fmu_variable* v = &m->model->variables[r];
        unsigned elements = elements_of(v);
        for (int k = 0; k < 2; ++k)
            if (v->dimensions[k]) elements *= max_dimension;
        m->value_count += elements;
    }
    m->offset = calloc(m->model->variable_count, sizeof *m->offset);
    m->size = calloc(m->model->variable_count, sizeof *m->size);
    m->state = fmu_allocate(m, sizeof *m->state + m->value_count * sizeof *m->value);
    m->value = (fmu_value*)(m->state + 1);
    m->state->mode = fmu_instantiated;
    fmu_lay_out(m, false);
    const int loaded = m->model->load ? m->model->load(m) : fmu_ok;
    if (loaded != fmu_ok || fmu_enter(m, fmu_call_instantiate, fmu_any_mode, "Instantiate") > fmu_warning) return NULL;
    unfinished = NULL;
    return m;
}

void fmu_free(fmu* m) {
    if (!m) return;
    fmu_enter(m, fmu_call_free, fmu_any_mode, "FreeInstance");
    destroy(m);
}

void fmu_log(fmu* m, int status, const char* category, const char* text) {
    if (m->logging || status >= fmu_error) fmu_send(m, status, category, text);
}

int fmu_fail(fmu* m, const char* function, const char* format, ...) {
    char reason[256], text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "%s: %s", function, reason);
    fmu_log(m, fmu_error, "logStatusError", text);
    return fmu_error;
}

static const char* mode_name(unsigned mode) {
    switch (mode) {
        case fmu_instantiated:
            return "instantiated";
        case fmu_configuration:
            return "configuration mode";
        case fmu_initialization:
            return "initialisation mode";
        case fmu_event:
            return "event mode";
        case fmu_continuous_time:
            return "continuous-time mode";
        case fmu_step_mode:
            return "step mode";
        case fmu_intermediate:
            return "intermediate update";
        default:
            return "terminated";
    }
}

int fmu_enter(fmu* m, fmu_call call, unsigned modes, const char* function) {
    if (m->fatal) {
        fprintf(stderr, "%s: %s was called after a fatal error\n", m->name, function);
        abort();
    }
    if (!(m->state->mode & modes)) return fmu_fail(m, function, "not allowed in %s", mode_name(m->state->mode));
    const int status = m->model->enter ? m->model->enter(m, call) : fmu_ok;
    m->fatal = status == fmu_fatal;
    return status;
}

static fmu_value* find(fmu* m, const char* function, unsigned reference, unsigned types) {
    if (reference >= m->model->variable_count) {
        fmu_fail(m, function, "there is no value reference %u", reference);
        return NULL;
    }
    const fmu_variable* v = &m->model->variables[reference];
    if (!(types & 1U << v->type) || v->only > FMI_VERSION) {
        fmu_fail(m, function, "variable '%s' is of another type", v->name);
        return NULL;
    }
    return &m->value[m->offset[reference]];
}

fmu_value* fmu_read(fmu* m, const char* function, unsigned reference, unsigned types) {
    if (m->dirty) fmu_evaluate(m);
    m->value[0].f64 = m->state->time;
    return find(m, function, reference, types);
}

/* When a variable may be set: parameters before the end of initialisation, tunable ones also at events and between steps;
 * inputs at any time, though discrete ones not in continuous time; start values of the rest before initialisation. */
static unsigned writable_in(const fmu_variable* v) {
    const unsigned before = fmu_instantiated | fmu_initialization;
    switch (v->causality) {
        case fmu_structural:
            return fmu_configuration;
        case fmu_parameter:
            return before | (v->variability == fmu_tunable ? fmu_event | fmu_step_mode : 0U);
        case fmu_input:
            return before | fmu_event | fmu_step_mode |
                   (v->type == fmu_float64 ? fmu_continuous_time | fmu_intermediate : 0U);
        case fmu_independent:
            return 0;
        default:
            return v->start ? before : 0U;
    }
}

fmu_value* fmu_write(fmu* m, const char* function, unsigned reference, unsigned types) {
    fmu_value* value = find(m, function, reference, types);
    if (!value) return NULL;
    const fmu_variable* v = &m->model->variables[reference];
    if (!(m->state->mode & writable_in(v))) {
        fmu_fail(m, function, "variable '%s' cannot be set in %s", v->name, mode_name(m->state->mode));
        return NULL;
    }
    if (v->clock && m->state->mode != fmu_instantiated && !*fmu_integer(m, v->clock)) {
        fmu_fail(m, function, "variable '%s' cannot be set, its clock does not tick", v->name);
        return NULL;
    }
    m->dirty = true;
    return value;
}

void fmu_evaluate(fmu* m) {
    if (m->model->start && (m->state->mode & (fmu_instantiated | fmu_initialization))) m->model->start(m);
    if (m->model->evaluate) m->model->evaluate(m);
    m->dirty = false;
}

int fmu_directional(fmu* m, const char* function, const unsigned* unknowns, size_t unknown_count,
                    const unsigned* knowns, size_t known_count, const double* seed, double* sensitivity) {
    if (!m->model->partial) return fmu_fail(m, function, "not provided");
    if (m->dirty) fmu_evaluate(m);
    for (size_t i = 0; i < unknown_count; ++i) {
        sensitivity[i] = 0;
        for (size_t k = 0; k < known_count; ++k) {
            if (!find(m, function, unknowns[i], 1U << fmu_float64) || !find(m, function, knowns[k], 1U << fmu_float64))
                return fmu_error;
            sensitivity[i] += m->model->partial(m, unknowns[i], knowns[k]) * seed[k];
        }
    }
    return fmu_ok;
}

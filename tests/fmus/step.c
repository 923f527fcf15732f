/* Communication steps: events, internal steps, inputs in between. */
#include <math.h>
#include <string.h>

#include "framework.h"

/* Inputs given as polynomials (1.0, 2.0) or on request (3.0). */
static void inputs_at(fmu* m, double time) {
    m->state->time = time;
    for (unsigned k = 0; k < m->state->polynomial_count; ++k) {
        const double s = time - m->state->polynomials[k].start;
        double value = 0;
        for (int i = FMU_MAX_DEGREE; i >= 0; --i) value = value * s + m->state->polynomials[k].coefficients[i];
        *fmu_real(m, m->state->polynomials[k].reference) = value;
    }
    double unused;
    if (m->update) fmu_intermediate_update_at(m, time, false, &unused);
}

/* dx at the states x + h k. */
static void derivatives(fmu* m, double* x, double h, double* k, double* dx) {
    for (unsigned i = 0; i < m->state_count; ++i) m->value[m->state_element[i]].f64 = x[i] + h * k[i];
    m->model->evaluate(m);
    for (unsigned i = 0; i < m->state_count; ++i) dx[i] = m->value[m->derivative_element[i]].f64;
}

static void runge_kutta_step(fmu* m, double t, double h) {
    double x[FMU_MAX_STATES], k1[FMU_MAX_STATES], k2[FMU_MAX_STATES], k3[FMU_MAX_STATES], k4[FMU_MAX_STATES];
    for (unsigned i = 0; i < m->state_count; ++i) x[i] = m->value[m->state_element[i]].f64;
    inputs_at(m, t);
    derivatives(m, x, 0, x, k1);
    inputs_at(m, t + h / 2);
    derivatives(m, x, h / 2, k1, k2);
    derivatives(m, x, h / 2, k2, k3);
    inputs_at(m, t + h);
    derivatives(m, x, h, k3, k4);
    for (unsigned i = 0; i < m->state_count; ++i)
        m->value[m->state_element[i]].f64 = x[i] + h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    m->dirty = true;
}

double fmu_integrate(fmu* m, double target, bool* event) {
    double t = m->state->time;
    while (t < target) {
        const double steps = ceil((target - t) / m->model->internal_step - 1e-6);
        const double end = steps <= 1 ? target : t + (target - t) / steps;
        runge_kutta_step(m, t, end - t);
        m->state->time = t = end;
        if (m->update) {
            double return_time = target;
            m->state->early_return = fmu_intermediate_update_at(m, t, true, &return_time);
            if (m->state->early_return) target = fmax(t, fmin(target, return_time));
        }
        if (m->model->completed_step && m->model->completed_step(m)) {
            *event = true;
            break;
        }
    }
    return t;
}

static int check_step(fmu* m, double time, double step) {
    if (!(fabs(time - m->state->time) <= 1e-9 * fmax(1, fabs(time))))
        return fmu_fail(m, "DoStep", "time is %.17g, the given one %.17g", m->state->time, time);
    if (!(step > 0)) return fmu_fail(m, "DoStep", "the step is %g s", step);
    if (!(m->model->capabilities & fmu_fixed_step)) return fmu_ok;
    if (m->state->communication_step == 0) m->state->communication_step = step;
    const double ratio = step / m->model->internal_step;
    if (fabs(step - m->state->communication_step) > 1e-9 * step)
        return fmu_fail(m, "DoStep", "the step is %g s after one of %g s", step, m->state->communication_step);
    if (fabs(ratio - round(ratio)) > 1e-6 * ratio)
        return fmu_fail(m, "DoStep", "the step is %g s, no multiple of %g s", step, m->model->internal_step);
    return fmu_ok;
}

/* Polynomials of earlier steps are over; the others start now (the given time may differ in its last bits), at the value
 * that was set last. */
static void begin_polynomials(fmu* m, double time) {
    unsigned kept = 0;
    for (unsigned k = 0; k < m->state->polynomial_count; ++k) {
        if (m->state->polynomials[k].start < m->state->time) continue;
        m->state->polynomials[kept] = m->state->polynomials[k];
        m->state->polynomials[kept].start = time;
        m->state->polynomials[kept].coefficients[0] = *fmu_real(m, m->state->polynomials[kept].reference);
        ++kept;
    }
    m->state->polynomial_count = kept;
}

double fmu_input_rate(fmu* m, unsigned reference) {
    for (unsigned k = 0; k < m->state->polynomial_count; ++k) {
        if (m->state->polynomials[k].reference != reference) continue;
        const double s = m->state->time - m->state->polynomials[k].start;
        double rate = 0;
        for (int i = FMU_MAX_DEGREE; i >= 1; --i) rate = rate * s + i * m->state->polynomials[k].coefficients[i];
        return rate;
    }
    return 0;
}

int fmu_set_input_rates(fmu* m, const char* function, const unsigned* references, size_t count, const int* orders,
                        const double* values) {
    if (!(m->model->capabilities & fmu_takes_rates)) return fmu_fail(m, function, "not provided");
    for (size_t i = 0; i < count; ++i) {
        if (!fmu_write(m, function, references[i], 1U << fmu_float64)) return fmu_error;
        if (orders[i] < 1 || orders[i] > FMU_MAX_DEGREE || m->model->variables[references[i]].causality != fmu_input)
            return fmu_fail(m, function, "order %d of variable %u", orders[i], references[i]);
        unsigned k = 0;
        while (k < m->state->polynomial_count && m->state->polynomials[k].reference != references[i]) ++k;
        if (k == FMU_MAX_POLYNOMIALS) return fmu_fail(m, function, "too many inputs");
        if (k == m->state->polynomial_count || m->state->polynomials[k].start < m->state->time) {
            memset(&m->state->polynomials[k], 0, sizeof m->state->polynomials[k]);
            m->state->polynomials[k].reference = references[i];
            m->state->polynomials[k].start = m->state->time;
            if (k == m->state->polynomial_count) ++m->state->polynomial_count;
        }
        double factorial = 1;
        for (int n = 2; n <= orders[i]; ++n) factorial *= n;
        m->state->polynomials[k].coefficients[orders[i]] = values[i] / factorial;
    }
    return fmu_ok;
}

int fmu_output_rates(fmu* m, const char* function, const unsigned* references, size_t count, const int* orders,
                     double* values) {
    if (!m->model->rate) return fmu_fail(m, function, "not provided");
    if (m->dirty) fmu_evaluate(m);
    for (size_t i = 0; i < count; ++i) {
        if (references[i] >= m->model->variable_count || m->model->variables[references[i]].causality != fmu_output)
            return fmu_fail(m, function, "%u is no output", references[i]);
        if (orders[i] != 1) return fmu_fail(m, function, "order %d; only 1 is provided", orders[i]);
        values[i] = m->model->rate(m, references[i]);
    }
    return fmu_ok;
}

/* Goes on to `end`, handling events on the way; true when one waits for the importer. */
static bool advance(fmu* m, double end, double asked) {
    const fmu_model* model = m->model;
    const double rounding = 1e-9 * (end - m->state->time);
    while (m->state->time < end && !m->state->terminate && !m->state->early_return) {
        /* Sums of steps miss a time event by rounding: it belongs to the communication point. */
        const double next = model->next_event ? model->next_event(m) : HUGE_VAL;
        const double target = next < end - rounding ? next : end;
        bool event = false;
        double reached = target;
        if (model->advance)
            reached = model->advance(m, target, &event);
        else if (m->state_count)
            reached = fmu_integrate(m, target, &event);
        m->state->time = reached;
        m->dirty = true;
        if (reached >= target && next <= end + rounding) event = true;
        if (!event) continue;
        if (m->event_mode_used && (m->early_return_allowed || reached >= asked)) return true;
        fmu_update info;
        do {
            memset(&info, 0, sizeof info);
            model->update(m, &info);
            m->state->terminate = m->state->terminate || info.terminate;
        } while (info.again);
    }
    return false;
}

int fmu_step(fmu* m, double time, double step, fmu_step_result* result) {
    memset(result, 0, sizeof *result);
    result->reached = m->state->time;
    const int status = check_step(m, time, step);
    if (status != fmu_ok) return status;
    const double asked = time + step, max_step = m->model->max_step;
    const bool limited = max_step > 0 && step > max_step * (1 + 1e-9);
    /* In FMI 3.0 a step is discarded as a whole, unless coming back early is allowed. */
    if (limited && FMI_VERSION == 3 && !m->early_return_allowed) return fmu_discard;
    begin_polynomials(m, time);
    m->state->time = time;
    m->state->mode = fmu_intermediate;
    m->state->early_return = false;
    result->event = advance(m, limited ? time + max_step : asked, asked);
    m->state->mode = fmu_step_mode;
    result->reached = m->state->time;
    result->terminate = m->state->terminate;
    result->early = m->state->time < asked;
    if (m->model->tell) {
        fmu_told told = {result->reached, result->event, result->early};
        m->model->tell(m, time, asked, &told);
        result->reached = told.reached, result->event = told.event, result->early = told.early;
    }
    return FMI_VERSION < 3 && (result->early || result->terminate) ? fmu_discard : fmu_ok;
}

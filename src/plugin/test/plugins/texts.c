/* Variables of all types. Own solver: `echo` is the last note and the number of steps, `back` the bytes of data[0] and data[1] in reverse,
 * `twice` is 2 n, `opposite` is not flag. EQUATIONS: x' = k times the length of the note. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mdpcosim/plugin.h"

typedef struct text {
    char* bytes;
    size_t size;
} text;

typedef struct model {
    double k;
    text note, data[2], made;
    int steps;
} model;

static void assign(text* to, const char* bytes, size_t size) {
    to->bytes = realloc(to->bytes, size + 1);
    memcpy(to->bytes, bytes, size);
    to->bytes[size] = '\0';
    to->size = size;
}

static void* create(const double* parameters, char* message) {
    model* made = calloc(1, sizeof *made);
    (void)message;
    made->k = parameters[0];
    assign(&made->note, "", 0);
    assign(&made->data[0], "", 0);
    assign(&made->data[1], "", 0);
    return made;
}
static void destroy(void* instance) {
    model* m = instance;
    free(m->note.bytes);
    free(m->data[0].bytes);
    free(m->data[1].bytes);
    free(m->made.bytes);
    free(m);
}

static int set_text(void* instance, int input, const char* bytes, size_t size) {
    model* m = instance;
    if (bytes[size] != '\0' || input > 2) return 1;
    if (size == 6 && memcmp(bytes, "refuse", 6) == 0) return 2;
    assign(input == 0 ? &m->note : &m->data[input - 1], bytes, size);
    return 0;
}

static int get_text(void* instance, int output, const char** bytes, size_t* size) {
    model* m = instance;
    if (output == 0) {
        const size_t room = m->note.size + 32;
        char* echo = malloc(room);
        snprintf(echo, room, "%s#%d", m->note.bytes, m->steps);
        assign(&m->made, echo, strlen(echo));
        free(echo);
    } else {
        const text* a = &m->data[0];
        const text* b = &m->data[1];
        size_t i;
        m->made.bytes = realloc(m->made.bytes, a->size + b->size + 1);
        m->made.size = a->size + b->size;
        for (i = 0; i < b->size; ++i) m->made.bytes[i] = b->bytes[b->size - 1 - i];
        for (i = 0; i < a->size; ++i) m->made.bytes[b->size + i] = a->bytes[a->size - 1 - i];
    }
    *bytes = m->made.bytes;
    *size = m->made.size;
    return 0;
}

static const mdpcosim_parameter parameters[] = {{"k", "1/s", "growth", 1, MDPCOSIM_ANY}};

#ifdef EQUATIONS
static int initialise(void* instance, double t0, double* x) {
    (void)instance, (void)t0;
    x[0] = 0;
    return 0;
}
static int derivatives(void* instance, double t, const double* x, const double* u, double* dx) {
    const model* m = instance;
    (void)t, (void)x, (void)u;
    dx[0] = m->k * (double)m->note.size;
    return 0;
}
static int output_values(void* instance, double t, const double* x, const double* u, double* y) {
    (void)instance, (void)t, (void)u;
    y[0] = x[0];
    return 0;
}
static const mdpcosim_input inputs[] = {{.name = "note", .type = MDPCOSIM_STRING}};
static const mdpcosim_output outputs[] = {{.name = "x", .unit = "1"}, {.name = "echo", .type = MDPCOSIM_STRING}};
#else
static int initialise(void* instance, double t0, double* x) {
    (void)instance, (void)t0, (void)x;
    return 0;
}
static double n, flag; /* of the last step: one instance in a process */
static int advance(void* instance, double t0, double t1, const double* coefficients) {
    (void)t0, (void)t1;
    ++((model*)instance)->steps;
    n = coefficients[0];
    flag = coefficients[MDPCOSIM_COEFFICIENTS];
    return coefficients[1] != 0 || coefficients[MDPCOSIM_COEFFICIENTS + 1] != 0; /* they are constant */
}
static int output_values(void* instance, double t, const double* x, const double* u, double* y) {
    (void)instance, (void)t, (void)x, (void)u;
    y[0] = 2 * n;
    y[1] = flag == 0;
    return 0;
}
static size_t save_size(void* instance) {
    (void)instance;
    return sizeof(int) + 2 * sizeof(double);
}
static int save(void* instance, void* into) {
    memcpy(into, &n, sizeof n);
    memcpy((char*)into + sizeof n, &flag, sizeof flag);
    memcpy((char*)into + 2 * sizeof n, &((model*)instance)->steps, sizeof(int));
    return 0;
}
static int restore(void* instance, const void* from) {
    memcpy(&n, from, sizeof n);
    memcpy(&flag, (const char*)from + sizeof n, sizeof flag);
    memcpy(&((model*)instance)->steps, (const char*)from + 2 * sizeof n, sizeof(int));
    return 0;
}
static const mdpcosim_input inputs[] = {{.name = "note", .type = MDPCOSIM_STRING},
                                        {.name = "n", .unit = "1", .type = MDPCOSIM_INTEGER},
                                        {.name = "data", .size = 2, .type = MDPCOSIM_BINARY},
                                        {.name = "flag", .type = MDPCOSIM_BOOLEAN}};
static const mdpcosim_output outputs[] = {{.name = "echo", .type = MDPCOSIM_STRING},
                                          {.name = "twice", .unit = "1", .type = MDPCOSIM_INTEGER},
                                          {.name = "back", .type = MDPCOSIM_BINARY},
                                          {.name = "opposite", .type = MDPCOSIM_BOOLEAN}};
#endif

static const mdpcosim_plugin table = {
    .layout = MDPCOSIM_LAYOUT,
    .inputs = inputs,
    .outputs = outputs,
    .parameters = parameters,
    .input_count = sizeof inputs / sizeof *inputs,
    .output_count = sizeof outputs / sizeof *outputs,
    .parameter_count = 1,
    .create = create,
    .destroy = destroy,
    .initialise = initialise,
    .output_values = output_values,
#ifdef EQUATIONS
    .state_count = 1,
    .derivatives = derivatives,
#else
    .advance = advance,
    .save_size = save_size,
    .save = save,
    .restore = restore,
#endif
    .set_text = set_text,
    .get_text = get_text,
};

const mdpcosim_plugin* mdpcosim_plugin_entry(int version) { return version == MDPCOSIM_PLUGIN_VERSION ? &table : NULL; }

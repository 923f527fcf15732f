/* A host of FMUs of FMI 3.0 that knows nothing of mdpcosim: plain C, the declarations in its own words, nothing but the C library.
 *     host_3 LIBRARY RESOURCES TOKEN cs|me STEP COUNT REFERENCE...
 * does COUNT steps of length STEP, by co-simulation or, in model exchange, with Euler's method of its own, and prints the Float64 outputs REFERENCE... of
 * every row, "time,value,...". In the middle the state is written as bytes, a second instance takes it and does the rest: both print the same, or
 * status 1. Status 3: the FMU refused. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint32_t reference;
typedef void (*log_callback)(void*, int, const char*, const char*);

static struct {
    void* (*co_simulation)(const char*, const char*, const char*, bool, bool, bool, bool, const reference*, size_t,
                           void*, log_callback, void*);
    void* (*model_exchange)(const char*, const char*, const char*, bool, bool, void*, log_callback);
    void (*free_instance)(void*);
    int (*enter)(void*, bool, double, double, bool, double);
    int (*leave)(void*);
    int (*terminate)(void*);
    int (*get)(void*, const reference*, size_t, double*, size_t);
    int (*step)(void*, double, double, bool, bool*, bool*, bool*, double*);
    int (*update)(void*, bool*, bool*, bool*, bool*, bool*, double*);
    int (*continuous)(void*);
    int (*set_time)(void*, double);
    int (*set_states)(void*, const double*, size_t);
    int (*get_states)(void*, double*, size_t);
    int (*derivatives)(void*, double*, size_t);
    int (*state_count)(void*, size_t*);
    int (*completed)(void*, bool, bool*, bool*);
    int (*get_state)(void*, void**);
    int (*set_state)(void*, void*);
    int (*free_state)(void*, void**);
    int (*size)(void*, void*, size_t*);
    int (*serialise)(void*, void*, uint8_t*, size_t);
    int (*deserialise)(void*, const uint8_t*, size_t, void**);
} fmu;

static struct {
    const char *resources, *token;
    bool exchange;
    double step;
    long count;
    reference references[1000];
    size_t outputs;
} job;

static void tell(void* environment, int status, const char* category, const char* text) {
    (void)environment, (void)category;
    if (status) fprintf(stderr, "%s\n", text);
}

static void* begin(void) {
    void* c = job.exchange ? fmu.model_exchange("host", job.token, job.resources, false, false, NULL, tell)
                           : fmu.co_simulation("host", job.token, job.resources, false, false, false, false, NULL, 0,
                                               NULL, tell, NULL);
    if (!c || fmu.enter(c, false, 0, 0, false, 0) || fmu.leave(c)) exit(3);
    if (!job.exchange) return c;
    bool again = true, end, nominals, values, defined;
    double next;
    while (again)
        if (fmu.update(c, &again, &end, &nominals, &values, &defined, &next) || end || defined) exit(3);
    if (fmu.continuous(c)) exit(3);
    return c;
}

/* One step from t = n STEP on. */
static void advance(void* c, long n) {
    const double t = (double)n * job.step, end_of_step = (double)(n + 1) * job.step;
    if (!job.exchange) {
        bool event, end, early;
        double reached;
        if (fmu.step(c, t, job.step, true, &event, &end, &early, &reached) || event || end || early) exit(3);
        return;
    }
    static double x[1000], dx[1000];
    size_t states = 0;
    bool event, end;
    if (fmu.state_count(c, &states) || states > 1000 || fmu.set_time(c, t) || fmu.get_states(c, x, states) ||
        fmu.derivatives(c, dx, states))
        exit(3);
    for (size_t i = 0; i < states; ++i) x[i] += (end_of_step - t) * dx[i];
    if (fmu.set_time(c, end_of_step) || fmu.set_states(c, x, states) || fmu.completed(c, true, &event, &end) || event ||
        end)
        exit(3);
}

static void read_row(void* c, double* row) {
    if (fmu.get(c, job.references, job.outputs, row, job.outputs)) exit(3);
}

static void* symbol(void* library, const char* name) {
    void* found = dlsym(library, name);
    if (!found) fprintf(stderr, "%s is not there\n", name), exit(1);
    return found;
}

int main(int argc, char** argv) {
    if (argc < 8) return 1;
    job.resources = argv[2];
    job.token = argv[3];
    job.exchange = !strcmp(argv[4], "me");
    job.step = atof(argv[5]);
    job.count = atol(argv[6]);
    for (int i = 7; i < argc; ++i) job.references[job.outputs++] = (reference)atoi(argv[i]);
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    const struct {
        void* to;
        const char* name;
    } functions[] = {{&fmu.co_simulation, "InstantiateCoSimulation"},
                     {&fmu.model_exchange, "InstantiateModelExchange"},
                     {&fmu.free_instance, "FreeInstance"},
                     {&fmu.enter, "EnterInitializationMode"},
                     {&fmu.leave, "ExitInitializationMode"},
                     {&fmu.terminate, "Terminate"},
                     {&fmu.get, "GetFloat64"},
                     {&fmu.step, "DoStep"},
                     {&fmu.update, "UpdateDiscreteStates"},
                     {&fmu.continuous, "EnterContinuousTimeMode"},
                     {&fmu.set_time, "SetTime"},
                     {&fmu.set_states, "SetContinuousStates"},
                     {&fmu.get_states, "GetContinuousStates"},
                     {&fmu.derivatives, "GetContinuousStateDerivatives"},
                     {&fmu.state_count, "GetNumberOfContinuousStates"},
                     {&fmu.completed, "CompletedIntegratorStep"},
                     {&fmu.get_state, "GetFMUState"},
                     {&fmu.set_state, "SetFMUState"},
                     {&fmu.free_state, "FreeFMUState"},
                     {&fmu.size, "SerializedFMUStateSize"},
                     {&fmu.serialise, "SerializeFMUState"},
                     {&fmu.deserialise, "DeserializeFMUState"}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
        char name[100];
        snprintf(name, sizeof name, "fmi3%s", functions[i].name);
        *(void**)functions[i].to = symbol(library, name);
    }

    const size_t row = job.outputs;
    double* rows = malloc(((size_t)job.count + 1) * row * sizeof *rows);
    double* again = malloc(row * sizeof *again);
    uint8_t* bytes = NULL;
    size_t size = 0;
    void *c = begin(), *state = NULL;
    for (long n = 0; n <= job.count; ++n) {
        read_row(c, rows + (size_t)n * row);
        if (n == job.count / 2) {
            if (fmu.get_state(c, &state) || fmu.size(c, state, &size)) return 3;
            bytes = malloc(size);
            if (fmu.serialise(c, state, bytes, size) || fmu.free_state(c, &state)) return 3;
        }
        if (n < job.count) advance(c, n);
    }
    if (fmu.terminate(c)) return 3;
    fmu.free_instance(c);

    c = begin();
    if (fmu.deserialise(c, bytes, size, &state) || fmu.set_state(c, state) || fmu.free_state(c, &state)) return 3;
    for (long n = job.count / 2; n <= job.count; ++n) {
        read_row(c, again);
        if (memcmp(again, rows + (size_t)n * row, row * sizeof *again))
            return fprintf(stderr, "row %ld differs in the second instance\n", n), 1;
        if (n < job.count) advance(c, n);
    }
    if (fmu.terminate(c)) return 3;
    fmu.free_instance(c);

    for (long n = 0; n <= job.count; ++n) {
        printf("%.17g", (double)n * job.step);
        for (size_t k = 0; k < row; ++k) printf(",%.17g", rows[(size_t)n * row + k]);
        putchar('\n');
    }
    return 0;
}

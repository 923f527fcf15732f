/* A host of FMUs that knows nothing of mdpcosim: plain C, the declarations of FMI 2.0 in its own words, nothing but the C library.
 *     host LIBRARY RESOURCES GUID STEP COUNT INSTANCES REFERENCE... [-- REFERENCE=VALUE...]
 * makes INSTANCES of the FMU, sets the real values behind '--', does COUNT steps of length STEP with each in turn, every instance in a thread of its
 * own, and prints the real outputs REFERENCE... of every row, "time,value,...", of the last instance. All instances must have given the same
 * bits. In the middle the state of each is saved, COUNT/4 steps are done, and it is put back. Checks that the FMU leaves no signal handler, no thread and no other rounding
 * behind. Status 0: all is well; 1: something is not, which is printed on standard error; 3: the FMU refused. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    void (*logger)(void*, const char*, int, const char*, const char*, ...);
    void* (*allocate)(size_t, size_t);
    void (*release)(void*);
    void (*finished)(void*, int);
    void* environment;
} callbacks;

static struct {
    const char* (*version)(void);
    void* (*instantiate)(const char*, int, const char*, const char*, const callbacks*, int, int);
    void (*free_instance)(void*);
    int (*set_up)(void*, int, double, double, int, double);
    int (*enter)(void*);
    int (*leave)(void*);
    int (*terminate)(void*);
    int (*get_real)(void*, const unsigned*, size_t, double*);
    int (*set_real)(void*, const unsigned*, size_t, const double*);
    int (*step)(void*, double, double, int);
    int (*get_state)(void*, void**);
    int (*set_state)(void*, void*);
    int (*free_state)(void*, void**);
} fmu;

static struct {
    const char *resources, *guid;
    double step;
    long count;
    unsigned references[1000], set[1000];
    double values[1000];
    size_t outputs, settings;
} job;

typedef struct {
    int number, status;
    double* rows;
} work;

static void tell(void* environment, const char* instance, int status, const char* category, const char* format, ...) {
    (void)environment, (void)category;
    if (status == 0) return;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", instance);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

static void* symbol(void* library, const char* name) {
    void* found = dlsym(library, name);
    if (!found) fprintf(stderr, "%s is not there\n", name), exit(1);
    return found;
}

static int threads(void) {
    FILE* status = fopen("/proc/self/status", "r");
    char line[200];
    int count = 0;
    while (status && fgets(line, sizeof line, status)) sscanf(line, "Threads: %d", &count);
    if (status) fclose(status);
    return count;
}

static int run(work* w) {
    static const callbacks mine = {tell, calloc, free, NULL, NULL};
    char name[20];
    snprintf(name, sizeof name, "instance %d", w->number);
    void *c = fmu.instantiate(name, 1, job.guid, job.resources, &mine, 0, 0), *state = NULL;
    if (!c || fmu.set_up(c, 0, 0, 0, 0, 0)) return 3;
    if (job.settings && fmu.set_real(c, job.set, job.settings, job.values)) return 3;
    if (fmu.enter(c) || fmu.leave(c)) return 3;
    for (long n = 0;; ++n) {
        if (fmu.get_real(c, job.references, job.outputs, w->rows + (size_t)n * job.outputs)) return 3;
        if (n == job.count) break;
        if (fmu.get_state && n == job.count / 2) {
            if (fmu.get_state(c, &state)) return 3;
            for (long k = n; k < n + job.count / 4; ++k)
                if (fmu.step(c, (double)k * job.step, job.step, 1)) return 3;
            if (fmu.set_state(c, state) || fmu.free_state(c, &state)) return 3;
        }
        if (fmu.step(c, (double)n * job.step, job.step, 1)) return 3;
    }
    if (fmu.terminate(c)) return 3;
    fmu.free_instance(c);
    return 0;
}

static void* run_thread(void* w) {
    ((work*)w)->status = run(w);
    return NULL;
}

int main(int argc, char** argv) {
    if (argc < 8) return 1;
    job.resources = argv[2];
    job.guid = argv[3];
    job.step = atof(argv[4]);
    job.count = atol(argv[5]);
    const int instances = atoi(argv[6]), saves = instances > 0;
    int behind = 0;
    for (int i = 7; i < argc; ++i)
        if (!strcmp(argv[i], "--"))
            behind = 1;
        else if (!behind)
            job.references[job.outputs++] = (unsigned)atoi(argv[i]);
        else
            sscanf(argv[i], "%u=%lf", &job.set[job.settings], &job.values[job.settings]), ++job.settings;

    struct sigaction before[65], after;
    for (int s = 1; s < 65; ++s) sigaction(s, NULL, &before[s]);
    const int threads_before = threads();

    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    *(void**)&fmu.version = symbol(library, "fmi2GetVersion");
    *(void**)&fmu.instantiate = symbol(library, "fmi2Instantiate");
    *(void**)&fmu.free_instance = symbol(library, "fmi2FreeInstance");
    *(void**)&fmu.set_up = symbol(library, "fmi2SetupExperiment");
    *(void**)&fmu.enter = symbol(library, "fmi2EnterInitializationMode");
    *(void**)&fmu.leave = symbol(library, "fmi2ExitInitializationMode");
    *(void**)&fmu.terminate = symbol(library, "fmi2Terminate");
    *(void**)&fmu.get_real = symbol(library, "fmi2GetReal");
    *(void**)&fmu.set_real = symbol(library, "fmi2SetReal");
    *(void**)&fmu.step = symbol(library, "fmi2DoStep");
    if (saves) {
        *(void**)&fmu.get_state = symbol(library, "fmi2GetFMUstate");
        *(void**)&fmu.set_state = symbol(library, "fmi2SetFMUstate");
        *(void**)&fmu.free_state = symbol(library, "fmi2FreeFMUstate");
    }
    if (strcmp(fmu.version(), "2.0")) return fprintf(stderr, "version %s\n", fmu.version()), 1;

    /* A negative number: one instance, without states, in this thread. */
    const int count = saves ? instances : 1;
    const size_t row = job.outputs * sizeof(double), rows = ((size_t)job.count + 1) * row;
    work all[16] = {{0}};
    pthread_t thread[16];
    for (int i = 0; i < count && i < 16; ++i) {
        all[i].number = i;
        all[i].rows = malloc(rows);
        if (!saves)
            all[i].status = run(&all[i]);
        else if (pthread_create(&thread[i], NULL, run_thread, &all[i]))
            return 1;
    }
    for (int i = 0; saves && i < count; ++i) pthread_join(thread[i], NULL);
    for (int i = 0; i < count; ++i) {
        if (all[i].status) return all[i].status;
        if (memcmp(all[i].rows, all[0].rows, rows)) return fprintf(stderr, "instance %d differs\n", i), 1;
    }

    if (threads() != threads_before) return fprintf(stderr, "%d threads, before %d\n", threads(), threads_before), 1;
    for (int s = 1; s < 65; ++s) {
        sigaction(s, NULL, &after);
        if (after.sa_handler != before[s].sa_handler) return fprintf(stderr, "signal %d has a handler\n", s), 1;
    }
    if (fegetround() != FE_TONEAREST || fegetexcept()) return fprintf(stderr, "other arithmetic\n"), 1;

    for (long n = 0; n <= job.count; ++n) {
        printf("%.17g", (double)n * job.step);
        for (size_t k = 0; k < job.outputs; ++k) printf(",%.17g", all[count - 1].rows[(size_t)n * job.outputs + k]);
        putchar('\n');
    }
    return 0;
}

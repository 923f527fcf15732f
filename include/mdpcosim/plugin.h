/* The plugin interface of mdpcosim, version 1: a model in a shared library. Plain C99; usable from C++ and, through
 * plugin.f90, from Fortran.
 *
 * The library exports one function, mdpcosim_plugin_entry(), which returns a table: what the model has (inputs, outputs,
 * ports, parameters) and the functions that work it. There are two forms:
 *   equations    `derivatives` is given: x' = f(t, x, u), y = g(t, x, u). mdpcosim keeps x and integrates it with the solver
 *                of the scenario; saving, restoring and the monolithic reference come for free.
 *   own solver   `advance` is given: the model integrates itself and keeps its state in the instance.
 *
 * Call order (each instance is used by one thread at a time, different instances by different threads at once):
 *   1. mdpcosim_plugin_entry(version)       once per library; the table and all it points to never change
 *   2. create(parameters, message)          once per subsystem that uses the library
 *   3. initialise(instance, t0, x)          once, after create
 *   4. equations:   derivatives, output_values, jacobian, event_indicators, next_time_event    in any order, any number
 *                                           of times, for any t, x and u (solvers try and throw away): change nothing
 *                   apply_event             at an event; changes x only
 *      own solver:  advance(t0, t1)         t0 is the t1 of the last advance, or that of initialise or of a restored state
 *                   output_values           between them, any number of times: changes nothing
 *                   save, restore           between them, where given
 *      both:        set_text, get_text      between macro steps, where texts are declared
 *   5. destroy(instance)                    once; the last call
 * create and destroy never run at the same time as any other function of the library.
 *
 * Rules
 *   Units are SI everywhere. Vectors of inputs u and outputs y hold the elements of the variables in the declared order, without
 *   the texts. Integers and booleans (0 and 1) stand there as the doubles that equal them; as inputs they are constant over a step.
 *   A function returns 0, or anything else for failure, after writing the reason into the instance's `message` (create: returns
 *   NULL). A failure ends the run, naming subsystem, function and time; then only destroy follows.
 *   Pointers that are handed over are valid during the call only, except `message`, which is valid until destroy.
 *   No C++ exception and no longjmp may leave a function. (mdpcosim catches exceptions where the compilers allow it.)
 *   No function may change the process: signal handlers, locale, floating-point modes, working folder; none may call exit.
 *
 * Set all of a table's members that are not used to zero: static storage and designated initialisers do it. */
#ifndef MDPCOSIM_PLUGIN_H
#define MDPCOSIM_PLUGIN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MDPCOSIM_PLUGIN_VERSION 1

#define MDPCOSIM_MESSAGE_SIZE 1024 /* characters in `message`, the final NUL included */
#define MDPCOSIM_COEFFICIENTS 7    /* coefficients per input in advance() */
#define MDPCOSIM_CONSTANT (-1)     /* max_degree of an input that takes constants only */

/* Types of variables; the last two are texts. */
enum { MDPCOSIM_REAL = 0, MDPCOSIM_INTEGER = 1, MDPCOSIM_BOOLEAN = 2, MDPCOSIM_STRING = 3, MDPCOSIM_BINARY = 4 };

typedef struct mdpcosim_input {
    const char* name; /* address inside the subsystem: letters, digits, _ and -, parts joined by points: "mass.force" */
    const char* unit; /* SI, "N.m/rad"; "1": a pure number; NULL: unknown */
    const char* description; /* may be NULL */
    int size;                /* elements; 0 is 1 */
    int max_degree; /* 0: takes any polynomial; 1 to 6: up to this degree; MDPCOSIM_CONSTANT: constants. mdpcosim brings
                       higher degrees down so that the integral over the step stays. */
    double start;   /* value while nothing is connected; of a number */
    int type;       /* one of the above; texts have no unit, max_degree and start */
} mdpcosim_input;

typedef struct mdpcosim_output {
    const char* name;
    const char* unit;
    const char* description;
    int size;
    const char* rate; /* name of the output that is this one's time derivative; NULL: not given */
    /* Names of the inputs it depends on without a state between, separated by blanks; "*": all; NULL: none. Leaving one
       out gives wrong results. */
    const char* direct;
    int type; /* as of an input; rate and direct are for numbers only */
} mdpcosim_output;

/* A physical port: outputs and inputs that belong together, so that laws and joints can connect them. */
typedef struct mdpcosim_port {
    const char* name;
    const char* kind;      /* "translation", "rotation", "hydraulic", "thermal", "electric", "magnetic", "frame" */
    const char* causality; /* NULL or "takes-load": gives motion, takes the load; "takes-motion": the reverse */
    const char* variables; /* "position=x velocity=v force=F"; NULL: those named <port>.position, <port>.velocity ... */
    const char* description;
} mdpcosim_port;

typedef struct mdpcosim_parameter {
    const char* name;
    const char* unit;
    const char* description;
    double default_value; /* NAN: the user has to set it */
    int allowed;          /* one of the below */
} mdpcosim_parameter;

enum { MDPCOSIM_ANY = 0, MDPCOSIM_POSITIVE = 1, MDPCOSIM_NOT_NEGATIVE = 2, MDPCOSIM_WHOLE = 3 /* 1, 2, 3 ... */ };

/* Which structures the library was compiled with; later versions of mdpcosim append members and see here what is missing. */
typedef struct mdpcosim_layout {
    int version, plugin_size, input_size, output_size, port_size, parameter_size;
} mdpcosim_layout;

typedef struct mdpcosim_plugin {
    mdpcosim_layout layout; /* = MDPCOSIM_LAYOUT */

    const mdpcosim_input* inputs;
    const mdpcosim_output* outputs;
    const mdpcosim_port* ports;
    const mdpcosim_parameter* parameters;
    int input_count, output_count, port_count, parameter_count; /* of declarations; vectors count once */

    int state_count; /* elements of x; 0 with an own solver, where x is NULL */
    int event_count; /* state events: sign changes of the event indicators */

    /* ---- both forms ---- */

    /* A new instance, not NULL; `parameters` in the declared order. */
    void* (*create)(const double* parameters, char* message);
    void (*destroy)(void* instance);
    /* The state at t0 into x, or into the instance. */
    int (*initialise)(void* instance, double t0, double* x);
    /* y = g(t, x, u); with an own solver t is the present time and x is NULL. */
    int (*output_values)(void* instance, double t, const double* x, const double* u, double* y);

    /* ---- equations; all but the first are optional ---- */

    int (*derivatives)(void* instance, double t, const double* x, const double* u, double* dx);
    /* df/dx by columns: df_i/dx_j at dfdx[i + j * state_count]. */
    int (*jacobian)(void* instance, double t, const double* x, const double* u, double* dfdx);
    /* z[event_count]; an event is where one changes its sign. */
    int (*event_indicators)(void* instance, double t, const double* x, const double* u, double* z);
    /* Changes x where indicator `event` became positive (rising = 1) or negative (0); may leave x as it is. What else
       changes in a model, a mode for example, is a state with derivative zero. */
    int (*apply_event)(void* instance, int event, int rising, double t, double* x, const double* u);
    /* The next time after t at which f jumps into *next, which holds infinity for none. At that time f has its new value. */
    int (*next_time_event)(void* instance, double t, double* next);

    /* ---- own solver; all but the first are optional ---- */

    /* From t0 to t1. Element i of the inputs is the polynomial
       u_i(t) = sum over k of inputs[i * MDPCOSIM_COEFFICIENTS + k] * (t - t0)^k; it jumps from step to step. */
    int (*advance)(void* instance, double t0, double t1, const double* inputs);
    /* All three or none. What save puts into `into`, save_size bytes, restore takes to bring the instance back; advancing
       after save, after restore and without either must be the same, bit by bit. The bytes may be kept in a file and given to
       another instance with the same parameters in another process: no addresses. save_size is asked after initialise. Texts of inputs
       are given again by mdpcosim where a state is loaded; texts of outputs belong to what is saved. */
    size_t (*save_size)(void* instance);
    int (*save)(void* instance, void* into);
    int (*restore)(void* instance, const void* from);
    /* A new value of the parameter, by its number in the declared order, between steps; from now on it counts. */
    int (*set_parameter)(void* instance, int parameter, double value);

    /* ---- both forms, where texts are declared ---- */

    /* Text inputs, and text outputs, have numbers of their own: 0, 1 ... in the declared order, element by element. An input has `size`
       bytes from now on; behind them stands a zero, which does not belong to them. */
    int (*set_text)(void* instance, int input, const char* text, size_t size);
    /* Sets *text and *size to the output's present bytes, which stay valid until the next call of any function. */
    int (*get_text)(void* instance, int output, const char** text, size_t* size);
} mdpcosim_plugin;

#define MDPCOSIM_LAYOUT                                                                               \
    {                                                                                                 \
        MDPCOSIM_PLUGIN_VERSION, (int)sizeof(mdpcosim_plugin), (int)sizeof(mdpcosim_input),           \
            (int)sizeof(mdpcosim_output), (int)sizeof(mdpcosim_port), (int)sizeof(mdpcosim_parameter) \
    }

#if defined(__GNUC__)
#define MDPCOSIM_EXPORT __attribute__((visibility("default")))
#else
#define MDPCOSIM_EXPORT
#endif

/* The library's one exported function. `version` is that of mdpcosim; return NULL if the library cannot serve it. */
MDPCOSIM_EXPORT const mdpcosim_plugin* mdpcosim_plugin_entry(int version);

/* For advance(): element i of the inputs at the time t0 + s. */
static inline double mdpcosim_input_value(const double* inputs, int i, double s) {
    const double* c = inputs + i * MDPCOSIM_COEFFICIENTS;
    double value = c[MDPCOSIM_COEFFICIENTS - 1];
    int k;
    for (k = MDPCOSIM_COEFFICIENTS - 2; k >= 0; --k) value = value * s + c[k];
    return value;
}

#ifdef __cplusplus
}
#endif

#endif

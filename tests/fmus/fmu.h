/* What a test FMU is made of: a table of variables and a few functions, the same for FMI 1.0, 2.0 and 3.0. The framework
 * (fmu.c, and fmi1.c, fmi2.c or fmi3.c) makes the FMI functions from them, describe.cpp the model description.
 *
 * The framework is strict, so that an importer's mistake shows: a call in the wrong mode, an unknown value reference or
 * a value that may not be set is an error with a log message; any call after a fatal error ends the process.
 *
 * Value references are the indices of the table; 0 is the time. A state is a variable that another one names in
 * `derivative_of`. Values lie in one block of eight-byte elements, so that saving an instance is copying a block. */
#ifndef MDPCOSIM_TEST_FMU_H
#define MDPCOSIM_TEST_FMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FMU_EXPORT __attribute__((visibility("default")))
#define FMU_TEXT_SIZE 256 /* bytes of a string with its NUL, or of a binary with its size in the first eight */
#define FMU_MAX_STATES 32
#define FMU_MAX_DEGREE 6 /* of an input's polynomial */
#define FMU_MAX_POLYNOMIALS 4

typedef enum {
    fmu_float64,
    fmu_float32,
    fmu_int8,
    fmu_uint8,
    fmu_int16,
    fmu_uint16,
    fmu_int32,
    fmu_uint32,
    fmu_int64,
    fmu_uint64,
    fmu_boolean,
    fmu_string,
    fmu_enumeration,
    fmu_binary,
    fmu_clock /* 3.0 */
} fmu_type;

typedef enum { fmu_independent, fmu_parameter, fmu_structural, fmu_input, fmu_output, fmu_local } fmu_causality;
typedef enum { fmu_continuous, fmu_discrete, fmu_tunable, fmu_fixed } fmu_variability;

typedef struct {
    const char* name;
    const char* description;
    fmu_type type;
    fmu_causality causality;
    fmu_variability variability;
    const char* start; /* elements separated by blanks; NULL: calculated */
    const char* unit;
    const char* display_unit;
    unsigned derivative_of;
    const char*
        dependencies;  /* value references, separated by blanks, as the outputs and derivatives want; NULL: all */
    const char* kinds; /* of the dependencies; NULL: not said */
    const char* initial_dependencies; /* the same in initialisation mode */
    const char* alias;                /* a second name */
    const char* negated;              /* a name for the value with the other sign (1.0) */
    const char* items;                /* of an enumeration, separated by blanks; the first has value 1 */
    unsigned dimensions[2];           /* the structural parameters that give them; 0: none */
    int only;                         /* 3: FMI 3.0 only */
    bool reinit;                      /* a state that jumps at events */
    unsigned clock;                   /* that lets the variable change (3.0) */
    const char* interval;             /* of a clock: its intervalVariability; a constant one has one of 0.1 s */
    const char* shift;                /* of a clock, in s; NULL: 0 */
} fmu_variable;

enum { /* capabilities */
       fmu_saves = 1,
       fmu_derives = 2,              /* directional derivatives */
       fmu_gives_rates = 4,          /* first derivatives of the outputs in co-simulation */
       fmu_takes_rates = 8,          /* derivatives of the inputs (1.0, 2.0) */
       fmu_intermediate_update = 16, /* 3.0 */
       fmu_event_mode = 32,          /* in co-simulation (3.0) */
       fmu_early_return = 64,        /* 3.0 */
       fmu_one_instance = 128,       /* per process */
       fmu_fixed_step = 256,         /* all communication steps are equal and a multiple of the internal one */
       fmu_needs_completed_step = 512,
       fmu_no_model_exchange = 1024,
       fmu_no_co_simulation = 2048,
       fmu_refuses_event_mode = 65536, /* gives no instance that has it (3.0) */
       fmu_silent_start = 131072       /* the initialisation says nothing about events (1.0) */
};

/* Status codes of all versions. */
enum { fmu_ok, fmu_warning, fmu_discard, fmu_error, fmu_fatal, fmu_pending };

/* Where a model can have its say before anything is done. */
typedef enum {
    fmu_call_none,
    fmu_call_set_up,
    fmu_call_enter_initialization,
    fmu_call_exit_initialization,
    fmu_call_set,
    fmu_call_get,
    fmu_call_step,
    fmu_call_set_time,
    fmu_call_set_states,
    fmu_call_derivatives,
    fmu_call_indicators,
    fmu_call_update,
    fmu_call_completed_step,
    fmu_call_save,
    fmu_call_restore,
    fmu_call_directional,
    fmu_call_terminate,
    fmu_call_reset,
    fmu_call_free,
    fmu_call_instantiate,
    fmu_call_other
} fmu_call;

typedef struct fmu fmu;

typedef struct {
    const char* name;   /* a member of the terminal */
    unsigned reference; /* its variable */
    bool flow;
} fmu_member;

typedef struct {
    const char* name;
    const char* kind;
    fmu_member members[4]; /* up to the first without a name */
} fmu_terminal;

typedef struct {
    bool again, terminate, states_changed;
} fmu_update;

typedef struct {
    double reached;
    bool event, early;
} fmu_told;

/* Members without a value are zero: not there. */
typedef struct {
    const char* name; /* of the FMU, the build gives it as NAME; "{mdpcosim-<name>}" is its GUID or token */
    const char* description;
    const fmu_variable* variables;
    unsigned variable_count;
    unsigned capabilities;
    double internal_step;   /* of the classical Runge-Kutta method that co-simulation uses */
    double max_step;        /* a longer communication step is not done to its end; 0: any length */
    double stop;            /* default experiment from 0 to here */
    double step;            /* its step; 0: not said */
    double nominal;         /* of every state; 0: not said */
    unsigned indicators[4]; /* value references of the event indicators, up to the first 0 */
    fmu_terminal terminal;  /* FMI 3.0 */

    int (*load)(fmu* m);      /* from the resources, at the instantiation: a status */
    void (*start)(fmu* m);    /* states from parameters, whenever something is set before the end of initialisation */
    void (*evaluate)(fmu* m); /* derivatives and outputs from time, states, parameters and inputs */
    double (*partial)(fmu* m, unsigned unknown, unsigned known); /* d unknown / d known */
    double (*rate)(fmu* m, unsigned output);                     /* d output / dt */
    void (*update)(fmu* m, fmu_update* info);                    /* at an event */
    double (*interval)(fmu* m, unsigned clock);                  /* NaN: as it was */
    double (*next_event)(fmu* m);                                /* its time; HUGE_VAL: none */
    bool (*completed_step)(fmu* m);                              /* whether there is an event */
    /* Co-simulation up to `target` at most, on a way of its own: the time reached; `event`: one waits there. */
    double (*advance)(fmu* m, double target, bool* event);
    /* The end of a communication step as it is told: what was done may be shorter, what is said need not be true (3.0). */
    void (*tell)(fmu* m, double begin, double asked, fmu_told* told);
    int (*enter)(fmu* m, fmu_call call); /* a status: from fmu_discard on the call returns it at once */
} fmu_model;

typedef union {
    double f64;
    float f32;
    int64_t i;
    uint64_t u;
} fmu_value;

typedef enum {
    fmu_instantiated = 1,
    fmu_configuration = 2,
    fmu_initialization = 4,
    fmu_event = 8,
    fmu_continuous_time = 16,
    fmu_step_mode = 32,
    fmu_intermediate = 64, /* inside a communication step */
    fmu_terminated = 128,
    fmu_any_mode = 255
} fmu_mode;

/* All that changes; the values follow. */
typedef struct {
    double time;
    double communication_step; /* the first one */
    double stop;               /* -1: not said */
    bool keeps_state;          /* the last step may be taken back */
    bool set_up;
    bool early_return; /* was asked for in the last intermediate update */
    bool terminate;
    unsigned mode;
    unsigned polynomial_count;
    struct {
        unsigned reference;
        double start;
        double coefficients[FMU_MAX_DEGREE + 1];
    } polynomials[FMU_MAX_POLYNOMIALS];
} fmu_state;

struct fmu {
    const fmu_model* model;
    fmu_state* state;
    fmu_value* value; /* in the same block */
    size_t value_count;
    unsigned* offset; /* of a variable's first element */
    unsigned* size;   /* its elements: 1 unless an array */
    unsigned state_count;
    unsigned state_element[FMU_MAX_STATES], derivative_element[FMU_MAX_STATES];
    char* name;
    char* resources; /* folder, or NULL */
    bool co_simulation, logging, event_mode_used, early_return_allowed;
    bool dirty; /* evaluate has not been called since the last change */
    bool fatal;
    void* environment;
    const void* callbacks; /* 1.0, 2.0: the structure */
    void (*log)(void);     /* 3.0: the log callback */
    void (*update)(void);  /* 3.0: the intermediate update */
};

/* A model's table; the only symbol besides the FMI functions that a library exports. */
FMU_EXPORT const fmu_model* fmu_get_model(void);

static inline double* fmu_real(fmu* m, unsigned reference) { return &m->value[m->offset[reference]].f64; }
static inline int64_t* fmu_integer(fmu* m, unsigned reference) { return &m->value[m->offset[reference]].i; }
static inline char* fmu_text(fmu* m, unsigned reference) { return (char*)&m->value[m->offset[reference]]; }

/* The classical Runge-Kutta method with steps of at most `internal_step`; also calls the intermediate update. */
double fmu_integrate(fmu* m, double target, bool* event);

/* The time derivative of an input given as a polynomial; of others zero. */
double fmu_input_rate(fmu* m, unsigned reference);

/* Sends text to the importer as it stands. */
void fmu_log(fmu* m, int status, const char* category, const char* text);

/* What loggers must survive. */
typedef enum {
    fmu_format_with_arguments,
    fmu_format_without_arguments,
    fmu_null_message,
    fmu_long_message
} fmu_bad_log;
void fmu_log_badly(fmu* m, fmu_bad_log how);

#ifdef __cplusplus
}
#endif

#endif

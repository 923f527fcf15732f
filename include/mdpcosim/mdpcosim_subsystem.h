/* Your own simulator as a subsystem of mdpcosim: a program that declares what it has and then works from macro step to macro step
 * (libmdpcosim_subsystem). Plain C99; usable from C++, from Fortran through mdpcosim_subsystem.f90, from Python through
 * mdpcosim_subsystem.py, from Octave through the function mdpcosim_subsystem. A program is one subsystem.
 *
 * mdpcosim starts the program that a scenario names (`program: ./controller --fast`) and tells it through the environment how to
 * reach mdpcosim.
 *
 * Call order
 *   1. open
 *   2. parameter, text, list, input, output, and what belongs to inputs and outputs: input_type, output_type, max_degree, start, rate,
 *      direct; text_input, text_output; port; sampled
 *      A parameter's value is known as soon as it is declared, so that the rest may depend on it.
 *   3. either   run(calls, own)      does all the rest: the library calls your functions
 *      or, where your tool owns the main loop:
 *               set_output ...       the outputs at the start
 *               while (receive(&t0, &t1) == MDPCOSIM_SUBSYSTEM_STEP) {
 *                   ... integrate from t0 to t1 with input_at(i, t) ...
 *                   set_output ...   the outputs at t1
 *                   send();
 *               }
 *
 * Rules
 *   Units are SI everywhere. Variables are known by numbers: those that input and output return, counted from 0; element k of a
 *   vector has the number of the vector plus k. They are the places in the vectors of inputs and of outputs.
 *   Functions return 0 (or what they are asked for), and -1 for failure. After a failure all functions do nothing and fail, so that
 *   it is enough to look at what open and the last one, run or receive, return. message() says why; mdpcosim is told as well.
 *   One thread calls. Standard output and standard error are kept by mdpcosim: their end is shown when the run is over or fails. */
#ifndef MDPCOSIM_SUBSYSTEM_H
#define MDPCOSIM_SUBSYSTEM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MDPCOSIM_SUBSYSTEM_API __attribute__((visibility("default")))
#else
#define MDPCOSIM_SUBSYSTEM_API
#endif

/* ---- 1. ---- */

/* Fails where mdpcosim did not start the program; message() then says how it is started. */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_open(void);

/* The name that the scenario gives to this subsystem. */
MDPCOSIM_SUBSYSTEM_API const char* mdpcosim_subsystem_name(void);

/* ---- 2. Texts may be NULL except names ---- */

/* The value that the scenario sets (in `unit`, whatever unit the user wrote), else the default; a default of NAN: the user has to set
   it. unit: SI, "N.m/rad"; "1": a pure number; NULL: unknown. */
MDPCOSIM_SUBSYSTEM_API double mdpcosim_subsystem_parameter(const char* name, const char* unit, double default_value,
                                                           const char* description);
/* The same for a text, which stays valid. A default of NULL: the user has to set it. */
MDPCOSIM_SUBSYSTEM_API const char* mdpcosim_subsystem_text(const char* name, const char* default_value,
                                                           const char* description);

/* A number that may change between the steps of a run; the same arguments. Returns its number, for the present value at any later time. */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_tunable(const char* name, const char* unit, double default_value,
                                                      const char* description);
MDPCOSIM_SUBSYSTEM_API double mdpcosim_subsystem_tunable_value(int tunable);
/* The same for a list of numbers. `values` has room for `capacity` of them and holds `size` defaults, 0: the user has to set it.
   Returns how many there are in the end; more than `capacity` are the user's mistake. */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_list(const char* name, const char* unit, double* values, int size,
                                                   int capacity, const char* description);

/* An input or output of `size` elements; returns the number of its first one. A name is an address inside the subsystem: letters,
   digits, _ and -, parts joined by points: "mass.force". */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_input(const char* name, const char* unit, int size, const char* description);
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_output(const char* name, const char* unit, int size,
                                                     const char* description);

/* Types; integers and booleans (0 and 1) are the doubles that equal them, and as inputs constant over a step. */
enum {
    MDPCOSIM_SUBSYSTEM_REAL = 0,
    MDPCOSIM_SUBSYSTEM_INTEGER = 1,
    MDPCOSIM_SUBSYSTEM_BOOLEAN = 2,
    MDPCOSIM_SUBSYSTEM_STRING = 3,
    MDPCOSIM_SUBSYSTEM_BINARY = 4
};
/* One of the first three; real if this is not called. */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_input_type(int input, int type);
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_output_type(int output, int type);

/* Texts of any length; type: STRING or BINARY. Text inputs, and text outputs, have numbers of their own, 0, 1 ... in the order of these
   calls. An input keeps its text until another one comes, which is at the begin of a macro step. */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_text_input(const char* name, int type, const char* description);
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_text_output(const char* name, int type, const char* description);

/* The input takes polynomials up to this degree, 0 (constants) to 6; any if this is not called. mdpcosim brings higher degrees down so
   that the integral over the step stays. */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_max_degree(int input, int degree);
/* Its value while nothing is connected; 0 if this is not called. */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_start(int input, double value);
/* Output `rate` is the time derivative of `output`. */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_rate(int output, int rate);
/* The output depends on the input without a state between (feed-through). Leaving one out gives wrong results. */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_direct(int output, int input);
/* All inputs are read, and all outputs change, at sample times only: signals to and from this subsystem are held. */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_sampled(void);

/* A physical port: outputs and an input that belong together, so that laws can connect them.
   kind: "translation", "rotation", "hydraulic", "thermal", "electric", "magnetic"
   causality: NULL or "takes-load": gives motion, takes the load; "takes-motion": the reverse
   variables: "position=x velocity=v force=F"; NULL: those named <port>.position, <port>.velocity ... */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_port(const char* name, const char* kind, const char* causality,
                                                   const char* variables, const char* description);

/* ---- 3. Inputs and outputs of the present call or step ---- */

/* Input number `input` at the time t. */
MDPCOSIM_SUBSYSTEM_API double mdpcosim_subsystem_input_at(int input, double t);
/* The same at the step's begin t0 + s, without the rounding of t. */
MDPCOSIM_SUBSYSTEM_API double mdpcosim_subsystem_input_after(int input, double s);
/* Its 7 coefficients c: the value at t0 + s is the sum of c[k] s^k. Valid until the end of the call, or until send. */
MDPCOSIM_SUBSYSTEM_API const double* mdpcosim_subsystem_polynomial(int input);
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_set_output(int output, double value);
/* The present text of a text input, empty until it has one. *size, where size is not NULL, is its number of bytes; behind them stands a
   zero. Valid until the end of the call, or until send. */
MDPCOSIM_SUBSYSTEM_API const char* mdpcosim_subsystem_input_text(int text_input, size_t* size);
/* A copy of the bytes is kept as the output's text until the next one. */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_set_output_text(int text_output, const char* text, size_t size);

/* ---- 3. with functions of yours ---- */

/* Each returns 0, or anything else for failure, best after fail(). Those that are not given are NULL. */
typedef struct mdpcosim_subsystem_calls {
    /* The state at t0; optional. */
    int (*initialise)(void* own, double t0);
    /* From t0 to t1; t0 is the t1 of the last advance, or that of initialise or of a restored state. */
    int (*advance)(void* own, double t0, double t1);
    /* Sets all outputs, from the state and from the inputs at t; changes nothing else. t is the present time: t0 or t1. */
    int (*outputs)(void* own, double t);
    /* All three or none. What save puts into `into`, save_size bytes, restore takes to bring the state back; advancing after save, after
       restore and without either must be the same, bit by bit. The bytes may be kept in a file and given to another process of this
       program: no addresses. save_size is asked after initialise. */
    size_t (*save_size)(void* own);
    int (*save)(void* own, void* into);
    int (*restore)(void* own, const void* from);
} mdpcosim_subsystem_calls;

/* Returns at the end of the run. */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_run(const mdpcosim_subsystem_calls* calls, void* own);

/* ---- 3. with your own main loop ---- */

enum {
    MDPCOSIM_SUBSYSTEM_END = 0,    /* the run is over */
    MDPCOSIM_SUBSYSTEM_STEP = 1,   /* a macro step: advance from begin to end, set the outputs at end, send */
    MDPCOSIM_SUBSYSTEM_OUTPUTS = 2 /* only where direct() was called: set the outputs at begin = end with the inputs there, send; the
                                      state stays. Without direct() the library answers with the outputs that were sent last. */
};
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_receive(double* begin, double* end);
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_send(void);

/* ---- at any time ---- */

/* Ends the run with this text as the subsystem's reason: before run or receive the user's input is wrong (a parameter), later the run
   has failed. Returns -1, so that `return mdpcosim_subsystem_fail("...")` reads well. */
MDPCOSIM_SUBSYSTEM_API int mdpcosim_subsystem_fail(const char* text);
/* Why something failed; "" while nothing has. */
MDPCOSIM_SUBSYSTEM_API const char* mdpcosim_subsystem_message(void);

#ifdef __cplusplus
}
#endif

#endif

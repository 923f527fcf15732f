/* What fmi1.c, fmi2.c and fmi3.c build on: instances, modes, values, steps. Statuses are those of fmu.h. */
#ifndef MDPCOSIM_TEST_FMU_FRAMEWORK_H
#define MDPCOSIM_TEST_FMU_FRAMEWORK_H

#include "fmu.h"

/* The framework is compiled once for each version of the standard. */
#if FMI_VERSION == 1
#include "fmi/fmi1_functions.h"
#elif FMI_VERSION == 2
#include "fmi/fmi2_functions.h"
#define FMI(name) fmi2##name
#define FMI_PROTOTYPE(name, result, arguments) FMU_EXPORT result fmi2##name arguments;
FMI2_FUNCTIONS(FMI_PROTOTYPE)
typedef fmi2Component fmu_handle;
#else
#include "fmi/fmi3_functions.h"
#define FMI(name) fmi3##name
#define FMI_PROTOTYPE(name, result, arguments) FMU_EXPORT result fmi3##name arguments;
FMI3_FUNCTIONS(FMI_PROTOTYPE)
typedef fmi3Instance fmu_handle;
#endif

/* NULL after a message when the token is another FMU's or there may be no second instance. `m` is freed then. */
fmu* fmu_instantiate(fmu* m, const char* name, const char* token, bool logging);
void fmu_free(fmu* m);
/* Offsets, sizes and start values for the structural parameters as they are. */
void fmu_lay_out(fmu* m, bool keep_structure);

/* First in every function: the status to go on with (ok or warning) or to return. */
int fmu_enter(fmu* m, fmu_call call, unsigned modes, const char* function);
int fmu_fail(fmu* m, const char* function, const char* format, ...) __attribute__((format(printf, 3, 4)));

/* The variable's first element for reading or writing; NULL after a message when it may not be accessed so. */
fmu_value* fmu_read(fmu* m, const char* function, unsigned reference, unsigned types);
fmu_value* fmu_write(fmu* m, const char* function, unsigned reference, unsigned types);

void fmu_evaluate(fmu* m);
int fmu_directional(fmu* m, const char* function, const unsigned* unknowns, size_t unknown_count,
                    const unsigned* knowns, size_t known_count, const double* seed, double* sensitivity);
int fmu_output_rates(fmu* m, const char* function, const unsigned* references, size_t count, const int* orders,
                     double* values);

typedef struct {
    double reached;
    bool event, early, terminate;
} fmu_step_result;

/* Derivatives of inputs: polynomials from now on (1.0, 2.0). */
int fmu_set_input_rates(fmu* m, const char* function, const unsigned* references, size_t count, const int* orders,
                        const double* values);

/* A communication step from `time` over `step`. Discard: not done to its end; `reached` says how far. */
int fmu_step(fmu* m, double time, double step, fmu_step_result* result);

/* In fmi3.c (1.0, 2.0: does nothing): asks for inputs at `time`, or tells that an internal step ended there; true when the
 * importer wants to come back, at the latest at `*return_time`. */
bool fmu_intermediate_update_at(fmu* m, double time, bool finished, double* return_time);
/* In fmi1.c to fmi3.c: zeroed memory, in 1.0 and 2.0 from the importer's callbacks where it gives some. */
void* fmu_allocate(fmu* m, size_t size);
void fmu_release(fmu* m, void* memory);
/* In fmi1.c to fmi3.c: hands a message to the importer's callback. */
void fmu_send(fmu* m, int status, const char* category, const char* text);

#endif

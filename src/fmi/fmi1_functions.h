/* The C interface of FMI 1.0: types, and every function that an FMU's library may export. Plain C99, usable from C++.
 *
 * Each function is one line of a list F(name, result, arguments), so that an importer makes its table of pointers and
 * an FMU its prototypes from the same text:
 *   FMI1_COMMON_FUNCTIONS          both kinds of FMU
 *   FMI1_MODEL_EXCHANGE_FUNCTIONS  model exchange only
 *   FMI1_CO_SIMULATION_FUNCTIONS   co-simulation only
 *   FMI1_FUNCTIONS                 all of them
 * A line F(DoStep, ...) stands for the exported symbol "<model identifier>_fmiDoStep"; its function type is fmi1DoStepTYPE. The
 * standard's names have no number; here they have one, so that they stand beside those of later versions.
 *
 * Enumerations are ints as in C. In C++ they say so: whatever number a library returns is then a value of the type. */
#ifndef MDPCOSIM_FMI1_FUNCTIONS_H
#define MDPCOSIM_FMI1_FUNCTIONS_H

#include <stddef.h>

#ifdef __cplusplus
#define FMI1_INT : int
extern "C" {
#else
#define FMI1_INT
#endif

#define fmi1TypesPlatform "standard32"
#define fmi1SharedLibrary "application/x-fmu-sharedlibrary" /* mimeType of a stand-alone slave */

typedef void* fmi1Component;
typedef unsigned int fmi1ValueReference;
typedef double fmi1Real;
typedef int fmi1Integer;
typedef char fmi1Boolean;
typedef const char* fmi1String; /* UTF-8, ends with NUL */

#define fmi1True 1
#define fmi1False 0
#define fmi1UndefinedValueReference ((fmi1ValueReference)-1) /* of a state that is no variable of the description */

typedef enum FMI1_INT { fmi1OK, fmi1Warning, fmi1Discard, fmi1Error, fmi1Fatal, fmi1Pending } fmi1Status;
typedef enum FMI1_INT { fmi1DoStepStatus, fmi1PendingStatus, fmi1LastSuccessfulTime } fmi1StatusKind;

/* The message is a printf format for the arguments after it; "#r12#" in it stands for the Real with value reference 12. There
 * is no environment: the FMU gives its own component, or NULL while it is being instantiated. */
typedef void (*fmi1CallbackLogger)(fmi1Component c, fmi1String instance_name, fmi1Status status, fmi1String category,
                                   fmi1String message, ...);
typedef void* (*fmi1CallbackAllocateMemory)(size_t count, size_t size); /* zeroed, like calloc */
typedef void (*fmi1CallbackFreeMemory)(void* memory);
typedef void (*fmi1StepFinished)(fmi1Component c, fmi1Status status);

/* Both are passed by value; that of model exchange is one pointer shorter. */
typedef struct {
    fmi1CallbackLogger logger;
    fmi1CallbackAllocateMemory allocateMemory;
    fmi1CallbackFreeMemory freeMemory;
} fmi1ModelCallbacks;

typedef struct {
    fmi1CallbackLogger logger;
    fmi1CallbackAllocateMemory allocateMemory;
    fmi1CallbackFreeMemory freeMemory;
    fmi1StepFinished stepFinished; /* NULL: nobody is told; a step that is pending is asked for */
} fmi1SlaveCallbacks;

typedef struct {
    fmi1Boolean iterationConverged;
    fmi1Boolean stateValueReferencesChanged;
    fmi1Boolean stateValuesChanged;
    fmi1Boolean terminateSimulation;
    fmi1Boolean upcomingTimeEvent;
    fmi1Real nextEventTime;
} fmi1EventInfo;

/* clang-format off */
#define FMI1_COMMON_FUNCTIONS(F) \
    F(GetVersion, const char*, (void)) \
    F(SetDebugLogging, fmi1Status, (fmi1Component c, fmi1Boolean on)) \
    F(GetReal, fmi1Status, (fmi1Component c, const fmi1ValueReference vr[], size_t count, fmi1Real values[])) \
    F(GetInteger, fmi1Status, (fmi1Component c, const fmi1ValueReference vr[], size_t count, fmi1Integer values[])) \
    F(GetBoolean, fmi1Status, (fmi1Component c, const fmi1ValueReference vr[], size_t count, fmi1Boolean values[])) \
    F(GetString, fmi1Status, (fmi1Component c, const fmi1ValueReference vr[], size_t count, fmi1String values[])) \
    F(SetReal, fmi1Status, (fmi1Component c, const fmi1ValueReference vr[], size_t count, const fmi1Real values[])) \
    F(SetInteger, fmi1Status, (fmi1Component c, const fmi1ValueReference vr[], size_t count, const fmi1Integer values[])) \
    F(SetBoolean, fmi1Status, (fmi1Component c, const fmi1ValueReference vr[], size_t count, const fmi1Boolean values[])) \
    F(SetString, fmi1Status, (fmi1Component c, const fmi1ValueReference vr[], size_t count, const fmi1String values[]))

#define FMI1_MODEL_EXCHANGE_FUNCTIONS(F) \
    F(GetModelTypesPlatform, const char*, (void)) \
    F(InstantiateModel, fmi1Component, (fmi1String instance_name, fmi1String guid, fmi1ModelCallbacks callbacks, \
                                        fmi1Boolean logging)) \
    F(FreeModelInstance, void, (fmi1Component c)) \
    F(SetTime, fmi1Status, (fmi1Component c, fmi1Real time)) \
    F(SetContinuousStates, fmi1Status, (fmi1Component c, const fmi1Real x[], size_t count)) \
    F(CompletedIntegratorStep, fmi1Status, (fmi1Component c, fmi1Boolean* call_event_update)) \
    F(Initialize, fmi1Status, (fmi1Component c, fmi1Boolean tolerance_defined, fmi1Real tolerance, fmi1EventInfo* info)) \
    F(GetDerivatives, fmi1Status, (fmi1Component c, fmi1Real dx[], size_t count)) \
    F(GetEventIndicators, fmi1Status, (fmi1Component c, fmi1Real z[], size_t count)) \
    F(EventUpdate, fmi1Status, (fmi1Component c, fmi1Boolean intermediate_results, fmi1EventInfo* info)) \
    F(GetContinuousStates, fmi1Status, (fmi1Component c, fmi1Real x[], size_t count)) \
    F(GetNominalContinuousStates, fmi1Status, (fmi1Component c, fmi1Real nominals[], size_t count)) \
    F(GetStateValueReferences, fmi1Status, (fmi1Component c, fmi1ValueReference vr[], size_t count)) \
    F(Terminate, fmi1Status, (fmi1Component c))

#define FMI1_CO_SIMULATION_FUNCTIONS(F) \
    F(GetTypesPlatform, const char*, (void)) \
    F(InstantiateSlave, fmi1Component, (fmi1String instance_name, fmi1String guid, fmi1String fmu_uri, \
                                        fmi1String mime_type, fmi1Real timeout, fmi1Boolean visible, \
                                        fmi1Boolean interactive, fmi1SlaveCallbacks callbacks, fmi1Boolean logging)) \
    F(InitializeSlave, fmi1Status, (fmi1Component c, fmi1Real start, fmi1Boolean stop_defined, fmi1Real stop)) \
    F(TerminateSlave, fmi1Status, (fmi1Component c)) \
    F(ResetSlave, fmi1Status, (fmi1Component c)) \
    F(FreeSlaveInstance, void, (fmi1Component c)) \
    F(SetRealInputDerivatives, fmi1Status, (fmi1Component c, const fmi1ValueReference vr[], size_t count, \
                                            const fmi1Integer orders[], const fmi1Real values[])) \
    F(GetRealOutputDerivatives, fmi1Status, (fmi1Component c, const fmi1ValueReference vr[], size_t count, \
                                             const fmi1Integer orders[], fmi1Real values[])) \
    F(CancelStep, fmi1Status, (fmi1Component c)) \
    F(DoStep, fmi1Status, (fmi1Component c, fmi1Real time, fmi1Real step, fmi1Boolean new_step)) \
    F(GetStatus, fmi1Status, (fmi1Component c, const fmi1StatusKind kind, fmi1Status* value)) \
    F(GetRealStatus, fmi1Status, (fmi1Component c, const fmi1StatusKind kind, fmi1Real* value)) \
    F(GetIntegerStatus, fmi1Status, (fmi1Component c, const fmi1StatusKind kind, fmi1Integer* value)) \
    F(GetBooleanStatus, fmi1Status, (fmi1Component c, const fmi1StatusKind kind, fmi1Boolean* value)) \
    F(GetStringStatus, fmi1Status, (fmi1Component c, const fmi1StatusKind kind, fmi1String* value))
/* clang-format on */

#define FMI1_FUNCTIONS(F) FMI1_COMMON_FUNCTIONS(F) FMI1_MODEL_EXCHANGE_FUNCTIONS(F) FMI1_CO_SIMULATION_FUNCTIONS(F)

#define FMI1_FUNCTION_TYPE(name, result, arguments) typedef result fmi1##name##TYPE arguments;
FMI1_FUNCTIONS(FMI1_FUNCTION_TYPE)
#undef FMI1_FUNCTION_TYPE
#undef FMI1_INT

#ifdef __cplusplus
}
#endif

#endif

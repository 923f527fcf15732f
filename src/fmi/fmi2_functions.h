/* The C interface of FMI 2.0 (2.0.4): types, and every function that an FMU's library may export. Plain C99, usable from C++.
 *
 * Each function is one line of a list F(name, result, arguments), so that an importer makes its table of pointers and
 * an FMU its prototypes from the same text:
 *   FMI2_COMMON_FUNCTIONS          both kinds of FMU
 *   FMI2_MODEL_EXCHANGE_FUNCTIONS  model exchange only
 *   FMI2_CO_SIMULATION_FUNCTIONS   co-simulation only
 *   FMI2_FUNCTIONS                 all of them
 * A line F(DoStep, ...) stands for the exported symbol "fmi2DoStep"; its function type is fmi2DoStepTYPE.
 *
 * Enumerations are ints as in C. In C++ they say so: whatever number a library returns is then a value of the type. */
#ifndef MDPCOSIM_FMI2_FUNCTIONS_H
#define MDPCOSIM_FMI2_FUNCTIONS_H

#include <stddef.h>

#ifdef __cplusplus
#define FMI2_INT : int
extern "C" {
#else
#define FMI2_INT
#endif

#define fmi2TypesPlatform "default"

typedef void* fmi2Component;
typedef void* fmi2ComponentEnvironment;
typedef void* fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char* fmi2String; /* UTF-8, ends with NUL */
typedef char fmi2Byte;

#define fmi2True 1
#define fmi2False 0

typedef enum FMI2_INT { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum FMI2_INT { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum FMI2_INT { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;

/* The message is a printf format for the arguments after it; "#r12#" in it stands for the Real with value reference 12. */
typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment environment, fmi2String instance_name, fmi2Status status,
                                   fmi2String category, fmi2String message, ...);
typedef void* (*fmi2CallbackAllocateMemory)(size_t count, size_t size); /* zeroed, like calloc */
typedef void (*fmi2CallbackFreeMemory)(void* memory);
typedef void (*fmi2StepFinished)(fmi2ComponentEnvironment environment, fmi2Status status);

/* Must stay valid and unchanged until fmi2FreeInstance: FMUs keep the pointer. */
typedef struct {
    fmi2CallbackLogger logger;
    fmi2CallbackAllocateMemory allocateMemory;
    fmi2CallbackFreeMemory freeMemory;
    fmi2StepFinished stepFinished; /* NULL: fmi2DoStep is synchronous */
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;

/* clang-format off */
#define FMI2_COMMON_FUNCTIONS(F) \
    F(GetTypesPlatform, const char*, (void)) \
    F(GetVersion, const char*, (void)) \
    F(SetDebugLogging, fmi2Status, (fmi2Component c, fmi2Boolean on, size_t count, const fmi2String categories[])) \
    F(Instantiate, fmi2Component, (fmi2String instance_name, fmi2Type type, fmi2String guid, fmi2String resource_uri, \
                                   const fmi2CallbackFunctions* callbacks, fmi2Boolean visible, fmi2Boolean logging)) \
    F(FreeInstance, void, (fmi2Component c)) \
    F(SetupExperiment, fmi2Status, (fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start, \
                                    fmi2Boolean stop_defined, fmi2Real stop)) \
    F(EnterInitializationMode, fmi2Status, (fmi2Component c)) \
    F(ExitInitializationMode, fmi2Status, (fmi2Component c)) \
    F(Terminate, fmi2Status, (fmi2Component c)) \
    F(Reset, fmi2Status, (fmi2Component c)) \
    F(GetReal, fmi2Status, (fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Real values[])) \
    F(GetInteger, fmi2Status, (fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Integer values[])) \
    F(GetBoolean, fmi2Status, (fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Boolean values[])) \
    F(GetString, fmi2Status, (fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2String values[])) \
    F(SetReal, fmi2Status, (fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Real values[])) \
    F(SetInteger, fmi2Status, (fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Integer values[])) \
    F(SetBoolean, fmi2Status, (fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Boolean values[])) \
    F(SetString, fmi2Status, (fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2String values[])) \
    F(GetFMUstate, fmi2Status, (fmi2Component c, fmi2FMUstate* state)) \
    F(SetFMUstate, fmi2Status, (fmi2Component c, fmi2FMUstate state)) \
    F(FreeFMUstate, fmi2Status, (fmi2Component c, fmi2FMUstate* state)) \
    F(SerializedFMUstateSize, fmi2Status, (fmi2Component c, fmi2FMUstate state, size_t* size)) \
    F(SerializeFMUstate, fmi2Status, (fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)) \
    F(DeSerializeFMUstate, fmi2Status, (fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate* state)) \
    F(GetDirectionalDerivative, fmi2Status, (fmi2Component c, const fmi2ValueReference unknowns[], size_t unknown_count, \
                                             const fmi2ValueReference knowns[], size_t known_count, \
                                             const fmi2Real seed[], fmi2Real sensitivity[]))

#define FMI2_MODEL_EXCHANGE_FUNCTIONS(F) \
    F(EnterEventMode, fmi2Status, (fmi2Component c)) \
    F(NewDiscreteStates, fmi2Status, (fmi2Component c, fmi2EventInfo* info)) \
    F(EnterContinuousTimeMode, fmi2Status, (fmi2Component c)) \
    F(CompletedIntegratorStep, fmi2Status, (fmi2Component c, fmi2Boolean no_return_before_now, \
                                            fmi2Boolean* enter_event_mode, fmi2Boolean* terminate)) \
    F(SetTime, fmi2Status, (fmi2Component c, fmi2Real time)) \
    F(SetContinuousStates, fmi2Status, (fmi2Component c, const fmi2Real x[], size_t count)) \
    F(GetDerivatives, fmi2Status, (fmi2Component c, fmi2Real dx[], size_t count)) \
    F(GetEventIndicators, fmi2Status, (fmi2Component c, fmi2Real z[], size_t count)) \
    F(GetContinuousStates, fmi2Status, (fmi2Component c, fmi2Real x[], size_t count)) \
    F(GetNominalsOfContinuousStates, fmi2Status, (fmi2Component c, fmi2Real nominals[], size_t count))

#define FMI2_CO_SIMULATION_FUNCTIONS(F) \
    F(SetRealInputDerivatives, fmi2Status, (fmi2Component c, const fmi2ValueReference vr[], size_t count, \
                                            const fmi2Integer orders[], const fmi2Real values[])) \
    F(GetRealOutputDerivatives, fmi2Status, (fmi2Component c, const fmi2ValueReference vr[], size_t count, \
                                             const fmi2Integer orders[], fmi2Real values[])) \
    F(DoStep, fmi2Status, (fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean no_return_before_now)) \
    F(CancelStep, fmi2Status, (fmi2Component c)) \
    F(GetStatus, fmi2Status, (fmi2Component c, const fmi2StatusKind kind, fmi2Status* value)) \
    F(GetRealStatus, fmi2Status, (fmi2Component c, const fmi2StatusKind kind, fmi2Real* value)) \
    F(GetIntegerStatus, fmi2Status, (fmi2Component c, const fmi2StatusKind kind, fmi2Integer* value)) \
    F(GetBooleanStatus, fmi2Status, (fmi2Component c, const fmi2StatusKind kind, fmi2Boolean* value)) \
    F(GetStringStatus, fmi2Status, (fmi2Component c, const fmi2StatusKind kind, fmi2String* value))
/* clang-format on */

#define FMI2_FUNCTIONS(F) FMI2_COMMON_FUNCTIONS(F) FMI2_MODEL_EXCHANGE_FUNCTIONS(F) FMI2_CO_SIMULATION_FUNCTIONS(F)

#define FMI2_FUNCTION_TYPE(name, result, arguments) typedef result fmi2##name##TYPE arguments;
FMI2_FUNCTIONS(FMI2_FUNCTION_TYPE)
#undef FMI2_FUNCTION_TYPE
#undef FMI2_INT

#ifdef __cplusplus
}
#endif

#endif

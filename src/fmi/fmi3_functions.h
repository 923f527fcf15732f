/* The C interface of FMI 3.0: types, and every function that an FMU's library may export. Plain C99, usable from C++.
 *
 * Each function is one line of a list F(name, result, arguments), so that an importer makes its table of pointers and
 * an FMU its prototypes from the same text:
 *   FMI3_COMMON_FUNCTIONS               life of an instance, modes, state, derivatives
 *   FMI3_ACCESS_FUNCTIONS               getting and setting variables, one pair per type
 *   FMI3_CLOCK_FUNCTIONS                intervals and shifts of clocks
 *   FMI3_MODEL_EXCHANGE_FUNCTIONS       model exchange only
 *   FMI3_CO_SIMULATION_FUNCTIONS        co-simulation only
 *   FMI3_SCHEDULED_EXECUTION_FUNCTIONS  scheduled execution only
 *   FMI3_FUNCTIONS                      all of them
 * A line F(DoStep, ...) stands for the exported symbol "fmi3DoStep"; its function type is fmi3DoStepTYPE.
 * `count` counts value references, `value_count` the elements behind them (arrays have several).
 *
 * Enumerations are ints as in C. In C++ they say so: whatever number a library returns is then a value of the type. */
#ifndef MDPCOSIM_FMI3_FUNCTIONS_H
#define MDPCOSIM_FMI3_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define FMI3_INT : int
extern "C" {
#else
#define FMI3_INT
#endif

typedef void* fmi3Instance;
typedef void* fmi3InstanceEnvironment;
typedef void* fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64; /* enumerations, too */
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef char fmi3Char;
typedef const fmi3Char* fmi3String; /* UTF-8, ends with NUL */
typedef uint8_t fmi3Byte;
typedef const fmi3Byte* fmi3Binary;
typedef bool fmi3Clock;

#define fmi3True true
#define fmi3False false
#define fmi3ClockActive true
#define fmi3ClockInactive false

typedef enum FMI3_INT { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum FMI3_INT {
    fmi3Independent,
    fmi3Constant,
    fmi3Fixed,
    fmi3Tunable,
    fmi3Discrete,
    fmi3Dependent
} fmi3DependencyKind;
typedef enum FMI3_INT { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;

/* The message is text as it stands, no format. */
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                                       fmi3String message);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment environment);
/* Inside fmi3DoStep, in the thread that called it. */
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment environment, fmi3Float64 time,
                                               fmi3Boolean set_requested, fmi3Boolean get_allowed,
                                               fmi3Boolean step_finished, fmi3Boolean can_return_early,
                                               fmi3Boolean* early_return_requested, fmi3Float64* early_return_time);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

/* clang-format off */
#define FMI3_COMMON_FUNCTIONS(F) \
    F(GetVersion, const char*, (void)) \
    F(SetDebugLogging, fmi3Status, (fmi3Instance c, fmi3Boolean on, size_t count, const fmi3String categories[])) \
    F(FreeInstance, void, (fmi3Instance c)) \
    F(EnterInitializationMode, fmi3Status, (fmi3Instance c, fmi3Boolean tolerance_defined, fmi3Float64 tolerance, \
                                            fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop)) \
    F(ExitInitializationMode, fmi3Status, (fmi3Instance c)) \
    F(EnterEventMode, fmi3Status, (fmi3Instance c)) \
    F(Terminate, fmi3Status, (fmi3Instance c)) \
    F(Reset, fmi3Status, (fmi3Instance c)) \
    F(GetNumberOfVariableDependencies, fmi3Status, (fmi3Instance c, fmi3ValueReference vr, size_t* count)) \
    F(GetVariableDependencies, fmi3Status, (fmi3Instance c, fmi3ValueReference dependent, size_t dependent_elements[], \
                                            fmi3ValueReference independents[], size_t independent_elements[], \
                                            fmi3DependencyKind kinds[], size_t count)) \
    F(GetFMUState, fmi3Status, (fmi3Instance c, fmi3FMUState* state)) \
    F(SetFMUState, fmi3Status, (fmi3Instance c, fmi3FMUState state)) \
    F(FreeFMUState, fmi3Status, (fmi3Instance c, fmi3FMUState* state)) \
    F(SerializedFMUStateSize, fmi3Status, (fmi3Instance c, fmi3FMUState state, size_t* size)) \
    F(SerializeFMUState, fmi3Status, (fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)) \
    F(DeserializeFMUState, fmi3Status, (fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState* state)) \
    F(GetDirectionalDerivative, fmi3Status, (fmi3Instance c, const fmi3ValueReference unknowns[], size_t unknown_count, \
                                             const fmi3ValueReference knowns[], size_t known_count, \
                                             const fmi3Float64 seed[], size_t seed_count, \
                                             fmi3Float64 sensitivity[], size_t sensitivity_count)) \
    F(GetAdjointDerivative, fmi3Status, (fmi3Instance c, const fmi3ValueReference unknowns[], size_t unknown_count, \
                                         const fmi3ValueReference knowns[], size_t known_count, \
                                         const fmi3Float64 seed[], size_t seed_count, \
                                         fmi3Float64 sensitivity[], size_t sensitivity_count)) \
    F(EnterConfigurationMode, fmi3Status, (fmi3Instance c)) \
    F(ExitConfigurationMode, fmi3Status, (fmi3Instance c)) \
    F(EvaluateDiscreteStates, fmi3Status, (fmi3Instance c)) \
    F(UpdateDiscreteStates, fmi3Status, (fmi3Instance c, fmi3Boolean* update_needed, fmi3Boolean* terminate, \
                                         fmi3Boolean* nominals_changed, fmi3Boolean* values_changed, \
                                         fmi3Boolean* next_event_time_defined, fmi3Float64* next_event_time))

#define FMI3_ACCESS_FUNCTIONS(F) \
    F(GetFloat32, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float32 values[], \
                               size_t value_count)) \
    F(GetFloat64, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float64 values[], \
                               size_t value_count)) \
    F(GetInt8, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Int8 values[], \
                            size_t value_count)) \
    F(GetUInt8, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3UInt8 values[], \
                             size_t value_count)) \
    F(GetInt16, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Int16 values[], \
                             size_t value_count)) \
    F(GetUInt16, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3UInt16 values[], \
                              size_t value_count)) \
    F(GetInt32, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Int32 values[], \
                             size_t value_count)) \
    F(GetUInt32, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3UInt32 values[], \
                              size_t value_count)) \
    F(GetInt64, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Int64 values[], \
                             size_t value_count)) \
    F(GetUInt64, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3UInt64 values[], \
                              size_t value_count)) \
    F(GetBoolean, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Boolean values[], \
                               size_t value_count)) \
    F(GetString, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3String values[], \
                              size_t value_count)) \
    F(GetBinary, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, size_t sizes[], \
                              fmi3Binary values[], size_t value_count)) \
    F(GetClock, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Clock values[])) \
    F(SetFloat32, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                               const fmi3Float32 values[], size_t value_count)) \
    F(SetFloat64, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                               const fmi3Float64 values[], size_t value_count)) \
    F(SetInt8, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                            const fmi3Int8 values[], size_t value_count)) \
    F(SetUInt8, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                             const fmi3UInt8 values[], size_t value_count)) \
    F(SetInt16, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                             const fmi3Int16 values[], size_t value_count)) \
    F(SetUInt16, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                              const fmi3UInt16 values[], size_t value_count)) \
    F(SetInt32, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                             const fmi3Int32 values[], size_t value_count)) \
    F(SetUInt32, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                              const fmi3UInt32 values[], size_t value_count)) \
    F(SetInt64, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                             const fmi3Int64 values[], size_t value_count)) \
    F(SetUInt64, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                              const fmi3UInt64 values[], size_t value_count)) \
    F(SetBoolean, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                               const fmi3Boolean values[], size_t value_count)) \
    F(SetString, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                              const fmi3String values[], size_t value_count)) \
    F(SetBinary, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, const size_t sizes[], \
                              const fmi3Binary values[], size_t value_count)) \
    F(SetClock, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, const fmi3Clock values[]))

#define FMI3_CLOCK_FUNCTIONS(F) \
    F(GetIntervalDecimal, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                                       fmi3Float64 intervals[], fmi3IntervalQualifier qualifiers[])) \
    F(GetIntervalFraction, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                                        fmi3UInt64 counters[], fmi3UInt64 resolutions[], \
                                        fmi3IntervalQualifier qualifiers[])) \
    F(GetShiftDecimal, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, fmi3Float64 shifts[])) \
    F(GetShiftFraction, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                                     fmi3UInt64 counters[], fmi3UInt64 resolutions[])) \
    F(SetIntervalDecimal, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                                       const fmi3Float64 intervals[])) \
    F(SetIntervalFraction, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                                        const fmi3UInt64 counters[], const fmi3UInt64 resolutions[])) \
    F(SetShiftDecimal, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                                    const fmi3Float64 shifts[])) \
    F(SetShiftFraction, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                                     const fmi3UInt64 counters[], const fmi3UInt64 resolutions[]))

#define FMI3_MODEL_EXCHANGE_FUNCTIONS(F) \
    F(InstantiateModelExchange, fmi3Instance, (fmi3String instance_name, fmi3String token, fmi3String resource_path, \
                                               fmi3Boolean visible, fmi3Boolean logging, \
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)) \
    F(EnterContinuousTimeMode, fmi3Status, (fmi3Instance c)) \
    F(CompletedIntegratorStep, fmi3Status, (fmi3Instance c, fmi3Boolean no_return_before_now, \
                                            fmi3Boolean* enter_event_mode, fmi3Boolean* terminate)) \
    F(SetTime, fmi3Status, (fmi3Instance c, fmi3Float64 time)) \
    F(SetContinuousStates, fmi3Status, (fmi3Instance c, const fmi3Float64 x[], size_t count)) \
    F(GetContinuousStateDerivatives, fmi3Status, (fmi3Instance c, fmi3Float64 dx[], size_t count)) \
    F(GetEventIndicators, fmi3Status, (fmi3Instance c, fmi3Float64 z[], size_t count)) \
    F(GetContinuousStates, fmi3Status, (fmi3Instance c, fmi3Float64 x[], size_t count)) \
    F(GetNominalsOfContinuousStates, fmi3Status, (fmi3Instance c, fmi3Float64 nominals[], size_t count)) \
    F(GetNumberOfEventIndicators, fmi3Status, (fmi3Instance c, size_t* count)) \
    F(GetNumberOfContinuousStates, fmi3Status, (fmi3Instance c, size_t* count))

#define FMI3_CO_SIMULATION_FUNCTIONS(F) \
    F(InstantiateCoSimulation, fmi3Instance, (fmi3String instance_name, fmi3String token, fmi3String resource_path, \
                                              fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode_used, \
                                              fmi3Boolean early_return_allowed, \
                                              const fmi3ValueReference intermediate_variables[], \
                                              size_t intermediate_variable_count, \
                                              fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, \
                                              fmi3IntermediateUpdateCallback intermediate_update)) \
    F(EnterStepMode, fmi3Status, (fmi3Instance c)) \
    F(GetOutputDerivatives, fmi3Status, (fmi3Instance c, const fmi3ValueReference vr[], size_t count, \
                                         const fmi3Int32 orders[], fmi3Float64 values[], size_t value_count)) \
    F(DoStep, fmi3Status, (fmi3Instance c, fmi3Float64 time, fmi3Float64 step, fmi3Boolean no_return_before_now, \
                           fmi3Boolean* event_handling_needed, fmi3Boolean* terminate, fmi3Boolean* early_return, \
                           fmi3Float64* last_successful_time))

#define FMI3_SCHEDULED_EXECUTION_FUNCTIONS(F) \
    F(InstantiateScheduledExecution, fmi3Instance, (fmi3String instance_name, fmi3String token, \
                                                    fmi3String resource_path, fmi3Boolean visible, fmi3Boolean logging, \
                                                    fmi3InstanceEnvironment environment, fmi3LogMessageCallback log, \
                                                    fmi3ClockUpdateCallback clock_update, \
                                                    fmi3LockPreemptionCallback lock, \
                                                    fmi3UnlockPreemptionCallback unlock)) \
    F(ActivateModelPartition, fmi3Status, (fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time))
/* clang-format on */

#define FMI3_FUNCTIONS(F)            \
    FMI3_COMMON_FUNCTIONS(F)         \
    FMI3_ACCESS_FUNCTIONS(F)         \
    FMI3_CLOCK_FUNCTIONS(F)          \
    FMI3_MODEL_EXCHANGE_FUNCTIONS(F) \
    FMI3_CO_SIMULATION_FUNCTIONS(F)  \
    FMI3_SCHEDULED_EXECUTION_FUNCTIONS(F)

#define FMI3_FUNCTION_TYPE(name, result, arguments) typedef result fmi3##name##TYPE arguments;
FMI3_FUNCTIONS(FMI3_FUNCTION_TYPE)
#undef FMI3_FUNCTION_TYPE
#undef FMI3_INT

#ifdef __cplusplus
}
#endif

#endif

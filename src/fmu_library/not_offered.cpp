// Every function of FMI 2.0 and 3.0, as hosts expect them all: those that the FMU does not offer answer with an error. The others are defined
// elsewhere, which takes the place of these weak ones.
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <type_traits>

#include "fmi/fmi2_functions.h"
#include "fmi/fmi3_functions.h"

namespace {

/// An error as a status, nothing as anything else.
template <class Result>
Result refusal() {
    if constexpr (std::is_same_v<Result, fmi2Status>)
        return fmi2Error;
    else if constexpr (std::is_same_v<Result, fmi3Status>)
        return fmi3Error;
    else
        return Result();
}

}  // namespace

#define NOT_OFFERED_2(name, result, arguments) \
    [[gnu::weak]] result fmi2##name arguments { return refusal<result>(); }
#define NOT_OFFERED_3(name, result, arguments) \
    [[gnu::weak]] result fmi3##name arguments { return refusal<result>(); }
extern "C" {
FMI2_FUNCTIONS(NOT_OFFERED_2)
FMI3_FUNCTIONS(NOT_OFFERED_3)
}

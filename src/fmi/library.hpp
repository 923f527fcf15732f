#pragma once

#include <atomic>
#include <memory>

#include "fmi/fmi1_functions.h"
#include "fmi/fmi2_functions.h"
#include "fmi/fmi3_functions.h"
#include "fmi/instance.hpp"

/// The shared library of an FMU and its functions. Private to fmi/.
namespace mdpcosim::fmi {

/// A function of the library; its address is nullptr where the library does not have it.
template <class Type>
struct function {
    const char* name;
    Type* address = nullptr;
};

struct functions_1 {
#define MDPCOSIM_MEMBER(name, result, arguments) function<fmi1##name##TYPE> name{"fmi" #name};
    FMI1_FUNCTIONS(MDPCOSIM_MEMBER)
#undef MDPCOSIM_MEMBER
};

struct functions_2 {
#define MDPCOSIM_MEMBER(name, result, arguments) function<fmi2##name##TYPE> name{"fmi2" #name};
    FMI2_FUNCTIONS(MDPCOSIM_MEMBER)
#undef MDPCOSIM_MEMBER
};

struct functions_3 {
#define MDPCOSIM_MEMBER(name, result, arguments) function<fmi3##name##TYPE> name{"fmi3" #name};
    FMI3_FUNCTIONS(MDPCOSIM_MEMBER)
#undef MDPCOSIM_MEMBER
};

struct fmu_library {
    std::shared_ptr<const fmu_files> fmu;
    void* handle = nullptr;
    functions_1 v1;  ///< filled where the FMU is of that version
    functions_2 v2;
    functions_3 v3;
    std::atomic<int> instances = 0;
    bool checked[2] = {false, false};  ///< per kind: it has the functions that the description promises
};

/// The library for one kind of use of an FMU, loaded once. It stays loaded to the end of the process, and the FMU's folder with it:
/// threads and exit handlers of its runtime would not survive unloading, and it may look for files beside itself at any
/// time. Throws user_error: not there, not loadable, a function missing that the description promises.
std::shared_ptr<fmu_library> load_library(const std::shared_ptr<const fmu_files>& fmu, kind k);

}  // namespace mdpcosim::fmi

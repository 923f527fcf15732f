// Test FMUs by their bare C functions: what any importer is measured against. One class per version, alike for what both
// can do; the function table `call` is there for the rest. Value references are those of the models' sources.
#pragma once

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "fmi/fmi2_functions.h"
#include "fmi/fmi3_functions.h"

namespace mdpcosim::test {

/// The library of build/fmus/<name>-<version>.fmu. Never unloaded.
inline void* load_fmu(const std::string& name, int version) {
    const std::filesystem::path folder =
        std::filesystem::path(MDPCOSIM_BINARY_DIR) / "fmus" / (name + "-" + std::to_string(version)) / "binaries";
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
        if (file.path().extension() != ".so") continue;
        void* library = dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) throw std::runtime_error(dlerror());
        return library;
    }
    throw std::runtime_error("no library in " + folder.string());
}

enum class fmu_kind { model_exchange, co_simulation };

/// After a call that failed; statuses are the same in both versions.
struct fmi_failure : std::runtime_error {
    fmi_failure(const char* function, int code) : std::runtime_error(function), status(code) {}
    int status;
};

inline void expect_ok(const char* function, int status) {
    if (status != 0) throw fmi_failure(function, status);
}
#define MDPCOSIM_FMI_CALL(name, ...) expect_ok(#name, call.name(instance, ##__VA_ARGS__))

struct fmu_event_info {
    bool again, terminate, values_changed, next_time_defined;
    double next_time;
};

/// Of the instantiation; all but the resources is for co-simulation in FMI 3.0.
struct fmu_options {
    std::string resources = {};
    bool event_mode = false, early_return = false;
    fmi3IntermediateUpdateCallback intermediate_update = nullptr;
    void* environment = nullptr;
};

inline void silent(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...) {}

class bare_fmi2 {
   public:
    static constexpr int version = 2;

    explicit bare_fmi2(const std::string& name, fmu_kind kind = fmu_kind::co_simulation, const char* token = nullptr,
                       const fmu_options& options = {}) {
        void* library = load_fmu(name, version);
#define MDPCOSIM_FMI_SYMBOL(function, result, arguments) \
    call.function = reinterpret_cast<fmi2##function##TYPE*>(dlsym(library, "fmi2" #function));
        FMI2_FUNCTIONS(MDPCOSIM_FMI_SYMBOL)
#undef MDPCOSIM_FMI_SYMBOL
        const std::string own = "{mdpcosim-" + name + "}";
        instance = call.Instantiate(
            name.c_str(), kind == fmu_kind::co_simulation ? fmi2CoSimulation : fmi2ModelExchange,
            token ? token : own.c_str(), options.resources.empty() ? nullptr : ("file://" + options.resources).c_str(),
            &callbacks, fmi2False, fmi2False);
    }
    bare_fmi2(const bare_fmi2&) = delete;
    bare_fmi2& operator=(const bare_fmi2&) = delete;
    ~bare_fmi2() {
        if (instance) call.FreeInstance(instance);
    }

    void initialise(double t0 = 0) {
        MDPCOSIM_FMI_CALL(SetupExperiment, fmi2False, 0, t0, fmi2False, 0);
        MDPCOSIM_FMI_CALL(EnterInitializationMode);
        MDPCOSIM_FMI_CALL(ExitInitializationMode);
    }
    void set(unsigned reference, double value) { MDPCOSIM_FMI_CALL(SetReal, &reference, 1, &value); }
    double get(unsigned reference) {
        double value;
        MDPCOSIM_FMI_CALL(GetReal, &reference, 1, &value);
        return value;
    }
    int get_int32(unsigned reference) {
        int value;
        MDPCOSIM_FMI_CALL(GetInteger, &reference, 1, &value);
        return value;
    }
    void set_enumeration(unsigned reference, int value) { MDPCOSIM_FMI_CALL(SetInteger, &reference, 1, &value); }
    void step(double t, double h) { MDPCOSIM_FMI_CALL(DoStep, t, h, fmi2True); }
    void derivatives(double t, const std::vector<double>& x, std::vector<double>& dx) {
        MDPCOSIM_FMI_CALL(SetTime, t);
        MDPCOSIM_FMI_CALL(SetContinuousStates, x.data(), x.size());
        MDPCOSIM_FMI_CALL(GetDerivatives, dx.data(), dx.size());
    }
    fmu_event_info update() {
        fmi2EventInfo info;
        MDPCOSIM_FMI_CALL(NewDiscreteStates, &info);
        return {info.newDiscreteStatesNeeded != 0, info.terminateSimulation != 0,
                info.valuesOfContinuousStatesChanged != 0, info.nextEventTimeDefined != 0, info.nextEventTime};
    }
    bool completed_step() {
        fmi2Boolean event, terminate;
        MDPCOSIM_FMI_CALL(CompletedIntegratorStep, fmi2True, &event, &terminate);
        return event;
    }
    double directional(unsigned unknown, unsigned known) {
        const double seed = 1;
        double result;
        MDPCOSIM_FMI_CALL(GetDirectionalDerivative, &unknown, 1, &known, 1, &seed, &result);
        return result;
    }
    double output_rate(unsigned reference) {
        const int order = 1;
        double value;
        MDPCOSIM_FMI_CALL(GetRealOutputDerivatives, &reference, 1, &order, &value);
        return value;
    }
    void* save() {
        void* state = nullptr;
        MDPCOSIM_FMI_CALL(GetFMUstate, &state);
        return state;
    }
    void restore(void* state) { MDPCOSIM_FMI_CALL(SetFMUstate, state); }
    void release(void* state) { MDPCOSIM_FMI_CALL(FreeFMUstate, &state); }
    std::vector<char> serialised(void* state) {
        size_t size;
        MDPCOSIM_FMI_CALL(SerializedFMUstateSize, state, &size);
        std::vector<char> bytes(size);
        MDPCOSIM_FMI_CALL(SerializeFMUstate, state, bytes.data(), size);
        return bytes;
    }
    void* deserialised(const std::vector<char>& bytes) {
        void* state = nullptr;
        MDPCOSIM_FMI_CALL(DeSerializeFMUstate, bytes.data(), bytes.size(), &state);
        return state;
    }

    struct table {
#define MDPCOSIM_FMI_MEMBER(name, result, arguments) fmi2##name##TYPE* name;
        FMI2_FUNCTIONS(MDPCOSIM_FMI_MEMBER)
#undef MDPCOSIM_FMI_MEMBER
    } call;
    fmi2Component instance = nullptr;
    fmi2CallbackFunctions callbacks = {silent, nullptr, nullptr, nullptr, nullptr};
};

class bare_fmi3 {
   public:
    static constexpr int version = 3;

    explicit bare_fmi3(const std::string& name, fmu_kind kind = fmu_kind::co_simulation, const char* token = nullptr,
                       const fmu_options& options = {}) {
        void* library = load_fmu(name, version);
#define MDPCOSIM_FMI_SYMBOL(function, result, arguments) \
    call.function = reinterpret_cast<fmi3##function##TYPE*>(dlsym(library, "fmi3" #function));
        FMI3_FUNCTIONS(MDPCOSIM_FMI_SYMBOL)
#undef MDPCOSIM_FMI_SYMBOL
        const std::string own = "{mdpcosim-" + name + "}";
        if (!token) token = own.c_str();
        const char* resources = options.resources.empty() ? nullptr : options.resources.c_str();
        const fmi3LogMessageCallback log = [](fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String) {};
        instance = kind == fmu_kind::co_simulation
                       ? call.InstantiateCoSimulation(name.c_str(), token, resources, false, false, options.event_mode,
                                                      options.early_return, nullptr, 0, options.environment, log,
                                                      options.intermediate_update)
                       : call.InstantiateModelExchange(name.c_str(), token, resources, false, false, nullptr, log);
    }
    bare_fmi3(const bare_fmi3&) = delete;
    bare_fmi3& operator=(const bare_fmi3&) = delete;
    ~bare_fmi3() {
        if (instance) call.FreeInstance(instance);
    }

    void initialise(double t0 = 0) {
        MDPCOSIM_FMI_CALL(EnterInitializationMode, false, 0, t0, false, 0);
        MDPCOSIM_FMI_CALL(ExitInitializationMode);
    }
    void set(unsigned reference, double value) { MDPCOSIM_FMI_CALL(SetFloat64, &reference, 1, &value, 1); }
    double get(unsigned reference) {
        double value;
        MDPCOSIM_FMI_CALL(GetFloat64, &reference, 1, &value, 1);
        return value;
    }
    int get_int32(unsigned reference) {
        int value;
        MDPCOSIM_FMI_CALL(GetInt32, &reference, 1, &value, 1);
        return value;
    }
    void set_enumeration(unsigned reference, int64_t value) { MDPCOSIM_FMI_CALL(SetInt64, &reference, 1, &value, 1); }

    struct step_result {
        bool event, terminate, early;
        double reached;
    };
    step_result step(double t, double h) {
        step_result result;
        MDPCOSIM_FMI_CALL(DoStep, t, h, true, &result.event, &result.terminate, &result.early, &result.reached);
        return result;
    }
    void derivatives(double t, const std::vector<double>& x, std::vector<double>& dx) {
        MDPCOSIM_FMI_CALL(SetTime, t);
        MDPCOSIM_FMI_CALL(SetContinuousStates, x.data(), x.size());
        MDPCOSIM_FMI_CALL(GetContinuousStateDerivatives, dx.data(), dx.size());
    }
    fmu_event_info update() {
        fmu_event_info info;
        bool nominals_changed;
        MDPCOSIM_FMI_CALL(UpdateDiscreteStates, &info.again, &info.terminate, &nominals_changed, &info.values_changed,
                          &info.next_time_defined, &info.next_time);
        return info;
    }
    bool completed_step() {
        bool event, terminate;
        MDPCOSIM_FMI_CALL(CompletedIntegratorStep, true, &event, &terminate);
        return event;
    }
    double directional(unsigned unknown, unsigned known) {
        const double seed = 1;
        double result;
        MDPCOSIM_FMI_CALL(GetDirectionalDerivative, &unknown, 1, &known, 1, &seed, 1, &result, 1);
        return result;
    }
    double output_rate(unsigned reference) {
        const int order = 1;
        double value;
        MDPCOSIM_FMI_CALL(GetOutputDerivatives, &reference, 1, &order, &value, 1);
        return value;
    }
    void* save() {
        void* state = nullptr;
        MDPCOSIM_FMI_CALL(GetFMUState, &state);
        return state;
    }
    void restore(void* state) { MDPCOSIM_FMI_CALL(SetFMUState, state); }
    void release(void* state) { MDPCOSIM_FMI_CALL(FreeFMUState, &state); }
    std::vector<unsigned char> serialised(void* state) {
        size_t size;
        MDPCOSIM_FMI_CALL(SerializedFMUStateSize, state, &size);
        std::vector<unsigned char> bytes(size);
        MDPCOSIM_FMI_CALL(SerializeFMUState, state, bytes.data(), size);
        return bytes;
    }
    void* deserialised(const std::vector<unsigned char>& bytes) {
        void* state = nullptr;
        MDPCOSIM_FMI_CALL(DeserializeFMUState, bytes.data(), bytes.size(), &state);
        return state;
    }

    struct table {
#define MDPCOSIM_FMI_MEMBER(name, result, arguments) fmi3##name##TYPE* name;
        FMI3_FUNCTIONS(MDPCOSIM_FMI_MEMBER)
#undef MDPCOSIM_FMI_MEMBER
    } call;
    fmi3Instance instance = nullptr;
};

/// One classical Runge-Kutta step of an FMU for model exchange: the bare solver.
template <class Fmu>
void runge_kutta_step(Fmu& fmu, double t, double h, std::vector<double>& x) {
    const std::size_t n = x.size();
    std::array<std::vector<double>, 4> k;
    for (auto& stage : k) stage.resize(n);
    std::vector<double> z = x;
    fmu.derivatives(t, z, k[0]);
    for (std::size_t i = 0; i < n; ++i) z[i] = x[i] + h / 2 * k[0][i];
    fmu.derivatives(t + h / 2, z, k[1]);
    for (std::size_t i = 0; i < n; ++i) z[i] = x[i] + h / 2 * k[1][i];
    fmu.derivatives(t + h / 2, z, k[2]);
    for (std::size_t i = 0; i < n; ++i) z[i] = x[i] + h * k[2][i];
    fmu.derivatives(t + h, z, k[3]);
    for (std::size_t i = 0; i < n; ++i) x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

}  // namespace mdpcosim::test

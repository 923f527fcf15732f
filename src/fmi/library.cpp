#include "fmi/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "core/error.hpp"
#include "core/shared_library.hpp"

namespace mdpcosim::fmi {

namespace {

template <class Type>
void find(void* handle, const std::string& prefix, function<Type>& f) {
    f.address = reinterpret_cast<Type*>(find_symbol(handle, (prefix + f.name).c_str()));
}

/// What stands before the names of the functions in the library: in FMI 1.0 the model identifier.
std::string prefix_of(const description& d) {
    if (d.version != version::v1) return {};
    return (d.co_simulation ? d.co_simulation : d.model_exchange)->model_identifier + "_";
}

void find_all(void* handle, const std::string& prefix, functions_1& f) {
#define MDPCOSIM_FIND(name, result, arguments) find(handle, prefix, f.name);
    FMI1_FUNCTIONS(MDPCOSIM_FIND)
}

void find_all(void* handle, const std::string& prefix, functions_2& f) { FMI2_FUNCTIONS(MDPCOSIM_FIND) }

void find_all(void* handle, const std::string& prefix, functions_3& f) {
    FMI3_FUNCTIONS(MDPCOSIM_FIND)
#undef MDPCOSIM_FIND
}

/// What the description promises and the library has to keep.
class promises {
   public:
    promises(const fmu_files& fmu, std::filesystem::path path) : fmu_(fmu), path_(std::move(path)) {}

    template <class Type>
    void need(const function<Type>& f, bool condition, const char* why) const {
        if (condition && f.address == nullptr)
            throw user_error(fmt::format("FMU '{}': its library '{}' has no function '{}{}', which {}.",
                                         fmu_.path().string(), path_.filename().string(), prefix_of(fmu_.description()),
                                         f.name, why));
    }
    template <class Type>
    void need(const function<Type>& f) const {
        need(f, true, "every FMU of its kind must have");
    }

   private:
    const fmu_files& fmu_;
    std::filesystem::path path_;
};

constexpr const char* for_state = "the description promises (FMU state)";
constexpr const char* for_directions = "the description promises (directional derivatives)";
constexpr const char* for_states = "an FMU with continuous states must have";
constexpr const char* for_indicators = "an FMU with event indicators must have";
constexpr const char* for_variables = "its variables need";

bool has_type(const description& d, base_type type) {
    return std::any_of(d.variables.begin(), d.variables.end(), [&](const variable& x) { return x.type == type; });
}

bool can_be_set(const description& d, base_type type) {
    return std::any_of(d.variables.begin(), d.variables.end(), [&](const variable& x) {
        return x.type == type && (x.causality == causality::input || x.causality == causality::parameter);
    });
}

template <class Functions>
void check_access(const Functions& f, const description& d, const promises& p) {
    p.need(f.GetReal, has_type(d, base_type::float64), for_variables);
    p.need(f.SetReal, can_be_set(d, base_type::float64), for_variables);
    p.need(f.GetInteger, has_type(d, base_type::int32) || has_type(d, base_type::enumeration), for_variables);
    p.need(f.SetInteger, can_be_set(d, base_type::int32) || can_be_set(d, base_type::enumeration), for_variables);
    p.need(f.GetBoolean, has_type(d, base_type::boolean), for_variables);
    p.need(f.SetBoolean, can_be_set(d, base_type::boolean), for_variables);
}

template <class Functions>
void check_derivatives(const Functions& f, const interface_description& offers, const promises& p) {
    p.need(f.SetRealInputDerivatives, offers.input_derivatives, "the description promises (input derivatives)");
    p.need(f.GetRealOutputDerivatives, offers.output_derivatives > 0, "the description promises (output derivatives)");
}

void check(const functions_1& f, const description& d, const interface_description& offers, kind k, const promises& p) {
    check_access(f, d, p);
    if (k == kind::co_simulation) {
        p.need(f.InstantiateSlave);
        p.need(f.InitializeSlave);
        p.need(f.TerminateSlave);
        p.need(f.FreeSlaveInstance);
        p.need(f.DoStep);
        return check_derivatives(f, offers, p);
    }
    const bool states = d.state_count() > 0;
    p.need(f.InstantiateModel);
    p.need(f.FreeModelInstance);
    p.need(f.Initialize);
    p.need(f.Terminate);
    p.need(f.SetTime);
    p.need(f.EventUpdate);
    p.need(f.CompletedIntegratorStep);
    p.need(f.SetContinuousStates, states, for_states);
    p.need(f.GetContinuousStates, states, for_states);
    p.need(f.GetDerivatives, states, for_states);
    p.need(f.GetEventIndicators, d.event_indicator_count > 0, for_indicators);
}

void check(const functions_2& f, const description& d, const interface_description& offers, kind k, const promises& p) {
    p.need(f.Instantiate);
    p.need(f.FreeInstance);
    p.need(f.SetupExperiment);
    p.need(f.EnterInitializationMode);
    p.need(f.ExitInitializationMode);
    p.need(f.Terminate);
    check_access(f, d, p);
    p.need(f.GetFMUstate, offers.state, for_state);
    p.need(f.SetFMUstate, offers.state, for_state);
    p.need(f.FreeFMUstate, offers.state, for_state);
    p.need(f.GetDirectionalDerivative, offers.directional_derivatives, for_directions);
    if (k == kind::co_simulation) {
        p.need(f.DoStep);
        return check_derivatives(f, offers, p);
    }
    const bool states = !d.derivatives.empty();
    p.need(f.EnterEventMode);
    p.need(f.NewDiscreteStates);
    p.need(f.EnterContinuousTimeMode);
    p.need(f.SetTime);
    p.need(f.CompletedIntegratorStep, offers.completed_step, "the description asks to call");
    p.need(f.SetContinuousStates, states, for_states);
    p.need(f.GetContinuousStates, states, for_states);
    p.need(f.GetDerivatives, states, for_states);
    p.need(f.GetEventIndicators, d.event_indicator_count > 0, for_indicators);
}

void check(const functions_3& f, const description& d, const interface_description& offers, kind k, const promises& p) {
    p.need(f.FreeInstance);
    p.need(f.EnterInitializationMode);
    p.need(f.ExitInitializationMode);
    p.need(f.Terminate);
    p.need(f.GetFloat64, has_type(d, base_type::float64), for_variables);
    p.need(f.SetFloat64, can_be_set(d, base_type::float64), for_variables);
    p.need(f.GetFMUState, offers.state, for_state);
    p.need(f.SetFMUState, offers.state, for_state);
    p.need(f.FreeFMUState, offers.state, for_state);
    p.need(f.GetDirectionalDerivative, offers.directional_derivatives, for_directions);
    if (k == kind::co_simulation) {
        p.need(f.InstantiateCoSimulation);
        p.need(f.DoStep);
        p.need(f.EnterEventMode, offers.event_mode, "the description promises (event mode)");
        p.need(f.UpdateDiscreteStates, offers.event_mode, "the description promises (event mode)");
        p.need(f.EnterStepMode, offers.event_mode, "the description promises (event mode)");
        p.need(f.GetOutputDerivatives, offers.output_derivatives > 0, "the description promises (output derivatives)");
        return;
    }
    const bool states = !d.derivatives.empty();
    p.need(f.InstantiateModelExchange);
    p.need(f.EnterEventMode);
    p.need(f.UpdateDiscreteStates);
    p.need(f.EnterContinuousTimeMode);
    p.need(f.SetTime);
    p.need(f.CompletedIntegratorStep, offers.completed_step, "the description asks to call");
    p.need(f.SetContinuousStates, states, for_states);
    p.need(f.GetContinuousStates, states, for_states);
    p.need(f.GetContinuousStateDerivatives, states, for_states);
    p.need(f.GetEventIndicators, d.event_indicator_count > 0, for_indicators);
}

void check_version(const fmu_files& fmu, fmi2GetVersionTYPE* get_version) {
    const char* text = get_version != nullptr ? get_version() : nullptr;
    const std::string_view wanted = name(fmu.description().version).substr(0, 2);  // "2."
    if (text != nullptr && std::string_view(text).substr(0, 2) != wanted)
        throw user_error(fmt::format("FMU '{}': its description says FMI {}, its library says '{:.20}'.",
                                     fmu.path().string(), fmu.description().version_text, text));
}

void load(fmu_library& library, const std::filesystem::path& path) {
    const fmu_files& fmu = *library.fmu;
    note_call("its start (initialisers of its library)");
    try {
        library.handle = open_shared_library(path, true);
        watch_exit();
    } catch (const std::exception& problem) {
        throw user_error(fmt::format("FMU '{}': its library {}", fmu.path().string(), problem.what()));
    } catch (...) {
        throw user_error(fmt::format("FMU '{}': an exception left its library '{}' while it was loaded.",
                                     fmu.path().string(), path.filename().string()));
    }
    const auto find_functions = [&](auto& functions) {
        find_all(library.handle, prefix_of(fmu.description()), functions);
        check_version(fmu, functions.GetVersion.address);
    };
    switch (fmu.description().version) {
        case version::v1:
            return find_functions(library.v1);
        case version::v2:
            return find_functions(library.v2);
        case version::v3:
            return find_functions(library.v3);
    }
}

}  // namespace

std::shared_ptr<fmu_library> load_library(const std::shared_ptr<const fmu_files>& fmu, kind k) {
    static std::mutex mutex;
    static std::map<std::filesystem::path, std::shared_ptr<fmu_library>> loaded;
    const std::scoped_lock lock(mutex);
    const description& d = fmu->description();
    const interface_description& offers = k == kind::co_simulation ? *d.co_simulation : *d.model_exchange;
    const std::filesystem::path path = fmu->library(offers.model_identifier);
    std::shared_ptr<fmu_library>& known = loaded[path];
    if (!known) {
        auto library = std::make_shared<fmu_library>();
        library->fmu = fmu;
        load(*library, path);
        known = std::move(library);
    }
    if (bool& checked = known->checked[static_cast<int>(k)]; !checked) {
        const promises p(*fmu, path);
        if (d.version == version::v1)
            check(known->v1, d, offers, k, p);
        else if (d.version == version::v2)
            check(known->v2, d, offers, k, p);
        else
            check(known->v3, d, offers, k, p);
        checked = true;
    }
    return known;
}

}  // namespace mdpcosim::fmi

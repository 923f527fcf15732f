#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "fmi/instance.hpp"

/// Short words for the tests of instances on the project's own test FMUs (tests/fmus).
namespace mdpcosim::fmi {

inline std::shared_ptr<const fmu_files> test_fmu(const std::string& name, version v) {
    return open_fmu(std::string(MDPCOSIM_BINARY_DIR "/fmus/") + name + (v == version::v2 ? "-2.fmu" : "-3.fmu"));
}

/// Of FMI 1.0, where each kind is an FMU of its own.
inline std::unique_ptr<instance> make_1(const std::string& name, kind k, instance_options options = {}) {
    options.kind = k;
    options.name = "one";
    return make_instance(open_fmu(std::string(MDPCOSIM_BINARY_DIR "/fmus/") + name +
                                  (k == kind::co_simulation ? "-1-cs.fmu" : "-1-me.fmu")),
                         options);
}

inline value_block block_of(const instance& fmu, const std::vector<std::string>& names) {
    std::vector<int> indices;
    for (const std::string& name : names) indices.push_back(fmu.description().index_of(name));
    return fmu.make_block(indices);
}

inline std::vector<double> get_all(instance& fmu, const std::vector<std::string>& names) {
    value_block block = block_of(fmu, names);
    std::vector<double> values(block.elements);
    if (fmu.get(block, values) != status::ok) values.assign(values.size(), NAN);
    return values;
}
inline double get(instance& fmu, const std::string& name) { return get_all(fmu, {name}).at(0); }

inline status set(instance& fmu, const std::vector<std::string>& names, const std::vector<double>& values) {
    value_block block = block_of(fmu, names);
    return fmu.set(block, values);
}
inline status set(instance& fmu, const std::string& name, double value) {
    return set(fmu, std::vector<std::string>{name}, {value});
}

inline void initialise(instance& fmu, double t0 = 0) {
    fmu.set_up({.start = t0});
    fmu.enter_initialisation();
    fmu.exit_initialisation();
}

/// Event iteration, up to the mode where time goes on.
inline void leave_event_mode(instance& fmu, bool model_exchange) {
    while (fmu.update_discrete_states().again) {
    }
    if (model_exchange)
        fmu.enter_continuous_mode();
    else
        fmu.enter_step_mode();
}

}  // namespace mdpcosim::fmi

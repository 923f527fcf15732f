#include "scenario/keys.hpp"
#include "scenario/read.hpp"

namespace mdpcosim {

std::string write_scenario(const scenario& s) {
    scenario full = s;
    if (full.method.empty()) full.method.value = "explicit";
    yaml_node root = write_keys(scenario_keys(), &full);
    // Each subsystem and connection over several lines, a port or an output on one.
    for (const char* section : {"subsystems", "connections"})
        if (yaml_node* found = root.find(section))
            for (auto& [key, value] : found->entries) value.block = true;
    return write_yaml(root);
}

}  // namespace mdpcosim

#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// Systems for the trust benchmark: random, but the same for the same kind and seed; from tiny steps to unstable ones.
namespace mdpcosim {

struct trust_system {
    std::string kind;
    unsigned number = 0;
    std::string about;      ///< "3 masses, spring-damper, semi-implicit, 200 steps, omega H = 0.31"
    std::string scenario;   ///< the text
    std::string reference;  ///< the same system for `run --monolithic`, where it differs: without FMUs
    double end = 0, step = 0;
    bool chaotic = false;
};

/// chain, signals, stops, forced, growing, events, sampled, chaotic, joints, gears, nodes, and fmus where there are some.
std::vector<std::string> trust_kinds();
/// From whose systems no limit of the verdict was drawn.
bool held_out(const std::string& kind);

/// `fmus` holds oscillator-2.fmu, oscillator-3.fmu and plain-oscillator-2.fmu; of the kind fmus only.
trust_system make_trust_system(const std::string& kind, unsigned seed, const std::filesystem::path& fmus = {});

}  // namespace mdpcosim

#include "assembly/fingerprint.hpp"

#include "scenario/read.hpp"

namespace mdpcosim {

std::string comparable_text(scenario s) {
    const std::filesystem::path root = "/";
    for (auto& entry : s.subsystems) {
        entry.path = root / entry.path.filename();
        entry.file.path = root / entry.file.path.filename();
        entry.program.folder = root;
    }
    return write_scenario(s);
}

std::uint64_t fingerprint(const scenario& s) {
    // FNV-1a; 0 is kept for those who have no scenario.
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : comparable_text(s)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash != 0 ? hash : 1;
}

std::uint64_t fingerprint(const scenario& s, const subsystem_spec& of) {
    scenario part;
    part.time.step = s.time.step;
    part.subsystems.push_back(of);
    return fingerprint(part);
}

}  // namespace mdpcosim

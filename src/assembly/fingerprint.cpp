#include "assembly/fingerprint.hpp"

#include "core/check_sum.hpp"
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
    const std::string text = comparable_text(s);
    check_sum sum;
    sum.add(text.data(), text.size());
    return sum.value() != 0 ? sum.value() : 1;  // 0 is kept for those who have no scenario
}

std::uint64_t fingerprint(const scenario& s, const subsystem_spec& of) {
    scenario part;
    part.time.step = s.time.step;
    part.subsystems.push_back(of);
    return fingerprint(part);
}

}  // namespace mdpcosim

#include "scenario/spec.hpp"

namespace mdpcosim {

const char* to_string(subsystem_spec::source_kind kind) {
    constexpr const char* names[] = {"model", "ode", "file", "plugin", "fmu", "program", "system"};
    return names[static_cast<int>(kind)];
}

std::vector<std::filesystem::path> files_read(const scenario& s) {
    std::vector<std::filesystem::path> files = s.included;
    files.push_back(s.path);
    for (const auto& entry : s.subsystems) {
        files.push_back(entry.path);
        files.push_back(entry.file.path);
        for (const auto& word : entry.program.command) files.push_back(entry.program.folder / word);
    }
    for (const auto& expected : s.expect) files.push_back(expected.path);
    std::erase(files, std::filesystem::path());
    return files;
}

}  // namespace mdpcosim

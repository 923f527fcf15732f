#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/error.hpp"
#include "core/shared_library.hpp"
#include "core/suggest.hpp"
#include "remote/program_environment.hpp"
#include "remote/program_group.hpp"

namespace mdpcosim {

namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

bool can_run(const fs::path& path) { return is_file(path) && access(path.c_str(), X_OK) == 0; }

std::vector<std::string> files_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code problem;
    for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end; entry.increment(problem))
        if (is_file(entry->path())) names.push_back(entry->path().filename().string());
    return names;
}

std::vector<std::string> search_path() {
    std::vector<std::string> folders;
    const char* variable = std::getenv("PATH");
    std::string rest = variable == nullptr ? "" : variable;
    for (std::size_t from = 0; from < rest.size();) {
        const std::size_t end = std::min(rest.find(':', from), rest.size());
        folders.push_back(rest.substr(from, end - from));
        from = end + 1;
    }
    return folders;
}

fs::path find_program(const subsystem_spec& spec, const fs::path& folder) {
    const std::string& name = spec.program.command.front();
    const auto refuse = [&](const std::string& reason) {
        throw user_error(spec.source.where, fmt::format("subsystem '{}': program '{}' {}", spec.name, name, reason));
    };
    fs::path here = folder / name;
    if (can_run(here)) return here;
    if (name.find('/') == std::string::npos)
        for (const auto& place : search_path())
            if (can_run(fs::path(place) / name)) return fs::path(place) / name;
    if (is_file(here))
        refuse(
            fmt::format("cannot be executed. Make it executable (chmod +x '{}'), or name its interpreter first: "
                        "'program: python3 {}'.",
                        here.string(), name));
    if (std::error_code none; fs::is_directory(here, none)) refuse("is a folder. Write the command line of a program.");
    if (fs::path(name).is_absolute())
        refuse(fmt::format("does not exist.{}", did_you_mean(here.filename().string(), files_in(here.parent_path()))));
    refuse(fmt::format("does not exist: neither as '{}'{}.{}", here.string(),
                       name.find('/') == std::string::npos ? " nor in PATH" : "",
                       did_you_mean(here.filename().string(), files_in(here.parent_path()))));
    return here;
}

/// The folder with what interpreters need (mdpcosim_subsystem.py, .mex), beside or below this program, which may be the host program in
/// libexec/mdpcosim, or this library.
fs::path module_folder() {
    for (const fs::path& here : own_folders())
        for (const fs::path& above : {here, here.parent_path(), here.parent_path().parent_path()})
            if (fs::path folder = above / "lib" / "mdpcosim"; is_file(folder / "mdpcosim_subsystem.py")) return folder;
    return {};
}

std::string with_folder(const char* variable, const fs::path& folder) {
    const char* present = std::getenv(variable);
    if (present == nullptr || *present == '\0') return fmt::format("{}={}", variable, folder.string());
    return fmt::format("{}={}:{}", variable, present, folder.string());
}

}  // namespace

child_process::program program_to_start(const subsystem_spec& spec, bool spin) {
    child_process::program started;
    const fs::path folder = fs::absolute(spec.program.folder).lexically_normal();
    started.command = spec.program.command;
    started.command.front() = find_program(spec, folder).lexically_normal().string();
    started.folder = folder.string();
    started.subsystem = true;
    started.limits = spec.limits;
    started.environment.push_back(fmt::format("{}={}", program_name_variable, spec.name));
    started.environment.push_back(fmt::format("{}={}", program_spin_variable, spin ? 1 : 0));
    if (const fs::path modules = module_folder(); !modules.empty())
        for (const char* variable : {"PYTHONPATH", "OCTAVE_PATH"})
            started.environment.push_back(with_folder(variable, modules));
    return started;
}

}  // namespace mdpcosim

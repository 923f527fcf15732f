#include "report/report.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "core/error.hpp"
#include "core/files.hpp"
#include "report/page.hpp"
#include "report/run_report.hpp"

namespace mdpcosim {

std::filesystem::path write_report(const std::filesystem::path& folder, const std::filesystem::path& with,
                                   const std::filesystem::path& file) {
    const std::string data = run_report_json({folder, with});
    std::filesystem::path target = file.empty() ? folder / "report.html" : file;
    std::vector<std::filesystem::path> read{with};
    for (const char* name : files_of_report)
        for (const auto& run : {folder, with}) read.push_back(run / name);
    if (const auto* input = find_same_file(target, read))
        throw user_error(
            fmt::format("--out {}: the report would be written over {}, which it is made from. Choose "
                        "another file.",
                        target.string(), input->string()));
    write_page(target.string(), page_with(folder.filename().string(), data));
    return target;
}

bool open_in_browser(const std::filesystem::path& file) {
    std::string path = std::filesystem::absolute(file).string();
    std::string program = "xdg-open";
    if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO})
        posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_WRONLY, 0);
    char* arguments[] = {program.data(), path.data(), nullptr};
    pid_t child = 0;
    const int failed = ::posix_spawnp(&child, program.c_str(), &quiet, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&quiet);
    int status = 0;
    return failed == 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace mdpcosim

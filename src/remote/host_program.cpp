#include "remote/host_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <vector>

#include "core/error.hpp"
#include "core/shared_library.hpp"

namespace mdpcosim {

namespace {

constexpr const char* host_name = "mdpcosim-host";

std::mutex chosen_guard;
std::filesystem::path chosen_host;

bool is_program_file(const std::filesystem::path& file) {
    std::error_code problem;
    return std::filesystem::is_regular_file(file, problem) && access(file.c_str(), X_OK) == 0;
}

std::vector<std::filesystem::path> host_places() {
    std::vector<std::filesystem::path> places;
    const auto folders = own_folders();
    for (const auto& here : folders) {
        const auto above = here.parent_path();
        for (const auto& folder : {here, above / "libexec/mdpcosim", above / "lib/mdpcosim"})
            places.push_back(folder / host_name);
    }
    if (folders.size() > 1)
        places.push_back(folders.back().parent_path() / host_name);  // a library that is not installed
    places.push_back(std::filesystem::path(MDPCOSIM_INSTALL_PREFIX) / "libexec/mdpcosim" / host_name);
    return places;
}

}  // namespace

std::filesystem::path find_host_program() {
    {
        const std::lock_guard lock(chosen_guard);
        if (!chosen_host.empty()) return chosen_host;
    }
    if (const char* wish = std::getenv(host_variable); wish != nullptr && *wish != '\0') {
        if (is_program_file(wish)) return wish;
        throw user_error(
            fmt::format("the host program of subsystems' processes is not there: {} is '{}', which is no program that "
                        "can be executed. Set it to the file 'mdpcosim-host' of this mdpcosim, or unset it.",
                        host_variable, wish));
    }
    std::vector<std::string> looked_at;
    for (const auto& file : host_places()) {
        if (is_program_file(file)) return file;
        looked_at.push_back(file.string());
    }
    throw user_error(
        fmt::format("the host program of subsystems' processes is not there: neither '{}'. Install mdpcosim with it "
                    "('cmake --install'), or set {} to its file.",
                    fmt::join(looked_at, "' nor '"), host_variable));
}

void use_host_program(std::filesystem::path file) {
    const std::lock_guard lock(chosen_guard);
    chosen_host = std::move(file);
}

}  // namespace mdpcosim

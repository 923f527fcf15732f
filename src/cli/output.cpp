#include "cli/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

int why_not_written = 0;  ///< errno
FILE* own_output = nullptr;

FILE* output_file() { return own_output != nullptr ? own_output : stdout; }

}  // namespace

void print_output(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), output_file()) != text.size() && why_not_written == 0)
        why_not_written = errno;
}

void flush_output() {
    if (std::fflush(output_file()) != 0 && why_not_written == 0) why_not_written = errno;
}

void keep_output() {
    std::fflush(stdout);
    const int file = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (file >= 0) own_output = ::fdopen(file, "w");
    if (own_output != nullptr) ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

void show(const std::string& text, bool is_json) { say("{}", is_json ? text : escaped(text)); }

int finish_output(int status) {
    std::cout.flush();
    flush_output();
    if (std::ferror(output_file()) == 0 && std::cout.good()) return status;
    std::clearerr(output_file());
    std::cout.clear();
    if (why_not_written == EBADF) return status;  // closed by who started the program: nothing was wanted
    tell("mdpcosim: standard output cannot be written{}; what was printed is not complete\n",
         why_not_written != 0 ? fmt::format(" ({})", std::strerror(why_not_written)) : std::string());
    return status == 0 ? 1 : status;
}

void refuse_empty_values(CLI::App& app) {
    for (CLI::Option* option : app.get_options())
        if (option->get_expected_min() > 0)
            option->check(
                [](const std::string& value) { return value.empty() ? "the value is empty." : std::string(); });
    for (CLI::App* command : app.get_subcommands({})) refuse_empty_values(*command);
}

}  // namespace mdpcosim

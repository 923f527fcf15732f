#include "remote/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "archive/work_folder.hpp"
#include "core/error.hpp"

namespace mdpcosim {

void child_process::start(const std::function<void()>& live) {
    text_ = file_handle(memfd_create("mdpcosim-text", MFD_CLOEXEC));
    if (text_.get() < 0) text_ = file_handle(open(P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (text_.get() < 0) throw run_error(fmt::format("no place for a process's messages: {}", std::strerror(errno)));
    fcntl(text_.get(), F_SETFL, O_APPEND);
    const pid_t parent = getpid();
    fflush(nullptr);
    process_ = fork();
    if (process_ < 0) throw run_error(fmt::format("no process of its own: {}", std::strerror(errno)));
    if (process_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // it died before the line above
    signal(SIGINT, SIG_IGN);            // Ctrl-C is for the master, which ends the run in order
    signal(SIGPIPE, SIG_IGN);
    dup2(text_.get(), STDOUT_FILENO);
    dup2(text_.get(), STDERR_FILENO);
    try {
        live();
    } catch (const std::exception& problem) {
        fmt::print(stderr, "{}\n", problem.what());
        fflush(nullptr);
        _exit(1);
    }
    // The copy of the caller's process must not run the caller's destructors, and an FMU's exit handlers may do anything.
    fflush(nullptr);
    _exit(0);
}

child_process::child_process(const std::function<void()>& live) { start(live); }

child_process::child_process(const program& what) {
    std::vector<char*> arguments, environment;
    for (const auto& a : what.command) arguments.push_back(const_cast<char*>(a.c_str()));
    arguments.push_back(nullptr);
    for (const auto& e : what.environment) environment.push_back(const_cast<char*>(e.c_str()));
    for (char** e = environ; *e != nullptr; ++e) environment.push_back(*e);
    environment.push_back(nullptr);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw run_error(fmt::format("no pipe: {}", std::strerror(errno)));
    const file_handle trouble(ends[0]);
    file_handle told(ends[1]);
    leads_group_ = true;
    start([&] {
        int problem = 0;
        setpgid(0, 0);
        const file_handle nothing(open("/dev/null", O_RDONLY));
        dup2(nothing.get(), STDIN_FILENO);
        if (!what.folder.empty() && chdir(what.folder.c_str()) != 0) problem = errno;
        for (const int file : what.files) fcntl(file, F_SETFD, 0);
        signal(SIGPIPE, SIG_DFL);
        if (problem == 0) execvpe(arguments[0], arguments.data(), environment.data());
        if (problem == 0) problem = errno;
        if (write(told.get(), &problem, sizeof problem) < 0) _exit(126);
        _exit(127);
    });
    told.close();
    int problem = 0;
    ssize_t n;
    while ((n = read(trouble.get(), &problem, sizeof problem)) < 0 && errno == EINTR) continue;
    if (n > 0)
        throw user_error(fmt::format("program '{}' cannot be started: {}", what.command[0], std::strerror(problem)));
}

child_process::~child_process() {
    finish(0);
    archive::remove_left_folders();  // it ends without ceremony
}

/// Takes note of its end; what it started itself ends with it, before its number can belong to another.
bool child_process::reap(int options) {
    if (process_ <= 0) return false;
    siginfo_t seen{};
    while (waitid(P_PID, static_cast<id_t>(process_), &seen, WEXITED | WNOWAIT | options) != 0 && errno == EINTR)
        continue;
    if (seen.si_pid != process_) return false;
    if (leads_group_) ::kill(-process_, SIGKILL);
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = -1;
    succeeded_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    end_ = WIFSIGNALED(status)
               ? fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
               : fmt::format("ended with status {}", WEXITSTATUS(status));
    return true;
}

std::string child_process::ended(double seconds) {
    constexpr double pause = 1e-3;
    for (double waited = 0;; waited += pause) {
        if (reap(WNOHANG) || process_ <= 0 || waited >= seconds) return end_;
        usleep(static_cast<useconds_t>(1e6 * pause));
    }
}

void child_process::kill() noexcept {
    if (process_ > 0) ::kill(leads_group_ ? -process_ : process_, SIGKILL);
}

void child_process::finish(double seconds) noexcept {
    ended(seconds);
    kill();
    wait();
}

std::string child_process::wait() {
    reap(0);
    return end_;
}

std::string child_process::last_text() const {
    constexpr off_t most = 2000;
    const off_t size = lseek(text_.get(), 0, SEEK_END);
    const off_t from = std::max<off_t>(0, size - most);
    std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
    const ssize_t n = pread(text_.get(), text.data(), text.size(), from);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
    return text;
}

void child_process::show_text(const std::string& name) const {
    const std::string text = last_text();
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t newline = std::min(text.find('\n', from), text.size());
        fmt::print(stderr, "subsystem '{}': {}\n", name, std::string_view(text).substr(from, newline - from));
        from = newline + 1;
    }
}

}  // namespace mdpcosim

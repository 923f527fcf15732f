#include "remote/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "archive/work_folder.hpp"
#include "core/error.hpp"
#include "remote/system_calls.hpp"
#include "remote/tcp.hpp"

namespace mdpcosim {

namespace {

/// The file of a command, looked for in PATH as a shell does; what is not found stays as it is, and the system says why.
std::string file_of(const std::string& command) {
    const char* path = std::getenv("PATH");
    const std::string folders = path == nullptr ? "/usr/bin:/bin" : path;
    if (command.find('/') != std::string::npos) return command;
    for (std::size_t from = 0; from <= folders.size();) {
        const std::size_t colon = std::min(folders.find(':', from), folders.size());
        const std::string folder = folders.substr(from, colon - from);
        std::string file = (folder.empty() ? "." : folder) + "/" + command;
        if (access(file.c_str(), X_OK) == 0) return file;
        from = colon + 1;
    }
    return command;
}

struct two_ends {
    file_handle read, write;

    two_ends() {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0)
            throw run_error(fmt::format("no pipe: {}{}", std::strerror(errno), remedy_of(errno)));
        read = file_handle(ends[0]);
        write = file_handle(ends[1]);
    }
};

/// Pointers to texts, ended by none, as the system wants them.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (const auto& t : texts) all.push_back(const_cast<char*>(t.c_str()));
    all.push_back(nullptr);
    return all;
}

/// The token of a run is its master's alone.
bool is_secret(const char* variable) { return std::string_view(variable).starts_with("MDPCOSIM_TOKEN="); }

/// Who catches the signal of the first limit is killed at the second one, `more` above.
rlimit limit_of(double most, rlim_t more) {
    if (most <= 0) return {RLIM_INFINITY, RLIM_INFINITY};
    const auto value = static_cast<rlim_t>(std::ceil(std::min(most, 1e18)));
    return {value, value + more};
}

/// All that a new process needs until it is another program, made ready before: in between it shares the memory of this one, whose
/// other threads may hold any lock.
struct preparation {
    std::string file;
    std::vector<std::string> words, shell_words;
    std::vector<char*> arguments, shell_arguments, environment;
    const char* folder;  ///< none: here
    bool subsystem;
    rlimit memory, cpu;
    mutable std::vector<sock_filter> filter;  ///< none: any system call
    std::vector<int> files;                   ///< that stay open, rising, without the first three
    int nothing, text;                        ///< its standard input, and output and error
    int lifeline, trouble;                    ///< ends of pipes

    preparation(const child_process::program& started, int input, int output, int life, int told)
        : file(file_of(started.command[0])),
          words(started.command),
          shell_words{"/bin/sh", file},
          environment(pointers(started.environment)),
          folder(started.folder.empty() ? nullptr : started.folder.c_str()),
          subsystem(started.subsystem),
          memory(limit_of(started.limits.memory, 0)),
          cpu(limit_of(started.limits.cpu, 1)),
          files(started.files),
          nothing(input),
          text(output),
          lifeline(life),
          trouble(told) {
        if (!started.title.empty()) words[0] = started.title;
        if (started.limits.compute_only && started.title.empty()) filter = compute_filter(true);
        shell_words.insert(shell_words.end(), started.command.begin() + 1, started.command.end());
        arguments = pointers(words);
        shell_arguments = pointers(shell_words);
        environment.pop_back();
        for (char** e = environ; *e != nullptr; ++e)
            if (!is_secret(*e)) environment.push_back(*e);
        environment.push_back(nullptr);
        files.push_back(lifeline);
        files.push_back(trouble);
        std::ranges::sort(files);
    }
};

void close_all(unsigned first, unsigned last) {
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
    rlimit most{};  // an old system
    getrlimit(RLIMIT_NOFILE, &most);
    for (unsigned file = first; file <= last && file < most.rlim_cur; ++file) close(static_cast<int>(file));
}

/// The system kills the whole group of this process when the other end of the lifeline is closed, by whatever end of its owner.
/// (PR_SET_PDEATHSIG would do so at the end of the thread that has started this process.)
void end_with_owner(int lifeline) {
    fcntl(lifeline, F_SETFD, 0);
    if (fcntl(lifeline, F_SETOWN, -getpid()) != 0 || fcntl(lifeline, F_SETSIG, SIGKILL) != 0 ||
        fcntl(lifeline, F_SETFL, O_ASYNC | O_NONBLOCK) != 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    pollfd owner{lifeline, 0, 0};
    if (poll(&owner, 1, 0) > 0) _exit(1);  // it has gone before
}

/// The life of a new process until it is the other program; nothing here may allocate, lock or throw. What fails is told as a number.
[[noreturn]] void become(const preparation& ready) {
    struct sigaction otherwise {};
    otherwise.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; ++number) sigaction(number, &otherwise, nullptr);
    setpgid(0, 0);
    dup2(ready.nothing, STDIN_FILENO);
    dup2(ready.text, STDOUT_FILENO);
    dup2(ready.text, STDERR_FILENO);
    unsigned next = 3;
    for (const int file : ready.files) {
        close_all(next, static_cast<unsigned>(file) - 1);
        next = static_cast<unsigned>(file) + 1;
        if (file != ready.trouble) fcntl(file, F_SETFD, 0);
    }
    close_all(next, ~0U);
    end_with_owner(ready.lifeline);
    if (ready.subsystem) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (ready.memory.rlim_cur != RLIM_INFINITY) setrlimit(RLIMIT_AS, &ready.memory);
    if (ready.cpu.rlim_cur != RLIM_INFINITY) setrlimit(RLIMIT_CPU, &ready.cpu);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    address_filter(ready.filter, getpid());
    if ((ready.folder == nullptr || chdir(ready.folder) == 0) && (ready.filter.empty() || apply_filter(ready.filter))) {
        execve(ready.file.c_str(), ready.arguments.data(), ready.environment.data());
        if (errno == ENOEXEC)  // a script that does not name its shell
            execve(ready.shell_arguments[0], ready.shell_arguments.data(), ready.environment.data());
    }
    const int problem = errno;
    if (write(ready.trouble, &problem, sizeof problem) < 0) _exit(126);
    _exit(127);
}

/// The new process; this thread goes on once it is the other program, all others without a break.
[[gnu::noinline]] pid_t start(const preparation& ready) {
    const pid_t process = vfork();  // NOLINT: posix_spawn cannot have it end with its owner
    if (process == 0) become(ready);
    return process;
}

/// A handler of this process must not run in the new one, which shares its memory.
class signals_blocked {
   public:
    signals_blocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

   private:
    sigset_t before_;
};

}  // namespace

child_process::child_process(const program& started) {
    const file_handle nothing = above_standard(file_handle(open("/dev/null", O_RDONLY | O_CLOEXEC)));
    two_ends life, trouble, text;
    const file_handle noticed = above_standard(std::move(life.read));
    file_handle told = above_standard(std::move(trouble.write));
    file_handle written = above_standard(std::move(text.write));
    fcntl(written.get(), F_SETPIPE_SZ, 1 << 20);  // less will do, too
    fcntl(text.read.get(), F_SETFL, O_NONBLOCK);
    output_ = std::move(text.read);
    const preparation ready(started, nothing.get(), written.get(), noticed.get(), told.get());
    int failure = 0;
    {
        const signals_blocked quiet;
        process_ = start(ready);
        if (process_ < 0) failure = errno;
    }
    if (process_ < 0) throw run_error(fmt::format("no process of its own: {}", std::strerror(failure)));
    lifeline_ = std::move(life.write);
    limits_ = started.limits;
    told.close();
    written.close();
    int problem = 0;
    ssize_t n;
    while ((n = read(trouble.read.get(), &problem, sizeof problem)) < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    finish(0);
    throw user_error(fmt::format("program '{}' cannot be started: {}", started.command[0], std::strerror(problem)));
}

child_process::~child_process() {
    finish(0);
    remove_left_folders();  // it ends without ceremony
}

void child_process::remove_left_folders() { archive::remove_left_folders(); }

/// Takes note of its end; what it started itself ends with it, before its number can belong to another.
bool child_process::reap(int options) {
    if (process_ <= 0) return false;
    siginfo_t seen{};
    while (waitid(P_PID, static_cast<id_t>(process_), &seen, WEXITED | WNOWAIT | options) != 0 && errno == EINTR)
        continue;
    if (seen.si_pid != process_) return false;
    ::kill(-process_, SIGKILL);
    int status = 0;
    rusage used{};
    wait4(process_, &status, 0, &used);
    process_ = -1;
    collect();
    succeeded_ = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    end_ = end_of(status, seconds(used.ru_utime) + seconds(used.ru_stime));
    return true;
}

/// A limit that it has reached says more than the signal by which the system tells that.
std::string child_process::end_of(int status, double cpu_seconds) const {
    const bool killed = WIFSIGNALED(status);
    if (killed && limits_.cpu > 0 && (WTERMSIG(status) == SIGXCPU || cpu_seconds >= std::ceil(limits_.cpu)))
        return fmt::format("was ended at its limit of {:g} s of CPU time ('limits: cpu')", std::ceil(limits_.cpu));
    if (killed && limits_.compute_only && WTERMSIG(status) == SIGSYS)
        return "was ended at a system call that 'limits: system-calls' forbids";
    std::string end = killed
                          ? fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                          : fmt::format("ended with status {}", WEXITSTATUS(status));
    if (limits_.memory <= 0 || succeeded_) return end;
    return fmt::format("{}, its memory being limited to {:g} MB ('limits: memory')", end, limits_.memory / 1e6);
}

/// What it has written by now; a process that writes without end must not hold this one.
void child_process::collect() const noexcept {
    constexpr int most = 64;
    char part[1 << 16];
    for (int i = 0; i < most; ++i) {
        const ssize_t n = read(output_.get(), part, sizeof part);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return;
        text_.add({part, static_cast<std::size_t>(n)});
    }
}

std::string child_process::ended(double seconds) {
    constexpr double pause = 1e-3;
    for (double waited = 0;; waited += pause) {
        collect();
        if (reap(WNOHANG) || process_ <= 0 || waited >= seconds) return end_;
        usleep(static_cast<useconds_t>(1e6 * pause));
    }
}

void child_process::kill() noexcept {
    if (process_ > 0) ::kill(-process_, SIGKILL);
}

void child_process::finish(double seconds) noexcept {
    ended(seconds);
    kill();
    wait();
}

std::string child_process::wait() {
    constexpr int pause = 20;  // ms
    while (process_ > 0 && !reap(WNOHANG)) {
        collect();
        pollfd more{output_.get(), POLLIN, 0};
        // At the end of its output there is nothing to look after any more.
        if (poll(&more, 1, pause) > 0 && (more.revents & POLLIN) == 0) reap(0);
    }
    return end_;
}

std::string child_process::last_text() const {
    collect();
    return text_.text();
}

void child_process::show_text(const std::string& name) const {
    const std::string text = last_text();
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t newline = std::min(text.find('\n', from), text.size());
        const auto line = std::string_view(text).substr(from, newline - from);
        const std::string who = fmt::format("subsystem '{}'", name);
        messages_.send(line.starts_with(who) ? std::string(line) : fmt::format("{}: {}", who, line));
        from = newline + 1;
    }
}

}  // namespace mdpcosim

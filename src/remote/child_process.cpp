#include "remote/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "archive/work_folder.hpp"
#include "core/error.hpp"

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
        if (pipe2(ends, O_CLOEXEC) != 0) throw run_error(fmt::format("no pipe: {}", std::strerror(errno)));
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

/// All that a new process needs until it is another program, made ready before: in between it shares the memory of this one, whose
/// other threads may hold any lock.
struct preparation {
    std::string file;
    std::vector<std::string> words, shell_words;
    std::vector<char*> arguments, shell_arguments, environment;
    const char* folder;      ///< none: here
    std::vector<int> files;  ///< that stay open, rising, without the first three
    int nothing, text;       ///< its standard input, and output and error
    int lifeline, trouble;   ///< ends of pipes

    preparation(const child_process::program& started, int input, int output, int life, int told)
        : file(file_of(started.command[0])),
          words(started.command),
          shell_words{"/bin/sh", file},
          environment(pointers(started.environment)),
          folder(started.folder.empty() ? nullptr : started.folder.c_str()),
          files(started.files),
          nothing(input),
          text(output),
          lifeline(life),
          trouble(told) {
        if (!started.title.empty()) words[0] = started.title;
        shell_words.insert(shell_words.end(), started.command.begin() + 1, started.command.end());
        arguments = pointers(words);
        shell_arguments = pointers(shell_words);
        environment.pop_back();
        for (char** e = environ; *e != nullptr; ++e) environment.push_back(*e);
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
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    if (ready.folder == nullptr || chdir(ready.folder) == 0) {
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

/// Above the three that every program has, which a caller may have closed.
file_handle above_standard(file_handle file) {
    return file.get() > STDERR_FILENO || file.get() < 0 ? std::move(file)
                                                        : file_handle(fcntl(file.get(), F_DUPFD_CLOEXEC, 3));
}

}  // namespace

child_process::child_process(const program& started) {
    text_ = above_standard(file_handle(memfd_create("mdpcosim-text", MFD_CLOEXEC)));
    if (text_.get() < 0) text_ = above_standard(file_handle(open(P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)));
    if (text_.get() < 0) throw run_error(fmt::format("no place for a process's messages: {}", std::strerror(errno)));
    fcntl(text_.get(), F_SETFL, O_APPEND);
    const file_handle nothing = above_standard(file_handle(open("/dev/null", O_RDONLY | O_CLOEXEC)));
    two_ends life, trouble;
    const file_handle noticed = above_standard(std::move(life.read));
    file_handle told = above_standard(std::move(trouble.write));
    const preparation ready(started, nothing.get(), text_.get(), noticed.get(), told.get());
    int failure = 0;
    {
        const signals_blocked quiet;
        process_ = start(ready);
        if (process_ < 0) failure = errno;
    }
    if (process_ < 0) throw run_error(fmt::format("no process of its own: {}", std::strerror(failure)));
    lifeline_ = std::move(life.write);
    told.close();
    int problem = 0;
    ssize_t n;
    while ((n = read(trouble.read.get(), &problem, sizeof problem)) < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    finish(0);
    throw user_error(fmt::format("program '{}' cannot be started: {}", started.command[0], std::strerror(problem)));
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
    ::kill(-process_, SIGKILL);
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
    if (process_ > 0) ::kill(-process_, SIGKILL);
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
        messages_.send(fmt::format("subsystem '{}': {}", name, std::string_view(text).substr(from, newline - from)));
        from = newline + 1;
    }
}

}  // namespace mdpcosim

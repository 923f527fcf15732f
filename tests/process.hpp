#pragma once

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/// A child process whose output is collected. It is always reaped: whoever does not wait for it kills it, and nobody else.
namespace mdpcosim::test {

class process {
   public:
    struct options {
        bool terminal = false;            ///< standard error is a pseudo-terminal instead of a pipe
        std::optional<rlim_t> file_size;  ///< longest file it may write
        bool no_shared_memory =
            false;  ///< the system refuses memory without a name; a kernel that cannot do so: status 126
    };

    struct outcome {
        int exit_status = -1;  ///< -1: ended by a signal
        int signal = 0;
        std::string out, err;
    };

    process(const std::vector<std::string>& command, const options& given) {
        int out[2], err[2];
        if (::pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        winsize size{.ws_row = 24, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
        if (given.terminal ? ::openpty(&err[0], &err[1], nullptr, nullptr, &size) != 0 : ::pipe2(err, O_CLOEXEC) != 0)
            throw std::runtime_error("no pipe or terminal");
        std::vector<char*> arguments;
        for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        pid_ = ::fork();
        if (pid_ < 0) throw std::runtime_error("no child process");
        if (pid_ == 0) {
            ::dup2(out[1], STDOUT_FILENO);
            ::dup2(err[1], STDERR_FILENO);
            for (const int ends : {SIGHUP, SIGINT, SIGQUIT}) ::signal(ends, SIG_DFL);  // whatever nohup or a shell said
            if (given.file_size) {
                const rlimit limit{*given.file_size, *given.file_size};
                ::setrlimit(RLIMIT_FSIZE, &limit);
                ::signal(SIGXFSZ, SIG_DFL);  // ends a program that does not expect it
            }
            if (given.no_shared_memory && !forbid(SYS_memfd_create)) ::_exit(126);
            ::execv(arguments[0], arguments.data());
            ::_exit(127);
        }
        ::close(out[1]);
        ::close(err[1]);
        out_ = out[0];
        err_ = err[0];
    }
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    ~process() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            ::waitpid(pid_, nullptr, 0);
        }
        ::close(out_);
        ::close(err_);
    }

    pid_t id() const { return pid_; }
    void send(int signal) { ::kill(pid_, signal); }
    bool lives() const {
        siginfo_t seen{};
        return ::waitid(P_PID, static_cast<id_t>(pid_), &seen, WEXITED | WNOWAIT | WNOHANG) == 0 && seen.si_pid == 0;
    }

    /// It holds the signal back, or has started processes: while it waits for signals, the system shows none as held.
    bool has_begun(int signal) const {
        const std::string place = "/proc/" + std::to_string(pid_);
        std::ifstream in(place + "/status"), started(place + "/task/" + std::to_string(pid_) + "/children");
        for (std::string line; std::getline(in, line);)
            if (line.starts_with("SigBlk:") && (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0)
                return true;
        pid_t child = 0;
        return static_cast<bool>(started >> child);
    }

    /// Collects output until standard error holds the text, a minute at most.
    void wait_for_error_text(const std::string& text) {
        collect_until([&] { return seen_.err.find(text) != std::string::npos; });
    }

    const outcome& so_far() const { return seen_; }

    /// Collects output until both streams are closed and reaps; a child that takes longer than a minute is killed.
    outcome wait() {
        if (!collect_until([] { return false; })) ::kill(pid_, SIGKILL);
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        if (WIFEXITED(status)) seen_.exit_status = WEXITSTATUS(status);
        if (WIFSIGNALED(status)) seen_.signal = WTERMSIG(status);
        return seen_;
    }

   private:
    /// From now on the system call fails with EPERM.
    static bool forbid(unsigned call) {
        sock_filter steps[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        const sock_fprog all{.len = 4, .filter = steps};
        return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) == 0;
    }

    /// Until `enough` or the end of both streams; false where something hangs: on a busy machine a minute is soon over.
    template <class Enough>
    bool collect_until(const Enough& enough) {
        const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(5);
        while (!enough() && (out_open_ || err_open_)) {
            if (std::chrono::steady_clock::now() > limit) return false;
            pollfd files[2] = {{out_open_ ? out_ : -1, POLLIN, 0}, {err_open_ ? err_ : -1, POLLIN, 0}};
            ::poll(files, 2, 200);
            if (files[0].revents != 0) out_open_ = collect(out_, seen_.out);
            if (files[1].revents != 0) err_open_ = collect(err_, seen_.err);
        }
        return true;
    }

    /// False at the end of the stream; a terminal tells that by an error.
    static bool collect(int file, std::string& into) {
        char text[4096];
        const ssize_t count = ::read(file, text, sizeof text);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) return true;
        if (count <= 0) return false;
        into.append(text, static_cast<std::size_t>(count));
        return true;
    }

    pid_t pid_ = -1;
    int out_ = -1, err_ = -1;
    bool out_open_ = true, err_open_ = true;
    outcome seen_;
};

/// Standard error without the lines of progress that a run prints now and then where it takes long.
inline std::string without_progress(const std::string& err) {
    std::istringstream in(err);
    std::string rest;
    for (std::string line; std::getline(in, line);)
        if (line.find(" % t = ") == std::string::npos && line.find("expected: ") == std::string::npos)
            rest += line + '\n';
    return rest;
}

}  // namespace mdpcosim::test

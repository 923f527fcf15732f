#include "transport/mpi/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <utility>

#include "core/error.hpp"
#include "core/last_words.hpp"
#include "core/messages.hpp"
#include "remote/child_process.hpp"
#include "transport/mpi/library.hpp"

namespace mdpcosim {

namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

constexpr const char* mark_variable = "MDPCOSIM_LAUNCH";
constexpr double moment_of_rank = 3, last_moment = 9;  // s to end at once, and after the loss of another rank
constexpr int passed_on[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2};  // to ranks, by mpiexec and those who watch them

std::string find_program(const std::string& name) {
    const char* path = std::getenv("PATH");
    const std::string folders = path == nullptr ? "/usr/bin:/bin" : path;
    for (std::size_t from = 0; from <= folders.size();) {
        const std::size_t colon = std::min(folders.find(':', from), folders.size());
        const fs::path file = fs::path(folders.substr(from, colon - from)) / name;
        if (access(file.c_str(), X_OK) == 0) return file.string();
        from = colon + 1;
    }
    return {};
}

/// The mpiexec of that MPI: under its own name as on Debian, or the plain one if it says so.
std::string find_mpiexec(const mpi_implementation& which) {
    if (std::string own = find_program("mpiexec." + which.name); !own.empty()) return own;
    const std::string plain = find_program("mpiexec");
    if (plain.empty()) return {};
    child_process asked(child_process::program{{plain, "--version"}, {}, {}, {}});
    asked.ended(5);
    const char* says = which.name == "openmpi" ? "Open MPI" : "HYDRA";
    return asked.last_text().find(says) == std::string::npos ? std::string() : plain;
}

struct launcher {
    const mpi_implementation* of = nullptr;
    std::string mpiexec;
};

launcher choose_launcher() {
    const mpi_implementation* wanted = wanted_mpi();
    std::vector<std::string> packages;
    bool built = false;
    for (const auto& each : mpi_implementations()) {
        if (wanted != nullptr && wanted != &each) continue;
        packages.push_back(each.packages);
        if (mpi_module_file(each).empty()) continue;
        built = true;
        if (std::string found = find_mpiexec(each); !found.empty()) return {&each, found};
    }
    throw user_error(fmt::format("transport 'mpi': {}. Install {}{}.",
                                 built ? "there is no mpiexec in PATH" : "this mdpcosim was built without MPI",
                                 fmt::join(packages, ", or "), built ? "" : ", and build mdpcosim again"));
}

std::vector<std::string> command_line(const launcher& by, const mpi_launch& launch, const std::string& mark,
                                      const std::string& session) {
    std::vector<std::string> words{by.mpiexec};
    const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
    std::vector<std::string> hosts;
    for (const auto& h : launch.hosts) hosts.push_back(fmt::format("{}:{}", h.name, h.ranks));
    const std::string list = fmt::format("{}", fmt::join(hosts, ","));
    if (by.of->name == "openmpi") {
        add({"-q", "--oversubscribe", "--bind-to", "none", "-x", "MDPCOSIM_MPI=openmpi", "-x",
             fmt::format("{}={}", mark_variable, mark)});
        // On other machines the folder does not exist.
        if (!session.empty() && std::ranges::all_of(launch.hosts, is_this_machine))
            add({"--mca", "orte_tmpdir_base", session});
        if (geteuid() == 0) add({"--allow-run-as-root"});
        if (!hosts.empty()) add({"--host", list});
    } else {
        add({"-genv", "MDPCOSIM_MPI", "mpich", "-genv", mark_variable, mark});
        if (!hosts.empty()) add({"-hosts", list});
    }
    add({"-n", std::to_string(launch.groups.size())});
    words.insert(words.end(), launch.command.begin(), launch.command.end());
    return words;
}

/// A place for the files of Open MPI, which leaves them behind when it is killed. Whoever outlives it removes them.
class session_folder {
   public:
    session_folder() {
        const char* chosen = std::getenv("TMPDIR");
        std::string pattern =
            fs::absolute(fs::path(chosen != nullptr && *chosen != '\0' ? chosen : "/tmp") / "mdpcosim-mpi-XXXXXX")
                .string();
        if (mkdtemp(pattern.data()) == nullptr) return;
        path_ = pattern;
        watched_.emplace(path_);
    }
    session_folder(const session_folder&) = delete;
    session_folder& operator=(const session_folder&) = delete;
    ~session_folder() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    const std::string& path() const { return path_; }  ///< empty: there is none

   private:
    std::string path_;
    std::optional<file_in_work> watched_;
};

/// mpiexec in a process group of its own, so that Ctrl-C reaches this process only; its standard error passes through here.
class supervised {
   public:
    supervised(const launcher& by, const mpi_launch& launch)
        : by_(by), groups_(launch.groups), mark_(fmt::format("mdpcosim-{:08x}", std::random_device()())) {
        const auto words = command_line(by, launch, mark_, session_.path());
        std::vector<char*> arguments;
        for (const auto& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
        arguments.push_back(nullptr);
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw run_error(fmt::format("no pipe: {}", std::strerror(errno)));
        errors_ = file_handle(ends[0]);
        const file_handle theirs(ends[1]), nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
        process_ = fork();
        if (process_ < 0) throw run_error(fmt::format("no process for mpiexec: {}", std::strerror(errno)));
        if (process_ > 0) return;
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(nothing.get(), STDIN_FILENO);
        dup2(theirs.get(), STDERR_FILENO);
        for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) signal(number, SIG_DFL);
        execv(arguments[0], arguments.data());
        _exit(127);
    }
    supervised(const supervised&) = delete;
    supervised& operator=(const supervised&) = delete;
    ~supervised() {
        if (process_ <= 0) return;
        end_all();
        waitpid(process_, nullptr, 0);
    }

    int run(const std::atomic<int>& interrupts) {
        int sent = 0, status = 0;
        while (waitpid(process_, &status, WNOHANG) == 0) {
            // One that comes before the ranks can hear it waits for them; two end mpiexec.
            for (; sent < interrupts.load() && (here_ >= groups_.size() || interrupts.load() > 1); ++sent)
                sent == 0 ? kill(process_, SIGUSR1) : hurry();
            if (lost_ && clock::now() > *lost_) end_all();
            listen(std::chrono::milliseconds(20));
        }
        process_ = -1;
        while (listen(std::chrono::milliseconds(100))) continue;
        show(rest_);
        if (lost_) {
            child_process::remove_left_folders();  // a rank that is killed leaves what it has unpacked
            return 1;
        }
        if (done_) return *done_;
        messages_.send(fmt::format("{} ended before the run was done ({} {})", by_.mpiexec,
                                   WIFSIGNALED(status) ? "signal" : "status",
                                   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)));
        return interrupts.load() > 0 ? 130 : 1;
    }

   private:
    /// After the loss of another rank, rank 0 closes the results; without rank 0, the others end by themselves.
    static constexpr std::chrono::seconds with_master{10}, without_master{3}, after_master{1};
    static constexpr std::size_t longest_line = 1 << 16;

    void end_all() noexcept {
        kill(-process_, SIGKILL);
        kill(process_, SIGKILL);
    }

    /// Passes lines on; false when nothing came or nothing will come any more.
    bool listen(std::chrono::milliseconds most) {
        pollfd ready{errors_.get(), POLLIN, 0};
        if (poll(&ready, 1, static_cast<int>(most.count())) <= 0) return false;
        char part[4096];
        const ssize_t n = read(errors_.get(), part, sizeof part);
        if (n == 0) errors_.close();
        if (n <= 0) return false;
        rest_.append(part, static_cast<std::size_t>(n));
        for (std::size_t end; (end = rest_.find('\n')) != std::string::npos; rest_.erase(0, end + 1))
            hear(rest_.substr(0, end));
        if (rest_.size() > longest_line) hear(std::exchange(rest_, {}));
        return true;
    }

    void hear(const std::string& line) {
        const std::size_t at = line.find(mark_);
        if (at == std::string::npos) {
            if (!lost_ || !done_) show(line);  // what MPI says about the end of the ranks is no news
            return;
        }
        show(line.substr(0, at));
        const char* word = line.c_str() + at + mark_.size();
        int status = 0;
        std::size_t rank = 0;
        char machine[256] = "?";
        if (std::strncmp(word, " here", 5) == 0) ++here_;
        if (std::sscanf(word, " done %d", &status) == 1) done_ = status;
        if (lost_ && done_) lost_ = std::min(*lost_, clock::now() + after_master);  // the results are closed
        if (lost_ || done_ || std::sscanf(word, " lost %zu %255s", &rank, machine) != 2 || rank >= groups_.size())
            return;
        lost_ = clock::now() + (rank == 0 ? without_master : with_master);
        messages_.send(fmt::format("rank {} on {} was lost, with {}. What was recorded so far is kept.", rank, machine,
                                   groups_[rank]));
        hurry();
    }

    /// SIGTERM makes Open MPI's mpiexec kill, before long; MPICH's knows no SIGUSR2.
    int hurry() const { return kill(process_, by_.of->name == "openmpi" ? SIGUSR2 : SIGTERM); }

    /// A line of a rank, or of mpiexec. The sink puts the program's name before it, as that of the rank has done.
    void show(std::string_view line) const {
        constexpr std::string_view own = "mdpcosim: ";
        if (line.starts_with(own)) line.remove_prefix(own.size());
        if (!line.empty()) messages_.send(std::string(line));
    }

    session_folder session_;
    launcher by_;
    std::vector<std::string> groups_;
    std::string mark_, rest_;
    messages messages_;
    file_handle errors_;
    pid_t process_ = -1;
    std::optional<clock::time_point> lost_;  ///< a rank, and when patience with the others ends
    std::optional<int> done_;                ///< the exit status of rank 0
    std::size_t here_ = 0;                   ///< ranks that hear signals
};

}  // namespace

std::vector<std::string> mpiexec_command(const std::vector<mpi_host>& hosts, int ranks,
                                         const std::vector<std::string>& command) {
    const launcher by = choose_launcher();
    check_hosts(hosts);
    return command_line(by, {command, hosts, std::vector<std::string>(static_cast<std::size_t>(ranks))}, {}, {});
}

int launch_ranks(const mpi_launch& launch, const std::atomic<int>& interrupts) {
    const launcher by = choose_launcher();
    constexpr double for_ranks = moment_of_rank + 1;
    if (last_words* words = last_words::shared()) words->grace = for_ranks;
    check_hosts(launch.hosts);
    if (interrupts.load() > 0) {
        messages().send("interrupted before any rank was started");
        return 130;
    }
    return supervised(by, launch).run(interrupts);
}

namespace {

volatile sig_atomic_t watched_rank = 0, told_to_end = 0, by_user = 0, given_up = 0;
double patience_with_rank = 0;
std::atomic<double> asked_at = 0;

double seconds_now() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The alarm rings then, or before.
void end_within(double seconds) {
    itimerval present{};
    getitimer(ITIMER_REAL, &present);
    const double left =
        static_cast<double>(present.it_value.tv_sec) + 1e-6 * static_cast<double>(present.it_value.tv_usec);
    if (left > 0 && left < seconds) return;
    const double whole = std::floor(seconds);
    const itimerval next{{}, {static_cast<time_t>(whole), static_cast<suseconds_t>(1e6 * (seconds - whole)) + 1}};
    setitimer(ITIMER_REAL, &next, nullptr);
}

extern "C" void pass_on(int number) {
    const bool at_once = number == SIGTERM || number == SIGUSR2;
    if (at_once) told_to_end = 1;
    if (!at_once) by_user = 1;  // otherwise another rank was lost, and there is time to close the results
    if (asked_at == 0) asked_at = seconds_now();
    end_within(!at_once       ? patience_with_rank
               : by_user != 0 ? std::min(patience_with_rank, moment_of_rank)
                              : last_moment);
    if (watched_rank > 0) kill(static_cast<pid_t>(watched_rank), number);
}

extern "C" void give_up_rank(int) {
    given_up = 1;
    if (watched_rank > 0) kill(static_cast<pid_t>(watched_rank), SIGKILL);
}

/// The watching process ends as the rank does; a lost rank it tells, and stays until mpiexec ends all, or has gone.
[[noreturn]] void watch(pid_t process, int rank, const char* mark, const std::function<bool(const rank_end&)>& ended) {
    const pid_t mpiexec = getppid();
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
    watched_rank = 0;
    const double waited = given_up != 0 ? seconds_now() - asked_at : 0;
    if (given_up != 0) told_to_end = by_user;
    const bool in_order = ended({status, told_to_end != 0, waited});
    if (given_up != 0) told_to_end = 1;  // it is no news
    // MPICH's mpiexec kills all others when one ends: who watches rank 0 has its results to close.
    constexpr useconds_t time_of_first = 1'500'000;
    if (given_up != 0 && rank != 0) usleep(time_of_first);
    if (in_order && WIFEXITED(status)) _exit(WEXITSTATUS(status));
    if (told_to_end == 0 && mark != nullptr) {
        char machine[256] = "?";
        gethostname(machine, sizeof machine - 1);
        const std::string line = fmt::format("{} lost {} {}\n", mark, rank, machine);
        for (const int number : passed_on) signal(number, SIG_IGN);
        // Should this process end now, mpiexec would kill the others at once.
        constexpr int most = 300;
        constexpr useconds_t nap = 50'000;
        if (write(STDERR_FILENO, line.data(), line.size()) > 0)
            for (int n = 0; n < most && getppid() == mpiexec; ++n) usleep(nap);
    }
    _exit(1);
}

}  // namespace

void watch_rank(int rank, double patience, const std::function<bool(const rank_end&)>& ended) {
    const char* mark = std::getenv(mark_variable);
    if (!last_words::make()) return;
    patience_with_rank = patience;
    sigset_t passed, before;
    sigemptyset(&passed);
    for (const int number : passed_on) sigaddset(&passed, number);
    sigprocmask(SIG_BLOCK, &passed, &before);
    std::fflush(nullptr);
    const pid_t self = getpid(), process = fork();
    if (process < 0) throw run_error(fmt::format("no process for a rank: {}", std::strerror(errno)));
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != self) _exit(1);  // it died before the line above
    } else {
        prctl(PR_SET_NAME, "mdpcosim-watch");
        watched_rank = process;
        for (const int number : passed_on) signal(number, pass_on);
        signal(SIGALRM, give_up_rank);
        sigprocmask(SIG_UNBLOCK, &passed, nullptr);
        watch(process, rank, mark, ended);
    }
    sigprocmask(SIG_SETMASK, &before, nullptr);
}

void greet_launcher() {
    if (const char* mark = std::getenv(mark_variable)) fmt::print(stderr, "{} here\n", mark);
}

void tell_launcher(int status) {
    if (const char* mark = std::getenv(mark_variable)) fmt::print(stderr, "{} done {}\n", mark, status);
}

}  // namespace mdpcosim

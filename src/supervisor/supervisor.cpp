#include "supervisor/supervisor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>

#include "archive/work_folder.hpp"
#include "core/foreign_call.hpp"
#include "core/last_words.hpp"
#include "core/messages.hpp"

namespace mdpcosim {

namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

/// Signals that come twice within this time (`timeout`, kill of a group) are one.
constexpr auto twice = std::chrono::milliseconds(500);
constexpr int that_end[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr int passed_on[] = {SIGUSR1, SIGUSR2};

bool supervised_here = false;

std::string signal_text(int number) {
    const char* name = ::sigabbrev_np(number);
    return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

/// What threads were inside of when the process ended.
std::vector<const foreign_place*> places_inside(const last_words& words) {
    std::vector<const foreign_place*> found;
    for (const foreign_place& place : words.threads)
        if (place.thread != 0 && place.code.load() != nullptr) found.push_back(&place);
    return found;
}

std::string list_of(const std::vector<const foreign_place*>& places, const last_words& words) {
    constexpr std::size_t most = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, places.size()); ++i)
        text += (i == 0 ? "" : ", ") + words.name_of(*places[i]) + text_of_call(places[i]->function, places[i]->time);
    if (places.size() > most) text += fmt::format(" and {} more", places.size() - most);
    return text;
}

/// What the end of the process was, in a few words.
std::string manner_of(int how) {
    if (!WIFSIGNALED(how)) return fmt::format("ended the program with _exit({})", WEXITSTATUS(how));
    const int number = WTERMSIG(how);
    rlimit time{};
    const bool timed = ::getrlimit(RLIMIT_CPU, &time) == 0 && time.rlim_cur != RLIM_INFINITY;
    if (number == SIGXCPU || (number == SIGKILL && timed))
        return fmt::format("was killed ({}: probably at the limit of {} s of CPU time that was set for it, ulimit -t)",
                           signal_text(number), time.rlim_cur);
    if (number == SIGKILL) return "was killed (SIGKILL: by hand, or by the system where memory ran out)";
    return fmt::format("crashed ({})", signal_text(number));
}

/// What may have been damaged by one of them before: the last calls, and whose they may have been.
std::string traces_of(const last_words& words) {
    constexpr std::size_t most = 8;
    std::set<std::string> calls, codes;
    for (const foreign_place& place : words.threads)
        if (place.thread != 0 && place.function.load() != nullptr)
            calls.insert(text_of_call(place.function, place.time));
    for (const named_code& each : words.codes) {
        foreign_place place;
        place.code = each.key.load();
        if (place.code.load() != nullptr && codes.size() < most) codes.insert(words.name_of(place));
    }
    if (calls.empty() || codes.empty()) return {};
    return fmt::format("; the last call of one was{}, there {}: {}", *calls.rbegin(), codes.size() == 1 ? "is" : "are",
                       fmt::join(codes, ", "));
}

/// Who ended it: told by the handlers in it, or by where its threads were.
std::string cause(int how, const last_words& words) {
    if (WIFSIGNALED(how) && std::ranges::find(that_end, WTERMSIG(how)) != std::end(that_end)) return "interrupted";
    if (const foreign_place* at = words.culprit; at != nullptr && words.holds(at)) {
        const int status = words.exit_status;
        const std::string what = words.signal != 0 ? fmt::format("crashed ({})", signal_text(words.signal))
                                 : status == -1    ? "called quick_exit()"
                                                   : fmt::format("called exit({})", status);
        return fmt::format("{}: {}{}", words.name_of(*at), what, text_of_call(at->function, at->time));
    }
    const auto inside = places_inside(words);
    if (inside.size() == 1 && !(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL))
        return fmt::format("{}: {}{}", words.name_of(*inside[0]), manner_of(how),
                           text_of_call(inside[0]->function, inside[0]->time));
    const std::string what = WIFSIGNALED(how) ? "mdpcosim " + manner_of(how)
                                              : fmt::format("the program was ended with _exit({})", WEXITSTATUS(how));
    if (inside.empty()) return what + " outside of all FMUs and plugins" + traces_of(words);
    return fmt::format("{}; at work: {}", what, list_of(inside, words));
}

std::string cause_of_interrupt(const last_words& words, double seconds, bool asked = true) {
    std::string at_work = list_of(places_inside(words), words);
    for (const auto& other : words.awaited)
        if (other[0] != '\0')
            at_work += (at_work.empty() ? "" : ", ") + std::string(other, ::strnlen(other, sizeof other));
    return fmt::format("{}; the run did not end within {:.3g} s and was killed{}",
                       asked ? "interrupted" : "another rank was lost", seconds,
                       at_work.empty() ? at_work : "; at work: " + at_work);
}

/// Children of this process at present, those that others have left to it among them.
std::vector<pid_t> children() {
    std::vector<pid_t> found;
    std::error_code problem;
    for (fs::directory_iterator entry("/proc", problem), end; !problem && entry != end; entry.increment(problem)) {
        const std::string name = entry->path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) continue;
        std::ifstream in(entry->path() / "stat");
        std::string text;
        std::getline(in, text);
        const std::size_t after = text.rfind(')');
        int parent = 0;
        char state = 0;
        if (after != std::string::npos && std::sscanf(text.c_str() + after + 1, " %c %d", &state, &parent) == 2 &&
            parent == ::getpid())
            found.push_back(std::atoi(name.c_str()));
    }
    return found;
}

/// Those that this process had before, from the program whose place it took (`exec`), belong to others.
std::vector<pid_t> children_before() {
    siginfo_t any{};
    if (::waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) != 0 && errno == ECHILD) return {};
    return children();
}

/// All that the child has started and left; true: there was something. Each that ends leaves us its own.
bool end_leftovers(const std::vector<pid_t>& others) {
    bool any = false;
    for (int round = 0; round < 100; ++round) {
        pid_t gone;
        while ((gone = ::waitpid(-1, nullptr, WNOHANG)) > 0) continue;
        if (gone < 0 && errno == ECHILD) break;
        std::vector<pid_t> left = children();
        std::erase_if(left, [&](pid_t p) { return std::ranges::find(others, p) != others.end(); });
        if (left.empty()) break;
        any = true;
        for (const pid_t each : left) ::kill(each, SIGKILL);
        ::usleep(round < 10 ? 1000 : 10000);
    }
    return any;
}

void remove_files(last_words& words, bool folders) {
    std::error_code ignored;
    for (auto& file : words.files)
        if (file[0] != '\0') fs::remove_all(file, ignored);
    if (folders) archive::remove_left_folders();
}

class watch {
   public:
    watch(pid_t child, const sigset_t& heard, const std::atomic<double>& grace)
        : child_(child), heard_(heard), grace_(grace), patience_(patience()) {}

    /// Until the child has ended; how, as waitpid() says it.
    int wait() {
        for (;;) {
            siginfo_t info{};
            const int number = next(info);
            if (number == SIGCHLD || number < 0) {
                if (reap()) return how_;
                if (number < 0 && due()) ::kill(child_, SIGKILL);
            } else if (number == SIGCONT) {
                ::kill(child_, SIGCONT);
            } else if (number == SIGTSTP) {
                // The terminal stops all of its group; SIGTSTP from elsewhere would not stop a child in a group without a shell.
                if (info.si_code != SI_KERNEL) ::kill(child_, SIGSTOP);
                ::raise(SIGSTOP);
            } else {
                hear(number, info);
            }
        }
    }

    /// The signal that asked for the end; 0: none has.
    int asked() const { return asked_; }
    /// How long it was waited for, s; 0: the child has ended by itself.
    double waited() const { return waited_; }

   private:
    /// Looks after the child now and then, too: a signal may be lost where many children end.
    int next(siginfo_t& info) const {
        const timespec longest{asked_ != 0 ? 0 : 1, asked_ != 0 ? 20'000'000 : 0};
        return ::sigtimedwait(&heard_, &info, &longest);
    }

    bool reap() {
        int how = 0;
        pid_t gone;
        while ((gone = ::waitpid(-1, &how, WNOHANG)) > 0)
            if (gone == child_) {
                how_ = how;
                return true;
            }
        return false;
    }

    void hear(int number, const siginfo_t& info) {
        const auto now = clock::now();
        if (info.si_code != SI_KERNEL) ::kill(child_, number);  // the terminal tells all of its group
        if (number == SIGUSR1 || number == SIGUSR2) return;
        if (asked_ == 0) {
            asked_ = number;
            first_ = now;
            deadline_ = now + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(patience_));
        } else if (now - first_ > twice) {
            deadline_ = now;
        }
    }

    bool due() {
        constexpr double most = 10;  // whatever foreign code has written there
        const auto more = std::chrono::duration<double>(std::fmin(grace_.load(), most));
        if (asked_ == 0 || waited_ > 0 || clock::now() < deadline_ + more) return false;
        waited_ = std::chrono::duration<double>(clock::now() - first_).count();
        return true;
    }

    pid_t child_;
    const sigset_t& heard_;
    const std::atomic<double>& grace_;
    double patience_;
    int how_ = 0, asked_ = 0;
    clock::time_point first_, deadline_;
    double waited_ = 0;
};

int in_child(const supervision& all, pid_t parent, const sigset_t& before) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // it died before the line above
    supervised_here = true;
    watch_crashes();
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    const int status = all.work();
    last_words::shared()->status = status;
    return status;
}

/// What was left open by a process that has finished.
void close_left(last_words& words) {
    for (const closed_run& run : close_runs(words, "failed", {}))
        messages().send(fmt::format("{}; what the run could not write itself was brought to {} ({} rows)", run.message,
                                    run.folder.string(), run.rows));
}

/// All that is to be done after the child's end; the exit status.
int close_all(const supervision& all, const watch& over, int how, bool left) {
    last_words& words = *last_words::shared();
    int status = words.status;
    const bool finished = status >= 0, in_order = WIFEXITED(how) && WEXITSTATUS(how) == status;
    if (finished && in_order && status != 0) close_left(words);
    if (!finished || !in_order) {
        sudden_end end{over.waited() > 0 && !finished ? cause_of_interrupt(words, over.waited()) : cause(how, words),
                       {}};
        if (over.asked() != 0) end.status = 130;
        end.closed = close_runs(words, end.status == 130 ? "interrupted" : "failed", end.message);
        if (finished) end.message += ", after the run was done";
        const int told = all.ended(end);
        if (!finished || status == 0) status = told;
    }
    remove_files(words, left || status != 0 || !in_order);  // a rank that another one took along leaves its folder
    if (words.report[0] != '\0' && all.show) all.show(words.report);
    return status;
}

/// Foreign code can write into the last words, too: who reads them may crash, and somebody must be left to tell.
int in_parent(const supervision& all, pid_t child, const sigset_t& heard, const std::vector<pid_t>& others) {
    watch over(child, heard, last_words::shared()->grace);
    const int how = over.wait();
    const bool left = end_leftovers(others);
    std::fflush(nullptr);
    const pid_t reader = WIFEXITED(how) && WEXITSTATUS(how) == 0 && last_words::shared()->status == 0 ? -1 : ::fork();
    if (reader <= 0) {
        const int status = close_all(all, over, how, left);
        if (reader < 0) return status;
        std::fflush(nullptr);
        ::_exit(status);
    }
    int end = 0;
    while (::waitpid(reader, &end, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(end)) return WEXITSTATUS(end);
    archive::remove_left_folders();
    return all.ended(
        {fmt::format("mdpcosim {}, and what it left for its parent is damaged: an FMU or a plugin has written "
                     "over memory that is not its own. Run it in a process of its own (--transport processes)",
                     WIFSIGNALED(how) ? manner_of(how) : fmt::format("ended with status {}", WEXITSTATUS(how))),
         {},
         over.asked() != 0 ? 130 : 1});
}

}  // namespace

double patience() {
    const char* given = std::getenv("MDPCOSIM_PATIENCE");
    char* end = nullptr;
    const double seconds = given == nullptr ? 0 : std::strtod(given, &end);
    return given != nullptr && end != given && seconds >= 0 && seconds < 1e9 ? seconds : default_patience;
}

bool finish_child(int how, bool told, double waited, const std::function<int(const sudden_end&)>& tell) {
    last_words& words = *last_words::shared();
    if (words.status >= 0) {
        close_left(words);
        return true;
    }
    sudden_end end{waited > 0 ? cause_of_interrupt(words, waited, told) : cause(how, words), {}, told ? 130 : 1};
    end.closed = close_runs(words, told ? "interrupted" : "failed", end.message);
    remove_files(words, true);
    if (!told || waited > 0) tell(end);
    return false;
}

int supervised(const supervision& all) {
    const char* wish = std::getenv("MDPCOSIM_SUPERVISOR");
    if ((wish != nullptr && std::strcmp(wish, "0") == 0) || !last_words::make()) {
        watch_crashes();
        return all.work();
    }
    std::fflush(nullptr);
    sigset_t heard, before;
    ::sigemptyset(&heard);
    for (const int number : that_end) ::sigaddset(&heard, number);
    for (const int number : passed_on) ::sigaddset(&heard, number);
    for (const int number : {SIGCHLD, SIGCONT, SIGTSTP}) ::sigaddset(&heard, number);
    // Who asked to ignore SIGHUP (nohup) means it.
    struct sigaction hangup {};
    ::sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler == SIG_IGN) ::sigdelset(&heard, SIGHUP);
    ::signal(SIGCHLD, SIG_DFL);
    ::sigprocmask(SIG_BLOCK, &heard, &before);
    const std::vector<pid_t> others = children_before();
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t self = ::getpid(), child = ::fork();
    if (child == 0) return in_child(all, self, before);
    if (child > 0) return in_parent(all, child, heard, others);
    last_words::drop();
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    watch_crashes();
    return all.work();
}

bool is_supervised() { return supervised_here; }

bool show_at_end(const std::string& path) {
    last_words* words = last_words::shared();
    if (!supervised_here || words == nullptr || path.size() >= sizeof words->report) return false;
    std::memcpy(words->report, path.c_str(), path.size() + 1);
    return true;
}

}  // namespace mdpcosim

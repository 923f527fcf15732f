#include "core/foreign_call.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "core/forked_copy.hpp"
#include "core/last_words.hpp"

namespace mdpcosim {

constinit thread_local foreign_place* foreign_thread::place_ = nullptr;

/// Gives a place back when its thread ends.
struct foreign_place_owner {
    ~foreign_place_owner() {
        // exit() ends threads, too: on_end() wants to know.
        if (foreign_thread::place_ == nullptr || foreign_thread::is_inside()) return;
        foreign_thread::place_->thread = 0;
        foreign_thread::place_ = nullptr;
    }
    foreign_place own;
};

namespace {

struct watched_signal {
    int number;
    const char* name;
};
constexpr watched_signal watched[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};
constexpr std::size_t watched_count = std::size(watched);

bool watching = false;  ///< set once
std::atomic<bool> forked_copy = false;

/// Asked before: what threads note is shared with the copy, too, and the first to come back would leave for both.
thread_local bool forks_inside = false;
extern "C" void before_fork() { forks_inside = foreign_thread::is_inside(); }
/// What the copy notes from now on is no business of the parent's.
extern "C" void in_fork() {
    forked_copy = forks_inside;
    last_words* words = last_words::shared();
    constexpr int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (forks_inside && words != nullptr)
        static_cast<void>(::mmap(words, sizeof(last_words), PROT_READ | PROT_WRITE, how, -1, 0));
}
struct sigaction before[watched_count];

/// Room for the handler. In the thread's static storage: no allocation, and it goes away with the thread.
alignas(16) thread_local char handler_stack[32 * 1024];

/// One line in a fixed buffer: a signal handler must neither allocate nor lock.
class line {
   public:
    line& operator<<(const char* text) {
        const std::size_t length = std::min(std::strlen(text), sizeof text_ - used_);
        std::memcpy(text_ + used_, text, length);
        used_ += length;
        return *this;
    }
    template <class Number>
    requires std::is_arithmetic_v<Number> line& operator<<(Number value) {
        const auto [end, status] = std::to_chars(text_ + used_, text_ + sizeof text_, value);
        if (status == std::errc()) used_ = static_cast<std::size_t>(end - text_);
        return *this;
    }
    void print() const {
        std::size_t done = 0;
        while (done < used_) {
            const ssize_t count = ::write(STDERR_FILENO, text_ + done, used_ - done);
            if (count <= 0) return;
            done += static_cast<std::size_t>(count);
        }
    }

   private:
    char text_[1024];
    std::size_t used_ = 0;
};

line begin_message(const foreign_place& at) {
    line message;
    if (::isatty(STDERR_FILENO)) message << "\n";  // the progress bar stands there
    const foreign_code* code = at.code;
    message << "mdpcosim: ";
    if (code == nullptr) return message << "foreign code: ";
    return message << "subsystem '" << code->subsystem() << "' (" << code->kind() << " " << code->file() << "): ";
}

void end_message(line& message, const foreign_place& at) {
    if (const char* function = at.function) message << " in " << function;
    if (!std::isnan(at.time.load())) message << " at t = " << at.time.load() << " s";
    message << "\n";
    message.print();
}

extern "C" void on_crash(int number) {
    std::size_t i = 0;
    while (i + 1 < watched_count && watched[i].number != number) ++i;
    const foreign_place* at = foreign_thread::present();
    if (forked_copy || !foreign_thread::is_inside()) {
        // Not a plugin's doing. Blocked until this handler returns, the signal then meets the handler before ours; a
        // fault would come back by itself, one sent by kill would not.
        ::sigaction(number, &before[i], nullptr);
        ::raise(number);
        return;
    }
    if (last_words* words = last_words::shared()) {
        words->signal = number;
        words->culprit = at;
    } else {
        line message = begin_message(*at);
        message << "crashed (" << watched[i].name << ")";
        end_message(message, *at);
    }
    ::_exit(1);
}

/// exit() of a thread that is inside foreign code: nothing of ours may be taken down around the threads at work.
extern "C" void on_end(int status, void*) {
    const foreign_place* at = foreign_thread::present();
    if (forked_copy || !foreign_thread::is_inside()) return;
    if (last_words* words = last_words::shared()) {
        words->exit_status = status;
        words->culprit = at;
    } else {
        line message = begin_message(*at);
        message << "called exit(" << status << ")";
        end_message(message, *at);
    }
    ::_exit(1);
}

extern "C" void on_quick_end() { on_end(-1, nullptr); }

std::mutex code_mutex;

/// The same text for the same words, where the parent can read it, if there is one.
const char* kept_text(const std::string& text) {
    static auto& known = *new std::map<std::string, const char*>;
    const char*& found = known[text];
    if (found != nullptr) return found;
    if (last_words* words = last_words::shared()) {
        const std::size_t at = words->text_used.fetch_add(text.size() + 1);
        if (at + text.size() < last_words::most_text)
            return found = static_cast<const char*>(std::memcpy(words->text + at, text.c_str(), text.size() + 1));
    }
    return found = ::strdup(text.c_str());
}

}  // namespace

foreign_code::foreign_code(const char* kind, const std::string& subsystem, const std::string& file) {
    const std::scoped_lock lock(code_mutex);
    kind_ = kept_text(kind);
    subsystem_ = kept_text(subsystem);
    file_ = kept_text(file);
    last_words* words = last_words::shared();
    if (words == nullptr) return;
    for (named_code& each : words->codes) {
        if (each.key.load() != nullptr) continue;
        each.kind = kind_;
        each.subsystem = subsystem_;
        each.file = file_;
        each.key = this;
        return;
    }
}

foreign_code::~foreign_code() {
    const std::scoped_lock lock(code_mutex);
    if (last_words* words = last_words::shared())
        for (named_code& each : words->codes)
            if (each.key.load() == this) {
                each.key = nullptr;
                return;
            }
}

void foreign_code::restore_arithmetic(const char* function, double t) const noexcept {
    try {
        const std::string what = unusual_arithmetic();
        compute_as_usual();
        if (told_.exchange(true)) return;
        messages_.send(fmt::format(
            "subsystem '{}' ({} {}): it has changed how the processor computes{}: {}. After every call that is "
            "undone, for the others' sake; its own results may differ from what its makers saw.",
            subsystem_, kind_, file_, text_of_call(function, t), what));
    } catch (...) {  // no memory for words
        compute_as_usual();
    }
}

foreign_place& foreign_thread::prepare() noexcept {
    thread_local foreign_place_owner owner;
    place_ = &owner.own;
    const int thread = ::gettid();
    if (last_words* words = last_words::shared())
        for (foreign_place& free : words->threads) {
            int nobody = 0;
            if (!free.thread.compare_exchange_strong(nobody, thread)) continue;
            free.code = nullptr;
            free.function = nullptr;
            place_ = &free;
            break;
        }
    stack_t present{};
    // A stack that is there already belongs to somebody who will also take it away (a sanitizer, an embedding program).
    if (!watching || ::sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return *place_;
    stack_t own{};
    own.ss_sp = handler_stack;
    own.ss_size = sizeof handler_stack;
    ::sigaltstack(&own, nullptr);
    return *place_;
}

void watch_crashes() {
    if (watching) return;
    watching = true;
    struct sigaction ours {};
    ours.sa_handler = on_crash;
    ours.sa_flags = SA_ONSTACK;
    ::sigemptyset(&ours.sa_mask);
    for (std::size_t i = 0; i < watched_count; ++i) ::sigaction(watched[i].number, &ours, &before[i]);
    ::at_quick_exit(on_quick_end);
    ::pthread_atfork(before_fork, nullptr, in_fork);
    watch_exit();
}

bool is_forked_copy() { return forked_copy; }

void end_forked_copy() { ::_exit(1); }

void watch_exit() {
    if (watching) ::on_exit(on_end, nullptr);
}

std::string text_of_call(const char* function, double t) {
    std::string text = function == nullptr ? std::string() : fmt::format(" in {}", function);
    if (!std::isnan(t)) text += fmt::format(" at t = {} s", t);
    return text;
}

}  // namespace mdpcosim

#include "plugin/guard.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <mutex>

namespace mdpcosim {

constinit thread_local const plugin_call* plugin_call::present_ = nullptr;
constinit thread_local bool plugin_call::thread_is_ready_ = false;

namespace {

struct watched_signal {
    int number;
    const char* name;
};
constexpr watched_signal watched[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};
constexpr std::size_t watched_count = std::size(watched);

std::mutex watch_mutex;
bool names_crashes = false;  ///< set once
int watches = 0;
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
    line& operator<<(double value) {
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

extern "C" void on_crash(int number) {
    std::size_t i = 0;
    while (i + 1 < watched_count && watched[i].number != number) ++i;
    const plugin_call* call = plugin_call::present();
    if (call == nullptr) {
        // Not a plugin's doing. Blocked until this handler returns, the signal then meets the handler before ours; a
        // fault would come back by itself, one sent by kill would not.
        ::sigaction(number, &before[i], nullptr);
        ::raise(number);
        return;
    }
    line message;
    if (::isatty(STDERR_FILENO)) message << "\n";  // the progress bar stands there
    message << "mdpcosim: subsystem '" << call->caller().subsystem << "' (plugin " << call->caller().file
            << "): crashed (" << watched[i].name << ") in " << call->function();
    if (!std::isnan(call->time())) message << " at t = " << call->time() << " s";
    message << "\n";
    message.print();
    ::_exit(1);
}

}  // namespace

void name_crashing_plugins() { names_crashes = true; }

crash_watch::crash_watch() {
    const std::scoped_lock lock(watch_mutex);
    if (watches++ > 0 || !names_crashes) return;
    struct sigaction ours {};
    ours.sa_handler = on_crash;
    ours.sa_flags = SA_ONSTACK;
    ::sigemptyset(&ours.sa_mask);
    for (std::size_t i = 0; i < watched_count; ++i) ::sigaction(watched[i].number, &ours, &before[i]);
}

crash_watch::~crash_watch() {
    const std::scoped_lock lock(watch_mutex);
    if (--watches > 0 || !names_crashes) return;
    for (std::size_t i = 0; i < watched_count; ++i) {
        struct sigaction present {};
        ::sigaction(watched[i].number, nullptr, &present);
        // Somebody who took the signal after us keeps it.
        if (present.sa_handler == on_crash) ::sigaction(watched[i].number, &before[i], nullptr);
    }
}

void plugin_call::prepare_thread() noexcept {
    thread_is_ready_ = true;
    stack_t present{};
    // A stack that is there already belongs to somebody who will also take it away (a sanitizer, an embedding program).
    if (::sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;
    stack_t own{};
    own.ss_sp = handler_stack;
    own.ss_size = sizeof handler_stack;
    ::sigaltstack(&own, nullptr);
}

}  // namespace mdpcosim

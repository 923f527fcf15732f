#pragma once

#include <atomic>
#include <limits>
#include <string>

#include "core/arithmetic.hpp"
#include "core/messages.hpp"

/// Who is inside whose code: every call of an FMU or a plugin is noted, so that whoever ends the process there has a name.
///
/// What a thread notes stands where a supervising parent sees it, too (core/last_words.hpp); a note costs a few plain stores. In programs that
/// call watch_crashes(), SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT have a handler, and exit() an ear. Where one of them meets a
/// thread inside foreign code, this process ends with status 1, and
///     mdpcosim: subsystem 'x' (plugin y.so): crashed (SIGSEGV) in advance at t = 0.25 s
/// is told to the parent, or without one written to standard error. Everywhere else the handler puts back the one before it
/// and lets the signal happen again. It runs on a stack of its own, so that an overflown one is told, too.
namespace mdpcosim {

/// A subsystem whose code others have made; part of who calls it. Its address stands for it in what threads note: nothing is looked up.
class foreign_code {
   public:
    /// `kind`: "plugin", "fmu"
    foreign_code(const char* kind, const std::string& subsystem, const std::string& file);
    foreign_code(const foreign_code&) = delete;
    foreign_code& operator=(const foreign_code&) = delete;
    ~foreign_code();

    const char* kind() const { return kind_; }
    const char* subsystem() const { return subsystem_; }
    const char* file() const { return file_; }

    /// Foreign code has left another arithmetic behind: put right, and told once.
    [[gnu::cold]] void restore_arithmetic(const char* function, double t) const noexcept;

   private:
    const char *kind_, *subsystem_, *file_;  ///< never freed
    messages messages_;
    mutable std::atomic<bool> told_ = false;
};

inline constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

/// What a thread is doing. Another process may look at it at any time.
struct alignas(64) foreign_place {
    std::atomic<const foreign_code*> code = nullptr;  ///< none: our own work
    std::atomic<const char*> function = nullptr;      ///< the one that was called last for it
    std::atomic<double> time = no_time;
    std::atomic<int> thread = 0;  ///< that has this place; 0: nobody
};

/// Of this thread.
class foreign_thread {
   public:
    static foreign_place& place() noexcept {
        foreign_place* mine = place_;
        return mine != nullptr ? *mine : prepare();
    }
    static const foreign_place* present() noexcept { return place_; }
    static bool is_inside() noexcept { return place_ != nullptr && place_->code.load() != nullptr; }

   private:
    friend struct foreign_place_owner;
    static foreign_place& prepare() noexcept;
    // A register away in programs. A library that is opened at run time finds no room among what is a register away.
    static constinit thread_local foreign_place* place_;
};

/// This thread works for that subsystem at time `t` as long as the object lives. Inside another one it takes that one's place. After it the
/// thread computes as usual (core/arithmetic.hpp).
class foreign_scope {
   public:
    [[gnu::always_inline]] foreign_scope(const foreign_code& code, double t, const char* function = nullptr) noexcept
        : code_(code) {
        foreign_place& here = foreign_thread::place();
        here.time.store(t, std::memory_order_relaxed);
        here.function.store(function, std::memory_order_relaxed);
        here.code.store(&code, std::memory_order_relaxed);
    }
    foreign_scope(const foreign_scope&) = delete;
    foreign_scope& operator=(const foreign_scope&) = delete;
    [[gnu::always_inline]] ~foreign_scope() {
        foreign_place& here = foreign_thread::place();
        if (!computes_as_usual()) [[unlikely]]
            code_.restore_arithmetic(here.function.load(std::memory_order_relaxed),
                                     here.time.load(std::memory_order_relaxed));
        here.code.store(nullptr, std::memory_order_relaxed);
    }

   private:
    const foreign_code& code_;
};

/// ... and calls this function of it. One store: calls of FMUs are many and short.
[[gnu::always_inline]] inline void note_call(const char* function) noexcept {
    foreign_thread::place().function.store(function, std::memory_order_relaxed);
}

/// For programs: from now on crashes and exits of foreign code are told. A library that is part of somebody else's program leaves signals
/// alone.
void watch_crashes();

/// For programs that watch crashes, after a library was loaded: exit() is heard before the library's own handlers run.
void watch_exit();

/// " in advance at t = 0.25 s"
std::string text_of_call(const char* function, double t);

}  // namespace mdpcosim

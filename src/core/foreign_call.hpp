#pragma once

#include <atomic>
#include <limits>
#include <string>

/// Who is inside whose code: every call of an FMU or a plugin is noted, so that whoever ends the process there has a name.
///
/// What a thread notes stands where a supervising parent sees it, too (core/last_words.hpp); a note costs a few plain stores. In programs that
/// call watch_crashes(), SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT have a handler, and exit() an ear. Where one of them meets a
/// thread inside foreign code, this process ends with status 1, and
///     mdpcosim: subsystem 'x' (plugin y.so): crashed (SIGSEGV) in advance at t = 0.25 s
/// is told to the parent, or without one written to standard error. Everywhere else the handler puts back the one before it
/// and lets the signal happen again. It runs on a stack of its own, so that an overflown one is told, too.
namespace mdpcosim {

/// A subsystem whose code others have made.
struct foreign_code {
    const char* kind;  ///< "plugin", "fmu"
    const char* subsystem;
    const char* file;
};

/// The same object for the same names, for ever.
const foreign_code& foreign_code_of(const char* kind, const std::string& subsystem, const std::string& file);

inline constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

/// What a thread is doing. Another process may look at it at any time.
struct alignas(64) foreign_place {
    std::atomic<const foreign_code*> code = nullptr;
    std::atomic<const char*> function = nullptr;  ///< none: our code works for the subsystem
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

   private:
    friend struct foreign_place_owner;
    static foreign_place& prepare() noexcept;
    // A register away in the library, too.
    [[gnu::tls_model("initial-exec")]] static constinit thread_local foreign_place* place_;
};

/// This thread works for that subsystem at time `t` as long as the object lives. May be nested.
class foreign_scope {
   public:
    foreign_scope(const foreign_code& code, double t, const char* function = nullptr) noexcept
        : place_(foreign_thread::place()),
          code_(place_.code.load(std::memory_order_relaxed)),
          function_(place_.function.load(std::memory_order_relaxed)),
          time_(place_.time.load(std::memory_order_relaxed)) {
        place_.time.store(t, std::memory_order_relaxed);
        place_.code.store(&code, std::memory_order_relaxed);
        place_.function.store(function, std::memory_order_relaxed);
    }
    foreign_scope(const foreign_scope&) = delete;
    foreign_scope& operator=(const foreign_scope&) = delete;
    ~foreign_scope() {
        place_.function.store(function_, std::memory_order_relaxed);
        place_.code.store(code_, std::memory_order_relaxed);
        place_.time.store(time_, std::memory_order_relaxed);
    }

   private:
    foreign_place& place_;
    const foreign_code* code_;
    const char* function_;
    double time_;
};

/// ... and is inside this function of it. Inside a foreign_scope.
class foreign_function {
   public:
    explicit foreign_function(const char* name) noexcept
        : place_(foreign_thread::place()), outer_(place_.function.load(std::memory_order_relaxed)) {
        place_.function.store(name, std::memory_order_relaxed);
    }
    foreign_function(const foreign_function&) = delete;
    foreign_function& operator=(const foreign_function&) = delete;
    ~foreign_function() { place_.function.store(outer_, std::memory_order_relaxed); }

   private:
    foreign_place& place_;
    const char* outer_;
};

/// For programs: from now on crashes and exits of foreign code are told. A library that is part of somebody else's program leaves signals
/// alone.
void watch_crashes();

/// For programs that watch crashes, after a library was loaded: exit() is heard before the library's own handlers run.
void watch_exit();

/// "subsystem 'x' (plugin y.so)"
std::string text_of(const foreign_code& code);
/// " in advance at t = 0.25 s"
std::string text_of_call(const char* function, double t);

}  // namespace mdpcosim

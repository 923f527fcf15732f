#pragma once

#include <limits>

/// Names the plugin that crashes.
///
/// In programs that call name_crashing_plugins(): while at least one crash_watch lives, SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT have a handler. If one of them arrives
/// while this thread is inside a plugin_call, the handler writes
///     mdpcosim: subsystem 'x' (plugin y.so): crashed (SIGSEGV) in advance at t = 0.25 s
/// to standard error and ends the process with status 1; what the recorder has flushed stays readable. Everywhere else the
/// handler puts back the one before it and lets the signal happen again. The handler runs on a stack of its own, so that an
/// overflown stack is told, too.
namespace mdpcosim {

/// Who is called; the texts live as long as the calls.
struct plugin_caller {
    const char* subsystem;
    const char* file;
};

/// Once, before the first plugin. A library that is part of somebody else's program leaves signals alone.
void name_crashing_plugins();

class crash_watch {
   public:
    crash_watch();
    crash_watch(const crash_watch&) = delete;
    crash_watch& operator=(const crash_watch&) = delete;
    ~crash_watch();
};

/// This thread is inside `function` of the caller's plugin as long as the object lives. Calls may be nested.
class plugin_call {
   public:
    static constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

    plugin_call(const plugin_caller& caller, const char* function, double t = no_time) noexcept
        : caller_(caller), function_(function), t_(t), outer_(present_) {
        if (!thread_is_ready_) prepare_thread();
        present_ = this;
    }
    plugin_call(const plugin_call&) = delete;
    plugin_call& operator=(const plugin_call&) = delete;
    ~plugin_call() { present_ = outer_; }

    static const plugin_call* present() { return present_; }
    const plugin_caller& caller() const { return caller_; }
    const char* function() const { return function_; }
    double time() const { return t_; }

   private:
    static void prepare_thread() noexcept;

    static constinit thread_local const plugin_call* present_;
    static constinit thread_local bool thread_is_ready_;

    const plugin_caller& caller_;
    const char* function_;
    double t_;
    const plugin_call* outer_;
};

}  // namespace mdpcosim

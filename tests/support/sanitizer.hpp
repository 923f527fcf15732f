#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

/// What the address sanitizer cannot do, said once.
namespace mdpcosim::test {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif

#ifdef __SANITIZE_ADDRESS__
#define MDPCOSIM_NOT_SANITIZED(why) GTEST_SKIP() << (why)
#else
#define MDPCOSIM_NOT_SANITIZED(why) static_cast<void>(0)
#endif

/// For tests of limits of memory.
#define MDPCOSIM_NEEDS_BOUNDED_MEMORY() \
    MDPCOSIM_NOT_SANITIZED("the address sanitizer maps terabytes before the first line of a program")

/// For tests of processes without files.
#define MDPCOSIM_NEEDS_LAST_FILE() \
    MDPCOSIM_NOT_SANITIZED("the sanitizer checks types through a pipe, for which no file is left")

/// As long as it lives, processes that are started do not look for leaks: one that may not trace others waits at its end for its tracer, which
/// the filter of system calls has killed, and burns a core for ever.
class no_leak_checks {
   public:
    no_leak_checks() {
        if (const char* given = std::getenv("ASAN_OPTIONS")) before_ = given;
        if (address_sanitizer) ::setenv("ASAN_OPTIONS", (before_ + ":detect_leaks=0").c_str(), 1);
    }
    no_leak_checks(const no_leak_checks&) = delete;
    no_leak_checks& operator=(const no_leak_checks&) = delete;
    ~no_leak_checks() {
        if (address_sanitizer) ::setenv("ASAN_OPTIONS", before_.c_str(), 1);
    }

   private:
    std::string before_;
};

}  // namespace mdpcosim::test

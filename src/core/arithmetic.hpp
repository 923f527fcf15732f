#pragma once

#include <cfenv>
#include <cstdint>
#include <string>

/// How this thread's processor computes. Everything here is written for rounding to the nearest, without traps and with subnormal numbers, and
/// results are equal on every transport in that mode only. Threads inherit the mode of who makes them. Foreign code may leave another one
/// behind: libraries that were linked with -ffast-math switch subnormal numbers off as they are loaded.
namespace mdpcosim {

inline bool computes_as_usual() noexcept {
#if defined(__x86_64__)
    constexpr unsigned sse_control = 0xffc0, sse_usual = 0x1f80;
    constexpr std::uint16_t x87_control = 0x0f3f, x87_usual = 0x033f;
    std::uint16_t x87 = 0;
    asm volatile("fnstcw %0" : "=m"(x87));
    return (__builtin_ia32_stmxcsr() & sse_control) == sse_usual && (x87 & x87_control) == x87_usual;
#elif defined(__aarch64__)
    std::uint64_t control = 0;
    asm volatile("mrs %0, fpcr" : "=r"(control));
    return control == 0;
#else
    return std::fegetround() == FE_TONEAREST && ::fegetexcept() == 0;
#endif
}

inline void compute_as_usual() noexcept { std::fesetenv(FE_DFL_ENV); }

/// What is not as usual, in words.
std::string unusual_arithmetic();

/// While it lives this thread computes as usual. After it the caller's mode is back, whatever was done in between.
class usual_arithmetic {
   public:
    usual_arithmetic() noexcept : was_usual_(computes_as_usual()) {
        if (was_usual_) return;
        std::fegetenv(&before_);
        compute_as_usual();
    }
    usual_arithmetic(const usual_arithmetic&) = delete;
    usual_arithmetic& operator=(const usual_arithmetic&) = delete;
    ~usual_arithmetic() {
        if (!was_usual_)
            std::fesetenv(&before_);
        else if (!computes_as_usual())
            compute_as_usual();
    }

   private:
    bool was_usual_;
    std::fenv_t before_;
};

}  // namespace mdpcosim

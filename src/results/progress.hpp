#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace mdpcosim {

/// Shows how far a run is: a bar on a terminal, a plain line now and then elsewhere, nothing when quiet. What is to be shown goes to
/// `out`, control characters included.
class progress {
   public:
    enum class style { none, bar, lines };

    /// The style that fits standard error.
    static style fitting(bool quiet);

    using writer = std::function<void(const std::string&)>;
    /// `counted`: what is done one by one ("variants"), from `start` to `end`; empty: simulated time.
    progress(style wanted, double start, double end, writer out, std::string counted = {});
    ~progress();
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    /// Called a few times a second.
    void update(double t);
    /// A line that stays.
    void tell(const std::string& line);
    /// "1 h 5 min"
    static std::string duration(double seconds);
    /// "1.2 GB"
    static std::string size(double bytes);
    /// Removes the bar before other text is written.
    void finish();

    /// "  42 % |####    | t = 0.84 s of 2 s, 1.3 x real time, 5 s left"; for tests.
    static std::string line(double start, double end, double t, double wall, int bar_width,
                            const std::string& counted = {});
    /// The line with the longest bar that a terminal of so many columns has room for; for tests.
    static std::string fitted_line(double start, double end, double t, double wall, int columns,
                                   const std::string& counted = {});

   private:
    style style_;
    writer out_;
    double start_, end_;
    std::string counted_;
    std::chrono::steady_clock::time_point begin_, last_;
    bool shown_ = false;
};

}  // namespace mdpcosim

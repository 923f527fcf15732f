#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "fmi/instance.hpp"
#include "fmu/layout.hpp"
#include "fmu/values.hpp"

namespace mdpcosim {

/// Whether the importer can let it tick by itself: an input clock whose FMU tells its times.
bool has_times(const fmi::description& fmu, const fmi::clock_description& clock);

/// The clocks of one instance of an FMU (3.0): those that have times tick at them, triggered ones with the clocks that they are coupled to,
/// those that the FMU lets tick are read.
///
/// start() belongs in initialisation mode, what else takes the instance in event mode. A tick lasts until the discrete states have been updated.
class fmu_clocks {
   public:
    /// What changes, for saving and restoring.
    struct clock_state {
        double origin = 0, interval = 0;  ///< next = origin + count * interval, so that no rounding adds up
        std::int64_t count = 0;           ///< of a triggered one: ticks that it was told of since begin()
        double next = std::numeric_limits<double>::infinity();
        double last = 0;  ///< when it ticked
        bool ticking = false;
        std::int64_t ticks = 0;  ///< of one that is read: since begin()
        bool counted = false;    ///< the tick that goes on is among them
    };

    /// None where `event_mode` is false: there the FMU has no ticks.
    fmu_clocks(fmi::instance& instance, const fmu_layout& layout, bool event_mode);

    bool drives() const { return !driven_.empty(); }
    bool ticks_by_time() const { return timed_ > 0; }
    double next() const;
    /// Now, or so near that nobody could step there.
    bool due(double t) const { return ticks_by_time() && next() <= t + slack(t); }
    static double slack(double t) { return 1e-12 * (t < 0 ? -t : t); }

    void start(double t0);
    /// Those that are due.
    void tick(double t);
    /// Triggered ones: `value_of` their slots is how often what they are coupled to has ticked since begin().
    template <class Function>
    void trigger(const Function& value_of) {
        for (std::size_t i = 0; i < driven_.size(); ++i)
            if (driven_[i].slot >= 0) trigger(i, std::llround(value_of(driven_[i].slot)));
    }
    /// Inputs that ticking clocks let in; `changed`: one of them.
    template <class Function>
    void set_inputs(const Function& value_of, bool* changed = nullptr) {
        for (std::size_t i = 0; i < driven_.size(); ++i)
            if (states_[i].ticking) inputs_[i].set(instance_, value_of, changed);
    }
    void forget_inputs();
    /// Before every update of the discrete states, which end_ticks() follows; updated() after the last one.
    void look();
    void end_ticks();
    void updated(double t);

    bool reads() const { return !read_.empty(); }
    /// Clocks of the FMU as outputs: how often they ticked since begin(), in an event that is not over, too.
    void begin();
    void give(std::span<double> y, bool in_event);

    const std::vector<clock_state>& state() const { return states_; }
    void set_state(const std::vector<clock_state>& saved) { std::ranges::copy(saved, states_.begin()); }

   private:
    struct driven_clock {
        fmi::clock_description is;
        fmi::value_reference reference;
        int slot = -1;  ///< of a triggered one: the input that says when
    };
    struct read_clock {
        int slot;
        fmi::value_reference reference;
    };

    void trigger(std::size_t i, std::int64_t count);
    double ask_interval(const driven_clock& clock, bool& changed);
    void check_interval(const driven_clock& clock, double interval) const;
    [[noreturn]] void refuse(const driven_clock& clock, const std::string& interval) const;

    fmi::instance& instance_;
    std::vector<driven_clock> driven_;
    std::deque<fmu_values> inputs_;  ///< of driven_
    std::vector<read_clock> read_;
    std::vector<clock_state> states_;  ///< of driven_, then of read_
    std::size_t timed_ = 0;            ///< of driven_
};

}  // namespace mdpcosim

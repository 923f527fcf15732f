#pragma once

#include <cstdint>

namespace mdpcosim {

/// Whether steps are done in parallel: found out by doing so, for as long as it has not cost more than it has gained.
///
/// Serial steps say what a step takes. Every parallel one is weighed against that: what it gains is put aside, up to a limit, and pays for
/// later ones that are slower, as where another program takes a worker's core. When nothing is left some serial steps are looked at once more, since
/// the model itself may take longer than it did; where those are quicker steps are serial again, and the
/// next try comes after a pause that is long against what this one has lost, and longer every time. While steps are parallel
/// some serial ones are done now and then: what they take may have changed.
class parallel_choice {
   public:
    explicit parallel_choice(int workers) : workers_(workers) {}

    bool parallel() const { return parallel_ && serial_looks_ == 0; }
    /// Whether it wants to hear of the step of this number, which are counted from 0; the clock costs as much as a small step.
    bool listens(std::int64_t step) const { return parallel_ || step >= next_; }
    /// The step has taken so long and has ended at `now`, s.
    void took(std::int64_t step, double seconds, double now);
    /// Steps that are so long need no proof before they are tried in parallel.
    void begin_with(double first_step_seconds);

   private:
    void took_serially(std::int64_t step, double seconds, double now);
    void look(std::int64_t step, double seconds, double now);
    bool may_pay() const;
    void begin();
    void give_way(std::int64_t step, double now);

    int workers_;
    bool parallel_ = false;
    double serial_ = 0;         ///< s of a step, the mean
    std::int64_t samples_ = 0;  ///< in it
    std::int64_t next_ = 0;     ///< serial step to hear of
    std::int64_t since_ = 0;    ///< first step of the present way
    double aside_ = 0;          ///< s that parallel steps have gained, less what others have lost
    double gained_ = 0;         ///< the same of all of them since they began
    std::int64_t rounds_ = 0;   ///< parallel ones since they began, or since serial ones were looked at
    int serial_looks_ = 0;      ///< serial steps to come among parallel ones
    bool in_doubt_ = false;     ///< these decide whether it goes on
    double recent_ = 0;         ///< s of a parallel step, the mean of the last ones
    double pause_ = 0, retry_at_ = 0;
};

}  // namespace mdpcosim

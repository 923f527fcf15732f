#include "transport/parallel_choice.hpp"

#include <algorithm>
#include <utility>

#include "transport/schedule.hpp"

namespace mdpcosim {

namespace {

constexpr double cost_of_round = 1e-6;  // s; of two workers that wait for each other
constexpr double surely_long = 2e-4;    // s of a step that no wake-up of workers matters to
constexpr double at_stake = 2e-4;       // s that a try may lose, or ten steps
constexpr double most_aside = 1e-2;     // s
constexpr double pause_by_loss = 100;   // at most so small a part of the time is lost
constexpr double longest_pause = 10;    // s
constexpr std::int64_t rounds_to_look = 1000;
constexpr int looks = 4;
constexpr std::int64_t recent_steps = 16;

}  // namespace

bool parallel_choice::may_pay() const { return serial_ * (1 - 1.0 / workers_) > 2 * cost_of_round; }

void parallel_choice::begin_with(double first_step_seconds) {
    if (workers_ < 2 || first_step_seconds < surely_long) return;
    serial_ = first_step_seconds;
    begin();
}

void parallel_choice::begin() {
    parallel_ = true;
    aside_ = gained_ = 0;
    rounds_ = 0;
    recent_ = 0;
}

void parallel_choice::took(std::int64_t step, double seconds, double now) {
    if (!parallel_) return took_serially(step, seconds, now);
    if (serial_looks_ > 0) return look(step, seconds, now);
    const double gain = serial_ - seconds;
    recent_ += (seconds - recent_) / static_cast<double>(std::min(rounds_ + 1, recent_steps));
    gained_ += gain;
    aside_ = std::min(aside_ + gain, most_aside);
    in_doubt_ = aside_ < -std::max(at_stake, 10 * serial_);
    if (++rounds_ % rounds_to_look == 0 || in_doubt_) serial_looks_ = looks, samples_ = 0;
}

void parallel_choice::look(std::int64_t step, double seconds, double now) {
    serial_ = blend(serial_, seconds, samples_++);
    if (--serial_looks_ > 0 || !std::exchange(in_doubt_, false)) return;
    if (recent_ > serial_) return give_way(step, now);
    aside_ = 0;
}

void parallel_choice::took_serially(std::int64_t step, double seconds, double now) {
    serial_ = blend(serial_, seconds, samples_++);
    next_ = step + std::clamp<std::int64_t>((step - since_) / 8, 1, 1000);
    if (workers_ > 1 && samples_ >= first_samples && now >= retry_at_ && may_pay()) begin();
}

void parallel_choice::give_way(std::int64_t step, double now) {
    const double lost = -aside_;
    if (gained_ > pause_by_loss * lost) pause_ = 0;  // it has paid for a long time
    pause_ = std::min(std::max(pause_by_loss * lost, 2 * pause_), longest_pause);
    retry_at_ = now + pause_;
    parallel_ = false;
    samples_ = 0;
    since_ = step;
    next_ = step + 1;
}

}  // namespace mdpcosim

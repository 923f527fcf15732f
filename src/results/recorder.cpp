#include "results/recorder.hpp"

#include <algorithm>
#include <utility>

namespace mdpcosim {

recorder::recorder(std::vector<recorded_column> columns, std::unique_ptr<result_sink> sink)
    : columns_(std::move(columns)), sink_(std::move(sink)) {
    constexpr std::size_t block = 1 << 15;
    const std::size_t length = columns_.size() + 1;
    block_.resize(std::max<std::size_t>(1, block / length) * length);
}

void recorder::row(double t, std::span<const double> y, std::span<const double> u) {
    double* out = block_.data() + used_;
    *out++ = t;
    for (const auto& column : columns_)
        *out++ = column.from == recorded_column::source::output ? y[column.index] : u[column.index];
    used_ += columns_.size() + 1;
    ++rows_;
    if (used_ == block_.size()) hand_on();
}

void recorder::flush() {
    hand_on();
    sink_->flush();
}

void recorder::hand_on() {
    // Forgotten first: rows that the sink refused are not offered again.
    const std::size_t used = std::exchange(used_, 0);
    sink_->write(std::span(block_).first(used), columns_.size() + 1);
}

}  // namespace mdpcosim

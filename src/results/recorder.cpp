#include "results/recorder.hpp"

#include <algorithm>

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
    if (used_ == block_.size()) {
        sink_->write(block_, columns_.size() + 1);
        used_ = 0;
    }
}

void recorder::flush() {
    sink_->write(std::span(block_).first(used_), columns_.size() + 1);
    used_ = 0;
    sink_->flush();
}

}  // namespace mdpcosim

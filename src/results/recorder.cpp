#include "results/recorder.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mdpcosim {

recorder::recorder(std::vector<recorded_column> columns, std::vector<std::unique_ptr<result_sink>> sinks)
    : columns_(std::move(columns)), sinks_(std::move(sinks)) {
    constexpr std::size_t block = 1 << 15;
    const std::size_t length = columns_.size() + 1;
    block_.resize(std::max<std::size_t>(1, block / length) * length);
}

recorder::recorder(std::vector<recorded_column> columns, std::unique_ptr<result_sink> sink)
    : recorder(std::move(columns), std::vector<std::unique_ptr<result_sink>>{}) {
    sinks_.push_back(std::move(sink));
}

void recorder::row(double t, std::span<const double> y, std::span<const double> u, std::span<const double> jumps,
                   std::span<const double> energy_errors) {
    const std::array<std::span<const double>, 4> sources{y, u, jumps, energy_errors};
    double* out = block_.data() + used_;
    *out++ = t;
    for (const auto& column : columns_) *out++ = sources[static_cast<std::size_t>(column.from)][column.index];
    used_ += columns_.size() + 1;
    ++rows_;
    if (used_ == block_.size()) hand_on();
}

void recorder::flush() {
    hand_on();
    each_sink([](result_sink& sink) { sink.flush(); });
}

void recorder::finish() {
    hand_on();
    each_sink([](result_sink& sink) { sink.finish(); });
}

void recorder::hand_on() {
    // Forgotten first: rows that the sink refused are not offered again.
    const std::size_t used = std::exchange(used_, 0);
    each_sink([&](result_sink& sink) { sink.write(std::span(block_).first(used), columns_.size() + 1); });
}

template <class Call>
void recorder::each_sink(const Call& call) {
    try {
        for (const auto& sink : sinks_) call(*sink);
    } catch (...) {
        refused_ = true;
        throw;
    }
}

}  // namespace mdpcosim

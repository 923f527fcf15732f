#include "results/recorder.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mdpcosim {

recorder::recorder(std::vector<recorded_column> columns, std::vector<std::unique_ptr<result_sink>> sinks,
                   row_journal* journal)
    : columns_(std::move(columns)), sinks_(std::move(sinks)), journal_(journal) {
    // What a block holds is flushed together where there is a journal: then blocks of the size that sinks write at once.
    constexpr std::size_t block = 1 << 15, journaled_block = 1 << 18;
    const std::size_t length = columns_.size() + 1;
    for (std::size_t i = 0; i < columns_.size(); ++i)
        if (!columns_[i].file_unit.empty()) converted_.push_back(static_cast<std::uint32_t>(i));
    if (length > row_journal::capacity) journal_ = nullptr;
    const std::size_t size =
        std::max<std::size_t>(1, (journal_ == nullptr ? block : journaled_block) / length) * length;
    if (journal_ != nullptr) {
        journal_->row_length = length;
        block_ = std::span(journal_->values).first(size);
    } else {
        own_.resize(size);
        block_ = own_;
    }
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
    for (const std::uint32_t i : converted_) {
        double& value = block_[used_ + 1 + i];
        value = columns_[i].factor * value + columns_[i].offset;
    }
    used_ += columns_.size() + 1;
    ++rows_;
    if (journal_ != nullptr) {
        journal_->rows.store(rows_, std::memory_order_relaxed);
        journal_->used.store(used_, std::memory_order_release);
    }
    if (used_ < block_.size()) return;
    if (journal_ != nullptr)
        flush();
    else
        hand_on();
}

void recorder::flush() {
    hand_on();
    each_sink([](result_sink& sink) { sink.flush(); });
    if (journal_ != nullptr) journal_->used = 0;
}

void recorder::finish() {
    hand_on();
    each_sink([](result_sink& sink) { sink.finish(); });
    if (journal_ != nullptr) journal_->used = 0;
}

void recorder::hand_on() {
    // Forgotten first: rows that the sink refused are not offered again.
    const std::size_t used = std::exchange(used_, 0);
    each_sink([&](result_sink& sink) { sink.write(block_.first(used), columns_.size() + 1); });
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

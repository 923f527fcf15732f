#include "results/recorder.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "core/forked_copy.hpp"

namespace mdpcosim {

recorder::recorder(std::vector<recorded_column> columns, std::vector<std::unique_ptr<result_sink>> sinks,
                   row_writing how)
    : columns_(std::move(columns)), sinks_(std::move(sinks)), how_(std::move(how)) {
    // What a block holds is flushed together where there is a journal: then blocks of the size that sinks write at once.
    constexpr std::size_t block_size = 1 << 15, journaled_block_size = 1 << 18;
    const std::size_t length = row_length();
    find_runs();
    if (length > row_journal::capacity) how_.journal = nullptr;
    row_journal* journal = how_.journal;
    const std::size_t size =
        std::max<std::size_t>(1, (journal == nullptr ? block_size : journaled_block_size) / length) * length;
    const std::size_t count = how_.core_is_free ? 2 : 1;
    if (journal == nullptr) own_.resize(count * size);
    for (std::size_t b = 0; b < count; ++b)
        blocks_[b].values = journal == nullptr ? std::span(own_).subspan(b * size, size)
                                               : std::span(journal->blocks[b].values).first(size);
    if (journal != nullptr) journal->row_length = length;
    if (!how_.core_is_free) return;
    try {
        writer_ = std::thread([this] { serve(); });
    } catch (const std::system_error&) {  // the system gives no more threads
        how_.core_is_free = nullptr;
    }
}

recorder::recorder(std::vector<recorded_column> columns, std::unique_ptr<result_sink> sink)
    : recorder(std::move(columns), std::vector<std::unique_ptr<result_sink>>{}) {
    sinks_.push_back(std::move(sink));
}

recorder::~recorder() {
    if (!writer_.joinable()) return;
    rest();
    order_ = order::end;
    order_.notify_one();
    writer_.join();
}

void recorder::find_runs() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const recorded_column& c = columns_[i];
        if (!c.file_unit.empty()) converted_.push_back(static_cast<std::uint32_t>(i));
        if (!runs_.empty() && runs_.back().from == c.from && runs_.back().first + runs_.back().count == c.index)
            ++runs_.back().count;
        else
            runs_.push_back({c.from, c.index, 1});
    }
}

void recorder::row(double t, std::span<const double> y, std::span<const double> u, std::span<const double> jumps,
                   std::span<const double> energy_errors, std::span<const double> micro_steps) {
    const std::array<std::span<const double>, 5> sources{y, u, jumps, energy_errors, micro_steps};
    block& into = blocks_[filling_];
    double* const begin = into.values.data() + into.used;
    double* out = begin;
    *out++ = t;
    for (const run_of_columns& r : runs_)
        out = std::copy_n(sources[static_cast<std::size_t>(r.from)].data() + r.first, r.count, out);
    for (const std::uint32_t i : converted_) begin[1 + i] = columns_[i].factor * begin[1 + i] + columns_[i].offset;
    newest_ = into.values.subspan(into.used, row_length());
    into.used += row_length();
    ++rows_;
    if (how_.journal != nullptr) {
        how_.journal->rows.store(rows_, std::memory_order_relaxed);
        how_.journal->blocks[filling_].used.store(into.used, std::memory_order_release);
    }
    if (into.used == into.values.size()) hand_on(false);
}

double recorder::bytes_per_row() const {
    double sum = 0;
    if (newest_.empty()) return sum;
    for (const auto& sink : sinks_) sum += static_cast<double>(sink->bytes_of(newest_));
    return sum;
}

void recorder::flush() {
    await_writer();
    bring(blocks_[filling_], true);
}

void recorder::flush_soon() { hand_on(true); }

void recorder::finish() {
    await_writer();
    bring(blocks_[filling_], false);
    try {
        for (const auto& sink : sinks_) sink->finish();
    } catch (...) {
        refused_ = true;
        throw;
    }
    if (how_.journal == nullptr) return;
    for (auto& each : how_.journal->blocks) each.used = 0;  // of a block that was refused, too
}

void recorder::hand_on(bool flush) {
    await_writer();
    if (!how_.core_is_free || !how_.core_is_free()) return bring(blocks_[filling_], flush);
    filling_ = 1 - filling_;
    if (how_.journal != nullptr) how_.journal->filling = filling_;
    order_.store(flush ? order::flush : order::write, std::memory_order_release);
    order_.notify_one();
}

/// Rows that were refused are not offered again. A journal's block is filled anew next: what it held is in the files then.
void recorder::bring(block& b, bool flush) {
    const std::size_t used = std::exchange(b.used, 0);
    try {
        for (const auto& sink : sinks_) {
            if (used > 0) sink->write(b.values.first(used), row_length());
            if (flush || how_.journal != nullptr) sink->flush();
        }
    } catch (...) {
        refused_ = true;
        throw;
    }
    written_ += static_cast<std::int64_t>(used / row_length());
    if (how_.journal != nullptr) how_.journal->blocks[static_cast<std::size_t>(&b - blocks_)].used = 0;
}

/// The thread has written, and this is not a copy of the process, which has no such thread and whose rows are not its own.
void recorder::await_writer() {
    if (!writer_.joinable()) return;
    if (is_forked_copy()) end_forked_copy();
    rest();
    if (!failure_) return;
    blocks_[filling_].used = 0;  // none follow behind those that were refused
    std::rethrow_exception(std::exchange(failure_, nullptr));
}

void recorder::rest() const {
    for (order now = order_.load(std::memory_order_acquire); now != order::none;
         now = order_.load(std::memory_order_acquire))
        order_.wait(now, std::memory_order_acquire);
}

void recorder::serve() {
    if (how_.begin_thread) how_.begin_thread();
    while (true) {
        order_.wait(order::none, std::memory_order_acquire);
        const order given = order_.load(std::memory_order_acquire);
        if (given == order::none) continue;
        if (given == order::end) return;
        try {
            bring(blocks_[1 - filling_], given == order::flush);
        } catch (...) {
            failure_ = std::current_exception();
        }
        order_.store(order::none, std::memory_order_release);
        order_.notify_one();
    }
}

}  // namespace mdpcosim

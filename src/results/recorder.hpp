#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/last_words.hpp"

namespace mdpcosim {

/// One column of the results: an output of a subsystem or a connection's coupling variable, what a monitor sees of that, or the micro steps
/// that a subsystem has done since the row before.
struct recorded_column {
    enum class source { output, coupling, jump, energy_error, micro_steps };
    std::string name;
    std::string unit;
    source from = source::output;
    std::uint32_t index = 0;  ///< output slot, channel or subsystem
    bool shows_unit = false;  ///< in the header of a text file
    /// Of the values in files, where that is not `unit`: factor * value + offset.
    std::string file_unit = {};
    double factor = 1, offset = 0;

    const std::string& unit_in_files() const { return file_unit.empty() ? unit : file_unit; }
};

/// Where rows go: a file format. Rows hold the time and then the columns.
class result_sink {
   public:
    virtual ~result_sink() = default;
    virtual void write(std::span<const double> values, std::size_t row_length) = 0;
    /// What such a row takes of the disk.
    virtual std::size_t bytes_of(std::span<const double> /*row*/) const { return 0; }
    /// After this what was written is readable by others, whatever happens to this process.
    virtual void flush() = 0;
    /// The last call: nothing more is written.
    virtual void finish() { flush(); }
};

/// How blocks of rows become files beside the macro loop.
struct row_writing {
    row_journal* journal =
        nullptr;  ///< where rows are kept until they are in the files, so that they outlive this process
    std::function<bool()> core_is_free =
        {};  ///< asked for every block: then a thread writes it. None: there is no such thread
    std::function<void()> begin_thread = {};  ///< called by that thread when it begins
};

/// Collects rows in memory and hands them on in blocks, so that the macro loop pays for copying only; what sinks cost, too, where no core is
/// free for a thread of theirs. What a sink throws in that thread is thrown by the next call that hands rows on.
class recorder {
   public:
    recorder(std::vector<recorded_column> columns, std::vector<std::unique_ptr<result_sink>> sinks,
             row_writing how = {});
    recorder(std::vector<recorded_column> columns, std::unique_ptr<result_sink> sink);
    recorder(const recorder&) = delete;
    recorder& operator=(const recorder&) = delete;
    ~recorder();

    /// Outputs, coupling variables and, where such columns are recorded, jumps and energy errors of all channels, micro steps of all subsystems.
    void row(double t, std::span<const double> y, std::span<const double> u, std::span<const double> jumps = {},
             std::span<const double> energy_errors = {}, std::span<const double> micro_steps = {});
    /// A macro step ended at `t`, with a row or without.
    void reached(double t) {
        if (how_.journal == nullptr) return;
        how_.journal->reached.store(t, std::memory_order_relaxed);
        how_.journal->steps.store(++steps_, std::memory_order_relaxed);
    }
    /// All rows into the files, now,
    void flush();
    /// or soon, where a thread writes.
    void flush_soon();
    void finish();

    std::int64_t rows() const { return rows_; }
    /// What the newest row takes of the disk, in all files.
    double bytes_per_row() const;
    /// In all files, after finish().
    std::int64_t rows_written() const { return written_; }
    /// Rows are missing in a file: its disk is full, for example.
    bool refused() const { return refused_; }
    const std::vector<recorded_column>& columns() const { return columns_; }

   private:
    /// One is filled while the other one is written.
    struct block {
        std::span<double> values;
        std::size_t used = 0;
    };
    /// Columns whose values stand side by side.
    struct run_of_columns {
        recorded_column::source from;
        std::uint32_t first, count;
    };
    enum class order : int { none, write, flush, end };

    void find_runs();
    void hand_on(bool flush);
    void bring(block& b, bool flush);
    void await_writer();
    void rest() const;
    void serve();
    std::size_t row_length() const { return columns_.size() + 1; }

    std::vector<recorded_column> columns_;
    std::vector<std::unique_ptr<result_sink>> sinks_;
    row_writing how_;
    std::vector<run_of_columns> runs_;
    std::vector<std::uint32_t> converted_;  ///< columns with another unit in files
    std::vector<double> own_;
    block blocks_[2];
    std::span<const double> newest_;  ///< row
    std::size_t filling_ = 0;
    std::int64_t rows_ = 0, steps_ = 0, written_ = 0;
    bool refused_ = false;
    std::exception_ptr failure_;  ///< of the thread
    std::atomic<order> order_ = order::none;
    std::thread writer_;
};

}  // namespace mdpcosim

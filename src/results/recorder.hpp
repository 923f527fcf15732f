#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/last_words.hpp"

namespace mdpcosim {

/// One column of the results: an output of a subsystem or a connection's coupling variable.
struct recorded_column {
    enum class source { output, coupling, jump, energy_error };
    std::string name;
    std::string unit;
    source from = source::output;
    std::uint32_t index = 0;  ///< output slot or channel
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
    /// After this what was written is readable by others, whatever happens to this process.
    virtual void flush() = 0;
    /// The last call: nothing more is written.
    virtual void finish() { flush(); }
};

/// Collects rows in memory and hands them on in blocks, so that the macro loop pays for copying only.
class recorder {
   public:
    /// With a journal rows are kept there until they are in the files, so that they outlive this process.
    recorder(std::vector<recorded_column> columns, std::vector<std::unique_ptr<result_sink>> sinks,
             row_journal* journal = nullptr);
    recorder(std::vector<recorded_column> columns, std::unique_ptr<result_sink> sink);

    /// Outputs, coupling variables and, where such columns are recorded, jumps and energy errors of all channels.
    void row(double t, std::span<const double> y, std::span<const double> u, std::span<const double> jumps = {},
             std::span<const double> energy_errors = {});
    /// A macro step ended at `t`, with a row or without.
    void reached(double t) {
        if (journal_ == nullptr) return;
        journal_->reached.store(t, std::memory_order_relaxed);
        journal_->steps.store(++steps_, std::memory_order_relaxed);
    }
    void flush();
    void finish();

    std::int64_t rows() const { return rows_; }
    /// Rows are missing in a file: its disk is full, for example.
    bool refused() const { return refused_; }
    const std::vector<recorded_column>& columns() const { return columns_; }

   private:
    void hand_on();
    template <class Call>
    void each_sink(const Call& call);

    std::vector<recorded_column> columns_;
    std::vector<std::unique_ptr<result_sink>> sinks_;
    std::vector<double> own_;
    std::span<double> block_;
    row_journal* journal_;
    std::size_t used_ = 0;
    std::int64_t rows_ = 0, steps_ = 0;
    bool refused_ = false;
    std::vector<std::uint32_t> converted_;  ///< columns with another unit in files
};

}  // namespace mdpcosim

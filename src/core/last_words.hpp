#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/foreign_call.hpp"

/// Memory that a supervised process shares with its parent (supervisor/supervisor.hpp): what the parent has to know when the process ends
/// without a word. Whatever ends it, the memory holds what was stored last.
///
/// The parent is a fork of the same program, so that texts of the program have the same addresses in both.
namespace mdpcosim {

/// Rows of results that are not in the files yet: one block is filled while the other one is written.
struct row_journal {
    static constexpr std::size_t capacity = std::size_t{1}
                                            << 21;  ///< numbers of a block; memory is taken as it is used
    struct block {
        std::atomic<std::size_t> used = 0;         ///< numbers, whole rows
        std::array<double, capacity> values = {};  ///< `used` of them
    };

    std::array<block, 2> blocks;
    std::atomic<std::size_t> filling = 0;   ///< the block with the newest rows
    std::size_t row_length = 0;             ///< the time and the columns
    std::atomic<std::int64_t> rows = 0;     ///< of the run, all
    std::atomic<std::int64_t> steps = 0;    ///< macro steps
    std::atomic<double> reached = no_time;  ///< simulated time

    bool empty() const { return blocks[0].used == 0 && blocks[1].used == 0; }
    /// All of them, the oldest first. What a process that was damaged has left is not taken on trust.
    std::vector<double> left() const;
};

/// A run whose folder is open.
struct open_run {
    enum class state : int { none, set_up, running, closing };
    std::atomic<state> now = state::none;
    char folder[4096] = {};
    char draft[8192] = {};  ///< its summary as far as it is known, JSON
    row_journal journal;
};

/// Foreign code that is in use, under the address that it has in the process.
struct named_code {
    std::atomic<const foreign_code*> key = nullptr;
    const char *kind, *subsystem, *file;
};

struct last_words {
    static constexpr std::size_t most_threads = 1024, most_runs = 4, most_files = 64, most_codes = 8192,
                                 most_awaited = 32;
    static constexpr std::size_t most_text = 1 << 20;

    std::atomic<int> status = -1;  ///< of a process that has finished in order

    // Who ended it, where that could be told:
    std::atomic<const foreign_place*> culprit = nullptr;
    std::atomic<int> signal = 0, exit_status = -1;

    std::array<foreign_place, most_threads> threads;
    std::array<open_run, most_runs> runs;
    char files[most_files][1024] = {};     ///< to be removed, empty ones are free
    char awaited[most_awaited][256] = {};  ///< others whose answers are late, empty ones are free
    std::atomic<double> grace = 0;         ///< s that it takes to end those whom this process watches itself
    std::atomic<bool> unpacked = false;    ///< there was a folder for FMUs
    char report[4096] = {};                ///< to be shown at the end
    bool json = false;                     ///< the summary is wanted on standard output

    std::array<named_code, most_codes> codes;
    char text[most_text] = {};  ///< their names
    std::atomic<std::size_t> text_used = 0;

    /// Of this process; nullptr: nobody looks after it.
    static last_words* shared() noexcept;
    /// Makes the memory, for this process and those that it forks; false where there is none to be had.
    static bool make() noexcept;
    static void drop() noexcept;  ///< nobody will look at it

    /// "subsystem 'x' (plugin y.so)"; what is not known is "foreign code".
    std::string name_of(const foreign_place& place) const;
    /// Whether a pointer that was found in here leads to something in here.
    bool holds(const void* address) const noexcept;
};

/// A run that the parent finishes where this process cannot. Without a parent it does nothing.
class run_in_work {
   public:
    /// `draft` is the summary as it would stand, had the run failed now.
    run_in_work(const std::filesystem::path& folder, const std::string& draft, open_run::state now);
    run_in_work(const run_in_work&) = delete;
    run_in_work& operator=(const run_in_work&) = delete;
    ~run_in_work();

    void enter(open_run::state next);
    row_journal* journal() const { return run_ == nullptr ? nullptr : &run_->journal; }

   private:
    open_run* run_ = nullptr;
};

/// A file that is removed when this process ends, however it ends; the owner removes it by itself where it can.
class file_in_work {
   public:
    explicit file_in_work(const std::filesystem::path& file);
    file_in_work(const file_in_work&) = delete;
    file_in_work& operator=(const file_in_work&) = delete;
    ~file_in_work();

   private:
    char* place_ = nullptr;
};

/// Another process that is waited for, in words: named where this one is killed meanwhile.
class answer_in_work {
   public:
    explicit answer_in_work(const std::string& text);
    answer_in_work(const answer_in_work&) = delete;
    answer_in_work& operator=(const answer_in_work&) = delete;
    ~answer_in_work();

   private:
    char* place_ = nullptr;
};

}  // namespace mdpcosim

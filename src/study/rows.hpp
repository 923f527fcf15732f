#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/file_handle.hpp"

/// What workers of a study leave in its folder: files that only grow, a line at a time, so that whatever happens to a worker its lines stay.
namespace mdpcosim {

struct study_row {
    std::int64_t variant = 0;
    bool done = false;
    int verdict = -1;  ///< 0 good, 1 doubtful, 2 wrong; -1: there is none
    std::int64_t macro_steps = 0, integrations = 0;
    double seconds = 0;                   ///< of wall time
    std::vector<double> parameters = {};  ///< numbers in SI, indices of words
    std::vector<double> values = {};      ///< of the measures
    std::string reason = {};              ///< why it failed, or why it is not good
};

/// Everything that is known of a study's variants.
struct study_rows {
    std::map<std::int64_t, study_row> rows;
    std::map<std::int64_t, std::string> begun;  ///< variants that somebody, by this name, began and did not end
    std::set<std::int64_t> closed;              ///< searches that came to their end
};

/// One worker's file.
class row_file {
   public:
    explicit row_file(const std::filesystem::path& path);
    void begin(std::int64_t variant) const;
    void add(const study_row& row) const;
    void close_search(std::int64_t search) const;

   private:
    void write(const std::string& line) const;
    std::filesystem::path path_;
    file_handle file_;
};

/// Reads what has come since the last time.
class row_reader {
   public:
    explicit row_reader(std::filesystem::path folder, std::size_t parameters, std::size_t measures)
        : folder_(std::move(folder)), parameters_(parameters), measures_(measures) {}
    /// All files of the folder; a last line without an end is left for the next time.
    void read();
    const study_rows& all() const { return all_; }
    study_rows& all() { return all_; }
    /// What was begun and did not end is to be done again.
    void forget_begun() { all_.begun.clear(); }

   private:
    void read_file(const std::filesystem::path& path);
    bool take(const std::string& line, const std::string& worker);

    std::filesystem::path folder_;
    std::size_t parameters_, measures_;
    std::map<std::filesystem::path, std::uintmax_t> read_so_far_;
    study_rows all_;
};

/// Hands out what is to be done, piece by piece, to any number of processes that share the folder.
class work_queue {
   public:
    /// Of `pending`, from the first on.
    static void make(const std::filesystem::path& folder, const std::vector<std::int64_t>& pending);
    explicit work_queue(const std::filesystem::path& folder);
    /// At most `most` of them, fewer where little is left; none: there is no more.
    std::vector<std::int64_t> take(std::size_t most);

   private:
    std::filesystem::path folder_;
    file_handle counter_;
    struct range {
        std::int64_t first, count, before;
    };
    std::vector<range> ranges_;
    std::int64_t total_ = 0;
};

}  // namespace mdpcosim

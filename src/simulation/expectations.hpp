#pragma once

#include <optional>
#include <vector>

#include "results/recorder.hpp"
#include "results/result_table.hpp"
#include "results/verdict.hpp"
#include "scenario/spec.hpp"

/// `expect:` of a scenario, which makes a run a check.
namespace mdpcosim {

class expectations {
   public:
    /// A variable that is not recorded, a unit that does not fit and a file that cannot be compared are user errors.
    expectations(const scenario& s, const std::vector<recorded_column>& columns);

    bool empty() const { return variables_.empty() && files_.empty(); }
    /// Whoever is not met makes the verdict wrong. How many were met.
    std::size_t check(const std::filesystem::path& results, verdict& judged) const;
    /// Of files whose rows cover a part of the run alone.
    std::vector<std::string> notes() const;
    std::size_t count() const { return variables_.size() + files_.size(); }

   private:
    struct variable {
        location where;
        std::string name, unit;
        std::optional<double> end, min, max;
        double within = 0;
    };
    struct file {
        location where;
        result_table expected;
        double within = 0;
        std::string note;
    };
    static file read_file(const expectation_spec& spec, const time_spec& time,
                          const std::vector<recorded_column>& columns);

    std::vector<variable> variables_;
    std::vector<file> files_;
};

}  // namespace mdpcosim

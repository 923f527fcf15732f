#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// Advice against the truth: generated systems whose largest stable macro steps are found by runs (analysis/largest_step.hpp).
namespace mdpcosim {

struct advise_bench_request {
    int systems = 40;
    unsigned seed = 1;
    std::vector<std::string> kinds;  ///< none: all
    std::filesystem::path fmus;      ///< folder with the shipped FMUs; empty: none of them
};

/// Two choices of method and rule are drawn for every system.
struct advise_bench_result {
    std::string kind, about;
    std::string choice;
    std::string failure;                             ///< no advice: why; the rest is not known
    double predicted = 0, confirmed = 0;             ///< limits before and after the confirmation
    bool unbounded = false;                          ///< predicted: none up to `predicted`
    double truth = 0;                                ///< 0: none was found
    bool truth_unbounded = false;                    ///< no limit up to `truth`
    double error_predicted = 0, error_measured = 0;  ///< of the advised step; 0: not known
    bool excluded = false;                           ///< a subsystem was

    /// 0: they cannot be compared, 1 where both have no limit.
    double ratio(double limit) const;
};

std::vector<std::string> advise_bench_kinds();
std::vector<advise_bench_result> bench_advise(const advise_bench_request& request,
                                              const std::function<void(const std::string&)>& told);

/// What advice promises, counted.
struct advise_bench_counts {
    int limits = 0;  ///< compared
    int failed = 0;  ///< no advice, or a subsystem excluded
    int within_5 = 0, below_80 = 0, above_110 = 0, above_110_confirmed = 0;
    int errors = 0, errors_within_3 = 0;
};
advise_bench_counts count(const std::vector<advise_bench_result>& results);

std::string to_table(const std::vector<advise_bench_result>& results);
std::string to_json(const std::vector<advise_bench_result>& results);

}  // namespace mdpcosim

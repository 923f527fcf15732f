#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "results/verdict.hpp"

/// The verdict against the truth: generated systems whose errors are known from a reference at tight tolerances. The true error of a run is
/// the largest, over coupled variables, of max |error| over the range of the reference (errors_among_their_kind(): the reference itself knows
/// nothing of what is much smaller); infinite where the run did not reach its end.
namespace mdpcosim {

struct trust_result {
    std::string kind, about;
    double error = 0;
    trust level = trust::good;     ///< of the run alone; wrong where it was stopped
    bool stopped = false;          ///< ended before its end, with an error
    trust verified = trust::good;  ///< with half and twice the step
    double estimate = 0;           ///< the largest of the verification
    std::string message;           ///< of a stopped run
};

struct trust_request {
    int each = 30;  ///< systems per kind
    unsigned seed = 1;
    std::vector<std::string> kinds;  ///< none: all
    std::filesystem::path fmus;      ///< folder; empty: none of them
    bool verify = true;
    std::filesystem::path write;  ///< folder that gets the scenarios, kind-number.yaml; empty: none
};

/// `told` hears what comes next.
std::vector<trust_result> bench_trust(const trust_request& request,
                                      const std::function<void(const std::string&)>& told);

/// What the verdict promises, counted.
struct trust_counts {
    int systems = 0;
    int good_above_5 = 0;                   ///< judged good with more than 5 % error
    int below_1 = 0, wrong_below_1 = 0;     ///< less than 1 % error; of them wrong or stopped
    int good_below_1 = 0;                   ///< of them good
    int above_50 = 0, caught_above_50 = 0;  ///< more than 50 % error; of them wrong or stopped
    int diverged = 0, diverged_passed = 0;  ///< more than ten times the range; of them ended with status 0
};
trust_counts count(const std::vector<trust_result>& results, bool verified);

std::string to_table(const std::vector<trust_result>& results, bool verified);
std::string to_json(const std::vector<trust_result>& results);

}  // namespace mdpcosim

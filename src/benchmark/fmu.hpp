#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// FMUs coupled by mdpcosim beside a bare loop over the same FMUs' functions, on this machine.
namespace mdpcosim {

/// Scenarios of FMI 2.0 co-simulation, of which nothing but one output is recorded; `fmus` has the shipped FMUs.
std::string fmu_chain(const std::filesystem::path& fmus, int length);
/// Oscillators, each of which drives the next; `work` of each in a macro step.
std::string fmu_ring(const std::filesystem::path& fmus, int count, int work);

inline constexpr double fmu_step = 1e-3;  ///< macro step of these, s
inline constexpr int ring_work = 900;     ///< about 2 us

struct fmu_timing {
    struct range {
        double least = 0, middle = 0, most = 0;
    };
    std::string system;
    int workers = 1;
    range bare, own;  ///< s per macro step: with one worker of processor time, else on the clock
    range ratio;      ///< of measurements in turns
};

/// The folder with the shipped FMUs: the one given, or that of the build or the installation this program is part of. A user_error says where
/// they were looked for.
std::filesystem::path shipped_fmus(const std::string& given);

/// Pair, chain and working set, each so many times in turns with its bare loop.
std::vector<fmu_timing> bench_fmu(const std::filesystem::path& fmus, int repetitions,
                                  const std::function<void(const std::string&)>& told);

std::string to_table(const std::vector<fmu_timing>& timings);
std::string to_json(const std::vector<fmu_timing>& timings);

}  // namespace mdpcosim

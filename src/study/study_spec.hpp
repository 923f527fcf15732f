#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenario/read.hpp"
#include "scenario/spec.hpp"

/// A study as plain data: what the user wrote, with the place of every text.
namespace mdpcosim {

/// A value that varies: numbers in SI, or words (`method: [explicit, one-pass]`).
struct study_parameter {
    std::string address;
    location where;
    std::string unit = {};                ///< SI, of the numbers
    std::vector<double> values = {};      ///< of `vary`
    std::vector<std::string> words = {};  ///< the same, of words
    /// Of samples: what the numbers are distributed like.
    enum class distribution : std::uint8_t { none, uniform, normal, triangular, log_normal };
    distribution kind = distribution::none;
    double first = 0, second = 0, third = 0;  ///< bounds; mean and deviation; low, mode, high; median and factor
    /// Of optimisations and fits: bounds and start.
    double low = 0, high = 0, start = 0;
    bool logarithmic = false;

    std::size_t count() const { return words.empty() ? values.size() : words.size(); }
};

struct measure_spec {
    enum class kind : std::uint8_t {
        start,
        end,
        min,
        max,
        mean,
        rms,
        integral,
        settling_time,
        overshoot,
        crossing,
        energy,
        value
    };
    std::string name;
    location where;
    kind what = kind::end;
    text of = {};  ///< an address, an expression of addresses, a connection, or an expression of measures
    std::optional<double> within = {};  ///< settling time: half the width of the band, as a share of the change
    std::optional<double> to = {};      ///< settling time: the value that it settles to; absent: the last one
    double level = 0;                   ///< crossing, SI
    int direction = 0;                  ///< crossing: 1 rising, -1 falling, 0 both
    int number = 1;                     ///< crossing: which of them
};

struct study_goal {
    bool given = false, maximise = false;
    location where;
    text measure;                  ///< of an optimisation
    std::vector<text> subject_to;  ///< expressions `a <= b`
    std::filesystem::path data;    ///< of a fit
    location data_where;
    std::vector<setting> columns;  ///< of a fit: variable -> column
    std::string algorithm;
    int evaluations = 0;
    double tolerance = 0;
};

struct study_spec {
    std::filesystem::path path;      ///< of the file
    std::filesystem::path scenario;  ///< resolved against the study's folder
    location scenario_where;
    std::vector<scenario_override> set;
    enum class way : std::uint8_t { grid, zip, sample, optimise, fit };
    way how = way::grid;
    std::vector<study_parameter> parameters;
    std::string sampling;  ///< random, latin-hypercube, sobol
    std::int64_t samples = 0;
    std::uint64_t seed = 1;
    study_goal goal;
    std::vector<measure_spec> measures;
    bool keep = false;  ///< the folders of all runs
    double limit = 0;   ///< s of wall time that a variant may take; 0: any time
    std::string text;   ///< the file as it was read
};

/// Throws user_error with file, line and column for what is no study.
study_spec read_study(const std::filesystem::path& path);

const char* to_string(measure_spec::kind kind);

}  // namespace mdpcosim

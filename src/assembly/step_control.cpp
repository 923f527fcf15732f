#include "assembly/step_control.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <numeric>

namespace mdpcosim {

namespace {

/// The longest interval whose multiples hold all times of sampled subsystems, which are multiples of the first macro step; 0: none.
double common_interval(const scenario& s) {
    std::int64_t steps = 0;
    for (const auto& spec : s.subsystems)
        if (spec.sample)
            for (const double time : {spec.sample->time, spec.sample->offset, spec.sample->delay})
                steps = std::gcd(steps, std::llround(time / s.time.step));
    return static_cast<double>(steps) * s.time.step;
}

}  // namespace

step_control_options step_control_of(const scenario& s) {
    using options = step_control_options;
    const step_control_spec& given = s.step_control;
    const std::string& estimate = given.estimate.value;
    const std::string& level = given.level.value;
    const double span = s.time.end - s.time.start;
    return {.rtol = given.rtol,
            .atol = given.atol,
            .atol_rate = given.atol_rate,
            .estimate = estimate == "jump"     ? options::estimator::jump
                        : estimate == "energy" ? options::estimator::energy
                                               : options::estimator::trial,
            .of = level == "value"  ? options::level::value
                  : level == "rate" ? options::level::rate
                                    : options::level::both,
            .whole_run = given.over.value != "step",
            .first = std::min(s.time.step, span),
            .smallest = given.smallest.value_or(
                std::max(1e-10 * s.time.step, 16 * std::numeric_limits<double>::epsilon() * s.time.end)),
            .largest = given.largest.value_or(std::max(s.time.step, span / 20)),
            .meet = common_interval(s)};
}

step_log::step_log(const run_folder& folder)
    : path_(folder.file("steps.csv").string()), file_(std::fopen(path_.c_str(), "wxe"), &std::fclose) {
    if (!file_) throw run_error(fmt::format("{}: the file cannot be made ({})", path_, std::strerror(errno)));
    std::fputs("time,step,error,accepted,where\n", file_.get());
}

void step_log::add(const step_attempt& attempt) {
    std::array<char, 512> line;
    const auto end = fmt::format_to_n(line.data(), line.size() - 1, "{},{},{:.4g},{},\"{}\"\n", attempt.begin,
                                      attempt.length, attempt.error, attempt.accepted ? 1 : 0, attempt.worst);
    std::fwrite(line.data(), 1, static_cast<std::size_t>(end.out - line.data()), file_.get());
}

void step_log::finish() {
    if (std::fflush(file_.get()) != 0 || std::ferror(file_.get()) != 0)
        throw run_error(fmt::format("{}: the file cannot be written ({})", path_, std::strerror(errno)));
}

}  // namespace mdpcosim

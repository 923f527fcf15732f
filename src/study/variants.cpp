#include "study/variants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "study/sampling.hpp"

namespace mdpcosim {

namespace {

/// A triangle of area 1 over first .. third with its top at second.
double triangular_quantile(const study_parameter& p, double share) {
    const double width = p.third - p.first, left = (p.second - p.first) / width;
    if (share < left) return p.first + std::sqrt(share * width * (p.second - p.first));
    return p.third - std::sqrt((1 - share) * width * (p.third - p.second));
}

double quantile(const study_parameter& p, double share) {
    using distribution = study_parameter::distribution;
    switch (p.kind) {
        case distribution::uniform:
            return p.first + share * (p.second - p.first);
        case distribution::normal:
            return p.first + p.second * normal_quantile(share);
        case distribution::triangular:
            return triangular_quantile(p, share);
        case distribution::log_normal:
            return p.first * std::pow(p.second, normal_quantile(share));
        case distribution::none:
            break;
    }
    return p.first;
}

}  // namespace

variant_plan::variant_plan(const study_spec& s, std::int64_t most) : parameters_(s.parameters), how_(s.how) {
    double all = how_ == study_spec::way::sample ? static_cast<double>(s.samples) : 0;
    if (how_ == study_spec::way::zip) all = static_cast<double>(parameters_.front().count());
    if (how_ == study_spec::way::grid) {
        all = 1;
        for (const study_parameter& p : parameters_) all *= static_cast<double>(p.count());
    }
    if (all > static_cast<double>(most))
        throw user_error(parameters_.front().where,
                         fmt::format("the study has {:.0f} variants. If you mean that many, say so: --many.", all));
    size_ = static_cast<std::int64_t>(all);
    if (how_ != study_spec::way::sample) return;
    if (s.sampling == "sobol" && parameters_.size() > most_sobol_dimensions)
        throw user_error(parameters_[most_sobol_dimensions].where,
                         fmt::format("sample: 'sobol' takes at most {} parameters, and there are {}. Take "
                                     "'latin-hypercube'.",
                                     most_sobol_dimensions, parameters_.size()));
    points_ = sample_points(s.sampling, static_cast<std::size_t>(s.samples), parameters_.size(), s.seed);
}

double variant_plan::value(std::int64_t variant, std::size_t parameter) const {
    const study_parameter& p = parameters_[parameter];
    if (how_ == study_spec::way::sample)
        return quantile(p, points_[static_cast<std::size_t>(variant) * parameters_.size() + parameter]);
    auto index = static_cast<std::size_t>(variant);
    if (how_ == study_spec::way::grid) {
        for (std::size_t k = parameters_.size(); k-- > parameter + 1;) index /= parameters_[k].count();
        index %= p.count();
    }
    return p.words.empty() ? p.values[index] : static_cast<double>(index);
}

std::string variant_plan::text(std::size_t parameter, double value) const {
    const study_parameter& p = parameters_[parameter];
    if (!p.words.empty()) return p.words[static_cast<std::size_t>(value)];
    return p.unit.empty() ? fmt::format("{}", value) : fmt::format("{} {}", value, p.unit);
}

std::vector<scenario_override> variant_plan::settings(const std::vector<double>& values) const {
    std::vector<scenario_override> all;
    for (std::size_t k = 0; k < parameters_.size(); ++k) {
        const std::string value = text(k, values[k]);
        all.push_back({parameters_[k].address, value,
                       fmt::format("{}: {}={}", to_string(parameters_[k].where), parameters_[k].address, value)});
    }
    return all;
}

}  // namespace mdpcosim

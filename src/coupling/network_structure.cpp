#include <algorithm>

#include "coupling/network.hpp"

namespace mdpcosim {

std::vector<channel_term> network::terms(channel_index channel) const {
    std::vector<channel_term> found;
    for (std::uint32_t i = first_term_[channel.value()]; i < first_term_[channel.value() + 1]; ++i) {
        const auto slot = [](std::int32_t s) {
            return s < 0 ? output_slot{} : output_slot(static_cast<std::size_t>(s));
        };
        const std::int32_t value = terms_[i].value;
        found.push_back(
            {slot(value), slot(value < 0 ? integrals_[-1 - value].rate : terms_[i].rate), terms_[i].weight});
    }
    return found;
}

int network::highest_order() const {
    int highest = 0;
    for (const group& g : groups_)
        if (!g.imposed && g.rule.K > 1) highest = std::max(highest, g.rule.R);
    return highest;
}

std::vector<network::connected> network::deliveries() const {
    std::vector<connected> found;
    for (const driven_input& target : driven_)
        for (std::uint32_t d = target.first; d < target.last; ++d)
            found.push_back({input_slot(target.input), {channel_index(deliveries_[d].channel), deliveries_[d].factor}});
    return found;
}

bool network::has_memory(channel_index channel) const {
    const auto first = terms_.begin() + first_term_[channel.value()];
    const auto last = terms_.begin() + first_term_[channel.value() + 1];
    const bool integrated = std::any_of(first, last, [](const term& t) { return t.value < 0; });
    return integrated || (law_of(channel) != nullptr && law_of(channel)->remembers());
}

std::optional<std::vector<network::plain_input>> network::plain_inputs(std::span<const channel_index> some,
                                                                       std::size_t first, std::size_t count) const {
    std::vector<plain_input> found;
    for (std::uint32_t i = first_driven_[first]; i < first_driven_[first + count]; ++i) {
        const driven_input& target = driven_[i];
        const delivered& d = deliveries_[target.first];
        if (target.last > target.first + 1 || !is_plain(d.channel) ||
            std::find(some.begin(), some.end(), channel_index(d.channel)) == some.end())
            return std::nullopt;
        found.push_back({output_slot(static_cast<std::size_t>(plain_[d.channel].value)), input_slot(target.input),
                         plain_[d.channel].weight, d.factor});
    }
    return found;
}

void network::widen(int degree) {
    least_degree_ = degree;
    make_coefficients();
    make_inputs(std::vector(start_));
    extrapolated_ = has_end_ = false;
}

double network::mean(channel_index channel, double H) const {
    const double* e = coefficients_.data() + coefficients_of(channel.value());
    double sum = 0;
    for (std::size_t k = groups_[places_[channel.value()].group].stride(); k-- > 0;)
        sum = sum * H + e[k] / static_cast<double>(k + 1);
    return sum;
}

void network::impose(channel_index channel, double H, double mean, double part) {
    double* e = coefficients_.data() + coefficients_of(channel.value());
    const std::size_t count = groups_[places_[channel.value()].group].stride();
    double power = H;
    e[0] = mean;
    if (part == 0) {
        std::fill_n(e + 1, count - 1, 0.0);
        return;
    }
    for (std::size_t k = 1; k < count; ++k, power *= H) {
        e[k] *= part;
        e[0] -= e[k] * power / static_cast<double>(k + 1);
    }
}

void network::impose(channel_index channel, const polynomial& p) {
    double* e = coefficients_.data() + coefficients_of(channel.value());
    const std::size_t count = groups_[places_[channel.value()].group].stride();
    for (std::size_t k = 0; k < count; ++k) e[k] = k <= static_cast<std::size_t>(p.degree) ? p.c[k] : 0;
}

void network::deliver_part(double from, double H, std::span<polynomial> inputs) const {
    for (const driven_input& target : driven_) {
        polynomial p;
        p.degree = target.degree;
        for (std::uint32_t d = target.first; d < target.last; ++d) {
            const delivered& part = deliveries_[d];
            for (std::uint32_t n = 0; n < part.coefficients; ++n) p.c[n] += part.factor * coefficients_[part.at + n];
        }
        inputs[target.input] = project(shifted(p, from), H, target.limit);
    }
}

void network::impose(std::span<const channel_index> some, std::span<const double> u) {
    std::size_t of = groups_.size(), first = 0, stride = 0;
    for (std::size_t i = 0; i < some.size(); ++i) {
        const place& at = places_[some[i].value()];
        if (at.group != of) {
            of = at.group;
            first = groups_[of].coefficients;
            stride = groups_[of].stride();
        }
        double* e = coefficients_.data() + first + at.position * stride;
        e[0] = u[i];
        for (std::size_t k = 1; k < stride; ++k) e[k] = 0;
    }
}

}  // namespace mdpcosim

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

std::vector<network::connected> network::deliveries() const {
    std::vector<connected> found;
    for (const driven_input& target : driven_)
        for (std::uint32_t d = target.first; d < target.last; ++d)
            found.push_back({input_slot(target.input), {channel_index(deliveries_[d].channel), deliveries_[d].factor}});
    return found;
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

void network::impose(channel_index channel, double u) {
    double* e = coefficients_.data() + coefficients_of(channel.value());
    e[0] = u;
    std::fill_n(e + 1, groups_[places_[channel.value()].group].stride() - 1, 0.0);
}

}  // namespace mdpcosim

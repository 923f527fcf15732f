#include "simulation/trust.hpp"

#include <fmt/format.h>

namespace mdpcosim {

coupling_monitor make_monitor(const assembly& a) {
    std::vector<conjugate> powers;
    for (const auto& channel : a.channels) powers.push_back(channel.power);
    coupling_monitor monitor(std::move(powers));
    for (std::size_t c = 0; c < a.channels.size(); ++c)
        monitor.set_rates(c, a.channels[c].has_rate, a.channels[c].has_velocity);
    return monitor;
}

coupling_watch make_watch(const assembly& a, coupling_monitor& monitor, const monitor_spec& spec) {
    std::vector<std::string> names;
    for (const auto& channel : a.channels)
        names.push_back(fmt::format("{} '{}'", channel.is_signal ? "signal to" : "connection", channel.name));
    using reaction = coupling_watch::on_divergence;
    return {monitor, std::move(names), spec.divergence.value == "note" ? reaction::note : reaction::stop};
}

}  // namespace mdpcosim

#include "master/coupling_watch.hpp"

#include <fmt/format.h>

namespace mdpcosim {

coupling_watch::coupling_watch(coupling_monitor& monitor, std::function<std::string(std::size_t)> name_of,
                               on_divergence reaction, bond_monitor bonds)
    : monitor_(monitor),
      bonds_(std::move(bonds)),
      trace_(monitor.channels(), bonds_.size()),
      name_of_(std::move(name_of)),
      reaction_(reaction) {
    for (auto* values : {&q_, &v_, &begin_, &middle_, &end_}) values->assign(monitor.channels(), 0.0);
    bond_errors_.assign(bonds_.size(), 0.0);
}

void coupling_watch::start(const coupled_system& system, double t0) {
    system.coupling.motions(t0, system.outputs(), q_, v_);
    monitor_.start(system.u, system.du, q_, v_);
    bonds_.start(system.u, system.du);
}

void coupling_watch::look(const coupled_system& system, const macro_step& step, bool counts) {
    const double H = step.end - step.begin;
    system.coupling.polynomial_values(H, begin_, middle_, end_);
    system.coupling.motions(step.end, system.outputs(), q_, v_);
    const coupling_monitor::step_values values{begin_, middle_, end_, system.u, system.du, q_, v_};
    monitor_.step(H, values, counts);
    bonds_.step(H, values);
}

bool coupling_watch::after(const coupled_system& system, const macro_step& step, double since) {
    look(system, {since, step.end, step.counter}, true);
    for (std::size_t i = 0; i < bond_errors_.size(); ++i) bond_errors_[i] = bonds_.quality(i).energy_error;
    trace_.step(step, monitor_.jumps(), monitor_.energy_errors(), bond_errors_);
    if (monitor_.diverging() < 0 || !divergence_.empty()) return false;
    divergence_ = fmt::format("{} diverges at t = {:.10g} s: {}",
                              name_of_(static_cast<std::size_t>(monitor_.diverging())), step.end, monitor_.reason());
    return reaction_ == on_divergence::stop;
}

}  // namespace mdpcosim

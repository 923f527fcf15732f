#pragma once

#include <functional>
#include <string>
#include <vector>

#include "master/coupled_system.hpp"
#include "results/bond_monitor.hpp"
#include "results/coupling_monitor.hpp"
#include "results/coupling_trace.hpp"

namespace mdpcosim {

/// Feeds the coupling monitor from a running system, once per macro step. Allocates nothing after construction.
class coupling_watch {
   public:
    enum class on_divergence { stop, note };

    /// `name_of(c)` names channel c in messages ("connection 'spring'").
    coupling_watch(coupling_monitor& monitor, std::function<std::string(std::size_t)> name_of, on_divergence reaction,
                   bond_monitor bonds = bond_monitor());

    void start(const coupled_system& system, double t0);
    /// True when the coupling has begun to diverge and the run is to stop; divergence() says why.
    bool after(const coupled_system& system, const macro_step& step) { return after(system, step, step.begin); }
    /// The same where the step's last part began at `since`; the parts before it, one after the other, beforehand.
    bool after(const coupled_system& system, const macro_step& step, double since);
    void after_part(const coupled_system& system, const macro_step& part) { look(system, part, false); }

    const coupling_monitor& monitor() const { return monitor_; }
    const bond_monitor& bonds() const { return bonds_; }
    /// A step control tells it its attempts.
    coupling_trace& trace() { return trace_; }
    const coupling_trace& trace() const { return trace_; }
    /// What diverged first, and when; empty when nothing did.
    const std::string& divergence() const { return divergence_; }
    void state(state_bytes& bytes) { bytes(monitor_, bonds_, trace_, divergence_); }

   private:
    void look(const coupled_system& system, const macro_step& step, bool counts);

    coupling_monitor& monitor_;
    bond_monitor bonds_;
    coupling_trace trace_;
    std::function<std::string(std::size_t)> name_of_;
    on_divergence reaction_;
    std::vector<double> q_, v_, begin_, middle_, end_, bond_errors_;
    std::string divergence_;
};

}  // namespace mdpcosim

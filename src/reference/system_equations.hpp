#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reference/composite.hpp"

/// Several coupled subsystems as the equations of one, with inputs, outputs and ports to the outside: what `system:` of a scenario is. Names are
/// those of the parts behind the name of their subsystem, `train.shaft.angle`.
///
/// Inputs: those that nothing inside drives, and the loads of ports, to which what comes from outside is added; a pressure or a potential that a node
/// inside makes is none. Ports: those whose inputs are among them. Outputs: those of all subsystems and the coupling variables of connections;
/// feed-through is followed from output to output.
namespace mdpcosim {

class system_equations final : public equations {
   public:
    /// A coupling variable that is shown.
    struct shown_channel {
        std::string name, unit;
        channel_index channel;
    };
    /// None of the parts is sampled. nodes: by channel, whether it is that of a node.
    system_equations(composite_parts parts, std::string type, const std::vector<shown_channel>& channels,
                     const std::vector<bool>& nodes);

    const subsystem_description& describe() const noexcept override { return description_; }
    int state_count() const override { return whole_->state_count(); }
    std::string state_name(int state) const override { return whole_->state_name(state); }
    double nominal(int state) const override { return whole_->nominal(state); }
    /// What has flowed into a node inside belongs to its pressure.
    bool rests(int state) const override { return whole_->rests(state) || in_node_[static_cast<std::size_t>(state)]; }
    bool is_algebraic(int state) const override { return whole_->is_algebraic(state); }
    const sparsity* structure() const override { return whole_->structure(); }
    double port_stiffness(int port) const override { return stiffness_[static_cast<std::size_t>(port)]; }

    void initial_state(double t0, double* x) const override {
        whole_->begin(t0, nullptr);
        whole_->initial_state(t0, x);
    }
    bool settles() const override { return whole_->settles(); }
    void settle(double t0, const double* u, double* x) override {
        whole_->begin(t0, u);
        whole_->initial_state(t0, x);
    }
    void derivatives(double t, const double* x, const double* u, double* dx) const override {
        whole_->derivatives(t, x, u, dx);
    }
    void outputs(double t, const double* x, const double* u, double* y) const override;

    int event_count() const override { return whole_->event_count(); }
    bool is_corner(int event) const override { return whole_->is_corner(event); }
    std::string event_name(int event) const override { return whole_->event_name(event); }
    void event_indicators(double t, const double* x, const double* u, double* z) const override {
        whole_->event_indicators(t, x, u, z);
    }
    bool apply_event(int event, bool rising, double t, double* x, const double* u) override;
    double next_time_event(double t) const override { return whole_->next_time_event(t); }
    bool watches(moment m) const override { return whole_->watches(m); }
    bool discrete_update(moment m, double t, double* x, const double* u) override;

    std::unique_ptr<snapshot> make_memory() const override { return whole_->make_memory(); }
    void save_memory(snapshot& into) override { whole_->save_memory(into); }
    void restore_memory(const snapshot& from) override { whole_->restore_memory(from); }
    std::string why_not_saved() const override { return whole_->why_not_saved(); }
    std::string why_no_bytes() const override { return whole_->why_no_bytes(); }

   private:
    std::vector<input_slot> open_inputs(const composite_parts& parts, const std::vector<bool>& nodes);
    void find_contents_of_nodes(const composite_parts& parts, const std::vector<int>& opened);
    void add_ports(const composite_parts::part& from, const std::vector<int>& opened);
    void add_outputs(const composite_parts& parts, const std::vector<int>& opened,
                     const std::vector<shown_channel>& channels);
    bool hand_on(bool changed);

    subsystem_description description_;
    std::vector<double> stiffness_;  ///< by port
    std::vector<bool> in_node_;      ///< by state: a volume or charge in a node inside
    std::unique_ptr<composite_equations> whole_;
    std::vector<std::size_t> shown_;  ///< places in the outputs of `whole_`, behind those of the subsystems
    mutable std::vector<double> y_;
};

}  // namespace mdpcosim

#pragma once

#include <memory>
#include <vector>

#include "reference/composite.hpp"
#include "scenario/spec.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

/// The subsystems of a reference: equations, and sampled subsystems, each made once. As a transport they only describe themselves, which is
/// all that assembling asks for; whoever integrates them takes them out.
class described_subsystems final : public transport {
   public:
    /// A subsystem that shows no equations is a user_error.
    explicit described_subsystems(const scenario& s);

    std::vector<composite_parts::part> take_parts() { return std::move(parts_); }

    std::size_t size() const override { return names_.size(); }
    const std::string& name(subsystem_index i) const override { return names_[i.value()]; }
    const subsystem_description& describe(subsystem_index i) const override { return descriptions_[i.value()]; }
    capabilities offers(subsystem_index i) const override { return offers_[i.value()]; }
    std::size_t input_offset(subsystem_index i) const override { return input_offsets_[i.value()]; }
    std::size_t output_offset(subsystem_index i) const override { return output_offsets_[i.value()]; }
    std::span<polynomial> inputs() override { return inputs_; }
    std::span<const double> outputs() const override { return outputs_; }

    void expect(subsystem_index, const usage&) override {}
    void tune(subsystem_index, int, double) override { refuse(); }
    void set_text(subsystem_index, int, const std::string&) override { refuse(); }
    void get_text(subsystem_index, int, std::string&) override { refuse(); }
    void initialise(double) override { refuse(); }
    void reset() override { refuse(); }
    void evaluate(subsystem_index, std::span<const double>, bool) override { refuse(); }
    void advance(const macro_step&) override { refuse(); }
    void advance_some(std::span<const subsystem_step>) override { refuse(); }
    state_id make_state() override { refuse(); }
    void save(state_id) override { refuse(); }
    void restore(state_id) override { refuse(); }
    std::vector<std::byte> get_state(state_id, subsystem_index) override { refuse(); }
    void set_state(state_id, subsystem_index, const std::vector<std::byte>&) override { refuse(); }
    void set_state(state_id, double, std::span<const double>) override { refuse(); }
    double next_event(subsystem_index) const override { refuse(); }
    const step_notices& notices() const override { refuse(); }
    subsystem_statistics statistics(subsystem_index) const override { return {}; }
    subsystem_cost cost(subsystem_index) const override { return {}; }
    int workers() const override { return 1; }
    std::int64_t parallel_steps() const override { return 0; }
    std::span<const profile_log> profile() const override { return {}; }

   private:
    [[noreturn]] static void refuse();

    std::vector<composite_parts::part> parts_;
    std::vector<std::string> names_;
    std::vector<subsystem_description> descriptions_;
    std::vector<capabilities> offers_;
    std::vector<std::size_t> input_offsets_, output_offsets_;
    std::vector<polynomial> inputs_;
    std::vector<double> outputs_;
};

}  // namespace mdpcosim

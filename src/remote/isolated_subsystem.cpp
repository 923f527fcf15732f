#include "remote/isolated_subsystem.hpp"

#include <algorithm>

namespace mdpcosim {

namespace {

struct remote_snapshot final : snapshot {
    remote_snapshot(remote_group& w, int n) : group(w), number(n) {}
    /// The very bytes of the snapshot elsewhere.
    void state(state_bytes& bytes) override {
        std::vector<std::byte> all;
        if (bytes.reading())
            all.resize(bytes.left());
        else
            all = group.get_state(0, number);
        bytes.raw(all.data(), all.size());
        if (bytes.reading()) group.set_state(0, number, all);
    }
    remote_group& group;
    int number;
};

class remote_subsystem final : public subsystem {
   public:
    explicit remote_subsystem(std::unique_ptr<remote_group> group) : group_(std::move(group)) { group_->introduce(); }

    const subsystem_description& describe() const noexcept override { return group_->describe(0); }
    capabilities offers() const override { return group_->offers(0); }

    void expect(const usage& used) override {
        areas().put_usage(0, used);
        group_->call({.command = remote_command::expect});
    }

    void initialise(double t0) override { group_->call({.command = remote_command::initialise, .t0 = t0}); }

    void outputs(std::span<const double> u, std::span<double> y) override {
        std::ranges::copy(u, areas().inputs(0).begin());
        group_->call({.command = remote_command::outputs});
        std::ranges::copy(areas().outputs(0), y.begin());
    }

    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        std::ranges::copy(inputs, areas().polynomials(0).begin());
        group_->call({.command = remote_command::advance, .step = step});
        std::ranges::copy(areas().outputs(0), y.begin());
        if (!areas().top().noticed) return;
        const step_notice& told = areas().report(0).notice;
        if (told.first_event <= step.end) tell_event(told.first_event);
        if (told.ask_to_end) ask_to_end();
    }
    double next_event() const override { return areas().report(0).next_event; }

    void reset() override { group_->call({.command = remote_command::reset}); }
    void tune(int parameter, double value) override {
        group_->call({.command = remote_command::tune, .t0 = value, .number = parameter});
    }

    void set_text(int input, std::string_view text) override { group_->set_text(0, input, text); }
    void get_text(int output, std::string& into) override { group_->get_text(0, output, into); }

    void rate_sensitivities(std::span<const double> u, int input, std::span<double> by_output) override {
        std::ranges::copy(u, areas().inputs(0).begin());
        group_->call({.command = remote_command::rate_sensitivities, .number = input});
        std::ranges::copy(areas().derivatives(0), by_output.begin());
    }

    std::unique_ptr<snapshot> make_snapshot() const override {
        if (!offers().save_restore) return subsystem::make_snapshot();
        group_->call({.command = remote_command::make_snapshot, .number = snapshots_});
        return std::make_unique<remote_snapshot>(*group_, snapshots_++);
    }
    void save(snapshot& into) override {
        group_->call({.command = remote_command::save, .number = static_cast<remote_snapshot&>(into).number});
    }
    void restore(const snapshot& from) override {
        group_->call({.command = remote_command::restore, .number = static_cast<const remote_snapshot&>(from).number});
    }

    subsystem_statistics statistics() const override {
        if (!group_->gone()) group_->call({.command = remote_command::statistics});
        return areas().report(0).statistics;
    }
    double next_step() const override {
        group_->call({.command = remote_command::statistics});
        return areas().report(0).next_step;
    }

    void end() override { group_->finish(); }

   private:
    exchange& areas() const { return group_->areas(); }

    std::unique_ptr<remote_group> group_;
    mutable int snapshots_ = 0;
};

}  // namespace

std::unique_ptr<subsystem> make_remote_subsystem(std::unique_ptr<remote_group> group) {
    return std::make_unique<remote_subsystem>(std::move(group));
}

std::unique_ptr<subsystem> make_isolated_subsystem(const process_options& options, const subsystem_text& text) {
    return make_remote_subsystem(std::make_unique<subsystem_process>(options, std::vector<subsystem_text>{text}));
}

}  // namespace mdpcosim

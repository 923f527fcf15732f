#include "remote/isolated_subsystem.hpp"

#include <algorithm>

namespace mdpcosim {

namespace {

struct remote_snapshot final : snapshot {
    explicit remote_snapshot(int n) : number(n) {}
    int number;
};

class remote_subsystem final : public subsystem {
   public:
    explicit remote_subsystem(std::unique_ptr<remote_group> where) : where_(std::move(where)) { where_->introduce(); }

    const subsystem_description& describe() const noexcept override { return where_->describe(0); }
    capabilities offers() const override { return where_->offers(0); }

    void need_outputs(const std::vector<bool>& needed) override {
        std::ranges::copy(needed, areas().needed(0).begin());
        where_->call({.what = remote_command::need_outputs});
    }

    void initialise(double t0) override { where_->call({.what = remote_command::initialise, .t0 = t0}); }

    void outputs(std::span<const double> u, std::span<double> y) override {
        std::ranges::copy(u, areas().inputs(0).begin());
        where_->call({.what = remote_command::outputs});
        std::ranges::copy(areas().outputs(0), y.begin());
    }

    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        std::ranges::copy(inputs, areas().polynomials(0).begin());
        where_->call({.what = remote_command::advance, .step = step});
        std::ranges::copy(areas().outputs(0), y.begin());
    }

    void rate_sensitivities(std::span<const double> u, int input, std::span<double> by_output) override {
        std::ranges::copy(u, areas().inputs(0).begin());
        where_->call({.what = remote_command::rate_sensitivities, .number = input});
        std::ranges::copy(areas().derivatives(0), by_output.begin());
    }

    std::unique_ptr<snapshot> make_snapshot() const override {
        if (!offers().save_restore) return subsystem::make_snapshot();
        where_->call({.what = remote_command::make_snapshot, .number = snapshots_});
        return std::make_unique<remote_snapshot>(snapshots_++);
    }
    void save(snapshot& into) override {
        where_->call({.what = remote_command::save, .number = static_cast<remote_snapshot&>(into).number});
    }
    void restore(const snapshot& from) override {
        where_->call({.what = remote_command::restore, .number = static_cast<const remote_snapshot&>(from).number});
    }

    subsystem_statistics statistics() const override {
        if (!where_->gone()) where_->call({.what = remote_command::statistics});
        return areas().report(0).statistics;
    }
    double next_step() const override {
        where_->call({.what = remote_command::statistics});
        return areas().report(0).next_step;
    }

   private:
    exchange& areas() const { return where_->areas(); }

    std::unique_ptr<remote_group> where_;
    mutable int snapshots_ = 0;
};

}  // namespace

std::unique_ptr<subsystem> make_remote_subsystem(std::unique_ptr<remote_group> where) {
    return std::make_unique<remote_subsystem>(std::move(where));
}

std::unique_ptr<subsystem> make_isolated_subsystem(const process_options& how, const subsystem_text& what) {
    return make_remote_subsystem(std::make_unique<subsystem_process>(how, std::vector<subsystem_text>{what}));
}

}  // namespace mdpcosim

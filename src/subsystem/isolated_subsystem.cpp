#include "subsystem/isolated_subsystem.hpp"

#include <algorithm>

namespace mdpcosim {

namespace {

struct remote_snapshot final : snapshot {
    explicit remote_snapshot(int n) : number(n) {}
    int number;
};

class isolated_subsystem final : public subsystem {
   public:
    isolated_subsystem(const process_options& how, subsystem_process::factory make) : process_(how, {std::move(make)}) {
        process_.introduce();
    }

    const subsystem_description& describe() const noexcept override { return process_.describe(0); }
    capabilities offers() const override { return process_.offers(0); }

    void initialise(double t0) override { process_.call({.what = process_command::initialise, .t0 = t0}); }

    void outputs(std::span<const double> u, std::span<double> y) override {
        std::ranges::copy(u, process_.inputs(0).begin());
        process_.call({.what = process_command::outputs});
        std::ranges::copy(process_.outputs(0), y.begin());
    }

    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        std::ranges::copy(inputs, process_.polynomials(0).begin());
        process_.call({.what = process_command::advance, .step = step});
        std::ranges::copy(process_.outputs(0), y.begin());
    }

    std::unique_ptr<snapshot> make_snapshot() const override {
        process_.call({.what = process_command::make_snapshot, .snapshot = snapshots_});
        return std::make_unique<remote_snapshot>(snapshots_++);
    }
    void save(snapshot& into) override {
        process_.call({.what = process_command::save, .snapshot = static_cast<remote_snapshot&>(into).number});
    }
    void restore(const snapshot& from) override {
        process_.call({.what = process_command::restore, .snapshot = static_cast<const remote_snapshot&>(from).number});
    }

    subsystem_statistics statistics() const override {
        if (!process_.gone()) process_.call({.what = process_command::statistics});
        return process_.statistics(0);
    }

   private:
    mutable subsystem_process process_;
    mutable int snapshots_ = 0;
};

}  // namespace

std::unique_ptr<subsystem> make_isolated_subsystem(const process_options& how, subsystem_process::factory make) {
    return std::make_unique<isolated_subsystem>(how, std::move(make));
}

}  // namespace mdpcosim

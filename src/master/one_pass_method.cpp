// Linearly implicit coupling in one pass: one integration per macro step, all subsystems at once, as the explicit method, but with
// constant coupling variables that fit the motion over the step, solved for all connections together (coupling/one_pass.hpp).
//
// Second order; the largest stable step does not fall with the stiffness of the coupling: omega H >= 0.7 with omega the fastest of the
// subsystems' own frequencies that show at their ports (docs/methods/one-pass.md). Signals are extrapolated as in the explicit
// method. Needs, at the first step only, subsystems that save and restore: the ports' mobility is measured by trial steps.
#include <fmt/format.h>

#include "coupling/one_pass.hpp"
#include "master/method.hpp"
#include "master/mobility.hpp"

namespace mdpcosim {

namespace {

class one_pass_method final : public method {
   public:
    void check(const coupled_system& system) const override {
        coupled_channels(system);
        std::string lacking;
        for (std::size_t i = 0; i < system.subsystems->size(); ++i) {
            const auto offered = system.subsystems->offers(subsystem_index(i));
            if (!offered.save_restore)
                lacking +=
                    fmt::format("\n  {}: {}", system.subsystems->name(subsystem_index(i)), offered.why_no_save_restore);
        }
        if (!lacking.empty())
            throw user_error(
                "method 'one-pass' measures at the start how ports answer to loads, by trial steps, and needs "
                "subsystems that can "
                "save and restore their state. These cannot:" +
                lacking + "\nThe way that needs less: 'method: explicit'");
    }

    void step(coupled_system& system, const macro_step& step) override {
        network& net = system.coupling;
        const double H = step.end - step.begin;
        const auto y = system.subsystems->outputs();
        net.accept(step.begin, y, system.u, system.du);
        net.extrapolate(step.end);
        if (!measured_) measure(system, step);
        net.motions(step.begin, y, q_, v_);
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            const auto [channel, first_order] = channels_[i];
            const std::size_t c = channel.value();
            const law_slope s = net.law_of(channel)->slope(q_[c], v_[c]);
            slopes_[i] = first_order ? one_pass::slope{0, s.c} : one_pass::slope{s.c, s.d};
            rates_[i] = first_order ? q_[c] : v_[c];
            u_[i] = system.u[c];
        }
        if (H_last_ > 0) {
            solver_.accept(H_last_, rates_);
        } else {
            solver_.begin(u_, first_rate_);
        }
        if (const auto singular = solver_.solve(H, u_, rates_, slopes_))
            throw run_error(
                fmt::format("method 'one-pass' at t = {} s: the coupling variables are not determined, the system of "
                            "equations is singular at "
                            "connection '{}'; leave out connections that repeat others, or take 'method: explicit'",
                            step.begin, net.name(channels_[*singular].channel)));
        H_last_ = H;
        for (std::size_t i = 0; i < channels_.size(); ++i) net.impose(channels_[i].channel, solver_.u()[i]);
        net.deliver(H, system.subsystems->inputs());
        system.subsystems->advance(step);
        system.evaluate(step.end, system.at_each_step);
    }

    std::size_t memory_size(const coupled_system& system) const override {
        const auto n = coupled_channels(system).size();
        return one_pass(n, {}).memory_size();
    }
    void memory(std::span<double> into) const override { solver_.memory(into); }
    void set_memory(double H, std::span<const double> from) override {
        given_.assign(from.begin(), from.end());
        // A run measures with its own step.
        measured_ = measured_ && H == H_last_;
        if (measured_) solver_.set_memory(given_);
        H_last_ = H;
    }

   private:
    void measure(coupled_system& system, const macro_step& step) {
        channels_ = coupled_channels(system);
        mobility measured = measure_mobility(system, step, channels_);
        solver_ = one_pass(channels_.size(), std::move(measured.Q));
        first_rate_ = std::move(measured.rate);
        if (!given_.empty()) solver_.set_memory(given_);
        q_.resize(system.coupling.channels());
        v_.resize(q_.size());
        slopes_.resize(channels_.size());
        rates_.resize(channels_.size());
        u_.resize(channels_.size());
        measured_ = true;
    }

    one_pass solver_;
    bool measured_ = false;
    double H_last_ = 0;  ///< 0: no step before
    std::vector<coupled_channel> channels_;
    std::vector<one_pass::slope> slopes_;
    std::vector<double> q_, v_, rates_, u_, first_rate_;
    std::vector<double> given_;  ///< memory set before the mobility was known
};

const method_registration registered{
    {"one-pass", "one integration per macro step with linearly implicit coupling variables, for stiff couplings",
     [] { return std::make_unique<one_pass_method>(); }}};

}  // namespace

}  // namespace mdpcosim

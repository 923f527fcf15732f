// Linearly implicit coupling in one pass: one integration per macro step, all subsystems at once, as the explicit method, but with
// coupling variables that fit the motion over the step, solved for all connections together (coupling/one_pass.hpp).
//
// Second order; the largest stable step does not fall with the stiffness of the coupling: omega H >= 0.7 with omega the fastest of the
// subsystems' own frequencies that show at their ports (docs/methods/one-pass.md). Signals, and connections that the step
// resolves, are extrapolated as in the explicit method. How ports answer to loads is measured (mobility.hpp); nothing is needed
// of a subsystem beyond advance() and the rates of its ports.
//
// u of a stiff connection at a macro point is the mean values that acted, extrapolated to it: the law there would
// multiply the small motion within the step by a large stiffness.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "coupling/one_pass.hpp"
#include "master/method.hpp"
#include "master/mobility.hpp"

namespace mdpcosim {

namespace {

class one_pass_method final : public method {
   public:
    void check(const coupled_system& system) const override { mobility(system, coupled_channels(system)); }

    bool reads_accelerations() const override { return true; }

    std::vector<std::string> about_subsystems(const coupled_system& system) const override {
        auto lines = mobility::describe(system);
        for (auto& line : lines)
            if (!line.empty()) line = "mobility " + line;
        return lines;
    }

    std::string remedy() const override {
        return "the macro step is too large for a frequency inside the subsystems that shows at their ports (omega H "
               "must stay "
               "below 0.7), or the inertia given for a port is wrong by more than 20 %: use a smaller macro step";
    }

    void prepare(coupled_system& system) override {
        channels_ = coupled_channels(system);
        mobility_.emplace(system, channels_);
        mobility_->prepare(system);
        solver_ = one_pass(channels_.size(), mobility_->Q());
        for (auto* values : {&rates_, &law_u_, &told_, &extrapolated_, &u_before_})
            values->assign(channels_.size(), 0.0);
        slopes_.resize(channels_.size());
        readers_.clear();
        only_.clear();
        new_slopes_ = true;
        terms_.clear();
        for (const auto& [channel, first_order] : channels_) {
            const law& l = *system.coupling.law_of(channel);
            const auto stiffness = l.stiffness();
            only_.push_back(channel);
            readers_.push_back({static_cast<std::uint32_t>(terms_.size()), 0, stiffness && !l.needs_velocity()});
            for (const auto& t : system.coupling.terms(channel))
                terms_.push_back({(first_order ? t.value : t.rate).value(), t.weight});
            readers_.back().last = static_cast<std::uint32_t>(terms_.size());
            if (readers_.back().constant)
                slopes_[readers_.size() - 1] =
                    first_order ? one_pass::slope{0, *stiffness} : one_pass::slope{*stiffness, 0};
        }
        if (!given_.empty()) solver_.set_memory(H_last_, given_);
    }

    void step(coupled_system& system, const macro_step& step) override {
        if (!mobility_) prepare(system);
        network& net = system.coupling;
        linearise(system, step.begin, false);
        net.accept(step.begin, system.subsystems->outputs(), system.u, system.du);
        if (H_last_ > 0) solver_.accept(H_last_, rates_);
        double begin = step.begin;
        if (mobility_->is_due()) begin = find_mobility(system, step);
        mobility_->step_done();
        if (H_last_ == 0) solver_.begin(law_u_, mobility_->rates());
        if (begin > step.begin) linearise(system, begin, true);
        const double H = step.end - begin;
        const bool implicit =
            solver_.weigh(H, std::span<const one_pass::slope>(slopes_).first(new_slopes_ ? slopes_.size() : 0));
        new_slopes_ = false;
        net.extrapolate(step.end, !implicit || only_.size() < net.channels());
        solve(system, begin, step.end - step.begin, H, implicit);
        H_last_ = H;
        net.deliver(step.end - step.begin, system.subsystems->inputs());
        if (begin > step.begin)
            for (polynomial& p : system.subsystems->inputs()) p = shifted(p, begin - step.begin);
        system.advance({begin, step.end, step.counter});
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            double& u = system.u[channels_[i].channel.value()];
            law_u_[i] = u;
            told_[i] = u += solver_.weights()[i] * (solver_.u()[i] + (solver_.u()[i] - u_before_[i]) * forward_ - u);
        }
    }

    /// Mean values of u that lie on a line miss nothing: what they miss is the change of their slope.
    void prepare_estimates(coupled_system&) override { slope_before_.assign(channels_.size(), 0.0); }
    void see_missed(double H, std::span<double> missed) override {
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            const double slope = 2 * forward_ * (solver_.u()[i] - u_before_[i]) / H, w = solver_.weights()[i];
            double& m = missed[channels_[i].channel.value()];
            m = (1 - w) * (law_u_[i] - told_[i] + m) + w * (slope - slope_before_[i]) * H;
            slope_before_[i] = slope;
        }
    }

    std::size_t memory_size(const coupled_system& system) const override {
        const auto n = coupled_channels(system).size();
        return one_pass(n, {}).memory_size();
    }
    void memory(std::span<double> into) const override { solver_.memory(into); }
    void set_memory(double H, std::span<const double> from) override {
        H_last_ = H;
        std::fill(told_.begin(), told_.end(), std::numeric_limits<double>::quiet_NaN());
        given_.assign(from.begin(), from.end());
        if (mobility_) solver_.set_memory(H, given_);
    }

   private:
    /// Rates, laws and their slopes; u of the system becomes the laws' again. A law is asked where `anew` says so, where its slope
    /// changes and where u is not what the last step left.
    void linearise(coupled_system& system, double t, bool anew) {
        const auto y = system.subsystems->outputs();
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            const auto [channel, first_order] = channels_[i];
            const auto [first, last, constant] = readers_[i];
            double& u = system.u[channel.value()];
            double rate = 0;
            for (std::uint32_t k = first; k < last; ++k) rate += terms_[k].weight * y[terms_[k].slot];
            rates_[i] = rate;
            if (anew || !constant || u != told_[i]) {
                const auto at = system.coupling.linearise(t, channel, y);
                slopes_[i] = first_order ? one_pass::slope{0, at.slope.c} : one_pass::slope{at.slope.c, at.slope.d};
                law_u_[i] = at.u;
                new_slopes_ = true;
            }
            u = law_u_[i];
        }
    }

    /// Under the loads of the last step, at first those of the laws.
    double find_mobility(coupled_system& system, const macro_step& step) {
        network& net = system.coupling;
        net.extrapolate(step.end);
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            const channel_index channel = channels_[i].channel;
            net.impose(channel, step.end - step.begin, H_last_ > 0 ? solver_.u()[i] : system.u[channel.value()], 0);
        }
        const double reached = mobility_->find(system, step);
        solver_.set_Q(mobility_->Q());
        return reached;
    }

    /// u over [begin, begin + H], the end of a macro step of length `whole`, into the network. `implicit`: all w are 1.
    void solve(coupled_system& system, double begin, double whole, double H, bool implicit) {
        network& net = system.coupling;
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            u_before_[i] = solver_.u()[i];
            if (!implicit && solver_.weights()[i] < 1) extrapolated_[i] = net.mean(channels_[i].channel, whole);
        }
        forward_ = H_last_ > 0 ? H / (H + H_last_) : 0;
        if (const auto singular = solver_.solve(law_u_, rates_, extrapolated_))
            throw run_error(
                fmt::format("method 'one-pass' at t = {} s: the coupling variables are not determined, the system of "
                            "equations is singular at "
                            "connection '{}'; leave out connections that repeat others, or take 'method: explicit'",
                            begin, net.name(channels_[*singular].channel)));
        if (implicit) return net.impose(only_, solver_.u());
        for (std::size_t i = 0; i < channels_.size(); ++i)
            net.impose(channels_[i].channel, whole, solver_.u()[i], 1 - solver_.weights()[i]);
    }

    one_pass solver_;
    std::optional<mobility> mobility_;
    double H_last_ = 0;   ///< 0: no step before
    double forward_ = 0;  ///< from the middle of the step to its end, over the way between the middles of the last two
    std::vector<coupled_channel> channels_;
    std::vector<one_pass::slope> slopes_;
    /// Where a channel's rate is read, and whether its law has one slope everywhere.
    struct reader {
        std::uint32_t first, last;
        bool constant;
    };
    struct term {
        std::size_t slot;
        double weight;
    };
    std::vector<channel_index> only_;  ///< of channels_
    bool new_slopes_ = true;           ///< since the last weigh()
    std::vector<reader> readers_;
    std::vector<term> terms_;
    std::vector<double> rates_, law_u_, extrapolated_, u_before_;
    std::vector<double> slope_before_;  ///< of the mean values of u, for step control
    std::vector<double> told_;          ///< u that the last step left in the system
    std::vector<double> given_;         ///< memory set before the mobility was known
};

const method_registration registered{
    {"one-pass", "one integration per macro step with linearly implicit coupling variables, for stiff couplings",
     [](const parameter_values&) { return std::make_unique<one_pass_method>(); }}};

}  // namespace

}  // namespace mdpcosim

// Linearly implicit coupling in one pass: one integration per macro step, all subsystems at once, as the explicit method, but with
// coupling variables that fit the motion over the step, solved for all connections together (coupling/one_pass.hpp).
//
// Second order; the largest stable step does not fall with the stiffness of the coupling: omega H >= 0.7 with omega the fastest of the
// subsystems' own frequencies that show at their ports (docs/methods/one-pass.md). Signals, and connections that the step
// resolves, are extrapolated as in the explicit method. How ports answer to loads is measured (port_sensitivities.hpp); nothing is needed
// of a subsystem beyond advance() and the rates of its ports.
//
// The error of a step is estimated by a second integration with u changed by what it is expected to be off by; of extrapolated
// connections as in the explicit method.
//
// u of a stiff connection at a macro point is the mean values that acted, extrapolated to it: the law there would
// multiply the small motion within the step by a large stiffness.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "coupling/contact.hpp"
#include "coupling/one_pass.hpp"
#include "master/error_constants.hpp"
#include "master/port_sensitivities.hpp"

namespace mdpcosim {

namespace {

/// Mean values of u are off by so much of what they differ from a line through the last two (docs/methods/one-pass.md): where the step
/// resolves the coupling, and in the stiff limit.
constexpr double mean_error = 1.19, stiff_mean_error = 0.28;
constexpr double estimate_safety = 2;

const method_traits one_pass_traits{
    .reads_accelerations = true,
    .estimates = true,
    .remedy =
        "the macro step is too large for a frequency inside the subsystems that shows at their ports (omega H must "
        "stay below "
        "0.7), or the inertia given for a port is wrong by more than 20 %: use a smaller macro step"};

class one_pass_method final : public method, public takes<given_sensitivities> {
   public:
    one_pass_method() : method(one_pass_traits) {}

    void take(given_sensitivities given) override { given_ = std::move(given); }

    void check(const coupled_system& system) const override {
        port_sensitivities(system, coupled_channels(system), given_);
    }

    std::vector<std::string> about_subsystems(const coupled_system& system) const override {
        auto lines = port_sensitivities(system, coupled_channels(system), given_).describe(*system.subsystems);
        for (auto& line : lines)
            if (!line.empty()) line.insert(0, "sensitivity ");
        return lines;
    }

    void prepare(coupled_system& system) override {
        channels_ = coupled_channels(system);
        sensitivities_.emplace(system, channels_, given_);
        sensitivities_->prepare(system);
        solver_ = one_pass(channels_.size(), sensitivities_->Q());
        for (auto* values : {&rates_, &law_u_, &told_, &extrapolated_, &u_before_, &q_})
            values->assign(channels_.size(), 0.0);
        slopes_.resize(channels_.size());
        readers_.clear();
        only_.clear();
        new_slopes_ = true;
        terms_.clear();
        contacts_.clear();
        for (const auto& [channel, first_order] : channels_) {
            const law& l = *system.coupling.law_of(channel);
            const auto stiffness = l.stiffness();
            if (const int corners = l.corner_count(); corners > 0 && !first_order)
                contacts_.push_back({.row = only_.size(),
                                     .law = &l,
                                     .z = std::vector<double>(static_cast<std::size_t>(corners)),
                                     .later = std::vector<double>(static_cast<std::size_t>(corners))});
            only_.push_back(channel);
            readers_.push_back({static_cast<std::uint32_t>(terms_.size()), 0, stiffness && !l.needs_velocity()});
            for (const auto& t : system.coupling.terms(channel))
                terms_.push_back({(first_order ? t.value : t.rate).value(), t.weight});
            readers_.back().last = static_cast<std::uint32_t>(terms_.size());
            if (readers_.back().constant)
                slopes_[readers_.size() - 1] =
                    first_order ? one_pass::slope{0, *stiffness} : one_pass::slope{*stiffness, 0};
        }
        told_all_ = false;
        known_ = 0;
        H_last_ = H_tried_ = 0;
    }

    void attempt(coupled_system& system, const macro_step& step) override {
        const double begin = find_u(system, step);
        system.coupling.deliver(step.end - step.begin, system.subsystems->inputs());
        if (begin > step.begin)
            for (polynomial& p : system.subsystems->inputs()) p = shifted(p, begin - step.begin);
        system.advance({begin, step.end, step.counter});
        set_stiff_u(system, step.end);
    }

    void prepare_estimates(coupled_system& system) override {
        slope_.assign(channels_.size(), 0.0);
        slope_before_ = slope_;
        transport& t = *system.subsystems;
        for (auto& trial : trials_)
            trial = {{t.inputs().begin(), t.inputs().end()}, std::vector<double>(t.outputs().size())};
        missed_.resize(system.coupling.channels());
        right_.resize(missed_.size());
        weights_.assign(missed_.size(), 0.0);
        constants_ = error_constants(system);
        at_begin_.assign(channels_.size(), {});
        at_end_ = at_begin_;
        expected_.assign(missed_.size(), 0.0);
        row_.assign(missed_.size(), signal);
        for (std::size_t i = 0; i < channels_.size(); ++i) row_[channels_[i].channel.value()] = i;
        deliveries_ = system.coupling.deliveries();
    }

    estimate_orders attempt_and_estimate(coupled_system& system, const macro_step& step,
                                         std::span<double> error) override {
        network& net = system.coupling;
        const double H = step.end - step.begin;
        auto& [disturbed, kept] = trials_;
        find_u(system, step);
        linearise_all(system, step.begin, at_begin_);
        net.deliver(H, kept.inputs);
        disturb(system, step);
        system.advance_trials(step, trials_);
        constants_.update(system, &extrapolation_constants);
        constants_.misses(system, H, right_);
        const bool is_new = surprised(system, step);
        if (is_new) {
            disturb_by_misses(system, H);
            system.restore_begin();
            system.advance_trials(step, trials_);
            missed_ = right_;
        }
        set_stiff_u(system, step.end);
        for (std::size_t i = 0; i < channels_.size(); ++i)
            if (solver_.weights()[i] > 0.5) missed_[channels_[i].channel.value()] = 0;
        constants_.rescale(missed_, right_);
        estimate_orders orders = constants_.orders();
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            const double w = weights_[channels_[i].channel.value()] = solver_.weights()[i];
            if (w > 0) orders = {std::min(orders.value, 3), std::min(orders.rate, solver_.stiffness()[i] < 3 ? 3 : 2)};
        }
        constants_.take_whole(weights_);
        if (is_new) constants_.take_everything();
        for (std::size_t slot = 0; slot < error.size(); ++slot)
            error[slot] = constants_.of_output(slot) * (disturbed.outputs[slot] - kept.outputs[slot]);
        return orders;
    }

    /// Mean values of u that lie on a line miss nothing: what they miss is the change of their slope.
    void measure_misses(double H, std::span<double> missed) override {
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            const double w = solver_.weights()[i];
            double& m = missed[channels_[i].channel.value()];
            m = (1 - w) * (law_u_[i] - told_[i] + m) + w * (slope_[i] - slope_before_[i]) * H;
        }
    }

    std::size_t memory_size(const coupled_system& system) const override {
        const auto n = coupled_channels(system).size();
        return one_pass(n, {}).memory_size();
    }
    void memory(std::span<double> into) const override { solver_.memory(into); }
    void set_memory(double H, std::span<const double> from) override {
        H_last_ = H_tried_ = H;
        told_all_ = false;
        solver_.set_memory(H, from);
    }
    void state(state_bytes& bytes) override {
        sensitivities_->state(bytes);
        bytes(solver_, H_tried_, known_, H_last_, forward_, slopes_, new_slopes_, implicit_, rates_, law_u_,
              extrapolated_, u_before_, slope_, slope_before_, told_, told_all_);
        for (contact& c : contacts_) bytes(c.since, c.crosses, c.averaged);
        constants_.state(bytes);
    }

   private:
    void committed() override { constants_.committed(); }

    static constexpr auto signal = std::numeric_limits<std::size_t>::max();

    /// A law with corners.
    struct contact {
        std::size_t row;
        const mdpcosim::law* law;
        std::vector<double> z, later;
        int since = 0;          ///< steps since it crossed one
        bool crosses = false;   ///< in this step
        bool averaged = false;  ///< u of this step is the mean of the law over the way
    };

    /// u over the step, into the network. The time that the subsystems have come to, after step.begin where their sensitivity was found on
    /// the way.
    double find_u(coupled_system& system, const macro_step& step) {
        network& net = system.coupling;
        linearise(system, step.begin, !told_all_);
        net.accept(step.begin, system.subsystems->outputs(), system.u, system.du);
        H_last_ = H_tried_;
        std::ranges::copy(solver_.u(), u_before_.begin());
        slope_before_.swap(slope_);
        if (H_last_ > 0) {
            solver_.accept(H_last_, rates_);
            ++known_;
        }
        double begin = step.begin;
        if (sensitivities_->is_due()) begin = find_sensitivities(system, step);
        sensitivities_->step_done();
        if (H_last_ == 0) begin_with_laws(system);
        if (begin > step.begin) linearise(system, begin, true);
        const double H = step.end - begin;
        for (contact& c : contacts_) {
            const one_pass::slope s = slopes_[c.row];
            c.averaged = c.since < one_pass::steps ||
                         (std::abs(s.c) * H + std::abs(s.d)) * H * solver_.own(c.row) > resolved_contact;
            if (c.averaged) slopes_[c.row] = {0, 0};
        }
        implicit_ = solver_.weigh(H, std::span<const one_pass::slope>(slopes_).first(new_slopes_ ? slopes_.size() : 0));
        new_slopes_ = false;
        net.extrapolate(step.end, !implicit_ || only_.size() < net.channels());
        solve(system, begin, step.end - step.begin, H);
        H_tried_ = H;
        return begin;
    }

    void begin_with_laws(const coupled_system& system) {
        solver_.begin(law_u_, sensitivities_->rates());
        u_before_ = law_u_;
        for (std::size_t i = 0; i < slope_before_.size(); ++i)
            slope_before_[i] = system.du[channels_[i].channel.value()];
    }

    /// u at the end of the step, as it was solved for.
    double solved(std::size_t i) const { return solver_.u()[i] + (solver_.u()[i] - u_before_[i]) * forward_; }

    /// After the step: u of stiff connections.
    void set_stiff_u(coupled_system& system, double t) {
        told_all_ = true;
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            double& u = system.u[channels_[i].channel.value()];
            law_u_[i] = u;
            told_[i] = u += solver_.weights()[i] * (solved(i) - u);
        }
        for (contact& c : contacts_) {
            c.since = c.crosses ? 0 : std::min(c.since + 1, one_pass::steps);
            if (solver_.weights()[c.row] == 0) continue;
            const channel_index channel = channels_[c.row].channel;
            const auto [lowest, highest] =
                c.law->range(system.coupling.linearise(t, channel, system.subsystems->outputs()).q);
            told_[c.row] = system.u[channel.value()] = std::clamp(told_[c.row], lowest, highest);
        }
    }

    /// The inputs of the first trial: those of the second, and what they are expected to be off by.
    void disturb(coupled_system& system, const macro_step& step) {
        const network& net = system.coupling;
        const double H = step.end - step.begin;
        auto& [disturbed, kept] = trials_;
        if (implicit_ && only_.size() == net.channels())
            std::ranges::fill(missed_, 0.0);
        else
            find_misses(system, step, kept, constants_, missed_);
        std::ranges::copy(kept.inputs, disturbed.inputs.begin());
        for (const auto& [input, delivered] : deliveries_) {
            polynomial& p = disturbed.inputs[input.value()];
            const std::size_t i = row_[delivered.channel.value()];
            const double w = i == signal ? 0 : solver_.weights()[i], missed = missed_[delivered.channel.value()];
            if (w < 1) net.correct_input(input, H, (1 - w) * delivered.factor * missed, p);
            expected_[delivered.channel.value()] = missed;
            if (w == 0) continue;
            const auto [mean, ramp] = expected_error(i, H, missed != 0 ? missed : slope_[i]);
            if (w > 0.5) expected_[delivered.channel.value()] = std::abs(mean) + std::abs(ramp);
            p.c[0] += w * delivered.factor * mean;
            if (net.degree_limit(input) == 0) continue;
            p.c[0] += w * delivered.factor * ramp / 2;
            p.c[1] -= w * delivered.factor * ramp / H;
            p.degree = std::max(p.degree, 1);
        }
    }

    /// Laws and their slopes, where slopes change.
    void linearise_all(const coupled_system& system, double t, std::span<network::linearised> into) const {
        for (std::size_t i = 0; i < channels_.size(); ++i)
            if (!readers_[i].constant)
                into[i] = system.coupling.linearise(t, channels_[i].channel, system.subsystems->outputs());
    }

    /// After a trial: more than was expected is missing of some u. Of a connection that is solved for, what its law gives in the end and
    /// was not solved for; where it has corners, what it gives and did not as it was linearised.
    bool surprised(const coupled_system& system, const macro_step& step) {
        linearise_all(system, step.end, at_end_);
        for (std::size_t i = 0; i < channels_.size(); ++i)
            if (solver_.weights()[i] > 0.5) {
                const std::size_t c = channels_[i].channel.value();
                const network::linearised &b = at_begin_[i], &e = at_end_[i];
                right_[c] = system.coupling.law_of(channels_[i].channel)->corner_count() > 0
                                ? e.u - (b.u + b.slope.c * (e.q - b.q) + b.slope.d * (e.v - b.v))
                                : system.u[c] - solved(i);
            }
        return constants_.surprised(system, step.end - step.begin, expected_, right_);
    }

    void disturb_by_misses(const coupled_system& system, double H) {
        const network& net = system.coupling;
        auto& [disturbed, kept] = trials_;
        std::ranges::copy(kept.inputs, disturbed.inputs.begin());
        for (const auto& [input, delivered] : deliveries_) {
            polynomial& p = disturbed.inputs[input.value()];
            const std::size_t i = row_[delivered.channel.value()];
            const double by = delivered.factor * right_[delivered.channel.value()];
            if (i == signal || solver_.weights()[i] <= 0.5) {
                net.correct_input(input, H, by, p);
            } else if (net.degree_limit(input) == 0) {
                p.c[0] += by / 2;
            } else {
                p.c[1] += by / H;
                p.degree = std::max(p.degree, 1);
            }
        }
    }

    /// Of the constant u: of its mean, and what it lacks for being constant. In positions, too, the two add.
    struct constant_error {
        double mean, ramp;
    };
    constant_error expected_error(std::size_t i, double H, double direction) const {
        const double kappa = solver_.stiffness()[i], stiff = kappa / (1 + kappa), rise = H * std::abs(slope_[i]);
        const double bend = std::abs(solver_.u()[i] - u_before_[i] - slope_before_[i] * (H + H_last_) / 2);
        const double mean = known_ < one_pass::steps
                                ? 4 * (rise + bend)
                                : stiff * rise / 12 + std::lerp(mean_error, stiff_mean_error, stiff) * bend;
        const double sign = std::copysign(estimate_safety, direction);
        return {sign * mean, sign * (1 - stiff) * rise};
    }

    [[noreturn]] static void fail(const network& net, double t, channel_index at) {
        throw run_error(
            fmt::format("method 'one-pass' at t = {} s: the coupling variables are not determined, the system of "
                        "equations is singular at "
                        "connection '{}'; leave out connections that repeat others, or take 'method: explicit'",
                        t, net.name(at)));
    }

    /// Rates, laws and their slopes; u of the system becomes the laws' again. Where `anew` does not say so, a law whose slope never
    /// changes is not asked again.
    void linearise(coupled_system& system, double t, bool anew) {
        const auto y = system.subsystems->outputs();
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            const auto [channel, first_order] = channels_[i];
            const auto [first, last, constant] = readers_[i];
            double& u = system.u[channel.value()];
            double rate = 0;
            const auto add = [&](const term& of) { rate += of.weight * y[of.slot]; };
            if (last - first == 2)
                add(terms_[first]), add(terms_[first + 1]);
            else
                std::for_each(terms_.begin() + first, terms_.begin() + last, add);
            rates_[i] = rate;
            if (anew || !constant) {
                const auto at = system.coupling.linearise(t, channel, y);
                slopes_[i] = first_order ? one_pass::slope{0, at.slope.c} : one_pass::slope{at.slope.c, at.slope.d};
                law_u_[i] = at.u;
                q_[i] = at.q;
                new_slopes_ = true;
            }
            u = law_u_[i];
        }
    }

    /// Under the loads of the last step, at first those of the laws.
    double find_sensitivities(coupled_system& system, const macro_step& step) {
        network& net = system.coupling;
        net.extrapolate(step.end);
        for (std::size_t i = 0; i < channels_.size(); ++i) {
            const channel_index channel = channels_[i].channel;
            net.impose(channel, step.end - step.begin, H_last_ > 0 ? u_before_[i] : system.u[channel.value()], 0);
        }
        const double reached = sensitivities_->find(system, step);
        solver_.set_Q(sensitivities_->Q());
        return reached;
    }

    /// u over [begin, begin + H], the end of a macro step of length `whole`, into the network.
    void solve(coupled_system& system, double begin, double whole, double H) {
        network& net = system.coupling;
        if (!implicit_)
            for (std::size_t i = 0; i < channels_.size(); ++i)
                if (solver_.weights()[i] < 1) extrapolated_[i] = net.mean(channels_[i].channel, whole);
        forward_ = H_last_ > 0 ? H / (H + H_last_) : 0;
        if (const auto at = solver_.solve(law_u_, rates_, extrapolated_)) fail(net, begin, channels_[*at].channel);
        if (!contacts_.empty()) solve_contacts(net, begin, H);
        for (std::size_t i = 0; i < slope_.size(); ++i) slope_[i] = 2 * (solver_.u()[i] - u_before_[i]) / (H + H_last_);
        if (implicit_) return net.impose(only_, solver_.u());
        for (std::size_t i = 0; i < channels_.size(); ++i)
            net.impose(channels_[i].channel, whole, solver_.u()[i], 1 - solver_.weights()[i]);
        for (const contact& c : contacts_)
            if (c.averaged || leaves_range(c, net.channel_polynomial(channels_[c.row].channel), whole))
                net.impose(channels_[c.row].channel, whole, solver_.u()[c.row], 0);
    }

    /// Channels that cross a corner in the step get what contact.hpp says, one after the other until they agree with all the others.
    void solve_contacts(const network& net, double t, double H) {
        bool any = false, found = false;
        for (contact& c : contacts_) {
            c.crosses = !c.averaged && crosses(c, H);
            if (c.crosses) {
                c.averaged = found = true;
                slopes_[c.row] = {0, 0};
            }
            any = any || c.averaged;
        }
        if (!any) return;
        if (found) implicit_ = solver_.weigh(H, slopes_);
        for (int k = 0; k < most_rounds; ++k) {
            double change = 0;
            for (contact& c : contacts_) {
                if (!c.averaged) continue;
                const double u = contact_mean(
                    *c.law, {H, q_[c.row], rates_[c.row], solver_.rate_without(c.row), solver_.own(c.row)});
                change = std::max(change, std::abs(u - solver_.u()[c.row]) - 1e-9 * std::abs(u));
                extrapolated_[c.row] = u;
            }
            if (const auto at = solver_.solve(law_u_, rates_, extrapolated_)) fail(net, t, channels_[*at].channel);
            if (change <= 0) break;
        }
        for (contact& c : contacts_)
            if (c.averaged && !c.crosses) c.crosses = crosses(c, H);
    }

    bool leaves_range(const contact& c, const polynomial& p, double H) const {
        const law_range allowed = c.law->range(q_[c.row]);
        const auto outside = [&](double u) { return u < allowed.lowest || u > allowed.highest; };
        return outside(p(0)) || outside(p(H / 2)) || outside(p(H));
    }

    /// Whether the law is on another piece at the end of the step.
    bool crosses(contact& c, double H) {
        const double u = solver_.u()[c.row], a = solver_.rate_without(c.row) - solver_.own(c.row) * u;
        const double q = q_[c.row], v = rates_[c.row], q_end = q + H * (v + H / 2 * a);
        const law_range of = c.law->range(q);
        if (u < of.lowest || u > of.highest) return true;
        c.law->corners(q, v, c.z.data());
        c.law->corners(q_end, v + H * a, c.later.data());
        for (std::size_t k = 0; k < c.z.size(); ++k)
            if ((c.z[k] < 0) != (c.later[k] < 0)) return true;
        return false;
    }

    /// (c H + d) H Q of a contact that is not averaged: where (omega H)^2 is less, extrapolation is more accurate, and its error known better.
    static constexpr double resolved_contact = 0.002;
    static constexpr int most_rounds = 20;

    given_sensitivities given_;
    one_pass solver_;
    std::optional<port_sensitivities> sensitivities_;
    double H_tried_ = 0;
    std::int64_t known_ = 0;  ///< steps before it
    double H_last_ = 0;       ///< of the one before; 0: none
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
    bool implicit_ = false;            ///< all w are 1
    std::vector<reader> readers_;
    std::vector<term> terms_;
    std::vector<double> rates_, law_u_, extrapolated_, u_before_, q_;
    std::vector<contact> contacts_;
    std::vector<double> slope_,
        slope_before_;          ///< of the mean values of u, in this step and the one before; for step control
    std::vector<double> told_;  ///< u that the last step left in the system
    bool told_all_ = false;     ///< since then nothing was changed from outside

    // Of estimates:
    std::array<trial_step, 2> trials_;    ///< with changed u; the step as it is done
    std::vector<double> missed_, right_;  ///< at the end of the step, by channel: as expected, and as it turned out
    std::vector<double> expected_;        ///< by channel, of both kinds of errors together
    std::vector<double> weights_;         ///< by channel, 0 for signals
    std::vector<network::linearised> at_begin_, at_end_;  ///< as channels_
    std::vector<std::size_t> row_;                        ///< by channel: its place in channels_, or `signal`
    std::vector<network::connected> deliveries_;
    error_constants constants_;
};

const method_registration registered{
    {"one-pass",
     "one integration per macro step with linearly implicit coupling variables, for stiff couplings",
     [](const parameter_values&) { return std::make_unique<one_pass_method>(); },
     {},
     one_pass_traits}};

}  // namespace

}  // namespace mdpcosim

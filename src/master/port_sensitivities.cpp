#include "master/port_sensitivities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "master/owner.hpp"

namespace mdpcosim {

namespace {

constexpr double fraction = 1.0 / 1024;  ///< of the macro step: a short step
constexpr double growth = 100;           ///< of the load from one attempt to the next
constexpr double agreement = 0.02;
constexpr int attempts = 10;
constexpr int attempts_to_rest = 5;  ///< without an answer that grows with the load

std::size_t place_of(std::vector<std::size_t>& slots, std::size_t slot) {
    const auto found = std::find(slots.begin(), slots.end(), slot);
    if (found != slots.end()) return static_cast<std::size_t>(found - slots.begin());
    slots.push_back(slot);
    return slots.size() - 1;
}

/// The input slot that a coupling acts on.
int coupling_input(const port& p) { return p.causality == causality::takes_load ? p.load : p.motion[0]; }

/// The port that an input belongs to, `engine.shaft`; the input itself where it belongs to none.
std::string port_of(const transport& t, subsystem_index s, std::size_t slot) {
    const int local = static_cast<int>(slot - t.input_offset(s));
    for (const auto& p : t.describe(s).ports)
        if (coupling_input(p) == local) return fmt::format("{}.{}", t.name(s), p.name);
    return t.name(s);
}

}  // namespace

std::vector<coupled_channel> coupled_channels(const coupled_system& system) {
    std::vector<coupled_channel> found;
    const network& net = system.coupling;
    for (std::size_t c = 0; c < net.channels(); ++c) {
        const channel_index channel(c);
        const law* l = net.law_of(channel);
        if (l == nullptr || !l->physical()) continue;
        const bool first_order = !l->has_rate() && !l->needs_velocity();
        for (const auto& term : net.terms(channel))
            if (!(first_order ? term.value : term.rate).valid())
                throw user_error(
                    fmt::format("method 'one-pass': connection '{}' needs the rates of all its ports (speeds, flows), "
                                "and not all of them "
                                "give one; let the ports give their rates, or take 'method: explicit' with an "
                                "extrapolation without rates",
                                net.name(channel)));
        found.push_back({channel, first_order});
    }
    return found;
}

port_sensitivities::port_sensitivities(const coupled_system& system, std::vector<coupled_channel> channels,
                                       const given_sensitivities& given)
    : channels_(std::move(channels)),
      terms_(channels_.size()),
      rates_(channels_.size(), 0.0),
      own_(channels_.size(), 0.0),
      inputs_(system.subsystems->inputs().size()),
      u_(system.coupling.channels()),
      du_(system.coupling.channels()) {
    const transport& t = *system.subsystems;
    std::map<std::size_t, std::size_t> part_of;
    const auto part_at = [&](std::size_t subsystem) {
        const auto [found, added] = part_of.emplace(subsystem, parts_.size());
        if (added) parts_.emplace_back().subsystem = subsystem_index(subsystem);
        return found->second;
    };
    constexpr auto none = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> row(system.coupling.channels(), none);
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        row[channels_[i].channel.value()] = i;
        for (const auto& term : system.coupling.terms(channels_[i].channel)) {
            const std::size_t slot = (channels_[i].first_order ? term.value : term.rate).value();
            const std::size_t p =
                part_at(owner(slot, t.size(), [&t](subsystem_index s) { return t.output_offset(s); }));
            terms_[i].push_back({p, place_of(parts_[p].outputs, slot), term.weight});
        }
    }
    struct acting {
        std::size_t part, input, channel;
        double factor;
    };
    std::vector<acting> deliveries;
    for (const auto& [input, delivered] : system.coupling.deliveries()) {
        const std::size_t channel = row[delivered.channel.value()];
        if (channel == none) continue;
        const std::size_t p =
            part_at(owner(input.value(), t.size(), [&t](subsystem_index s) { return t.input_offset(s); }));
        deliveries.push_back({p, place_of(parts_[p].inputs, input.value()), channel, delivered.factor});
    }
    for (part& p : parts_) {
        p.B.assign(p.inputs.size() * p.outputs.size(), 0.0);
        p.before = p.B;
        p.own.assign(p.B.size(), false);
        p.v.assign(p.outputs.size(), 0.0);
        p.a.assign(3 * p.outputs.size(), 0.0);
    }
    std::vector<std::vector<std::pair<std::uint32_t, rate_term>>> by_part(parts_.size());
    for (std::uint32_t i = 0; i < terms_.size(); ++i)
        for (const rate_term& term : terms_[i]) by_part[term.part].push_back({i, term});
    for (const acting& in : deliveries)
        for (const auto& [channel, term] : by_part[in.part]) {
            const std::size_t at = term.output * parts_[in.part].inputs.size() + in.input;
            if (channel == in.channel) parts_[in.part].own[at] = true;
            Q_.push_back({channel, static_cast<std::uint32_t>(in.channel), 0});
            entries_.push_back({in.part, at, term.weight * in.factor});
        }
    choose_sources(t, given);
}

void port_sensitivities::choose_sources(const transport& t, const given_sensitivities& all) {
    bool all_restore = true;
    for (std::size_t i = 0; i < t.size(); ++i) all_restore = all_restore && t.offers(subsystem_index(i)).save_restore;
    steps_ = all_restore ? source::trial_steps : source::short_steps;
    for (part& p : parts_) {
        std::vector<bool> given(p.inputs.size(), false);
        for (const given_sensitivity& g : all) {
            const auto input = std::find(p.inputs.begin(), p.inputs.end(), g.input.value());
            const auto output = std::find(p.outputs.begin(), p.outputs.end(), g.output.value());
            if (input == p.inputs.end() || output == p.outputs.end()) continue;
            const auto at = static_cast<std::size_t>(input - p.inputs.begin());
            given[at] = true;
            B(p, static_cast<std::size_t>(output - p.outputs.begin()), at) = g.per_unit;
        }
        const auto missing = std::find(given.begin(), given.end(), false);
        if (missing == given.end()) continue;
        if (std::find(given.begin(), given.end(), true) != given.end())
            throw user_error(
                fmt::format("subsystem '{}': 'inertia' must be given for all its connected ports or for none, and port "
                            "'{}' has none",
                            t.name(p.subsystem),
                            port_of(t, p.subsystem, p.inputs[static_cast<std::size_t>(missing - given.begin())])));
        all_given_ = false;
        p.answers = rate_sensitivity(t, p);
        p.from = source_of(p);
    }
    if (const std::string reason = why_no_short_steps(t); !reason.empty()) throw user_error(reason);
}

port_sensitivities::source port_sensitivities::source_of(const part& p) const {
    switch (p.answers.present()) {
        case rate_sensitivity::way::derivatives:
            return source::derivatives;
        case rate_sensitivity::way::accelerations:
            return source::feed_through;
        case rate_sensitivity::way::none:
            break;
    }
    return steps_;
}

/// Short steps are taken by all subsystems together.
std::string port_sensitivities::why_no_short_steps(const transport& t) const {
    const auto stepping = std::ranges::find_if(parts_, &part::steps);
    if (stepping == parts_.end()) return {};
    for (std::size_t i = 0; i < t.size(); ++i) {
        const std::string why = t.offers(subsystem_index(i)).why_fixed_step;
        if (why.empty()) continue;
        std::vector<std::string> ports, examples;
        for (const port& p : t.describe(stepping->subsystem).ports) {
            const int own = coupling_input(p);
            const std::size_t input = t.input_offset(stepping->subsystem) + static_cast<std::size_t>(own);
            if (own < 0 || std::ranges::find(stepping->inputs, input) == stepping->inputs.end()) continue;
            ports.push_back(fmt::format("'{}.{}'", t.name(stepping->subsystem), p.name));
            examples.push_back(fmt::format("{}: 1 {}", p.name, inertia_unit(p.kind, p.causality)));
        }
        return fmt::format(
            "method 'one-pass': how {} answers to loads can be found by short steps only, and subsystem '{}' takes "
            "none: {}. "
            "Give what resists there, as in 'inertia: {{{}}}' of subsystem '{}' ('inf' for what does not give way), or "
            "take "
            "'method: explicit'.",
            fmt::join(ports, " and "), t.name(subsystem_index(i)), why, fmt::join(examples, ", "),
            t.name(stepping->subsystem));
    }
    return {};
}

bool port_sensitivities::known_at_once(coupled_system& system, part& p) {
    const bool found = p.answers.evaluate(system, p, p.B);
    p.from = source_of(p);
    std::ranges::copy(p.answers.rates(), p.a.begin());
    return found;
}

void port_sensitivities::prepare(coupled_system& system) {
    bool trials = false;
    for (part& p : parts_) {
        // Where steps are left in the end, there is room for going back.
        trials = trials || (steps_ == source::trial_steps && p.from != source::given);
        const auto all_answer = [&] {
            for (std::size_t i = 0; i < p.inputs.size(); ++i)
                if (!(sensitivity_of(p, i) > 0)) return false;
            return true;
        };
        while (p.at_once() && !(known_at_once(system, p) && all_answer())) {
            p.answers.leave();
            p.from = source_of(p);
        }
    }
    if (const std::string reason = why_no_short_steps(*system.subsystems); !reason.empty()) throw user_error(reason);
    if (trials) system.make_room_for_begin();
}

bool port_sensitivities::advances() const {
    return std::any_of(parts_.begin(), parts_.end(), [](const part& p) { return p.from == source::short_steps; });
}

double port_sensitivities::sensitivity_of(part& p, std::size_t input) {
    double sum = 0;
    for (std::size_t o = 0; o < p.outputs.size(); ++o)
        if (p.own[o * p.inputs.size() + input]) sum += std::abs(B(p, o, input));
    return sum;
}

double port_sensitivities::find(coupled_system& system, const macro_step& step) {
    double reached = step.begin;
    bool stepping = false;
    for (part& p : parts_) {
        p.before = p.B;
        if (p.at_once() && !known_at_once(system, p)) {
            if (const std::string reason = why_no_short_steps(*system.subsystems); !reason.empty())
                throw run_error(reason);
        }
        stepping = stepping || p.steps();
    }
    if (stepping) reached = take_short_steps(system, step);
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        rates_[i] = 0;
        for (const auto& [at, output, weight] : terms_[i]) rates_[i] += weight * parts_[at].a[output];
    }
    form_Q(system, step.begin);
    double change = 0;
    for (const part& p : parts_)
        for (std::size_t k = 0; k < p.B.size(); ++k)
            if (p.own[k] && p.B[k] != 0) change = std::max(change, std::abs(p.B[k] - p.before[k]) / std::abs(p.B[k]));
    const int longest = advances() ? 1024 : 128;
    if (!found_)
        wait_ = 16;
    else
        wait_ = change > 0.05 ? std::max(1, wait_ / 2) : std::min(longest, 2 * wait_);
    found_ = true;
    since_ = 0;
    return reached;
}

/// From t to t + h: stage 0 under u, stage 1 and 2 with more and less load on the input in work; p.a[stage] follow.
double port_sensitivities::short_step(coupled_system& system, const macro_step& step, double t, double h, int stage,
                                      std::size_t input) {
    transport& subsystems = *system.subsystems;
    const auto y = subsystems.outputs();
    const auto inputs = subsystems.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = shifted(inputs_[i], t - step.begin);
    for (part& p : parts_) {
        for (std::size_t o = 0; o < p.outputs.size(); ++o) p.v[o] = y[p.outputs[o]];
        if (!p.settled && stage > 0) inputs[p.inputs[input]].c[0] += stage == 1 ? p.delta : -p.delta;
    }
    const double end = t + h;
    subsystems.advance({t, end, step.counter});
    system.evaluate(end, system.at_each_step);
    for (part& p : parts_)
        for (std::size_t o = 0; o < p.outputs.size(); ++o)
            p.a[static_cast<std::size_t>(stage) * p.outputs.size() + o] = (y[p.outputs[o]] - p.v[o]) / (end - t);
    return end;
}

bool port_sensitivities::does_not_answer(part& p, int attempt, double answer) const {
    const double change = answer * p.delta;
    if (attempt == 0) p.change = change;
    const double size = std::ranges::max(p.a, {}, [](double a) { return std::abs(a); });
    return attempt >= attempts_to_rest && change <= 10 * p.change + 1e-6 * std::abs(size);
}

double port_sensitivities::take_short_steps(coupled_system& system, const macro_step& step) {
    transport& subsystems = *system.subsystems;
    const double H = step.end - step.begin;
    const double h = std::max(H * fraction, 1e-12 * std::abs(step.begin));
    const bool lasting = advances();
    u_ = system.u;
    du_ = system.du;
    system.coupling.deliver(H, subsystems.inputs());
    std::copy(subsystems.inputs().begin(), subsystems.inputs().end(), inputs_.begin());
    if (!lasting) system.save_begin();
    std::size_t rounds = 0;
    for (const part& p : parts_)
        if (p.steps()) rounds = std::max(rounds, p.inputs.size());
    double t = step.begin;
    for (std::size_t round = 0; round < rounds; ++round) {
        for (part& p : parts_) {
            p.settled = !p.steps() || round >= p.inputs.size();
            if (p.settled) continue;
            p.answer = p.change = -1;
            // A trial leaves nothing behind, so that its load may be large.
            p.delta = std::max(1.0, std::abs(inputs_[p.inputs[round]].c[0])) * (lasting ? 1e-6 : 1.0);
        }
        for (int attempt = 0; attempt < attempts; ++attempt) {
            for (int stage = 0; stage < 3; ++stage) t = short_step(system, step, t, h, stage, round);
            bool all = true;
            for (part& p : parts_) {
                if (p.settled) continue;
                const std::size_t n = p.outputs.size();
                for (std::size_t o = 0; o < n; ++o)
                    B(p, o, round) = (2 * p.a[n + o] - p.a[o] - p.a[2 * n + o]) / (3 * p.delta);
                const double answer = sensitivity_of(p, round);
                p.settled = answer > 0 && std::abs(answer - p.answer) <= agreement * answer;
                if (!p.settled && does_not_answer(p, attempt, answer)) {
                    for (std::size_t o = 0; o < n; ++o) B(p, o, round) = 0;
                    p.settled = true;
                }
                p.answer = answer;
                p.delta *= growth;
                all = all && p.settled;
            }
            if (all) break;
        }
        for (const part& p : parts_)
            if (!p.settled)
                throw run_error(fmt::format(
                    "method 'one-pass': how port '{}' answers to a load cannot be found: under loads up to {:.3g}, "
                    "over {:.3g} s "
                    "at t = {:.6g} s, its rate did not change in proportion (last answer {:.3g} per unit and second). "
                    "Give the port's mass, moment of inertia or capacity in the scenario ('inertia' of subsystem "
                    "'{}', 'inf' for what does not give way), "
                    "or take 'method: explicit'",
                    port_of(subsystems, p.subsystem, p.inputs[round]), p.delta / growth, h, step.begin, p.answer,
                    subsystems.name(p.subsystem)));
    }
    for (part& p : parts_)
        p.rests = p.rests || (p.steps() && std::ranges::all_of(p.B, [](double value) { return value == 0; }));
    if (lasting) return t;
    system.restore_begin();
    system.u = u_;
    system.du = du_;
    return step.begin;
}

void port_sensitivities::form_Q(const coupled_system& system, double t) {
    std::fill(own_.begin(), own_.end(), 0.0);
    for (std::size_t k = 0; k < Q_.size(); ++k) {
        const auto& [owning, at, factor] = entries_[k];
        Q_[k].value = -factor * parts_[owning].B[at];
        if (Q_[k].row == Q_[k].column) own_[Q_[k].row] += Q_[k].value;
    }
    for (std::size_t i = 0; i < channels_.size(); ++i)
        if (!(own_[i] >= 0) || !std::isfinite(own_[i]))
            throw run_error(
                fmt::format("method 'one-pass': the ports of connection '{}' do not give way to its coupling variable: "
                            "at t = {:.6g} s it "
                            "moves their rate by {:.6g} per unit and second, and a load must move them its own way. "
                            "Give their masses, "
                            "moments of inertia or capacities in the scenario ('inertia' of a subsystem), or take "
                            "'method: explicit'",
                            system.coupling.name(channels_[i].channel), t, own_[i]));
}

std::vector<std::string> port_sensitivities::describe(const transport& subsystems) const {
    std::vector<std::string> lines(subsystems.size());
    for (const part& p : parts_) {
        std::string& line = lines[p.subsystem.value()];
        switch (p.from) {
            case source::given:
                line = "given (inertia)";
                break;
            case source::derivatives:
                line = "from its directional derivatives";
                break;
            case source::feed_through:
                line = "from the accelerations that its ports give, evaluated with two loads";
                break;
            case source::trial_steps:
                line = "by short trial steps, at the start and from time to time";
                break;
            case source::short_steps:
                line =
                    "identified by short steps under small loads, at the start and from time to time; 'inertia' saves "
                    "them";
                break;
        }
    }
    return lines;
}

}  // namespace mdpcosim

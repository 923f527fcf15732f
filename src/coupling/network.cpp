#include "coupling/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "core/error.hpp"

namespace mdpcosim {

namespace {

/// Rows are worked through in blocks of eight numbers, two at a time, without changing the order of any channel's sum.
constexpr std::size_t block = 8;
constexpr std::size_t few_channels = 3;  ///< for which a block is too much
using two [[gnu::vector_size(2 * sizeof(double))]] = double;

two load(const double* from) {
    two values;
    std::memcpy(&values, from, sizeof values);
    return values;
}

bool same_rule(const extrapolation_rule& x, const extrapolation_rule& y) {
    return x.kind == y.kind && x.degree == y.degree && x.K == y.K && x.R == y.R && x.uses_rates == y.uses_rates &&
           x.continuous == y.continuous && x.a == y.a && x.b == y.b;
}

struct weighted_row {
    const double* values;
    double weight;
};

constexpr int max_rows = 2 * max_history + 1;

}  // namespace

// ---- building -------------------------------------------------------------------------------------------------------

channel_index network::add_channel(std::string name, std::unique_ptr<law> channel_law, std::vector<channel_term> terms,
                                   const extrapolation_rule& rule) {
    const bool has_velocity =
        std::all_of(terms.begin(), terms.end(), [](const channel_term& t) { return t.rate.valid(); });
    const bool by_accelerations =
        rule.uses_rates && channel_law && channel_law->needs_velocity() && has_velocity &&
        std::ranges::all_of(terms, [](const channel_term& t) { return t.acceleration.valid(); });
    if (rule.uses_rates && channel_law && !channel_law->has_rate() && !by_accelerations)
        throw std::invalid_argument(
            fmt::format("'{}': extrapolation '{}' needs du/dt, which this law does not have, since it would need rates "
                        "that depend on the inputs; "
                        "take one without rates: poly-K or a name ending in -b0",
                        name, rule.name));
    if (!has_velocity && (rule.uses_rates || (channel_law && channel_law->needs_velocity())))
        throw std::invalid_argument(
            fmt::format("'{}': {} needs the rates of its ports, and not all of them give one", name,
                        rule.uses_rates ? fmt::format("extrapolation '{}'", rule.name) : std::string("the law")));

    const std::size_t channel = names_.size();
    names_.push_back(std::move(name));
    if (channel_law && channel_law->remembers()) remembering_.push_back(static_cast<std::uint32_t>(channel));
    laws_.push_back(std::move(channel_law));
    for (const auto& t : terms) {
        const std::int32_t rate = has_velocity ? static_cast<std::int32_t>(t.rate.value()) : -1;
        if (!t.value.valid()) integrals_.push_back({static_cast<std::int32_t>(t.rate.value())});
        const auto value = static_cast<std::int32_t>(t.value.valid() ? t.value.value() : -integrals_.size());
        terms_.push_back({value, rate, t.weight,
                          by_accelerations ? static_cast<std::int32_t>(t.acceleration.value()) : -1, t.piston});
    }
    law_states_.push_back(std::ranges::any_of(terms, &channel_term::piston) ? kept_by_law : no_pistons);
    first_term_.push_back(static_cast<std::uint32_t>(terms_.size()));
    const bool plain = !laws_.back() && terms.size() == 1 && terms_.back().value >= 0 && terms_.back().rate < 0;
    plain_.push_back(plain              ? plain_channel{terms_.back().value, terms_.back().weight}
                     : by_accelerations ? plain_channel{accelerated, 0}
                                        : plain_channel{-1, 0});

    join_group(channel, rule, false);
    return channel_index(channel);
}

channel_index network::add_imposed(std::string name) {
    const std::size_t channel = names_.size();
    names_.push_back(std::move(name));
    laws_.push_back(nullptr);
    first_term_.push_back(static_cast<std::uint32_t>(terms_.size()));
    plain_.push_back({found_elsewhere, 0});
    law_states_.push_back(no_pistons);
    extrapolation_rule none;
    none.degree = max_degree;
    join_group(channel, none, true);
    return channel_index(channel);
}

void network::join_group(std::size_t channel, const extrapolation_rule& rule, bool imposed) {
    auto g = std::find_if(groups_.begin(), groups_.end(),
                          [&](const group& other) { return other.imposed == imposed && same_rule(other.rule, rule); });
    if (g == groups_.end()) {
        groups_.emplace_back().rule = rule;
        g = groups_.end() - 1;
        g->imposed = imposed;
        if (imposed) g->weights.degree = rule.degree;
    }
    places_.push_back(
        {static_cast<std::uint32_t>(g - groups_.begin()), static_cast<std::uint32_t>(g->channels.size())});
    g->channels.push_back(static_cast<std::uint32_t>(channel));
}

void network::add_delivery(input_slot input, int degree, delivery d) { pending_.push_back({input.value(), degree, d}); }

void network::finish(std::span<const double> start) {
    make_groups();
    make_inputs(start);
    clear_history();
}

void network::make_groups() {
    for (auto& g : groups_) {
        const std::size_t n = g.channels.size();
        g.contiguous = g.channels.back() - g.channels.front() + 1 == n;
        g.padded = (n + block - 1) / block * block;
        const std::size_t rows = static_cast<std::size_t>(g.rule.K + 1) * g.padded;
        g.u.assign(rows, 0.0);
        if (g.rule.uses_rates) g.du.assign(rows, 0.0);
        if (g.rule.continuous) g.end.assign(g.padded, 0.0);
    }
    make_coefficients();
}

void network::make_coefficients() {
    std::size_t total = 0;
    for (auto& g : groups_) {
        g.width = static_cast<std::size_t>(std::max(g.rule.degree, least_degree_)) + 1;
        g.coefficients = total;
        total += g.padded * g.stride();
    }
    coefficients_.assign(total, 0.0);
}

void network::make_inputs(std::span<const double> start) {
    start_.assign(start.begin(), start.end());
    // Stable: the deliveries of an input keep the order in which they were added, and so do its sums.
    std::stable_sort(pending_.begin(), pending_.end(),
                     [](const pending_delivery& x, const pending_delivery& y) { return x.input < y.input; });
    deliveries_.clear();
    driven_.clear();
    first_driven_.assign(start.size() + 1, 0);
    for (const auto& p : pending_) {
        if (p.input >= start.size() || p.delivered.channel.value() >= channels())
            throw std::logic_error(
                fmt::format("delivery of channel {} to input {}: there are {} channels and {} inputs",
                            p.delivered.channel.value(), p.input, channels(), start.size()));
        const std::size_t channel = p.delivered.channel.value();
        const auto next = static_cast<std::uint32_t>(deliveries_.size());
        if (driven_.empty() || driven_.back().input != p.input) {
            driven_.push_back({static_cast<std::uint32_t>(p.input), next, next});
            ++first_driven_[p.input + 1];
        }
        driven_input& target = driven_.back();
        target.limit = std::min(target.limit, p.degree);
        target.degree = std::max(target.degree, static_cast<int>(groups_[places_[channel].group].stride()) - 1);
        deliveries_.push_back(
            {static_cast<std::uint32_t>(channel), static_cast<std::uint32_t>(coefficients_of(channel)),
             static_cast<std::uint32_t>(groups_[places_[channel].group].stride()), p.delivered.factor});
        target.last = static_cast<std::uint32_t>(deliveries_.size());
    }
    std::partial_sum(first_driven_.begin(), first_driven_.end(), first_driven_.begin());
}

std::size_t network::coefficients_of(std::size_t channel) const {
    const group& g = groups_[places_[channel].group];
    return g.coefficients + places_[channel].position * g.stride();
}

// ---- coupling variables ---------------------------------------------------------------------------------------------

double network::integrate(const integral& i, double t, const double* y) const {
    const double h = t - times_[0];
    if (points_ == 0 || h == 0) return i.value;
    const double flow = y[i.rate];
    double area = h * (i.flow + flow) / 2;
    if (points_ > 1) {
        const double h_before = times_[0] - times_[1];
        const double curvature = ((flow - i.flow) / h - (i.flow - i.flow_before) / h_before) / (h + h_before);
        area -= curvature * h * h * h / 6;
    }
    return i.value + area;
}

inline network::motion network::channel_motion(double time, std::size_t channel, const double* y) const {
    motion m{0, 0};
    for (std::uint32_t i = first_term_[channel]; i < first_term_[channel + 1]; ++i) {
        const term& t = terms_[i];
        m.q += t.weight * (t.value >= 0 ? y[t.value] : integrate(integrals_[-1 - t.value], time, y));
        if (t.rate >= 0) m.v += t.weight * y[t.rate];
    }
    return m;
}

law_value network::ask_law(double t, std::size_t channel, const motion& m) const {
    try {
        return laws_[channel]->evaluate(m.q, m.v);
    } catch (const law_failure& problem) {
        throw run_error(fmt::format("connection '{}' at t = {} s: {}", names_[channel], t, problem.what()));
    }
}

piston_motion network::motion_with_pistons(double time, std::size_t channel, const double* y) const {
    const motion all = channel_motion(time, channel, y);
    piston_motion m{.t = time, .q = all.q, .v = all.v};
    for (std::uint32_t i = first_term_[channel]; i < first_term_[channel + 1]; ++i) {
        const term& t = terms_[i];
        m.has_rates = m.has_rates && t.rate >= 0;
        if (!t.piston) continue;
        m.s += t.weight * y[t.value];
        if (t.rate >= 0) m.ds += t.weight * y[t.rate];
    }
    if (law_states_[channel] >= 0) m.state = y[law_states_[channel]];
    return m;
}

law_value network::ask_with_pistons(double t, std::size_t channel, const double* y) const {
    try {
        return laws_[channel]->evaluate_at(motion_with_pistons(t, channel, y));
    } catch (const law_failure& problem) {
        throw run_error(fmt::format("connection '{}' at t = {} s: {}", names_[channel], t, problem.what()));
    }
}

inline law_value network::channel_value(double t, std::size_t channel, const double* y) const {
    if (law_states_[channel] != no_pistons) return ask_with_pistons(t, channel, y);
    const motion m = channel_motion(t, channel, y);
    return laws_[channel] ? ask_law(t, channel, m) : law_value{m.q, m.v};
}

void network::use_limit() {
    for (auto& l : laws_)
        if (l) l->use_limit();
}

std::vector<output_slot> network::read_integrals_from(output_slot first) {
    std::vector<output_slot> rates;
    for (const auto& i : integrals_) rates.emplace_back(static_cast<std::size_t>(i.rate));
    for (auto& t : terms_)
        if (t.value < 0) t.value = static_cast<std::int32_t>(first.value()) - 1 - t.value;
    integrals_.clear();
    return rates;
}

std::vector<channel_index> network::read_law_states_from(output_slot first) {
    std::vector<channel_index> found;
    for (std::size_t c = 0; c < channels(); ++c) {
        if (!laws_[c] || !laws_[c]->has_state()) continue;
        law_states_[c] = static_cast<std::int32_t>(first.value() + found.size());
        found.emplace_back(c);
    }
    return found;
}

double network::state_rate(double t, channel_index channel, std::span<const double> y) const {
    return laws_[channel.value()]->state_rate(motion_with_pistons(t, channel.value(), y.data()));
}

void network::start(double t, std::span<const double> y) {
    clear_history();
    for (auto& i : integrals_) i = {i.rate, 0, y[i.rate], 0};
    for (std::size_t c = 0; c < channels(); ++c)
        if (laws_[c]) {
            if (law_states_[c] == no_pistons)
                laws_[c]->start(channel_motion(t, c, y.data()).q);
            else
                laws_[c]->start_at(motion_with_pistons(t, c, y.data()));
        }
}

template <bool with_rates>
inline void network::evaluate_channels(double t, const double* y, double* u, double* du,
                                       double* by_acceleration) const {
    const std::size_t n = channels();
    const plain_channel* plain = plain_.data();
    for (std::size_t c = 0; c < n; ++c) {
        if (plain[c].value >= 0) {
            u[c] = 0 + plain[c].weight * y[static_cast<std::size_t>(plain[c].value)];
            du[c] = 0;
            continue;
        }
        if (plain[c].value == found_elsewhere) continue;
        if (with_rates && plain[c].value == accelerated) {
            const motion m = channel_motion(t, c, y);
            const law_slope slope = laws_[c]->slope(m.q, m.v);
            double acceleration = 0;
            for (std::uint32_t i = first_term_[c]; i < first_term_[c + 1]; ++i)
                acceleration += terms_[i].weight * y[terms_[i].acceleration];
            u[c] = law_states_[c] == no_pistons ? ask_law(t, c, m).u : ask_with_pistons(t, c, y).u;
            du[c] = slope.c * m.v + slope.d * acceleration;
            if (by_acceleration != nullptr) by_acceleration[c] = slope.d;
            continue;
        }
        const law_value value = channel_value(t, c, y);
        u[c] = value.u;
        du[c] = value.rate;
    }
}

void network::evaluate(double t, std::span<const double> y, std::span<double> u, std::span<double> du,
                       std::span<double> by_acceleration) const {
    evaluate_channels<true>(t, y.data(), u.data(), du.data(),
                            by_acceleration.empty() ? nullptr : by_acceleration.data());
}

void network::evaluate_values(double t, std::span<const double> y, std::span<double> u, std::span<double> du) const {
    evaluate_channels<false>(t, y.data(), u.data(), du.data(), nullptr);
}

double network::evaluate_one(double t, channel_index channel, std::span<const double> y) const {
    return channel_value(t, channel.value(), y.data()).u;
}

void network::evaluate_inputs(double t, std::span<const double> y, std::span<const channel_index> some,
                              std::span<double> u, std::size_t first, std::span<double> values) const {
    for (const channel_index c : some)
        if (plain_[c.value()].value != found_elsewhere)
            u[c.value()] =
                is_plain(c.value()) ? plain_value(c.value(), y.data()) : channel_value(t, c.value(), y.data()).u;
    input_values(u, first, values);
}

void network::input_values(std::span<const double> u, std::size_t first, std::span<double> values) const {
    for (std::uint32_t i = first_driven_[first]; i < first_driven_[first + values.size()]; ++i) {
        values[driven_[i].input - first] = input_value(u, driven_[i]);
    }
}

// ---- history --------------------------------------------------------------------------------------------------------

void network::clear_history() {
    points_ = 0;
    extrapolated_ = false;
    has_end_ = false;
    for (auto& g : groups_) g.weights.points = 0;
    for (auto& g : giving_) g.missing = g.given = 0;
    jump_.assign(channels(), never);
    cut_.assign(channels(), never);
    latest_jump_ = latest_cut_ = never;
}

void network::accept(double t, std::span<const double> y, std::span<const double> u, std::span<const double> du) {
    const bool replace = points_ > 0 && t == times_[0];
    if (points_ > 0 && !(t >= times_[0]))
        throw std::logic_error(fmt::format("time {} is accepted after {}; clear the history first", t, times_[0]));
    if (!replace) has_end_ = extrapolated_;
    for (const std::uint32_t c : remembering_) {
        if (law_states_[c] != no_pistons) {
            laws_[c]->accept_at(motion_with_pistons(t, c, y.data()), u[c]);
            continue;
        }
        const motion m = channel_motion(t, c, y.data());
        laws_[c]->accept(m.q, m.v, u[c]);
    }
    for (auto& i : integrals_) {
        i.value = integrate(i, t, y.data());
        if (!replace) i.flow_before = i.flow;
        i.flow = y[i.rate];
    }
    const double elapsed = t - times_[0];
    if (has_end_ && !replace) find_missing(elapsed, u, du);
    for (auto& g : groups_) remember(g, elapsed, replace, u, du);
    if (!replace) {
        std::copy_backward(times_.begin(), times_.end() - 1, times_.end());
        times_[0] = t;
        points_ = std::min(points_ + 1, max_history);
        extrapolated_ = false;
    }
}

void network::find_missing(double elapsed, std::span<const double> u, std::span<const double> du) {
    for (auto& [channel, missing, given] : giving_) {
        const group& g = groups_[places_[channel].group];
        const double jump = g.rule.K > 1 ? cut_[channel] : jump_[channel];
        if (jump > times_[0]) {  // between two values with a jump there is no integral
            missing = 0;
            continue;
        }
        const std::size_t at = places_[channel].position;
        const double before = g.u[g.row(0) + at];
        double area = elapsed * (before + u[channel]) / 2;
        if (g.rule.uses_rates) {
            area += elapsed * elapsed / 12 * (g.du[g.row(0) + at] - du[channel]);
        } else if (points_ > 1 && !(jump > times_[1])) {
            const double h = times_[0] - times_[1];
            const double curvature =
                ((u[channel] - before) / elapsed - (before - g.u[g.row(1) + at]) / h) / (elapsed + h);
            area -= curvature * elapsed * elapsed * elapsed / 6;
        }
        missing += area - elapsed * mean(channel_index(channel), elapsed);
    }
}

void network::remember(group& g, double elapsed, bool replace, std::span<const double> u, std::span<const double> du) {
    if (!replace) g.newest = (g.newest == 0 ? g.rule.K + 1 : g.newest) - 1;
    const std::size_t n = g.channels.size();
    const auto enter = [&](std::span<const double> from, double* to) {
        if (g.contiguous) {
            std::copy_n(from.data() + g.channels.front(), n, to);
        } else {
            for (std::size_t i = 0; i < n; ++i) to[i] = from[g.channels[i]];
        }
    };
    const std::size_t row = static_cast<std::size_t>(g.newest) * g.padded;
    enter(u, g.u.data() + row);
    if (g.rule.uses_rates) enter(du, g.du.data() + row);
    if (!g.rule.continuous) return;
    if (!has_end_) {
        enter(u, g.end.data());
    } else if (!replace) {
        const double* e = coefficients_.data() + g.coefficients;
        const std::size_t stride = g.stride();
        for (std::size_t i = 0; i < n; ++i)
            g.end[i] = e[stride * i] + e[stride * i + 1] * elapsed;  // continuity: degree 1 only
        if (latest_cut_ > times_[0])                                 // what was before the jump is not continued
            for (std::size_t i = 0; i < n; ++i)
                if (cut_[g.channels[i]] > times_[0]) g.end[i] = u[g.channels[i]];
    }
}

// ---- polynomials ----------------------------------------------------------------------------------------------------

void network::extrapolate(double t_next, bool values) {
    const double H = t_next - times_[0];
    if (points_ == 0 || !(H > 0))
        throw std::logic_error(
            fmt::format("extrapolation to {} needs an accepted time before it ({} accepted, the last at {})", t_next,
                        points_, times_[0]));
    std::array<double, max_history> tau{};
    // Late in a run the rounding of t0 + n*H is a larger part of H than on_constant_grid() allows for.
    const double rounding =
        4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(t_next), std::abs(times_[0])) / H;
    int used = 1;
    for (const auto& g : groups_) used = std::max(used, g.rule.K + 1);
    used = std::min(used, points_);
    for (int k = 1; k < used; ++k) {
        tau[k] = (times_[k] - times_[0]) / H;
        if (std::abs(tau[k] + k) <= rounding * (k + 1)) tau[k] = -k;
    }
    for (auto& g : groups_)
        if (!g.imposed) update_weights(g, std::span(tau).first(used));
    tau_ = tau;
    step_ = H;
    if (values) {
        for (const auto& g : groups_)
            if (!g.imposed) extrapolate_group(g, H);
        if (latest_cut_ > times_[static_cast<std::size_t>(used - 1)]) [[unlikely]]
            for (const auto& g : groups_)
                if (!g.imposed && g.rule.K > 1) extrapolate_restarted(g, std::span(tau).first(used), H);
        // Over no less than the step it was missed in: a much shorter one would turn it into a blow. What is left comes later.
        const double over = points_ > 1 ? std::max(H, times_[0] - times_[1]) : H;
        for (auto& g : giving_) {
            g.given = g.missing / over;
            coefficients_[coefficients_of(g.channel)] += g.given;
        }
    }
    extrapolated_ = true;
}

void network::update_weights(group& g, std::span<const double> tau) {
    const std::size_t points = std::min(tau.size(), static_cast<std::size_t>(g.rule.K));
    tau = tau.first(points);
    const bool constant = on_constant_grid(tau);
    const bool as_before = g.weights.points == static_cast<int>(points) &&
                           (constant ? g.weights_on_constant_grid
                                     : !g.weights_on_constant_grid && std::equal(tau.begin(), tau.end(), tau_.begin()));
    if (as_before) return;
    g.weights = make_weights(g.rule, tau);
    g.weights_on_constant_grid = constant;
}

/// add(row, weight) for all remembered values that the coefficient of s^n takes, times H^n.
template <class Add>
[[gnu::always_inline]] inline void network::for_rows(const group& g, int n, double H, const Add& add) {
    const extrapolation_weights& w = g.weights;
    for (int k = 0, ring = g.newest; k < w.points; ++k) {
        const std::size_t row = static_cast<std::size_t>(ring) * g.padded;
        if (w.A[n][k] != 0) add(g.u.data() + row, w.A[n][k]);
        if (w.uses_rates)
            if (const double weight = w.B[n][k] * H; weight != 0) add(g.du.data() + row, weight);
        if (++ring == g.rule.K + 1) ring = 0;
    }
    if (w.uses_end && w.C[n] != 0) add(g.end.data(), w.C[n]);
}

void network::extrapolate_group(const group& g, double H) {
    if (g.channels.size() <= few_channels) return extrapolate_few(g, H);
    const extrapolation_weights& w = g.weights;
    const std::size_t stride = g.stride();
    std::array<weighted_row, (max_degree + 1) * max_rows> rows;
    std::array<std::size_t, max_degree + 2> begin{};
    std::size_t count = 0;
    double power = 1;  // H^n
    for (int n = 0; n < static_cast<int>(stride); ++n, power *= H) {
        begin[n] = count;
        if (n > w.degree) continue;  // start-up: the coefficients above become zero
        for_rows(g, n, H, [&](const double* row, double weight) { rows[count++] = {row, weight / power}; });
    }
    begin[stride] = count;

    double* out = coefficients_.data() + g.coefficients;
    for (std::size_t i = 0; i < g.padded; i += block, out += block * stride) {
        for (std::size_t n = 0; n < stride; ++n) {
            two a{}, b{}, c{}, d{};
            for (std::size_t r = begin[n]; r < begin[n + 1]; ++r) {
                const double* values = rows[r].values + i;
                a += rows[r].weight * load(values);
                b += rows[r].weight * load(values + 2);
                c += rows[r].weight * load(values + 4);
                d += rows[r].weight * load(values + 6);
            }
            double* to = out + n;
            const auto store = [&](two sums) {
                to[0] = sums[0];
                to[stride] = sums[1];
                to += 2 * stride;
            };
            store(a), store(b), store(c), store(d);
        }
    }
}

/// The same sums in the same order.
void network::extrapolate_few(const group& g, double H) {
    const std::size_t stride = g.stride(), channels = g.channels.size();
    double* out = coefficients_.data() + g.coefficients;
    double power = 1;  // H^n
    for (int n = 0; n < static_cast<int>(stride); ++n, power *= H, ++out) {
        std::array<double, few_channels> sums{};
        if (n <= g.weights.degree)
            for_rows(g, n, H, [&](const double* row, double weight) {
                const double by = weight / power;
                for (std::size_t i = 0; i < channels; ++i) sums[i] += by * row[i];
            });
        for (std::size_t i = 0; i < channels; ++i) out[i * stride] = sums[i];
    }
}

void network::deliver(double H, std::span<polynomial> inputs) const {
    const delivered* const deliveries = deliveries_.data();
    const double* const coefficients = coefficients_.data();
    for (const driven_input& target : driven_) {
        // mean() of one channel with one or two coefficients, the common case.
        if (target.limit == 0 && target.degree <= 1 && target.last - target.first == 1) {
            const delivered& from = deliveries[target.first];
            const double* e = coefficients + from.at;
            const double constant = 0 + from.factor * e[0];
            inputs[target.input].c[0] = target.degree == 0 ? constant : constant + (0 + from.factor * e[1]) * H / 2;
            continue;
        }
        polynomial& p = inputs[target.input];  // summed up in place: a copy of numbers just written would wait for them
        if (target.limit == 0) {               // the coefficients above stay zero
            p.c[0] = mean(target, H);
            continue;
        }
        p.c = {};
        p.degree = target.degree;
        for (std::uint32_t d = target.first; d < target.last; ++d) {
            const delivered& from = deliveries_[d];
            const double* e = coefficients_.data() + from.at;
            for (std::uint32_t n = 0; n < from.coefficients; ++n) p.c[n] += from.factor * e[n];
        }
        if (target.degree > target.limit) p = project(p, H, target.limit);
    }
}

/// project(p, H, 0) with the same operations in the same order; plain FMUs take constants.
double network::mean(const driven_input& target, double H) const {
    double sum = 0, power = 1;
    for (std::uint32_t n = 0; n <= static_cast<std::uint32_t>(target.degree); ++n, power *= H) {
        double c = 0;
        for (std::uint32_t d = target.first; d < target.last; ++d) {
            const delivered& from = deliveries_[d];
            if (n < from.coefficients) c += from.factor * coefficients_[from.at + n];
        }
        sum += c * power / (n + 1);
    }
    return sum;
}

void network::deliver_starts(std::span<polynomial> inputs) const {
    for (std::size_t i = 0; i < start_.size(); ++i)
        if (first_driven_[i] == first_driven_[i + 1]) inputs[i] = {.c = {start_[i]}};
}

polynomial network::channel_polynomial(channel_index channel) const {
    const group& g = groups_[places_[channel.value()].group];
    const double* e = coefficients_.data() + coefficients_of(channel.value());
    polynomial p;
    // Corrections and imposed polynomials may have more than the rule at the start of a run.
    p.degree = static_cast<int>(g.stride()) - 1;
    for (int n = 0; n <= p.degree; ++n) p.c[n] = e[n];
    while (p.degree > g.weights.degree && p.c[p.degree] == 0) --p.degree;
    return p;
}

void network::polynomial_values(double s, std::span<double> values) const {
    for (const auto& g : groups_) {
        const std::size_t stride = g.stride();
        const double* e = coefficients_.data() + g.coefficients;
        for (std::size_t i = 0; i < g.channels.size(); ++i, e += stride) {
            double value = e[stride - 1];
            for (std::size_t n = stride - 1; n-- > 0;) value = value * s + e[n];
            values[g.channels[i]] = value;
        }
    }
}

void network::polynomial_values(double H, std::span<double> begin, std::span<double> middle,
                                std::span<double> end) const {
    const double half = H / 2;
    for (const auto& g : groups_) {
        const std::size_t stride = g.stride();
        const double* e = coefficients_.data() + g.coefficients;
        for (std::size_t i = 0; i < g.channels.size(); ++i, e += stride) {
            double at_half = e[stride - 1], at_end = at_half;
            for (std::size_t n = stride - 1; n-- > 0;) {
                at_half = at_half * half + e[n];
                at_end = at_end * H + e[n];
            }
            const std::size_t c = g.channels[i];
            begin[c] = e[0];
            middle[c] = at_half;
            end[c] = at_end;
        }
    }
}

void network::motions(double t, std::span<const double> y, std::span<double> q, std::span<double> v) const {
    for (std::size_t c = 0; c < channels(); ++c) {
        const motion m = channel_motion(t, c, y.data());
        q[c] = m.q;
        v[c] = m.v;
    }
}

std::vector<network::corner_of> network::corners() const {
    std::vector<corner_of> found;
    for (std::size_t c = 0; c < channels(); ++c)
        if (const int n = laws_[c] ? laws_[c]->corner_count() : 0; n > 0) found.push_back({channel_index(c), n});
    return found;
}

void network::corner_values(double t, std::span<const double> y, std::span<const corner_of> some, double* z) const {
    for (const corner_of& c : some) {
        const motion m = channel_motion(t, c.channel.value(), y.data());
        laws_[c.channel.value()]->corners(m.q, m.v, z);
        z += c.corners;
    }
}

network::linearised network::linearise(double t, channel_index channel, std::span<const double> y) const {
    const motion m = channel_motion(t, channel.value(), y.data());
    return {m.q, m.v, channel_value(t, channel.value(), y.data()).u, laws_[channel.value()]->slope(m.q, m.v)};
}

}  // namespace mdpcosim

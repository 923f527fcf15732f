#include "master/multirate_readers.hpp"

#include <algorithm>

#include "master/owner.hpp"

namespace mdpcosim {

namespace {

const output_variable& variable_at(const subsystem_description& d, int slot) {
    return *std::ranges::find_if(d.outputs, [&](const auto& y) { return slot >= y.slot && slot < y.slot + y.size; });
}

/// The polynomial through f(k), k = 0 .. degree, at times k * h / degree, by Newton's differences; zeros at its end are left out.
polynomial polynomial_through(std::span<const double> values, std::size_t stride, int degree, double h) {
    std::array<double, max_degree + 1> difference{};
    for (int k = 0; k <= degree; ++k) difference[k] = values[static_cast<std::size_t>(k) * stride];
    for (int n = 1; n <= degree; ++n)
        for (int k = degree; k >= n; --k) difference[k] = (difference[k] - difference[k - 1]) / n;
    polynomial p;
    for (int k = degree; k >= 0; --k) {
        for (int n = degree; n >= 1; --n) p.c[n] = p.c[n - 1] - k * p.c[n];
        p.c[0] = difference[k] - k * p.c[0];
    }
    double power = 1;
    for (int n = 1; n <= degree; ++n) {
        power *= degree / h;
        p.c[n] *= power;
        if (p.c[n] != 0) p.degree = n;
    }
    return p;
}

}  // namespace

multirate_readers::multirate_readers(const coupled_system& system, const multirate_plan& plan,
                                     const multirate_options& options)
    : longest_delay_(system.subsystems->size(), 0.0),
      y_(system.subsystems->outputs().size()),
      u_(system.coupling.channels()) {
    const transport& t = *system.subsystems;
    readers_.resize(t.size());
    std::size_t most = 0;
    for (std::size_t i = 0; i < t.size(); ++i) {
        readers_[i].first = t.input_offset(subsystem_index(i));
        readers_[i].count = static_cast<std::size_t>(t.describe(subsystem_index(i)).input_count());
        most = std::max(most, readers_[i].count);
    }
    for (const auto& [input, delivered] : system.coupling.deliveries()) {
        const std::size_t i = owner(input.value(), t.size(), [&](subsystem_index s) { return t.input_offset(s); });
        reader& r = readers_[i];
        const auto slot = static_cast<std::uint32_t>(input.value());
        if (r.inputs.empty() || r.inputs.back().first != slot)
            r.inputs.emplace_back(slot, system.coupling.degree_limit(input));
        if (std::ranges::find(r.channels, delivered.channel) == r.channels.end())
            add(r, system, plan, i, delivered.channel, options);
    }
    values_.resize(most * (most_order + 1));
}

void multirate_readers::add(reader& to, const coupled_system& system, const multirate_plan& plan, std::size_t i,
                            channel_index channel, const multirate_options& options) {
    const transport& t = *system.subsystems;
    const network& net = system.coupling;
    const double delay = plan.delays[channel.value()];
    const bool held = net.held(channel);
    to.channels.push_back(channel);
    auto r = std::ranges::find_if(to.readings, [&](const reading& x) { return x.delay == delay && x.held == held; });
    if (r == to.readings.end()) r = to.readings.insert(to.readings.end(), {delay, held, {}, {}});
    r->channels.push_back(channel);
    for (const channel_term& term : net.terms(channel))
        for (const output_slot slot : {term.value, term.rate}) {
            if (!slot.valid()) continue;
            const std::size_t from =
                owner(slot.value(), t.size(), [&](subsystem_index s) { return t.output_offset(s); });
            const auto local = static_cast<std::uint32_t>(slot.value() - t.output_offset(subsystem_index(from)));
            const bool faster = plan.steps[from] < plan.steps[i] * (1 - 1e-9);
            const bool slower = plan.steps[from] > plan.steps[i] * (1 + 1e-9);
            const bool sampled = variable_at(t.describe(subsystem_index(from)), static_cast<int>(local)).sampled;
            const way taken = sampled                           ? way::hold
                              : faster && options.smoothing     ? way::mean
                              : slower && options.least_squares ? way::fit
                                                                : way::interpolate;
            const int order = faster ? options.fast_order : options.slow_order;
            if (!held && (taken == way::interpolate || taken == way::fit)) to.degree = std::max({to.degree, 1, order});
            longest_delay_[from] = std::max(longest_delay_[from], delay);
            if (std::ranges::find(to.senders, from) == to.senders.end()) to.senders.push_back(from);
            auto s = std::ranges::find_if(r->sources,
                                          [&](const source& x) { return x.subsystem == from && x.taken == taken; });
            if (s == r->sources.end()) s = r->sources.insert(r->sources.end(), {from, taken, order, {}});
            const std::pair output{local, static_cast<std::uint32_t>(slot.value())};
            if (std::ranges::find(s->outputs, output) == s->outputs.end()) s->outputs.push_back(output);
        }
}

void multirate_readers::look(const std::vector<output_history>& outputs, const source& s, double t, double begin,
                             double end) {
    const output_history& from = outputs[s.subsystem];
    if (s.taken == way::mean && end > begin) {
        for (const auto& [local, slot] : s.outputs) y_[slot] = from.mean(begin, end, local);
        return;
    }
    const auto weights = s.taken == way::hold  ? from.hold(t)
                         : s.taken == way::fit ? from.fit(t, s.order)
                                               : from.interpolate(t, s.order);
    for (const auto& [local, slot] : s.outputs) y_[slot] = from.value(weights, local);
}

void multirate_readers::find_channels(const network& net, const std::vector<output_history>& outputs, std::size_t i,
                                      double t, double begin, double end) {
    for (const reading& r : readers_[i].readings) {
        if (r.held && t > begin) continue;
        for (const source& s : r.sources) look(outputs, s, t - r.delay, begin - r.delay, end - r.delay);
        for (const channel_index c : r.channels) u_[c.value()] = net.evaluate_one(t, c, y_);
    }
}

void multirate_readers::find_inputs(const network& net, const std::vector<output_history>& outputs, std::size_t i,
                                    double begin, double end, std::span<polynomial> inputs) {
    const reader& r = readers_[i];
    if (r.inputs.empty()) return;
    for (int k = 0; k <= r.degree; ++k) {
        const double t = k == 0 ? begin : k == r.degree ? end : begin + k * (end - begin) / r.degree;
        find_channels(net, outputs, i, t, begin, end);
        net.input_values(u_, r.first, std::span(values_).subspan(static_cast<std::size_t>(k) * r.count, r.count));
    }
    for (const auto& [slot, limit] : r.inputs) {
        const auto own = std::span<const double>(values_).subspan(slot - r.first);
        inputs[slot] = project(polynomial_through(own, r.count, r.degree, end - begin), end - begin, limit);
    }
}

void multirate_readers::find_delayed(const network& net, const std::vector<output_history>& outputs, double t,
                                     std::span<double> u) {
    for (const reader& one : readers_)
        for (const reading& r : one.readings) {
            if (r.delay == 0) continue;
            for (const source& s : r.sources) look(outputs, s, t - r.delay, t, t);
            for (const channel_index c : r.channels) u[c.value()] = net.evaluate_one(t, c, y_);
        }
}

}  // namespace mdpcosim

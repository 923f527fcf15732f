#include "diagram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "delay_line.hpp"

namespace mdpcosim::blocks {

namespace {

/// Rules that set each other off without end.
constexpr int most_changes = 1000;

template <class Formulas>
program compile(const Formulas& formulas) {
    std::vector<assignment> all;
    for (int i = 0; const auto& formula : formulas) all.push_back({formula, i++});
    return program(all);
}

sparsity compressed(const std::vector<std::vector<int>>& columns) {
    sparsity s;
    s.start.assign(1, 0);
    for (const auto& column : columns) {
        s.rows.insert(s.rows.end(), column.begin(), column.end());
        s.start.push_back(static_cast<int>(s.rows.size()));
    }
    return s;
}

/// The piece of a rising list that x is in, the first and the last reaching outwards.
std::size_t piece(const std::vector<double>& points, double x) {
    const auto i = static_cast<std::size_t>(std::ranges::upper_bound(points, x) - points.begin());
    return std::clamp<std::size_t>(i, 1, points.size() - 1) - 1;
}

/// Where the argument is in its piece, as a share, and how that answers to the argument.
struct share {
    std::size_t i = 0, next = 0;
    double q = 0, slope = 0;

    share() = default;
    share(const std::vector<double>& points, double x, bool extended) {
        if (points.size() < 2) return;
        i = piece(points, x);
        next = i + 1;
        slope = 1 / (points[next] - points[i]);
        q = (x - points[i]) * slope;
        if (extended || (q >= 0 && q <= 1) || std::isnan(q)) return;
        q = std::clamp(q, 0.0, 1.0);
        slope = 0;
    }
};

class table {
   public:
    explicit table(const table_data& d)
        : x_(d.x),
          y_(d.y),
          values_(d.values),
          extended_(d.extended),
          given_(d.given),
          arguments_(compile(d.arguments)) {}

    void look_up(const std::array<const double*, program::bank_count>& banks, double* given) const {
        double at[2] = {};
        arguments_.evaluate(banks, at);
        double* const result = given + given_;
        const share x(x_, at[0], extended_), y(y_, at[1], extended_);
        const std::size_t columns = std::max<std::size_t>(y_.size(), 1);
        const auto value = [&](std::size_t i, std::size_t j) { return values_[i * columns + j]; };
        const double low = value(x.i, y.i) + x.q * (value(x.next, y.i) - value(x.i, y.i));
        const double high = value(x.i, y.next) + x.q * (value(x.next, y.next) - value(x.i, y.next));
        result[0] = low + y.q * (high - low);
        const double at_low = value(x.next, y.i) - value(x.i, y.i);
        const double at_high = value(x.next, y.next) - value(x.i, y.next);
        result[1] = x.slope * (at_low + y.q * (at_high - at_low));
        if (!y_.empty()) result[2] = y.slope * (high - low);
    }

   private:
    std::vector<double> x_, y_, values_;
    bool extended_;
    int given_;
    program arguments_;
};

struct delay_memory final : snapshot {
    std::vector<delay_line> lines;
    void state(state_bytes& bytes) override { bytes(lines); }
};

class diagram final : public equations {
   public:
    explicit diagram(diagram_data d) : data_(std::move(d)), given_(static_cast<std::size_t>(data_.given)) {
        data_.description.type = "model blocks";
        for (const auto& t : data_.tables) tables_.emplace_back(t);
        std::vector<expression> rates, indicators, samples, delayed;
        for (const auto& s : data_.states) rates.push_back(s.rate);
        for (const auto& r : data_.rules) {
            indicators.push_back(r.when);
            sets_.emplace_back(r.sets);
        }
        for (const auto& s : data_.samples) samples.push_back(s.of);
        for (const auto& line : data_.delays) {
            delayed.push_back(line.of);
            delayed.push_back(line.rate.value_or(std::numeric_limits<double>::quiet_NaN()));
            lines_.emplace_back(line.time, line.before);
        }
        rates_ = compile(rates);
        outputs_ = compile(data_.outputs);
        indicators_ = compile(indicators);
        samples_ = compile(samples);
        delayed_ = compile(delayed);
        before_.resize(indicators.size());
        after_ = before_;
        pending_.resize(indicators.size());
        numbers_.resize(std::max(samples.size(), delayed.size()));
        at_rest_.resize(data_.states.size());
        to_ = states_ = at_rest_;
        for (std::size_t i = 0; i < data_.states.size(); ++i)
            if (data_.states[i].discrete) discrete_.push_back(i);
        for (const auto* formulas : {&rates, &data_.outputs, &indicators, &delayed})
            for (const auto& f : *formulas) add_switching_times(f);
        for (const auto& t : data_.tables)
            for (const auto& argument : t.arguments) add_switching_times(argument);
        std::ranges::sort(switching_times_);
        find_structures(rates);
    }

    const subsystem_description& describe() const noexcept override { return data_.description; }
    int state_count() const override { return static_cast<int>(data_.states.size()); }
    std::string state_name(int i) const override { return data_.states[static_cast<std::size_t>(i)].name; }
    bool rests(int i) const override { return !data_.states[static_cast<std::size_t>(i)].discrete; }

    void initial_state(double t0, double* x) const override {
        for (const auto& s : data_.states) *x++ = s.start;
        t0_ = t0;
        settled_ = data_.rules.empty() && data_.samples.empty();
        for (auto& line : lines_) line.clear();
    }
    bool settles() const override { return !data_.rules.empty() || !data_.samples.empty(); }
    void settle(double t0, const double* u, double* x) override {
        settled_ = true;
        begin(t0, x, u);
    }

    void derivatives(double t, const double* x, const double* u, double* dx) const override {
        rates_.evaluate(banks(t, x, u), dx);
    }
    void outputs(double t, const double* x, const double* u, double* y) const override {
        if (!settled_) {
            std::copy_n(x, at_rest_.size(), at_rest_.begin());
            begin(t, at_rest_.data(), u);
            x = at_rest_.data();
        }
        outputs_.evaluate(banks(t, x, u), y);
    }

    const sparsity* structure() const override { return &structure_; }
    const sparsity* input_structure() const override { return &input_structure_; }
    const sparsity* output_structure() const override { return &output_structure_; }
    bool sparse_jacobian(double t, const double* x, const double* u, double* values) const override {
        jacobian_.evaluate(banks(t, x, u), values);
        return true;
    }

    int event_count() const override { return static_cast<int>(data_.rules.size()); }
    void event_indicators(double t, const double* x, const double* u, double* z) const override {
        indicators_.evaluate(banks(t, x, u), z);
    }
    std::string event_name(int event) const override { return data_.rules[static_cast<std::size_t>(event)].name; }
    bool apply_event(int event, bool rising, double t, double* x, const double* u) override {
        if (!rising) return false;
        event_indicators(t, x, u, before_.data());
        if (!change(static_cast<std::size_t>(event), t, x, u)) return false;
        follow(static_cast<std::size_t>(event), t, x, u);
        record(t, x, u);
        return true;
    }

    double next_time_event(double t) const override {
        double next = std::numeric_limits<double>::infinity();
        const auto switching = std::ranges::upper_bound(switching_times_, t);
        if (switching != switching_times_.end()) next = *switching;
        for (const auto& s : data_.samples) next = std::min(next, next_sample(s, t));
        for (const auto& line : lines_) next = std::min(next, line.next_jump(t));
        return next;
    }
    bool watches(moment m) const override { return m != moment::time_event && !lines_.empty(); }
    bool discrete_update(moment m, double t, double* x, const double* u) override {
        if (m == moment::time_event) return take_samples(t, x, u);
        if (m == moment::micro_step)
            for (std::size_t k = 0; k < lines_.size(); ++k)
                if (t - lines_[k].last() > lines_[k].time() * (1 + 1e-9))
                    throw run_error(
                        fmt::format("at t = {:.9g}: delay '{}' of {:.6g} s is shorter than a step of its "
                                    "solver, {:.6g} s. Give the solver a 'step' or a 'max-step' of at "
                                    "most the delay",
                                    t, data_.delays[k].name, lines_[k].time(), t - lines_[k].last()));
        record(t, x, u);
        return false;
    }

    std::unique_ptr<snapshot> make_memory() const override {
        if (lines_.empty()) return nullptr;
        auto made = std::make_unique<delay_memory>();
        made->lines = lines_;
        for (auto& line : made->lines) line.reserve();
        return made;
    }
    void save_memory(snapshot& into) override { static_cast<delay_memory&>(into).lines = lines_; }
    void restore_memory(const snapshot& from) override { lines_ = static_cast<const delay_memory&>(from).lines; }

   private:
    using variable_banks = std::array<const double*, program::bank_count>;

    /// With what tables and delays give at that time and state.
    variable_banks banks(double t, const double* x, const double* u) const {
        time_ = t;
        if (!discrete_.empty()) {
            // Gears and modes are compared with whole numbers; solvers that interpolate leave rounding errors in them.
            std::copy_n(x, states_.size(), states_.begin());
            for (const std::size_t i : discrete_)
                if (const double whole = std::round(x[i]); std::fabs(x[i] - whole) < 1e-9) states_[i] = whole;
            x = states_.data();
        }
        if (given_.empty() || data_.given == data_.description.input_count()) return {&time_, x, u};
        std::copy_n(u, data_.description.input_count(), given_.begin());
        for (std::size_t k = 0; k < lines_.size(); ++k) lines_[k].look(t, given_.data() + data_.delays[k].given);
        const variable_banks all{&time_, x, given_.data()};
        for (const auto& t_k : tables_) t_k.look_up(all, given_.data());
        return all;
    }

    // discrete states

    /// Samples that are taken at once, and rules that hold from the beginning.
    void begin(double t, double* x, const double* u) const {
        sample_where(t, x, u, [](const sample_data& s) { return s.offset == 0; });
        std::ranges::fill(before_, -1);
        follow(data_.rules.size(), t, x, u);
    }

    bool change(std::size_t rule, double t, double* x, const double* u) const {
        sets_[rule].evaluate(banks(t, x, u), to_.data());
        bool changed = false;
        for (const auto& [value, target] : data_.rules[rule].sets) {
            const double to = to_[static_cast<std::size_t>(target)];
            if (!std::isfinite(to))
                throw run_error(fmt::format("at t = {:.9g}: {} sets it to {}", t, data_.rules[rule].name, to));
            changed |= std::exchange(x[target], to) != to;
        }
        return changed;
    }

    /// Rules that a change of `changed` has set off: their `when` was not above zero (before_), or it is its own, which that has moved.
    void follow(std::size_t changed, double t, double* x, const double* u) const {
        std::ranges::fill(pending_, char{});
        for (int n = 0; n < most_changes; ++n) {
            event_indicators(t, x, u, after_.data());
            for (std::size_t i = 0; i < after_.size(); ++i) {
                const bool risen = after_[i] != before_[i] && (before_[i] <= 0 || i == changed);
                pending_[i] = after_[i] > 0 && (pending_[i] || risen);
            }
            std::swap(before_, after_);
            const auto next = static_cast<std::size_t>(std::ranges::find(pending_, char{1}) - pending_.begin());
            if (next == pending_.size()) return;
            pending_[next] = 0;
            changed = change(next, t, x, u) ? next : pending_.size();
        }
        throw run_error(
            fmt::format("at t = {:.9g}: rules set each other off without end, among them {}. Leave a distance between "
                        "what they switch at",
                        t, data_.rules[std::min(changed, data_.rules.size() - 1)].name));
    }

    double next_sample(const sample_data& s, double t) const {
        double k = std::max(0.0, std::floor((t - t0_ - s.offset) / s.time) - 1);
        while (t0_ + s.offset + k * s.time <= t) ++k;
        return t0_ + s.offset + k * s.time;
    }

    template <class Due>
    bool sample_where(double t, double* x, const double* u, const Due& due) const {
        if (data_.samples.empty()) return false;
        samples_.evaluate(banks(t, x, u), numbers_.data());
        bool changed = false;
        for (std::size_t k = 0; k < data_.samples.size(); ++k)
            if (due(data_.samples[k])) changed |= std::exchange(x[data_.samples[k].state], numbers_[k]) != numbers_[k];
        return changed;
    }

    bool take_samples(double t, double* x, const double* u) {
        const bool changed = sample_where(t, x, u, [&](const sample_data& s) {
            const double k = (t - t0_ - s.offset) / s.time;
            return k > -0.5 && std::fabs(k - std::round(k)) <= 1e-9 * std::max(1.0, k);
        });
        record(t, x, u);
        return changed;
    }

    void record(double t, const double* x, const double* u) {
        if (lines_.empty()) return;
        delayed_.evaluate(banks(t, x, u), numbers_.data());
        for (std::size_t k = 0; k < lines_.size(); ++k) lines_[k].record(t, numbers_[2 * k], numbers_[2 * k + 1]);
    }

    // structure

    void add_switching_times(const expression& e) {
        for (const double time : switching_points(e, {time_bank, 0})) switching_times_.push_back(time);
    }

    std::vector<std::vector<int>> columns_of(const std::vector<expression>& formulas, int bank,
                                             std::size_t count) const {
        std::vector<std::vector<int>> columns(count);
        for (int i = 0; const auto& f : formulas) {
            for (const auto& v : data_.sources_of(f))
                if (v.bank == bank) columns[static_cast<std::size_t>(v.index)].push_back(i);
            ++i;
        }
        return columns;
    }

    void find_structures(const std::vector<expression>& rates) {
        const std::size_t n = data_.states.size();
        const auto inputs = static_cast<std::size_t>(data_.description.input_count());
        const auto columns = columns_of(rates, state_bank, n);
        structure_ = compressed(columns);
        input_structure_ = compressed(columns_of(rates, given_bank, inputs));
        output_structure_ = compressed(columns_of(data_.outputs, state_bank, n));
        std::vector<expression> entries;
        for (int j = 0; const auto& column : columns) {
            for (const int i : column)
                entries.push_back(data_.derivative_of(rates[static_cast<std::size_t>(i)], [&](variable_id v) {
                    return expression(v.bank == state_bank && v.index == j ? 1.0 : 0.0);
                }));
            ++j;
        }
        jacobian_ = compile(entries);
    }

    diagram_data data_;
    std::vector<table> tables_;
    std::vector<double> switching_times_;
    std::vector<std::size_t> discrete_;
    program rates_, outputs_, indicators_, samples_, delayed_, jacobian_;
    std::vector<program> sets_;
    sparsity structure_, input_structure_, output_structure_;
    mutable double t0_ = 0;
    mutable bool settled_ = true;
    mutable std::vector<delay_line> lines_;
    // scratch
    mutable double time_ = 0;
    mutable std::vector<double> given_, before_, after_, to_, numbers_, at_rest_, states_;
    mutable std::vector<char> pending_;  ///< rules that act next
};

}  // namespace

std::unique_ptr<equations> make_diagram(diagram_data data) { return std::make_unique<diagram>(std::move(data)); }

}  // namespace mdpcosim::blocks

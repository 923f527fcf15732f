// The iterated method: every macro step is repeated until its coupling variables no longer change (waveform iteration; Arnold and Schierz 2009,
// implicit couplings). Unknown are the values of all coupling variables at `points` equal parts of the step,
//
//   x = u(t_n + H j/m), j = 1 .. m  ->  polynomials of degree m through u(t_n) and x  ->  all subsystems over the step, part by part
//   ->  g(x): u from the outputs at the same times  ->  next x (coupling/fixed_point.hpp)  ->  ...  until g(x) = x .
//
// With m = 1 the end is corrected as in the semi-implicit method: polynomials through the accepted values that the extrapolation uses, and x. Stopping at
// the parts takes the place of dense output: any subsystem that can save and restore takes part. Held signals (of sampled subsystems) are not iterated.
// Where a signal jumps at the end of the step, as at a sample, what the laws give there belongs to the next step: this one is done again in m + 1 parts, with
// x at the first m of them and nothing at the end.
// The error is estimated from two iterates, the first and the last one; iterations end where they no longer change it. Order and cost: docs/methods/iteration.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "master/error_constants.hpp"
#include "master/requirements.hpp"

namespace mdpcosim {

namespace {

/// Coefficients in sigma = (t - t_n)/H of the polynomials that are 1 at j/parts and 0 at the other points, j = 0 .. m.
std::vector<polynomial> interpolation_basis(int m, int parts) {
    std::vector<polynomial> basis;
    for (int j = 0; j <= m; ++j) {
        polynomial p{.c = {1}};
        for (int k = 0; k <= m; ++k) {
            if (k == j) continue;
            const double root = static_cast<double>(k) / parts, scale = static_cast<double>(parts) / (j - k);
            for (int i = ++p.degree; i > 0; --i) p.c[i] = scale * (p.c[i - 1] - root * p.c[i]);
            p.c[0] *= -root * scale;
        }
        basis.push_back(p);
    }
    return basis;
}

/// Rates are off by at least so much of what values are off by: where the integral over the step vanishes, what acts inside subsystems remains.
constexpr double less_of_rates = 0.05;

/// Of what polynomials leave: what further iterations would change less by is not worth an integration.
constexpr double not_worth_a_look = 0.05;

/// Polynomials go through more values where coupling variables answer to themselves by less: what these values are off by then dies out.
constexpr double little_answer = 0.5;
/// Changes of coupling variables, as multiples of the iteration's tolerance, that answers can be seen from.
constexpr double more_than_noise = 10;

/// Integrals over the step, s from 0 to 1: what acts on a rate, and with (1 - s) on a value.
struct effect {
    double rate = 0, value = 0;

    explicit effect(std::span<const double> coefficients = {}) {
        for (std::size_t k = 0; k < coefficients.size(); ++k) {
            const auto n = static_cast<double>(k);
            rate += coefficients[k] / (n + 1);
            value += coefficients[k] / ((n + 1) * (n + 2));
        }
    }
    effect(double of_rate, double of_value) : rate(of_rate), value(of_value) {}
    friend effect operator*(double a, const effect& e) { return {a * e.rate, a * e.value}; }
    friend effect operator+(const effect& a, const effect& b) { return {a.rate + b.rate, a.value + b.value}; }
};

/// How a step is done: in parts, the first m of which end where x stands; and what polynomials act like over it.
struct way {
    int parts;
    std::vector<polynomial> basis;
    fixed_point solver;
    std::vector<effect> of_points;  ///< of polynomials that are 1 at one point
    std::vector<double> product;    ///< coefficients of prod (s - s_j)
    effect nodes, next_nodes;       ///< of it, and of s prod (s - s_j)

    way(int m, int in_parts, const fixed_point_options& options)
        : parts(in_parts), basis(interpolation_basis(m, in_parts)), solver(0, options) {
        for (int j = 1; j <= m; ++j)
            of_points.emplace_back(
                std::span(basis[static_cast<std::size_t>(j)].c).first(static_cast<std::size_t>(m + 1)));
        product = {1};
        for (int j = 0; j <= m; ++j) {
            product.insert(product.begin(), 0.0);
            for (std::size_t k = 0; k + 1 < product.size(); ++k)
                product[k] -= static_cast<double>(j) / parts * product[k + 1];
        }
        nodes = effect(product);
        std::vector<double> next{0};
        next.insert(next.end(), product.begin(), product.end());
        next_nodes = effect(next);
    }
};

const method_traits iterated_traits{
    .repeats = true,
    .estimates = true,
    .remedy =
        "the converged coupling grows: use a smaller macro step, more 'points', or look at the models themselves"};

class iterated_method final : public method {
   public:
    iterated_method(int points, int iterations, const fixed_point_options& options)
        : method(iterated_traits),
          points_(points),
          iterations_(iterations),
          ways_{way(points, points, options), way(points, points + 1, options)} {}

    void check(const coupled_system& system) const override {
        require_save_restore(system, "method 'iterated' repeats every macro step",
                             "'method: explicit' or 'method: one-pass'; for algebraic loops 'iteration: newton', which "
                             "evaluates outputs only");
    }

    void prepare(coupled_system& system) override {
        const network& net = system.coupling;
        system.coupling.widen(points_);
        channels_.clear();
        may_jump_.assign(net.channels(), false);
        for (std::size_t c = 0; c < net.channels(); ++c) {
            if (net.held(channel_index(c))) continue;
            channels_.emplace_back(c);
            const law* by = net.law_of(channel_index(c));
            may_jump_[c] = by == nullptr || !by->physical();
        }
        const std::size_t unknowns = channels_.size() * points();
        for (way& w : ways_) w.solver = fixed_point(unknowns, w.solver.options());
        x_.assign(unknowns, 0.0);
        g_.assign(unknowns, 0.0);
        predicted_.assign(net.channels(), 0.0);
        start_.assign(net.channels(), 0.0);
        predictions_.assign(channels_.size(), {});
        system.make_room_for_begin();
    }

    void attempt(coupled_system& system, const macro_step& step) override {
        network& net = system.coupling;
        transport& t = *system.subsystems;
        net.accept(step.begin, t.outputs(), system.u, system.du);
        net.extrapolate(step.end);
        net.polynomial_values(step.end - step.begin, predicted_);
        if (!expected_.empty()) expects_ = net.raise(expected_);
        if (channels_.empty()) {
            net.deliver(step.end - step.begin, t.inputs());
            return system.advance(step);
        }
        std::ranges::copy(system.u, start_.begin());
        system.save_begin();
        for (std::size_t c = 0; c < channels_.size(); ++c) predictions_[c] = net.channel_polynomial(channels_[c]);
        begin(ways_[0], step);
        auto state = fixed_point::outcome::more;
        while (true) {
            look(system, step);
            if (used_ == &ways_[0] && jumps_at_end(system, step)) {
                begin(ways_[1], step);
            } else {
                if (!last_.empty()) note(system);
                const int iterations = used_->solver.iterations();
                const bool enough = !last_.empty() && leaves_little(step.end - step.begin);
                state = used_->solver.next(x_, g_);
                if (state != fixed_point::outcome::more || used_->solver.iterations() == iterations_) break;
                if (enough && used_->solver.iterations() > iterations) break;  // it was none for differences
            }
            system.restore_begin();
        }
        counts_.add(used_->solver);
        if (state == fixed_point::outcome::done) look_twice(system, step);
        if (state == fixed_point::outcome::failed) fail(net, step);
    }

    void prepare_estimates(coupled_system& system) override {
        constants_ = error_constants(system);
        system.coupling.widen(std::min(points_ + 2, max_degree));
        first_.assign(system.subsystems->outputs().size(), 0.0);
        last_.assign(x_.size(), 0.0);
        began_.assign(x_.size(), 0.0);
        answered_ = began_;
        before_.assign(channels_.size(), {});
        tried_ = between_ = before_;
        polynomials_before_.assign(channels_.size(), {});
        polynomials_tried_ = polynomials_before_;
        ratio_.assign(system.subsystems->size(), effect());
        surprised_.assign(system.subsystems->size(), false);
        expected_.assign(system.coupling.channels(), 0.0);
        missed_ = expected_;
        kept_ = first_;
        is_rate_.assign(first_.size(), false);
        for (std::size_t c = 0; c < system.coupling.channels(); ++c)
            for (const auto& term : system.coupling.terms(channel_index(c)))
                if (term.value.valid() && term.rate.valid()) is_rate_[term.rate.value()] = true;
        signals_.clear();
        for (std::size_t c = 0; c < expected_.size(); ++c)
            if (!constants_.by_nature()[c] && system.coupling.held(channel_index(c))) signals_.emplace_back(c);
        owner_.assign(first_.size(), 0);
        acting_.clear();
        const transport& t = *system.subsystems;
        std::vector<std::uint32_t> of_input(system.subsystems->inputs().size());
        for (std::size_t i = 0; i < t.size(); ++i) {
            const subsystem_index s(i);
            const auto& d = t.describe(s);
            std::fill_n(owner_.begin() + static_cast<std::ptrdiff_t>(t.output_offset(s)), d.output_count(),
                        static_cast<std::uint32_t>(i));
            std::fill_n(of_input.begin() + static_cast<std::ptrdiff_t>(t.input_offset(s)), d.input_count(),
                        static_cast<std::uint32_t>(i));
        }
        for (const auto& [input, delivered] : system.coupling.deliveries())
            for (std::size_t c = 0; c < channels_.size(); ++c)
                if (channels_[c] == delivered.channel) acting_.push_back({c, of_input[input.value()]});
    }

    /// What the converged polynomials leave, a prod (s - s_j) with a from one more value, of the step before, acts on outputs as what
    /// the first iterate was off by did: in proportion. No further integration.
    estimate_orders attempt_and_estimate(coupled_system& system, const macro_step& step,
                                         std::span<double> error) override {
        attempt(system, step);
        const double H = step.end - step.begin;
        find_surprises(system, H);
        find_ratios(system, H);
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            const double start = start_[channels_[c].value()];
            const double* end = last_.data() + (c + 1) * points();
            tried_[c] = {points_ > 1 ? end[-2] : start, points_ > 2 ? end[-3] : start};
            polynomials_tried_[c] = system.coupling.channel_polynomial(channels_[c]);
        }
        H_tried_ = used_ == &ways_[0] ? H : jumped;
        const auto y = system.subsystems->outputs();
        for (std::size_t slot = 0; slot < error.size(); ++slot) {
            const std::uint32_t i = owner_[slot];
            const double ratio = by_constants()   ? constants_.of_output(slot) * ratio_[i].value
                                 : is_rate_[slot] ? ratio_[i].rate
                                                  : std::max(ratio_[i].value, ratio_[i].rate);
            const double part = surprised_[i] ? std::max(1.0, ratio) : ratio;
            error[slot] = constants_.is_coupled(slot) ? part * (y[slot] - first_[slot]) : 0;
        }
        estimate_orders orders{points_ + 3, points_ + 2};
        if (by_constants()) orders = constants_.orders();
        const estimate_orders of_signals = add_errors_of_signals(system, step, error);
        return {std::min(orders.value, of_signals.value), std::min(orders.rate, of_signals.rate)};
    }

    /// Not what the converged polynomials miss, but what the prediction did.
    void measure_misses(double /*H*/, std::span<double> missed) override {
        for (std::size_t c = 0; c < channels_.size(); ++c)
            if (used_ == &ways_[0])
                missed[channels_[c].value()] += x_[(c + 1) * points() - 1] - predicted_[channels_[c].value()];
    }

    void state(state_bytes& bytes) override {
        bytes(ways_[0].solver, ways_[1].solver, before_, polynomials_before_, H_before_, answers_little_);
        constants_.state(bytes);
    }

    const iteration_counts* iterations() const override { return &counts_; }
    std::string iterates_by() const override { return name_of(ways_[0].solver.options().algorithm); }

   private:
    void committed() override {
        constants_.committed();
        if (H_tried_ == 0) return;
        std::ranges::copy(tried_, before_.begin());
        std::ranges::copy(polynomials_tried_, polynomials_before_.begin());
        H_before_ = std::max(H_tried_, 0.0);
        H_tried_ = 0;
    }

    /// From the extrapolations; where steps change their length, from the polynomials before, which have more points.
    void begin(way& w, const macro_step& step) {
        used_ = &w;
        looks_ = 0;
        const bool by_step_before = points_ > 1 && H_before_ > 0;
        through_more_ = by_step_before && answers_little_ && &w == &ways_[0] && points_ + 2 <= max_degree;
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            const polynomial& p = by_step_before ? polynomials_before_[c] : predictions_[c];
            const double from = by_step_before ? H_before_ : 0;
            for (std::size_t j = 0; j < points(); ++j) x_[c * points() + j] = p(from + time(step, j + 1) - step.begin);
        }
        w.solver.begin();
    }

    /// Whether a signal that is iterated has jumped where the step ends. Events inside belong to the step, and bodies make jumps smooth.
    bool jumps_at_end(const coupled_system& system, const macro_step& step) const {
        const step_notices& noticed = system.subsystems->notices();
        if (noticed.jumps == 0 || noticed.first_event < step.end - 1e-6 * (step.end - step.begin)) [[likely]]
            return false;
        for (std::size_t i = 0; i < system.subsystems->size(); ++i)
            if (noticed.may_have_jumped(subsystem_index(i)))
                for (const channel_index c : system.fed_by(subsystem_index(i)))
                    if (may_jump_[c.value()]) return true;
        return false;
    }

    /// Where the first iterate is a solution already: estimates need two.
    void look_twice(coupled_system& system, const macro_step& step) {
        if (last_.empty() || looks_ > 1 || by_constants() || x_ == g_) return;
        std::ranges::copy(g_, x_.begin());
        look_again(system, step);
        note(system);
    }

    /// After a look, for estimates: x as it was used, and what the first one gave.
    void note(const coupled_system& system) {
        std::ranges::copy(x_, last_.begin());
        if (looks_++ > 0) return see_answer();
        std::ranges::copy(x_, began_.begin());
        std::ranges::copy(g_, answered_.begin());
        std::ranges::copy(system.subsystems->outputs(), first_.begin());
    }

    /// What g changes by where x does, with variables relative to their size.
    void see_answer() {
        const fixed_point_options& allowed = used_->solver.options();
        double asked = 0, answered = 0;
        for (std::size_t i = 0; i < x_.size(); ++i) {
            const double unit = allowed.tolerance * std::abs(x_[i]) + allowed.absolute;
            asked = std::max(asked, std::abs(x_[i] - began_[i]) / unit);
            answered = std::max(answered, std::abs(g_[i] - answered_[i]) / unit);
        }
        if (asked > more_than_noise) answers_little_ = answered < little_answer * asked;
    }

    /// What is new in the step, a contact, an event, is no polynomial: there the whole correction may be wrong. A jump at the end is none of
    /// the step's.
    void find_surprises(const coupled_system& system, double H) {
        for (std::size_t c = 0; c < missed_.size(); ++c)
            missed_[c] = constants_.by_nature()[c] || (!system.coupling.held(channel_index(c)) && used_ == &ways_[1])
                             ? 0
                             : system.u[c] - predicted_[c];
        std::fill(surprised_.begin(), surprised_.end(), false);
        for (const auto& [c, subsystem] : acting_) {
            const channel_index channel = channels_[c];
            if (expects_ &&
                constants_.surprised(system, H, channel, expected_[channel.value()], missed_[channel.value()]))
                surprised_[subsystem] = true, answers_little_ = false;
        }
        constants_.remember(system, H, missed_);
    }

    /// Signals that are held are not iterated: the step once more with signals that end where they should have, and as it was.
    estimate_orders add_errors_of_signals(coupled_system& system, const macro_step& step, std::span<double> error) {
        if (std::ranges::all_of(signals_, [&](channel_index c) { return missed_[c.value()] == 0; }))
            return {std::numeric_limits<int>::max(), std::numeric_limits<int>::max()};
        network& net = system.coupling;
        std::ranges::copy(system.subsystems->outputs(), kept_.begin());
        std::ranges::copy(last_, x_.begin());
        net.extrapolate(step.end);
        for (const channel_index c : signals_) net.correct(c, missed_[c.value()]);
        look_again(system, step);
        constants_.update(system, &extrapolation_constants);
        const auto changed = system.subsystems->outputs();
        for (std::size_t slot = 0; slot < error.size(); ++slot)
            error[slot] = std::abs(error[slot]) + std::abs(constants_.of_output(slot) * (changed[slot] - kept_[slot]));
        net.extrapolate(step.end);
        look_again(system, step);
        return constants_.orders();
    }

    void look_again(coupled_system& system, const macro_step& step) {
        system.restore_begin();
        look(system, step);
    }

    /// With one point, polynomials through accepted values, which x ends: their errors are those of the semi-implicit method.
    bool by_constants() const { return used_->parts == 1; }

    /// Two more values of u, of the step before or between points: (a + b s) prod (s - s_j) goes through what they are off the polynomial through the
    /// points.
    struct two_more {
        double a, b;
    };
    two_more more_of(std::size_t c, double H, std::span<const double> x) const {
        const int m = points_;
        std::array<double, max_degree + 3> s{}, u{};
        for (std::size_t j = 0; j <= points(); ++j) {
            s[j] = static_cast<double>(j) / used_->parts;
            u[j] = j == 0 ? start_[channels_[c].value()] : x[j - 1];
        }
        const std::size_t nodes = points() + 3;
        for (std::size_t k = 0; k < 2; ++k) {
            const double back = static_cast<double>(k + 1) * H_before_ / m / H;
            s[points() + 1 + k] = looks_between() ? (k == 0 ? 0.5 : m - 0.5) / used_->parts : -back;
            u[points() + 1 + k] = looks_between() ? between_[c][k] : before_[c][k];
        }
        for (std::size_t order = 1; order < nodes; ++order)
            for (std::size_t i = nodes - 1; i >= order; --i) u[i] = (u[i] - u[i - 1]) / (s[i] - s[i - order]);
        return {u[points() + 1] - s[points() + 1] * u[points() + 2], u[points() + 2]};
    }

    /// What the polynomial through the points leaves of u, a part each.
    std::array<effect, 2> left_of(std::size_t c, double H) const {
        const auto [a, b] = more_of(c, H, std::span(last_).subspan(c * points(), points()));
        const double s = looks_between() ? 0.5 / used_->parts : -H_before_ / points_ / H;
        return {(a + s * b) * used_->nodes, b * (used_->next_nodes + -s * used_->nodes)};
    }

    /// Whether what further iterations would change is little beside what the polynomials leave anyway.
    bool leaves_little(double H) const {
        if (looks_ < 2 || by_constants()) return false;
        const fixed_point_options& allowed = used_->solver.options();
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            effect change;
            bool converged = true;
            for (std::size_t j = 0; j < points(); ++j) {
                const double g = g_[c * points() + j], by = g - x_[c * points() + j];
                change = change + by * used_->of_points[j];
                converged = converged && std::abs(by) <= allowed.tolerance * std::abs(g) + allowed.absolute;
            }
            if (converged) continue;
            const auto [first, second] = left_of(c, H);
            const double left =
                std::max(std::abs(first.value) + std::abs(second.value), std::abs(first.rate) + std::abs(second.rate));
            if (!(std::max(std::abs(change.value), std::abs(change.rate)) <= not_worth_a_look * left)) return false;
        }
        return true;
    }

    /// By subsystem, what is left over what was corrected, as the first iterate's outputs show it.
    void find_ratios(const coupled_system& system, double H) {
        std::ranges::fill(ratio_, effect{});
        if (by_constants()) constants_.update(system, &interpolation_constants);
        for (const auto& [c, subsystem] : acting_) {
            effect& ratio = ratio_[subsystem];
            double largest = 0;
            effect corrected;
            for (std::size_t j = 0; j < points(); ++j) {
                const double by = last_[c * points() + j] - began_[c * points() + j];
                largest = std::max(largest, std::abs(by));
                corrected = corrected + by * used_->of_points[j];
            }
            if (largest == 0 || by_constants()) {
                const double all = largest == 0 ? 1 : std::abs(missed_[channels_[c].value()]) / largest;
                ratio = {std::max(ratio.rate, all), std::max(ratio.value, all)};
                continue;
            }
            const auto [first, second] = left_of(c, H);
            // Corrections that cancel within the step say little about what they act like.
            const auto part = [&](double a, double b, double by, double least) {
                return (std::abs(a) + std::abs(b)) / std::max(std::abs(by), least * largest);
            };
            const double value = part(first.value, second.value, corrected.value, 1.0 / 60);
            const double rate = part(first.rate, second.rate, corrected.rate, 1.0 / 20);
            ratio = {std::max({ratio.rate, rate, less_of_rates * value}), std::max(ratio.value, value)};
        }
    }

    std::size_t points() const { return static_cast<std::size_t>(points_); }
    /// Where part j ends, 0: the step begins.
    double time(const macro_step& step, std::size_t j) const {
        if (j == static_cast<std::size_t>(used_->parts)) return step.end;
        return step.begin + (step.end - step.begin) * static_cast<double>(j) / used_->parts;
    }

    /// g(x): the step with polynomials through x.
    void look(coupled_system& system, const macro_step& step) {
        const double H = step.end - step.begin;
        for (std::size_t c = 0; c < channels_.size(); ++c) set_polynomial(system.coupling, c, H);
        for (std::size_t j = 0; j < static_cast<std::size_t>(used_->parts); ++j) {
            const macro_step part{time(step, j), time(step, j + 1), step.counter};
            if (looks_between() && (j == 0 || j + 1 == points())) {
                const double middle = part.begin + (part.end - part.begin) / 2;
                advance_part(system, step, {part.begin, middle, step.counter});
                for (std::size_t c = 0; c < channels_.size(); ++c)
                    between_[c][j == 0 ? 0 : 1] = system.u[channels_[c].value()];
                advance_part(system, step, {middle, part.end, step.counter});
                --system.integrations;
            } else {
                advance_part(system, step, part);
            }
            if (j == points()) break;
            for (std::size_t c = 0; c < channels_.size(); ++c) g_[c * points() + j] = system.u[channels_[c].value()];
        }
        system.integrations -= used_->parts - 1;  // which are counted by macro steps
    }

    /// Without values of the step before, those between the first two and the last two points show what polynomials leave.
    bool looks_between() const { return !between_.empty() && points_ > 1 && H_before_ == 0; }

    static void advance_part(coupled_system& system, const macro_step& step, const macro_step& part) {
        system.coupling.deliver_part(part.begin - step.begin, part.end - part.begin, system.subsystems->inputs());
        system.advance(part);
    }

    void set_polynomial(network& net, std::size_t c, double H) const {
        const auto x = std::span(x_).subspan(c * points(), points());
        if (used_->parts == 1) return net.correct(channels_[c], x[0] - net.channel_polynomial(channels_[c])(H));
        polynomial p{.c = {}, .degree = points_};
        for (int k = 0; k <= points_; ++k) {
            p.c[k] = used_->basis[0].c[k] * start_[channels_[c].value()];
            for (std::size_t j = 0; j < points(); ++j) p.c[k] += used_->basis[j + 1].c[k] * x[j];
        }
        if (through_more_) {
            const auto [a, b] = more_of(c, H, x);
            p.degree = points_ + 2;
            for (std::size_t k = 0; k < used_->product.size(); ++k) {
                p.c[k] += a * used_->product[k];
                p.c[k + 1] += b * used_->product[k];
            }
        }
        double power = 1;
        for (int k = 1; k <= p.degree; ++k) p.c[k] /= power *= H;
        net.impose(channels_[c], p);
    }

    [[noreturn]] void fail(const network& net, const macro_step& step) const {
        std::vector<std::pair<double, std::size_t>> worst;
        for (std::size_t c = 0; c < channels_.size(); ++c) {
            double largest = 0, size = 0;
            for (std::size_t i = c * points(); i < (c + 1) * points(); ++i) {
                largest = std::max(largest, std::isfinite(g_[i]) ? std::abs(g_[i] - x_[i]) : HUGE_VAL);
                size = std::max({size, std::abs(g_[i]), std::abs(x_[i])});
            }
            worst.emplace_back(std::isinf(largest) || size == 0 ? largest : largest / size, c);
        }
        std::ranges::stable_sort(worst, std::greater{}, [](const auto& w) { return w.first; });
        constexpr std::size_t most = 4;
        std::vector<std::string> names;
        for (const auto& [residual, c] : std::span(worst).first(std::min(most, worst.size())))
            names.push_back(fmt::format("'{}' {:.3g}", net.name(channels_[c]), residual));
        if (worst.size() > most) names.push_back(fmt::format("and {} more", worst.size() - most));
        const fixed_point& solver = used_->solver;
        const fixed_point_options& options = solver.options();
        throw run_error(fmt::format(
            "method 'iterated': the macro step from t = {} s to {} s does not converge: {} after {} iterations of {} "
            "({} integrations); last residuals: {}; tolerance {:g}. Try a smaller macro step, 'solver: {}', a higher "
            "'limit' than {}, or a larger tolerance where the subsystems' own solvers are less exact",
            step.begin, step.end, solver.why_failed(), solver.iterations(), name_of(options.algorithm),
            solver.evaluations(), fmt::join(names, ", "), options.tolerance,
            options.algorithm == fixed_point_options::solver::newton ? "iqn-ils" : "newton", options.limit));
    }

    int points_;
    int iterations_;           ///< that are done, converged or not; 0: until it has converged
    std::array<way, 2> ways_;  ///< the usual one, and that of a step that ends with a jump
    way* used_ = ways_.data();
    std::vector<channel_index> channels_;  ///< that are iterated
    std::vector<bool> may_jump_;           ///< by channel: signals that are iterated
    std::vector<polynomial> predictions_;  ///< by place in channels_
    std::vector<double> x_, g_;            ///< [channel][part]
    std::vector<double> start_;            ///< u(t_n), by channel
    std::vector<double> predicted_;        ///< at the end of the step, by channel
    iteration_counts counts_;

    // Of estimates:
    error_constants constants_;
    struct acting {
        std::size_t channel;  ///< place in channels_
        std::uint32_t subsystem;
    };
    std::vector<acting> acting_;
    std::vector<std::uint32_t> owner_;    ///< by output
    std::vector<effect> ratio_;           ///< by subsystem: what is left over what was corrected
    std::vector<bool> surprised_;         ///< by subsystem: something new acted on it
    std::vector<bool> is_rate_;           ///< by output: the rate of another, on which u acts at once
    std::vector<channel_index> signals_;  ///< that move within the step and are not iterated
    std::vector<double> expected_,
        missed_;                   ///< by channel: what predictions were likely to miss at the end of the step, and did
    bool expects_ = false;         ///< there were enough accepted values for that
    bool through_more_ = false;    ///< polynomials go through two values of the step before, too
    bool answers_little_ = false;  ///< coupling variables to themselves, as seen last
    std::vector<double> first_, kept_;  ///< outputs of the first iterate, and of the last
    std::vector<double> began_, last_;  ///< x of the first and of the last look
    std::vector<double> answered_;      ///< g of the first
    /// u at the last two points but one of the step before, and of this one, the later first.
    std::vector<std::array<double, 2>> before_, tried_;
    std::vector<std::array<double, 2>> between_;  ///< the same in the middle of the first and of the last part
    std::vector<polynomial> polynomials_before_, polynomials_tried_;  ///< of the same steps
    static constexpr double jumped = -1;  ///< as H_tried_: there will be nothing before the next step
    double H_before_ = 0, H_tried_ = 0;
    int looks_ = 0;
};

constexpr fixed_point_options iterated_defaults{
    .algorithm = fixed_point_options::solver::iqn_ils, .tolerance = 1e-6, .absolute = 1e-9};

std::vector<parameter_info> iterated_options() {
    std::vector<parameter_info> all = fixed_point_parameters(iterated_defaults);
    all.insert(
        all.begin(),
        {.name = "points",
         .unit = "1",
         .description = "of each macro step where coupling variables are found, from 1 to 6; the degree of their "
                        "polynomials",
         .default_value = 2,
         .allowed = parameter_info::range::whole,
         .choices = {},
         .symbol = {}});
    all.insert(all.begin() + 1,
               {.name = "iterations",
                .unit = "1",
                .description = "done in every macro step at most, converged or not; 0: until it has converged",
                .default_value = 0,
                .allowed = parameter_info::range::not_negative,
                .choices = {},
                .symbol = {}});
    return all;
}

const method_registration registered{
    {"iterated", "waveform iteration: every macro step is repeated until the coupling variables no longer change",
     [](const parameter_values& values) {
         if (values["points"] > max_degree)
             throw std::invalid_argument(
                 fmt::format("points = {} is too high; at most {}", values["points"], max_degree));
         fixed_point_options options = fixed_point_options_of(values);
         options.disturbance = 1e-3;  // far above the noise of the subsystems' solvers
         const auto iterations = static_cast<int>(values["iterations"]);
         if (iterations != values["iterations"])
             throw std::invalid_argument(fmt::format("iterations = {} is no whole number", values["iterations"]));
         options.limit = std::max(options.limit, iterations + 1);
         return std::make_unique<iterated_method>(static_cast<int>(values["points"]), iterations, options);
     },
     iterated_options(), iterated_traits}};

}  // namespace

}  // namespace mdpcosim

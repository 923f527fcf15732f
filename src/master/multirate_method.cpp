// Subsystems with steps of their own (F. Gonzalez, M. A. Naya, A. Luaces, M. Gonzalez, On the effect of multirate co-simulation
// techniques in the efficiency and accuracy of multibody system dynamics, 2010): every subsystem i goes from t_i to t_i + h_i on a grid that
// need not meet those of others.
//
//   who goes next    the last of its sequence (multirate_order.hpp), unless one that leads it has not reached t_i + h_i: then that one
//   what it reads    histories of the others, interpolated where they are ahead, extrapolated where they are not; laws on top
//
// slowest-first: whoever has the longer step leads; fastest-first: the shorter; sequential (Gauss-Seidel): as listed. Inputs are of order
// P + 1 in the longest step for polynomials of order P; stability is that of an explicit coupling whose leaders extrapolate
// (docs/methods/multirate.md). Needs nothing of a subsystem beyond advance(). A macro step is the interval at which all outputs are known and
// looked at; whoever is ahead then is interpolated.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "master/method.hpp"
#include "master/multirate_readers.hpp"

namespace mdpcosim {

namespace {

/// The shortest step that an integrator may choose, in macro steps.
constexpr double shortest_choice = 1e-3;

const method_traits multirate_traits{.evaluates_each_step = false,
                                     .goes_back = false,
                                     .own_steps = true,
                                     .remedy =
                                         "take shorter steps for the subsystems at both ends, a lower order, the other "
                                         "scheme, or 'smoothing: mean' with "
                                         "'scheme: fastest-first'"};

class multirate_method final : public method, public takes<multirate_plan> {
   public:
    explicit multirate_method(const multirate_options& options) : method(multirate_traits), options_(options) {}

    void take(multirate_plan plan) override { plan_ = std::move(plan); }

    std::string own_extrapolation() const override {
        return fmt::format("poly-{}", 1 + std::max({1, options_.slow_order, options_.fast_order}));
    }
    std::vector<std::string> about_subsystems(const coupled_system& system) const override;

    void prepare(coupled_system& system) override;
    void attempt(coupled_system& system, const macro_step& step) override;
    void state(state_bytes& bytes) override {
        for (sequence& s : sequences_)
            for (group& g : s) bytes(g.now, g.next, g.steps);
        for (prediction& p : predictions_) bytes(p.time, p.u, p.open);
        bytes(outputs_, time_, known_);
    }

   private:
    /// Subsystems that are advanced at once.
    struct group {
        std::vector<std::size_t> members;
        std::optional<time_grid> grid;  ///< none: its integrator chooses
        double now = 0, next = 0;
        std::int64_t steps = 0;
    };
    using sequence = std::vector<group>;

    bool reached(double t, double other) const { return t >= other - tolerance(other); }
    double tolerance(double t) const {
        return 1e-9 * shortest_ + 8 * std::numeric_limits<double>::epsilon() * std::abs(t);
    }
    std::vector<multirate_sequence> sequences(const coupled_system& system, const multirate_readers& readers) const;
    double shortest_step(std::size_t i) const {
        return plan_.steps[i] > 0 ? plan_.steps[i] : shortest_choice * plan_.macro_step;
    }
    void set_next(const coupled_system& system, group& g) const;
    /// Whose turn it is on the way to t_end; none: all have reached it.
    group* next(sequence& s, double t_end) const;
    void advance(coupled_system& system);
    void predict(std::size_t i, double t);
    void judge(coupled_system& system, const macro_step& step);
    template <class Which>
    void evaluate(coupled_system& system, const Which& which);
    void show(coupled_system& system, double t);

    multirate_options options_;
    multirate_plan plan_;
    multirate_readers readers_;
    std::vector<sequence> sequences_;
    std::vector<output_history> outputs_;
    std::vector<subsystem_step> turn_;
    std::vector<group*> taken_;
    std::vector<double> time_;  ///< by subsystem
    std::vector<char> known_;   ///< outputs with feed-through have been evaluated at this time
    std::vector<char> in_turn_;
    /// What a subsystem took u to be at the end of its step, before all senders had come as far.
    struct prediction {
        double time = 0;
        std::vector<double> u;  ///< of its channels
        bool open = false;      ///< not judged yet
    };
    std::vector<prediction> predictions_;
    std::vector<double> missed_, end_;  ///< by channel
    double shortest_ = 0;
};

std::vector<multirate_sequence> multirate_method::sequences(const coupled_system& system,
                                                            const multirate_readers& readers) const {
    std::vector<coupling_edge> edges;
    for (std::size_t i = 0; i < system.subsystems->size(); ++i)
        for (const std::size_t from : readers.senders(i)) edges.push_back({from, i});
    return find_sequences(plan_, options_.scheme, std::move(edges));
}

void multirate_method::prepare(coupled_system& system) {
    const transport& t = *system.subsystems;
    const std::size_t n = t.size();
    readers_ = multirate_readers(system, plan_, options_);
    time_.assign(n, plan_.start);
    known_.assign(n, 1);
    in_turn_.assign(n, 0);
    predictions_.resize(n);
    for (std::size_t i = 0; i < n; ++i) predictions_[i].u.resize(readers_.channels(i).size());
    missed_.assign(system.coupling.channels(), 0.0);
    end_.assign(missed_.size(), 0.0);
    shortest_ = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n; ++i) shortest_ = std::min(shortest_, shortest_step(i));
    std::vector<double> ahead(n, 0.0);  // how far followers let it go
    sequences_.clear();
    for (const auto& lists : sequences(system, readers_)) {
        sequence& s = sequences_.emplace_back();
        double behind = 0;
        for (auto list = lists.rbegin(); list != lists.rend(); ++list) {
            for (const std::size_t i : *list) ahead[i] = behind;
            const double h = plan_.steps[list->front()];
            behind += h > 0 ? h : plan_.macro_step;
        }
        for (const auto& list : lists) {
            group& g = s.emplace_back();
            g.members = list;
            g.now = plan_.start;
            if (const double h = plan_.steps[list.front()]; h > 0) g.grid.emplace(plan_.start, plan_.end, h);
            set_next(system, g);
        }
    }
    outputs_.clear();
    for (std::size_t i = 0; i < n; ++i) {
        const auto count = static_cast<std::size_t>(t.describe(subsystem_index(i)).output_count());
        const double h = shortest_step(i);
        const double points = (ahead[i] + readers_.longest_delay(i) + plan_.macro_step) / h;
        outputs_.emplace_back(count, static_cast<std::size_t>(points) + output_history::weights::most + 4);
        outputs_.back().add(plan_.start, t.outputs().subspan(t.output_offset(subsystem_index(i)), count));
    }
    turn_.reserve(n);
    taken_.reserve(sequences_.size());
    system.present.assign(t.outputs().begin(), t.outputs().end());
}

void multirate_method::set_next(const coupled_system& system, group& g) const {
    if (g.grid) {
        g.next = g.grid->time(g.steps + 1);
        return;
    }
    const double chosen = system.subsystems->next_step(subsystem_index(g.members.front()));
    const double shortest = shortest_choice * plan_.macro_step;
    g.next = g.now + (chosen > shortest ? std::min(chosen, plan_.macro_step) : shortest);
    if (reached(g.next, plan_.end)) g.next = plan_.end;
}

multirate_method::group* multirate_method::next(sequence& s, double t_end) const {
    if (reached(s.back().now, t_end)) return nullptr;
    std::size_t k = s.size() - 1;
    while (k > 0 && !reached(s[k - 1].now, s[k].next)) --k;
    return &s[k];
}

void multirate_method::attempt(coupled_system& system, const macro_step& step) {
    network& net = system.coupling;
    net.accept(step.begin, system.outputs(), system.u, system.du);
    net.extrapolate(step.end);
    for (;;) {
        turn_.clear();
        taken_.clear();
        for (sequence& s : sequences_)
            if (group* g = next(s, step.end)) {
                taken_.push_back(g);
                for (const std::size_t i : g->members)
                    turn_.push_back({subsystem_index(i), {g->now, g->next, g->steps}});
            }
        if (turn_.empty()) break;
        advance(system);
    }
    show(system, step.end);
    judge(system, step);
}

void multirate_method::advance(coupled_system& system) {
    transport& t = *system.subsystems;
    for (const auto& [i, step] : turn_) in_turn_[i.value()] = 1;
    evaluate(system, [&](std::size_t i) { return in_turn_[i] && !known_[i]; });
    for (const auto& [i, step] : turn_) {
        readers_.find_inputs(system.coupling, outputs_, i.value(), step.begin, step.end, t.inputs());
        predict(i.value(), step.end);
    }
    if (system.journal.kept()) system.journal.add(turn_, t.inputs());
    t.advance_some(turn_);
    system.notices.add(t.notices());
    ++system.integrations;
    ++system.advances;
    for (group* g : taken_) {
        g->now = g->next;
        ++g->steps;
        set_next(system, *g);
    }
    for (const auto& [i, step] : turn_) {
        output_history& own = outputs_[i.value()];
        own.add(step.end, t.outputs().subspan(t.output_offset(i), own.newest_values().size()));
        time_[i.value()] = step.end;
        known_[i.value()] = 0;
    }
    evaluate(system, [&](std::size_t i) { return in_turn_[i] && !known_[i]; });
    for (const auto& [i, step] : turn_) in_turn_[i.value()] = 0;
}

void multirate_method::predict(std::size_t i, double t) {
    const auto has_come = [&](std::size_t from) { return reached(time_[from], t); };
    prediction& p = predictions_[i];
    p.open = !std::ranges::all_of(readers_.senders(i), has_come);
    p.time = t;
    const auto& channels = readers_.channels(i);
    for (std::size_t k = 0; k < channels.size(); ++k) p.u[k] = readers_.u()[channels[k].value()];
}

/// For those who look on: polynomials over the macro step that miss u at its end by what was missed during it.
void multirate_method::judge(coupled_system& system, const macro_step& step) {
    network& net = system.coupling;
    std::ranges::fill(missed_, 0);
    for (std::size_t i = 0; i < predictions_.size(); ++i) {
        prediction& p = predictions_[i];
        if (!p.open || !reached(step.end, p.time)) continue;
        p.open = false;
        readers_.find_channels(net, outputs_, i, p.time, p.time, p.time);
        const auto& channels = readers_.channels(i);
        for (std::size_t k = 0; k < channels.size(); ++k) {
            double& missed = missed_[channels[k].value()];
            const double now = p.u[k] - readers_.u()[channels[k].value()];
            if (std::abs(now) > std::abs(missed)) missed = now;
        }
    }
    net.polynomial_values(step.end - step.begin, end_);
    for (std::size_t c = 0; c < end_.size(); ++c)
        if (!net.held(channel_index(c))) net.correct(channel_index(c), system.u[c] + missed_[c] - end_[c]);
}

/// Outputs with feed-through follow inputs of the same time: they are evaluated once whoever sends to them has come as far.
template <class Which>
void multirate_method::evaluate(coupled_system& system, const Which& which) {
    if (system.at_each_step.empty()) return;
    transport& t = *system.subsystems;
    for (const auto& e : system.at_each_step) {
        const std::size_t i = e.subsystem.value();
        const double now = time_[i];
        const auto has_come = [&](std::size_t from) { return reached(time_[from], now); };
        if (!which(i) || !std::ranges::all_of(readers_.senders(i), has_come)) continue;
        readers_.find_channels(system.coupling, outputs_, i, now, now, now);
        const auto values = system.values_of(e.subsystem);
        system.coupling.input_values(readers_.u(), t.input_offset(e.subsystem), values);
        t.evaluate(e.subsystem, values);
        outputs_[i].replace(t.outputs().subspan(t.output_offset(e.subsystem), outputs_[i].newest_values().size()));
    }
    for (const auto& e : system.at_each_step) {
        const std::size_t i = e.subsystem.value();
        const auto has_come = [&](std::size_t from) { return reached(time_[from], time_[i]); };
        if (which(i) && std::ranges::all_of(readers_.senders(i), has_come)) known_[i] = 1;
    }
}

/// Outputs and coupling variables at time t, which all have reached.
void multirate_method::show(coupled_system& system, double t) {
    evaluate(system, [&](std::size_t i) { return !known_[i] && reached(t, time_[i]); });
    const int order = std::max({1, options_.slow_order, options_.fast_order});
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
        const auto to = std::span(system.present).subspan(system.subsystems->output_offset(subsystem_index(i)));
        if (reached(t, time_[i])) {
            std::ranges::copy(outputs_[i].newest_values(), to.begin());
            continue;
        }
        const auto weights = outputs_[i].interpolate(t, order);
        for (std::size_t k = 0; k < outputs_[i].newest_values().size(); ++k) to[k] = outputs_[i].value(weights, k);
    }
    system.coupling.evaluate(t, system.present, system.u, system.du);
    readers_.find_delayed(system.coupling, outputs_, t, system.u);
}

std::vector<std::string> multirate_method::about_subsystems(const coupled_system& system) const {
    std::vector<std::string> about(plan_.steps.size());
    for (const auto& lists : sequences(system, multirate_readers(system, plan_, options_)))
        for (std::size_t k = 0; k < lists.size(); ++k)
            for (const std::size_t i : lists[k])
                about[i] =
                    fmt::format("step              {}, {} of {} in its sequence",
                                plan_.steps[i] > 0 ? fmt::format("{} s", plan_.steps[i]) : "chosen by its solver",
                                k + 1, lists.size());
    return about;
}

std::unique_ptr<method> make_multirate(const parameter_values& p) {
    multirate_options options{.scheme = static_cast<multirate_scheme>(static_cast<int>(p["scheme"])),
                              .slow_order = static_cast<int>(p["slow-order"]),
                              .fast_order = static_cast<int>(p["fast-order"]),
                              .smoothing = p["smoothing"] != 0,
                              .least_squares = p["fit"] != 0};
    if (options.smoothing && options.scheme != multirate_scheme::fastest_first)
        throw std::invalid_argument(
            "'smoothing: mean' takes the mean of what faster subsystems did during the step: they must come first. Add "
            "'scheme: "
            "fastest-first'");
    return std::make_unique<multirate_method>(options);
}

const std::vector<std::string> multirate_orders{"0", "1", "2", "3", "4"};

const method_registration registered{
    {"multirate",
     "every subsystem has a step of its own; whoever leads extrapolates, followers interpolate; Gauss-Seidel, too",
     make_multirate,
     {{.name = "scheme",
       .unit = "",
       .description = "who leads",
       .default_value = 0,
       .choices = {"slowest-first", "fastest-first", "sequential"}},
      {.name = "slow-order",
       .unit = "",
       .description = "order of polynomials for outputs of slower subsystems and of those with the same step",
       .default_value = 1,
       .choices = multirate_orders},
      {.name = "fast-order",
       .unit = "",
       .description = "order of polynomials for outputs of faster subsystems",
       .default_value = 1,
       .choices = multirate_orders},
      {.name = "smoothing",
       .unit = "",
       .description = "of outputs of faster subsystems: their mean over the step; with fastest-first",
       .default_value = 0,
       .choices = {"none", "mean"}},
      {.name = "fit",
       .unit = "",
       .description = "of outputs of slower subsystems: through the last points, or nearest to twice as many",
       .default_value = 0,
       .choices = {"interpolation", "least-squares"}}},
     multirate_traits}};

}  // namespace

}  // namespace mdpcosim

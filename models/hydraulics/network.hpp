#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "nodes.hpp"
#include "subsystem/equations.hpp"

/// Nodes and what joins them as one system of equations:
///     x_i' = sum of the flows into node i,   z' of every element = its equations;
///     a rigid node:  0 = sum of the flows in, or, where all of these are states of their own, 0 = sum of their rates.
/// The Jacobian is put together from the elements' own: what a result depends on is a pressure, which depends on states, or a state.
namespace mdpcosim::hydraulics {

class network final : public equations {
   public:
    network(const compressible& f, std::vector<node> nodes, std::vector<std::unique_ptr<element>> elements);

    const subsystem_description& describe() const noexcept override { return description_; }
    int state_count() const override { return states_; }
    void initial_state(double t0, double* x) const override;
    bool is_algebraic(int i) const override {
        return i < node_count() && nodes_[static_cast<std::size_t>(i)].kind == node_kind::rigid;
    }
    std::string state_name(int i) const override;
    double nominal(int i) const override;
    bool rests(int i) const override;
    void derivatives(double t, const double* x, const double* u, double* dx) const override;
    void outputs(double t, const double* x, const double* u, double* y) const override;
    void port_outputs(double t, const double* x, const double* u, double* y) const override;

    const sparsity* structure() const override { return &structure_; }
    const sparsity* input_structure() const override { return &input_structure_; }
    const sparsity* output_structure() const override { return &output_structure_; }
    bool sparse_jacobian(double t, const double* x, const double* u, double* values) const override;

    /// Stepped moduli begin anew; rigid nodes are looked at.
    bool watches(moment m) const override { return m == moment::interval && (!steps_.empty() || !rigid_.empty()); }
    bool discrete_update(moment m, double t, double* x, const double* u) override;
    int event_count() const override { return static_cast<int>(rigid_.size()); }
    void event_indicators(double t, const double* x, const double* u, double* z) const override;
    bool apply_event(int event, bool rising, double t, double* x, const double* u) override;
    std::string event_name(int event) const override;
    std::unique_ptr<snapshot> make_memory() const override;
    void save_memory(snapshot& into) override { static_cast<memory&>(into).steps = steps_; }
    void restore_memory(const snapshot& from) override { steps_ = static_cast<const memory&>(from).steps; }

   private:
    struct memory final : snapshot {
        std::vector<modulus_step> steps;
        void state(state_bytes& bytes) override { bytes.fixed(steps); }
    };
    /// What the pressure of a node depends on: a state, with the derivative by it.
    struct by_state {
        int state;
        bool own;     ///< the node's, else a swept volume's
        double area;  ///< of that
    };
    /// One product for the Jacobian: entry of an element's own, times a pressure's derivative where there is one.
    struct term {
        int entry, pressure, slot;
        double weight;
    };
    /// An output that is a sum of states.
    struct port_value {
        int slot;
        std::vector<std::pair<int, double>> states;
    };
    /// A row that a result of an element goes to.
    struct destination {
        int row;
        double weight;
    };

    /// A rigid node has no room for a void.
    void check_rigid_pressure(int i, double t, double p) const;
    int node_count() const { return static_cast<int>(nodes_.size()); }
    const node& node_at(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
    modulus_step step_of(std::size_t i) const { return steps_.empty() ? modulus_step{} : steps_[i]; }
    /// Of a rigid node all of whose flows are states: the rates of these are its equation.
    bool balances_rates(int i) const { return balances_rates_[static_cast<std::size_t>(i)]; }
    std::vector<destination> destinations(const element& e, int result) const;
    void add_dependents();
    void make_structure();
    void describe_nodes();
    void describe_elements();
    void add_input_dependence();
    void find_port_values();
    std::vector<int> states_behind(const element& e, std::uint32_t mask) const;
    std::vector<int> inputs_behind(const element& e, std::uint32_t mask) const;
    void pressures(double t, const double* x, const double* u) const;
    void gather(const element& e, const double* x, double* z) const;

    compressible fluid_;
    std::vector<node> nodes_;
    std::vector<std::unique_ptr<element>> elements_;
    std::vector<bool> balances_rates_;
    std::vector<int> rigid_;  ///< nodes
    std::vector<modulus_step> steps_;
    int states_ = 0;
    subsystem_description description_;
    std::vector<std::vector<shown>> shown_;  ///< by element
    std::vector<int> node_outputs_;          ///< first slot by node
    std::vector<port_value> port_values_;    ///< what ports give without depending on inputs at once
    bool ports_are_states_ = true;           ///< all of that is in port_values_
    sparsity structure_, input_structure_, output_structure_;
    std::vector<term> terms_;         ///< element by element
    std::vector<std::size_t> first_;  ///< of each element, and the end
    std::vector<int> dependents_;     ///< first by node, of by_state_
    std::vector<by_state> by_state_;
    // Scratch; one thread at a time asks.
    mutable std::vector<pressure_value> p_;
    mutable std::vector<double> inflow_, by_dependent_;
};

inline network::network(const compressible& f, std::vector<node> nodes, std::vector<std::unique_ptr<element>> elements)
    : fluid_(f),
      nodes_(std::move(nodes)),
      elements_(std::move(elements)),
      balances_rates_(nodes_.size(), true),
      steps_(f.model == modulus_model::stepped ? nodes_.size() : 0),
      p_(nodes_.size()),
      inflow_(nodes_.size()) {
    states_ = node_count();
    for (int i = 0; i < states_; ++i) {
        nodes_[static_cast<std::size_t>(i)].state = i;
        if (node_at(i).kind == node_kind::rigid) rigid_.push_back(i);
    }
    for (auto& e : elements_) {
        e->state = states_;
        states_ += e->states;
        for (const auto& s : e->swept()) {
            const int i = e->nodes[static_cast<std::size_t>(s.terminal)];
            nodes_[static_cast<std::size_t>(i)].swept.push_back({e->state + s.state, s.area});
        }
        for (int k = 0; k < e->terminals(); ++k)
            if (e->nature(k).what != flow_nature::kind::inertial)
                balances_rates_[static_cast<std::size_t>(e->nodes[static_cast<std::size_t>(k)])] = false;
    }
    description_.type = "model hydraulics";
    describe_nodes();
    describe_elements();
    add_dependents();
    make_structure();
    add_input_dependence();
    find_port_values();
}

inline void network::initial_state(double /*t0*/, double* x) const {
    for (const auto& e : elements_) e->start(x + e->state);
    for (const auto& n : nodes_) x[n.state] = state_of_pressure(fluid_, n, x);
    if (steps_.empty()) return;
    auto& steps = const_cast<network*>(this)->steps_;  // everything begins anew
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        steps[i] = {nodes_[i].pressure, fluid_.strain(nodes_[i].pressure), fluid_.modulus(nodes_[i].pressure)};
}

inline std::string network::state_name(int i) const {
    if (i < node_count()) return fmt::format("of node '{}'", node_at(i).name);
    for (const auto& e : elements_)
        if (i < e->state + e->states) return fmt::format("{} of {} '{}'", i - e->state + 1, e->kind, e->name);
    return std::to_string(i);
}

/// What has flowed into tanks is no matter of rest.
inline bool network::rests(int i) const {
    if (i >= node_count()) {
        for (const auto& e : elements_)
            if (i < e->state + e->states) return e->rests(i - e->state);
    }
    const node_kind kind = node_at(i).kind;
    return kind == node_kind::elastic || kind == node_kind::accumulator || kind == node_kind::rigid;
}

inline double network::nominal(int i) const {
    constexpr double usual_pressure = 1e5, usual_volume = 1e-6;
    if (i >= node_count()) {
        for (const auto& e : elements_)
            if (i < e->state + e->states) return e->nominal(i - e->state);
    }
    const node& n = node_at(i);
    if (n.kind == node_kind::elastic) return n.volume * usual_pressure / fluid_.law.a;
    if (n.kind == node_kind::accumulator) return n.volume * 1e-3;
    return n.kind == node_kind::rigid ? usual_pressure : usual_volume;
}

inline void network::pressures(double t, const double* x, const double* u) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const node& n = nodes_[i];
        switch (n.kind) {
            case node_kind::elastic: {
                const double V = n.volume_at(x), strain = V > 0 ? x[i] / V : NAN;
                p_[i] = elastic_pressure(fluid_, step_of(i), strain);
                break;
            }
            case node_kind::accumulator:
                p_[i] = accumulator_pressure(fluid_, n, x[i]);
                break;
            case node_kind::rigid:
                p_[i] = {x[i], 1};
                break;
            case node_kind::port:
                p_[i].p = u[n.input];
                break;
            case node_kind::source:
                p_[i].p = source_pressure(n, t, u[n.input]);
                break;
            case node_kind::tank:
                p_[i].p = n.pressure;
        }
    }
}

inline void network::gather(const element& e, const double* x, double* z) const {
    const int terminals = e.terminals();
    for (int k = 0; k < terminals; ++k) z[k] = p_[static_cast<std::size_t>(e.nodes[static_cast<std::size_t>(k)])].p;
    for (int k = 0; k < e.states; ++k) z[terminals + k] = x[e.state + k];
}

inline void network::derivatives(double t, const double* x, const double* u, double* dx) const {
    pressures(t, x, u);
    std::fill_n(dx, nodes_.size(), 0.0);
    std::array<double, most_variables> z{}, results{};
    for (const auto& e : elements_) {
        gather(*e, x, z.data());
        e->evaluate(z.data(), u + e->input, results.data());
        const int terminals = e->terminals();
        const double* const rates = results.data() + terminals;
        for (int k = 0; k < terminals; ++k) {
            const int i = e->nodes[static_cast<std::size_t>(k)];
            if (!is_algebraic(i) || !balances_rates(i)) {
                dx[i] += results[static_cast<std::size_t>(k)];
            } else {
                const flow_nature flow = e->nature(k);
                dx[i] += flow.factor * rates[flow.state];
            }
        }
        std::copy_n(rates, e->states, dx + e->state);
    }
}

inline bool network::discrete_update(moment m, double t, double* x, const double* u) {
    if (!watches(m)) return false;
    pressures(t, x, u);
    for (const int i : rigid_) check_rigid_pressure(i, t, x[i]);
    if (steps_.empty()) return false;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i].is_elastic() && p_[i].p > fluid_.vapour)  // a void closes where it opened
            steps_[i] = {p_[i].p, x[i] / nodes_[i].volume_at(x), fluid_.modulus(p_[i].p)};
    return true;
}

inline void network::check_rigid_pressure(int i, double t, double p) const {
    const double rounding = 1e-6 * (1 + fluid_.vapour);
    if (p >= fluid_.vapour - rounding) return;
    throw run_error(fmt::format(
        "at t = {:.9g}: the pressure of rigid-node '{}' falls below the vapour pressure, {:.6g} Pa: it would cavitate, "
        "and has no room for a void. Give it a volume (kind: node)",
        t, node_at(i).name, fluid_.vapour));
}

inline void network::event_indicators(double /*t*/, const double* x, const double* /*u*/, double* z) const {
    for (std::size_t k = 0; k < rigid_.size(); ++k) z[k] = x[rigid_[k]] - fluid_.vapour;
}

inline bool network::apply_event(int event, bool rising, double t, double* /*x*/, const double* /*u*/) {
    if (!rising) check_rigid_pressure(rigid_[static_cast<std::size_t>(event)], t, -INFINITY);
    return false;
}

inline std::string network::event_name(int event) const {
    return fmt::format("vapour pressure at rigid-node '{}'", node_at(rigid_[static_cast<std::size_t>(event)]).name);
}

inline std::unique_ptr<snapshot> network::make_memory() const {
    if (steps_.empty()) return nullptr;
    auto made = std::make_unique<memory>();
    made->steps = steps_;
    return made;
}

/// Slots: of every node pressure, then what its kind has.
inline void network::describe_nodes() {
    for (auto& n : nodes_) {
        if (n.name.empty()) {  // the ambient
            node_outputs_.push_back(-1);
            continue;
        }
        if (n.kind == node_kind::port) {
            n.input = description_.input_count();
            node_outputs_.push_back(
                add_hydraulic_port(description_, n.name, "node outside; flows into it are positive"));
            description_.inputs.back().start = n.pressure;
            continue;
        }
        if (n.kind == node_kind::source) {
            n.input = add_input(description_, n.name + ".speed", "rad/s", "speed that the pressure grows with");
            description_.inputs.back().start = n.speed;
        }
        node_outputs_.push_back(add_output(description_, n.name + ".pressure", "Pa", "pressure"));
        if (n.is_elastic()) {
            add_output(description_, n.name + ".void", "m3", "fluid that is missing, at the vapour pressure");
            add_output(description_, n.name + ".fluid", "m3", "fluid in the node, as it is at the reference pressure");
        } else if (n.kind == node_kind::accumulator) {
            add_output(description_, n.name + ".fluid", "m3", "fluid taken up since the charge");
        } else if (n.kind != node_kind::rigid) {
            add_output(description_, n.name + ".volume", "m3", "volume that has flowed in");
        }
    }
}

inline void network::describe_elements() {
    for (auto& e : elements_) {
        e->input = description_.input_count();
        shown_.emplace_back();
        e->describe(description_, shown_.back());
    }
}

inline void network::port_outputs(double t, const double* x, const double* u, double* y) const {
    if (!ports_are_states_) return outputs(t, x, u, y);
    for (const auto& one : port_values_) {
        double sum = 0;
        for (const auto& [i, factor] : one.states) sum += factor * x[i];
        y[one.slot] = sum;
    }
}

inline void network::outputs(double t, const double* x, const double* u, double* y) const {
    pressures(t, x, u);
    std::ranges::fill(inflow_, 0.0);
    std::array<double, 2 * most_variables> z{};
    for (std::size_t k = 0; k < elements_.size(); ++k) {
        const element& e = *elements_[k];
        gather(e, x, z.data());
        e.evaluate(z.data(), u + e.input, z.data() + e.variables());
        for (int j = 0; j < e.terminals(); ++j)
            inflow_[static_cast<std::size_t>(e.nodes[static_cast<std::size_t>(j)])] +=
                z[static_cast<std::size_t>(e.result(j))];
        for (const auto& one : shown_[k]) {
            double sum = 0;
            for (const auto& [i, factor] : one.terms) sum += factor * z[static_cast<std::size_t>(i)];
            y[one.slot] = sum;
        }
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const node& n = nodes_[i];
        if (node_outputs_[i] < 0) continue;
        double* own = y + node_outputs_[i];
        if (n.kind == node_kind::port) {
            own[0] = x[i];
            own[1] = inflow_[i];
            continue;
        }
        own[0] = p_[i].p;
        if (n.is_elastic()) {
            const double V = n.volume_at(x);
            own[1] = positive(V * void_strain(fluid_, step_of(i)) - x[i]);
            own[2] = V + x[i];
        } else if (n.kind != node_kind::rigid) {
            own[1] = x[i];
        }
    }
}

}  // namespace mdpcosim::hydraulics

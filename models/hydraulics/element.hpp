#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/hydraulics.hpp"
#include "core/part.hpp"
#include "subsystem/description_parts.hpp"

/// What joins nodes: a part with terminals at nodes, states and inputs of its own. With its variables z = (pressures at the terminals, own
/// states) it tells as many results: (flows into the nodes at the terminals, rates of the own states).
namespace mdpcosim::hydraulics {

/// How the flow into the node at a terminal answers to pressures: what a rigid node needs to know.
struct flow_nature {
    enum class kind {
        resistive,  ///< always at once
        closing,    ///< at once, but for when it is closed
        inertial,   ///< its rate does: the flow is `factor` times an own state
        given       ///< not at all
    };
    kind what = kind::resistive;
    int state = 0;
    double factor = 0;
};

/// The volume of the node at `terminal` grows with an own state.
struct swept_volume {
    int terminal, state;
    double area, low, high;  ///< the state's bounds, where its stops are
};

/// An output: a sum of variables z and results, numbered one behind the other.
struct shown {
    int slot;
    std::vector<std::pair<int, double>> terms;
};

class element {
   public:
    element(const part& p, std::vector<std::string> at, int own_states, int own_inputs)
        : name(p.name),
          kind(p.kind),
          where(p.where),
          nodes_called(std::move(at)),
          states(own_states),
          inputs(own_inputs) {}
    virtual ~element() = default;

    /// `u` are the own inputs, `results` as many as variables.
    virtual void evaluate(const double* z, const double* u, double* results) const = 0;
    /// Derivatives of results by z, column by column.
    virtual void differentiate(const double* z, const double* u, double* by_z) const = 0;
    /// What each result depends on: z, then inputs.
    virtual std::vector<dependence> structure() const = 0;

    virtual void start(double* /*own*/) const {}
    virtual double nominal(int /*own*/) const { return 1; }
    /// As equations::rests().
    virtual bool rests(int /*own*/) const { return true; }
    virtual flow_nature nature(int /*terminal*/) const { return {}; }
    virtual std::vector<swept_volume> swept() const { return {}; }
    /// Adds ports, inputs (as many as said) and outputs.
    virtual void describe(subsystem_description& d, std::vector<shown>& outputs) const = 0;

    int terminals() const { return static_cast<int>(nodes_called.size()); }
    int variables() const { return terminals() + states; }
    /// The place of a result among what outputs are made of.
    int result(int k) const { return variables() + k; }

    std::string name, kind;
    location where;
    std::vector<std::string> nodes_called;  ///< at the terminals; empty: the ambient
    int states, inputs;
    std::vector<int> nodes = {};  ///< at the terminals
    int state = 0, input = 0;     ///< first of the own ones
};

/// Nothing has more variables.
inline constexpr std::size_t most_variables = 8;

/// An element whose equations are a template in Part: `template <class T> void equations(const T* z, const T* u, T* results) const`.
template <class Part, std::size_t Terminals, std::size_t States, std::size_t Inputs>
class element_of : public element {
   public:
    static constexpr std::size_t n = Terminals + States;
    static_assert(n <= most_variables);

    element_of(const part& p, std::array<std::string, Terminals> at)
        : element(p, std::vector<std::string>(at.begin(), at.end()), States, Inputs) {}

    void evaluate(const double* z, const double* u, double* results) const final { self().equations(z, u, results); }

    void differentiate(const double* z, const double* u, double* by_z) const final {
        using number = dual<n>;
        std::array<number, n> variables, results;
        std::array<number, Inputs + 1> given;
        for (std::size_t i = 0; i < n; ++i) {
            variables[i].v = z[i];
            variables[i].d[i] = 1;
        }
        for (std::size_t i = 0; i < Inputs; ++i) given[i].v = u[i];
        self().equations(variables.data(), given.data(), results.data());
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t i = 0; i < n; ++i) by_z[i + j * n] = results[i].d[j];
    }

    std::vector<dependence> structure() const final {
        std::array<dependence, n> variables;
        std::array<dependence, Inputs + 1> given;
        std::vector<dependence> results(n);
        for (std::size_t i = 0; i < n; ++i) variables[i] = dependence::of(i);
        for (std::size_t i = 0; i < Inputs; ++i) given[i] = dependence::of(n + i);
        self().equations(variables.data(), given.data(), results.data());
        return results;
    }

   private:
    const Part& self() const { return static_cast<const Part&>(*this); }
};

inline void add_shown(subsystem_description& d, std::vector<shown>& outputs, std::string name, std::string unit,
                      std::string description, std::vector<std::pair<int, double>> terms) {
    outputs.push_back({add_output(d, std::move(name), std::move(unit), std::move(description)), std::move(terms)});
}

/// One kind of part that joins nodes.
struct element_kind {
    part_info info;
    std::unique_ptr<element> (*make)(const part&, const surroundings&);
};

/// Kinds of parts that have a pressure.
inline const std::vector<std::string> node_kinds{"node", "rigid-node", "tank", "source", "port", "accumulator"};

inline part_reference node_called(std::string name, std::string description, bool required = true) {
    return {std::move(name), std::move(description), node_kinds, required};
}

inline std::string at(const part& p, std::string_view key) { return std::string(p.refers_to(key)); }

}  // namespace mdpcosim::hydraulics

#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/differentiable.hpp"

/// Equations put together from terms: a term reads a few states and inputs and has a few results (a force, a flow), which are added to the rates
/// of states with factors (1/m). All terms of one law stand in one group and are evaluated in one loop.
///
/// A law is a struct with the numbers `variables`, `inputs`, `results`, a template
///     template <class T> void operator()(const T* z, const T* u, T* r) const
/// and double energy(const double* z) const, what its springs have stored.
namespace mdpcosim::valve_train {

inline constexpr int nothing = -1;  ///< in place of a state: zero, at rest

/// What result k of a term depends on: its own variables, then its inputs.
struct term_structure {
    int first_result;
    std::vector<int> states, inputs;
    std::vector<differentiable::dependence> results;
};

/// One product for the Jacobian: a derivative of a term goes to a slot.
struct jacobian_entry {
    std::size_t result, variable;
    int slot;
    double weight;
};

class term_group {
   public:
    term_group() = default;
    term_group(const term_group&) = delete;
    term_group& operator=(const term_group&) = delete;
    virtual ~term_group() = default;

    /// All its results, one behind the other.
    virtual void evaluate(const double* x, const double* u, double* results) const = 0;
    virtual void add_jacobian(const double* x, const double* u, double* values) const = 0;
    virtual double energy(const double* x) const = 0;
    virtual std::vector<term_structure> structure() const = 0;
    virtual std::size_t result_count() const = 0;

    int first_result = 0;                 ///< among those of all groups
    std::vector<jacobian_entry> entries;  ///< term by term
    std::vector<std::size_t> first = {};  ///< of every term, and the end
};

template <class Law>
class group_of final : public term_group {
   public:
    /// The number of its first result within the group.
    int add(const Law& law, std::array<int, Law::variables> states, std::array<int, Law::inputs> inputs = {}) {
        terms_.push_back({law, states, inputs});
        return static_cast<int>((terms_.size() - 1) * Law::results);
    }

    void evaluate(const double* x, const double* u, double* results) const override {
        for (const auto& one : terms_) {
            std::array<double, Law::variables> z;
            std::array<double, Law::inputs + 1> given;
            gather(one, x, u, z, given);
            one.law(z.data(), given.data(), results);
            results += Law::results;
        }
    }

    void add_jacobian(const double* x, const double* u, double* values) const override {
        using number = differentiable::dual<Law::variables>;
        for (std::size_t k = 0; k < terms_.size(); ++k) {
            std::array<double, Law::variables> z;
            std::array<double, Law::inputs + 1> given;
            gather(terms_[k], x, u, z, given);
            std::array<number, Law::variables> variables;
            std::array<number, Law::inputs + 1> known;
            std::array<number, Law::results> results;
            for (std::size_t i = 0; i < Law::variables; ++i) {
                variables[i].v = z[i];
                variables[i].d[i] = 1;
            }
            for (std::size_t i = 0; i < Law::inputs; ++i) known[i].v = given[i];
            terms_[k].law(variables.data(), known.data(), results.data());
            for (std::size_t e = first[k]; e < first[k + 1]; ++e)
                values[entries[e].slot] += entries[e].weight * results[entries[e].result].d[entries[e].variable];
        }
    }

    double energy(const double* x) const override {
        double sum = 0;
        for (const auto& one : terms_) {
            std::array<double, Law::variables> z;
            for (std::size_t i = 0; i < Law::variables; ++i) z[i] = one.states[i] < 0 ? 0 : x[one.states[i]];
            sum += one.law.energy(z.data());
        }
        return sum;
    }

    std::vector<term_structure> structure() const override {
        using differentiable::dependence;
        std::vector<term_structure> all;
        for (std::size_t k = 0; k < terms_.size(); ++k) {
            std::array<dependence, Law::variables> variables;
            std::array<dependence, Law::inputs + 1> given;
            std::vector<dependence> results(Law::results);
            for (std::size_t i = 0; i < Law::variables; ++i) variables[i] = dependence::of(i);
            for (std::size_t i = 0; i < Law::inputs; ++i) given[i] = dependence::of(Law::variables + i);
            terms_[k].law(variables.data(), given.data(), results.data());
            all.push_back({first_result + static_cast<int>(k * Law::results),
                           {terms_[k].states.begin(), terms_[k].states.end()},
                           {terms_[k].inputs.begin(), terms_[k].inputs.end()},
                           std::move(results)});
        }
        return all;
    }

    std::size_t result_count() const override { return terms_.size() * Law::results; }

   private:
    struct placed {
        Law law;
        std::array<int, Law::variables> states;
        std::array<int, Law::inputs> inputs;
    };
    static void gather(const placed& one, const double* x, const double* u, std::array<double, Law::variables>& z,
                       std::array<double, Law::inputs + 1>& given) {
        for (std::size_t i = 0; i < Law::variables; ++i) z[i] = one.states[i] < 0 ? 0 : x[one.states[i]];
        for (std::size_t i = 0; i < Law::inputs; ++i) given[i] = u[one.inputs[i]];
    }

    std::vector<placed> terms_;
};

}  // namespace mdpcosim::valve_train

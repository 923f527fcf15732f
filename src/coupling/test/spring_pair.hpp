#pragma once

#include <array>
#include <memory>
#include <vector>

#include "coupling/network.hpp"

/// Two bodies A and B with the outputs (x_A, v_A, x_B, v_B), coupled by one linear spring through the network: the two
/// test systems of Friedrich 2011, Figs. 2.6 and 2.8, differ in what the bodies do with the force.
namespace mdpcosim::test {

inline std::unique_ptr<law> make_law(const std::string& name,
                                     std::initializer_list<std::pair<std::string, double>> given) {
    const law_info* info = law_registry::instance().find(name);
    parameter_values values(info->parameters);
    for (const auto& [parameter, value] : given) values.set(parameter, {value});
    return info->make(values);
}

class spring_pair {
   public:
    using state = std::array<double, 4>;

    spring_pair(double stiffness, const extrapolation_rule& rule, int input_degree = max_degree) {
        const auto channel =
            net_.add_channel("spring", make_law("spring", {{"stiffness", stiffness}}),
                             {{output_slot(0), output_slot(1), 1}, {output_slot(2), output_slot(3), -1}}, rule);
        net_.add_delivery(input_slot(0), input_degree, {channel, -1});
        net_.add_delivery(input_slot(1), input_degree, {channel, 1});
        net_.finish(std::vector<double>{0, 0});
    }

    void accept(double t, const state& y) {
        std::array<double, 1> u, du;
        net_.evaluate(0, y, u, du);
        net_.accept(t, y, u, du);
    }

    /// The forces on A and B from the last accepted time t to t_next.
    const std::array<polynomial, 2>& forces(double t, double t_next) {
        net_.extrapolate(t_next);
        net_.deliver(t_next - t, inputs_);
        return inputs_;
    }

    void clear() { net_.clear_history(); }

   private:
    network net_;
    std::array<polynomial, 2> inputs_;
};

}  // namespace mdpcosim::test

#include "analysis/stand_in.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "subsystem/factory.hpp"
#include "transport/threads.hpp"

namespace mdpcosim {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// A law with one slope everywhere, zero where the real one stands. For rules and methods it is what the real one is.
class law_with_slope final : public law {
   public:
    law_with_slope(std::unique_ptr<law> own, const law_slope& slope) : own_(std::move(own)), slope_(slope) {}
    bool physical() const override { return own_->physical(); }
    bool needs_velocity() const override { return own_->needs_velocity(); }
    bool has_rate() const override { return own_->has_rate(); }
    std::optional<double> stiffness() const override { return own_->stiffness(); }
    law_value evaluate(double q, double v) const override {
        return {slope_.c * q + (needs_velocity() ? slope_.d * v : 0), slope_.c * v};
    }
    law_slope slope(double, double) const override { return slope_; }
    int corner_count() const override { return own_->corner_count(); }
    void corners(double, double, double* z) const override { std::fill_n(z, own_->corner_count(), 1.0); }
    bool remembers() const override { return false; }

   private:
    std::unique_ptr<law> own_;
    law_slope slope_;
};

bool is_stand_in(const identified_subsystem& one) {
    return one.how == identified_subsystem::way::equations || one.how == identified_subsystem::way::trials;
}

linear_equations without_states(const identified_subsystem& one) {
    linear_equations eq;
    eq.A = MatrixXd(0, 0);
    eq.B = eq.E = MatrixXd(0, one.description.input_count());
    eq.C = MatrixXd(one.description.output_count(), 0);
    eq.D = MatrixXd::Zero(one.description.output_count(), one.description.input_count());
    return eq;
}

/// Of those that nothing is known of: what they give now stays.
std::unique_ptr<linear_subsystem> make_rigid(const identified_subsystem& one) {
    return std::make_unique<linear_subsystem>(without_states(one), VectorXd(0), one.description, one.offers);
}

/// One more state, which is 1, carries drift and outputs of the state.
std::unique_ptr<subsystem> make_affine(const identified_subsystem& one) {
    linear_equations eq = is_stand_in(one) ? one.eq : without_states(one);
    const Index n = eq.A.rows();
    eq.A.conservativeResizeLike(MatrixXd::Zero(n + 1, n + 1));
    if (n > 0) eq.A.col(n).head(n) = one.f - one.eq.B * one.u0;
    for (MatrixXd* M : {&eq.B, &eq.E}) M->conservativeResizeLike(MatrixXd::Zero(n + 1, M->cols()));
    eq.C.conservativeResize(Eigen::NoChange, n + 1);
    eq.C.col(n) = one.y0 - eq.D * one.u0;
    VectorXd start = VectorXd::Ones(n + 1);
    if (n > 0) start.head(n) = one.start;
    return std::make_unique<linear_subsystem>(std::move(eq), std::move(start), one.description, one.offers);
}

}  // namespace

linear_system make_linear_system(const scenario& s, const identified_system& known,
                                 const std::map<std::string, law_slope>& slopes) {
    linear_system made;
    std::vector<named_subsystem> all;
    for (const identified_subsystem& one : known.subsystems) {
        if (one.how == identified_subsystem::way::itself) {
            all.push_back({one.name, make_alone(s, one.name)});
            continue;
        }
        auto part = is_stand_in(one) ? std::make_unique<linear_subsystem>(one.eq, VectorXd::Zero(one.states()),
                                                                          one.description, one.offers)
                                     : make_rigid(one);
        made.parts.push_back(part.get());
        all.push_back({one.name, std::move(part)});
    }
    const auto replace = [&](const std::string& connection, std::unique_ptr<law> own) -> std::unique_ptr<law> {
        return std::make_unique<law_with_slope>(std::move(own), slopes.at(connection));
    };
    assembly a = assemble(s, {make_thread_transport(std::move(all), 1, false), replace});
    check_method(s, a);
    made.system = std::move(a.system);
    made.chosen = std::move(a.chosen_method);
    made.system.initialise(s.time.start);
    made.chosen->prepare(made.system);
    return made;
}

assembly make_stand_in(const scenario& s, const identified_system& known) {
    std::vector<named_subsystem> all;
    for (const identified_subsystem& one : known.subsystems) {
        const bool as_it_is = one.how == identified_subsystem::way::itself ||
                              (one.how == identified_subsystem::way::source && s.subsystems[all.size()].built_in());
        all.push_back({one.name, as_it_is ? make_alone(s, one.name) : make_affine(one)});
    }
    assembly a = assemble(s, {make_thread_transport(std::move(all), 1, false), {}});
    check_method(s, a);
    a.system.initialise(s.time.start);
    a.chosen_method->prepare(a.system);
    return a;
}

MatrixXd coupled_matrix(const assembly& parts, const std::vector<identified_subsystem>& subsystems,
                        const std::map<std::string, law_slope>& slopes) {
    const network& net = parts.system.coupling;
    const transport& all = *parts.system.subsystems;
    // Whose an output is, and where its states begin.
    std::vector<Index> first{0};
    std::vector<std::pair<std::size_t, Index>> owner(all.outputs().size());
    for (std::size_t i = 0; i < subsystems.size(); ++i) {
        first.push_back(first.back() + (is_stand_in(subsystems[i]) ? subsystems[i].states() : 0));
        for (Index k = 0; k < subsystems[i].description.output_count(); ++k)
            owner[all.output_offset(subsystem_index(i)) + static_cast<std::size_t>(k)] = {i, k};
    }
    const auto deliveries = net.deliveries();
    std::map<std::size_t, Index> inputs;  // driven ones, by slot
    for (const auto& d : deliveries) inputs.emplace(d.input.value(), 0);
    Index count = 0;
    for (auto& [slot, number] : inputs) number = count++;
    Index integrals = 0;
    for (std::size_t c = 0; c < net.channels(); ++c)
        for (const channel_term& term : net.terms(channel_index(c))) integrals += term.value.valid() ? 0 : 1;
    const Index n = first.back(), size = n + integrals;
    MatrixXd u_by_x = MatrixXd::Zero(static_cast<Index>(net.channels()), size),
             u_by_w = MatrixXd::Zero(static_cast<Index>(net.channels()), count);
    MatrixXd M = MatrixXd::Zero(size, size), by_w = MatrixXd::Zero(size, count);
    // Adds weight * output to a row over states and one over inputs.
    const auto add = [&](auto&& x_row, auto&& w_row, output_slot slot, double weight) {
        const auto [i, k] = owner[slot.value()];
        if (weight == 0 || !is_stand_in(subsystems[i])) return;
        const linear_equations& eq = subsystems[i].eq;
        x_row.segment(first[i], subsystems[i].states()) += weight * eq.C.row(k);
        for (Index input = 0; input < eq.D.cols(); ++input)
            if (const auto found = inputs.find(all.input_offset(subsystem_index(i)) + static_cast<std::size_t>(input));
                eq.D(k, input) != 0 && found != inputs.end())
                w_row[found->second] += weight * eq.D(k, input);
    };
    Index integral = n;
    for (std::size_t c = 0; c < net.channels(); ++c) {
        const auto known = slopes.find(net.name(channel_index(c)));
        const law_slope slope =
            net.law_of(channel_index(c)) == nullptr || known == slopes.end() ? law_slope{1, 0} : known->second;
        const auto row = static_cast<Index>(c);
        for (const channel_term& term : net.terms(channel_index(c))) {
            if (term.value.valid()) {
                add(u_by_x.row(row), u_by_w.row(row), term.value, slope.c * term.weight);
            } else {
                add(M.row(integral), by_w.row(integral), term.rate, 1);
                u_by_x(row, integral++) += slope.c * term.weight;
            }
            if (slope.d != 0 && term.rate.valid())
                add(u_by_x.row(row), u_by_w.row(row), term.rate, slope.d * term.weight);
        }
    }
    MatrixXd deliver = MatrixXd::Zero(count, static_cast<Index>(net.channels()));
    for (const auto& d : deliveries)
        deliver(inputs.at(d.input.value()), static_cast<Index>(d.delivered.channel.value())) += d.delivered.factor;
    const MatrixXd w_by_x =
        (MatrixXd::Identity(count, count) - deliver * u_by_w).partialPivLu().solve(deliver * u_by_x);
    for (std::size_t i = 0; i < subsystems.size(); ++i) {
        if (!is_stand_in(subsystems[i])) continue;
        const linear_equations& eq = subsystems[i].eq;
        M.block(first[i], first[i], subsystems[i].states(), subsystems[i].states()) += eq.A;
        for (Index input = 0; input < eq.B.cols(); ++input)
            if (const auto found = inputs.find(all.input_offset(subsystem_index(i)) + static_cast<std::size_t>(input));
                found != inputs.end())
                by_w.col(found->second).segment(first[i], subsystems[i].states()) += eq.B.col(input);
    }
    if (count > 0) M += by_w * w_by_x;
    return M;
}

}  // namespace mdpcosim

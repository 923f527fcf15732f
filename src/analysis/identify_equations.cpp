#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "analysis/identification.hpp"
#include "core/error.hpp"
#include "subsystem/equilibrium.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

namespace {

constexpr double smallest_difference = 6e-6;  // third root of the rounding: central differences
constexpr int most_states =
    120;  // more would make every macro step of the stand-in long; trials find the few that ports show
constexpr double kink = 0.01;  // one-sided slopes that differ by such a part of the larger one

Eigen::Index rows(int count) { return count; }

/// f and g of a model at a time, with what its differences are.
class model_at {
   public:
    model_at(const equations& model, double t, Eigen::VectorXd x, Eigen::VectorXd u)
        : model_(model), t_(t), x_(std::move(x)), u_(std::move(u)) {
        f_ = derivatives(x_, u_);
        y_ = outputs(x_, u_);
    }

    const Eigen::VectorXd& f() const { return f_; }
    const Eigen::VectorXd& y() const { return y_; }
    std::vector<std::string> kinks;

    void by_states(Eigen::MatrixXd& A, Eigen::MatrixXd& C) {
        A.resize(x_.size(), x_.size());
        C.resize(y_.size(), x_.size());
        const bool exact = model_.jacobian(t_, x_.data(), u_.data(), A.data());
        for (Eigen::Index i = 0; i < x_.size(); ++i) {
            const double h =
                smallest_difference * std::max(std::fabs(x_[i]), std::fabs(model_.nominal(static_cast<int>(i))));
            Eigen::VectorXd to = x_, from = x_;
            to[i] += h;
            from[i] -= h;
            const double width = to[i] - from[i];
            if (!exact) {
                const Eigen::VectorXd above = derivatives(to, u_), below = derivatives(from, u_);
                A.col(i) = (above - below) / width;
                look_for_kink(above, below, h, fmt::format("state {}", model_.state_name(static_cast<int>(i))));
            }
            C.col(i) = (outputs(to, u_) - outputs(from, u_)) / width;
        }
    }

    void by_input(int input, const subsystem_description& d, Eigen::MatrixXd& B, Eigen::MatrixXd& D) {
        const double h = smallest_difference * std::max(1.0, std::fabs(u_[input]));
        Eigen::VectorXd to = u_, from = u_;
        to[input] += h;
        from[input] -= h;
        const double width = to[input] - from[input];
        const Eigen::VectorXd above = derivatives(x_, to), below = derivatives(x_, from);
        B.col(input) = (above - below) / width;
        D.col(input) = (outputs(x_, to) - outputs(x_, from)) / width;
        for (const auto& v : d.inputs)
            if (input >= v.slot && input < v.slot + v.size)
                look_for_kink(above, below, h, fmt::format("input '{}'", element_name(v, input)));
    }

   private:
    Eigen::VectorXd derivatives(const Eigen::VectorXd& x, const Eigen::VectorXd& u) const {
        Eigen::VectorXd dx = Eigen::VectorXd::Zero(x.size());
        model_.derivatives(t_, x.data(), u.data(), dx.data());
        return dx;
    }
    Eigen::VectorXd outputs(const Eigen::VectorXd& x, const Eigen::VectorXd& u) const {
        Eigen::VectorXd y = Eigen::VectorXd::Zero(rows(model_.describe().output_count()));
        model_.outputs(t_, x.data(), u.data(), y.data());
        return y;
    }
    void look_for_kink(const Eigen::VectorXd& above, const Eigen::VectorXd& below, double h, const std::string& what) {
        for (Eigen::Index k = 0; k < f_.size(); ++k) {
            const double right = (above[k] - f_[k]) / h, left = (f_[k] - below[k]) / h;
            const double larger = std::max(std::fabs(right), std::fabs(left));
            const double rounding = 1e-13 * std::max({std::fabs(above[k]), std::fabs(f_[k]), std::fabs(below[k])}) / h;
            if (!(std::fabs(right - left) > kink * larger + rounding)) continue;
            kinks.push_back(
                fmt::format("the rate of state {} answers to {} with {:.4g} on one side and {:.4g} on the other",
                            model_.state_name(static_cast<int>(k)), what, left, right));
            return;
        }
    }

    const equations& model_;
    double t_;
    Eigen::VectorXd x_, u_, f_, y_;
};

/// 0 = f_a(x, z, u) says what the algebraic states z are: they leave the equations.
void eliminate_algebraic_states(const equations& model, linear_equations& eq, Eigen::VectorXd& f) {
    std::vector<int> kept, gone;
    for (int i = 0; i < model.state_count(); ++i) (model.is_algebraic(i) ? gone : kept).push_back(i);
    if (gone.empty()) return;
    const Eigen::MatrixXd inner = eq.A(gone, gone);
    const Eigen::PartialPivLU<Eigen::MatrixXd> solver(inner);
    const Eigen::MatrixXd by_x = -solver.solve(Eigen::MatrixXd(eq.A(gone, kept)));
    const Eigen::MatrixXd by_u = -solver.solve(Eigen::MatrixXd(eq.B(gone, Eigen::all)));
    const Eigen::MatrixXd to_f = eq.A(kept, gone), to_y = eq.C(Eigen::all, gone);
    eq.D += to_y * by_u;
    eq.B = Eigen::MatrixXd(eq.B(kept, Eigen::all) + to_f * by_u);
    eq.C = Eigen::MatrixXd(eq.C(Eigen::all, kept) + to_y * by_x);
    eq.A = Eigen::MatrixXd(eq.A(kept, kept) + to_f * by_x);
    f = Eigen::VectorXd(f(kept));
}

/// As a run would begin with these inputs.
Eigen::VectorXd initial_state_of(equations& model, double t, const Eigen::VectorXd& u) {
    Eigen::VectorXd x = Eigen::VectorXd::Zero(rows(model.state_count()));
    model.initial_state(t, x.data());
    if (model.settles()) model.settle(t, u.data(), x.data());
    if (model.begins_at_rest) find_equilibrium(model, t, u.data(), x.data());
    if (model.watches(moment::interval)) model.discrete_update(moment::interval, t, x.data(), u.data());
    return x;
}

std::unique_ptr<equations> equations_of(const scenario& s, std::size_t subsystem) {
    const subsystem_spec& spec = s.subsystems[subsystem];
    if (is_sampled(spec) || is_held(spec)) return nullptr;
    try {
        std::unique_ptr<equations> model = make_equations(on_macro_grid(spec, s.time.step, s.time.end - s.time.start));
        return model->state_count() > most_states ? nullptr : std::move(model);
    } catch (const user_error&) {
        return nullptr;
    }
}

}  // namespace

const char* word_for(identified_subsystem::way how) {
    switch (how) {
        case identified_subsystem::way::equations:
            return "equations";
        case identified_subsystem::way::trials:
            return "trials";
        case identified_subsystem::way::itself:
            return "itself";
        case identified_subsystem::way::source:
            return "source";
        case identified_subsystem::way::excluded:
            return "excluded";
    }
    return "";
}

std::vector<coupled_slots> find_coupled_slots(const assembly& parts) {
    const transport& all = *parts.system.subsystems;
    std::vector<std::vector<bool>> in(all.size()), out(all.size());
    const auto owner = [&](std::size_t slot, bool input) {
        std::size_t i = 0;
        while (i + 1 < all.size() &&
               (input ? all.input_offset(subsystem_index(i + 1)) : all.output_offset(subsystem_index(i + 1))) <= slot)
            ++i;
        return i;
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        in[i].resize(static_cast<std::size_t>(all.describe(subsystem_index(i)).input_count()));
        out[i].resize(static_cast<std::size_t>(all.describe(subsystem_index(i)).output_count()));
    }
    for (const auto& c : parts.system.coupling.deliveries()) {
        const std::size_t i = owner(c.input.value(), true);
        in[i][c.input.value() - all.input_offset(subsystem_index(i))] = true;
    }
    for (std::size_t c = 0; c < parts.system.coupling.channels(); ++c)
        for (const channel_term& term : parts.system.coupling.terms(channel_index(c)))
            for (const output_slot slot : {term.value, term.rate, term.acceleration}) {
                if (!slot.valid()) continue;
                const std::size_t i = owner(slot.value(), false);
                out[i][slot.value() - all.output_offset(subsystem_index(i))] = true;
            }
    std::vector<coupled_slots> found(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t k = 0; k < in[i].size(); ++k)
            if (in[i][k]) found[i].inputs.push_back(static_cast<int>(k));
        for (std::size_t k = 0; k < out[i].size(); ++k)
            if (out[i][k]) found[i].outputs.push_back(static_cast<int>(k));
    }
    return found;
}

bool shows_equations(const scenario& s, std::size_t subsystem) { return equations_of(s, subsystem) != nullptr; }

bool identify_by_equations(const scenario& s, std::size_t subsystem, const operating_point& at,
                           identified_subsystem& into) {
    const std::unique_ptr<equations> model = equations_of(s, subsystem);
    if (model == nullptr) return false;
    const Eigen::VectorXd x = initial_state_of(*model, at.t, into.u0);
    const auto inputs = rows(into.description.input_count());
    model_at point(*model, at.t, x, into.u0);
    into.f = point.f();
    into.y0 = point.y();
    point.by_states(into.eq.A, into.eq.C);
    into.eq.B = Eigen::MatrixXd::Zero(x.size(), inputs);
    into.eq.D = Eigen::MatrixXd::Zero(into.y0.size(), inputs);
    for (int input = 0; input < inputs; ++input) point.by_input(input, into.description, into.eq.B, into.eq.D);
    eliminate_algebraic_states(*model, into.eq, into.f);
    into.eq.E = Eigen::MatrixXd::Zero(into.eq.A.rows(), inputs);
    into.start = Eigen::VectorXd::Zero(into.eq.A.rows());
    into.kinks = std::move(point.kinks);
    into.how = identified_subsystem::way::equations;
    return true;
}

}  // namespace mdpcosim

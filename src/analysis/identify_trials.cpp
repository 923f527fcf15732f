#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/identification.hpp"
#include "analysis/realisation.hpp"
#include "core/error.hpp"

namespace mdpcosim {

namespace {

constexpr double part_of_motion = 0.1;  // of how far an input went in a short run: the step that it is given
constexpr double part_of_value = 0.01;  // of an input that did not move, or of 1 where it is zero

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// An output that is the integral of another one, or its derivative.
struct relation {
    int slot;
    int of;  ///< place among the fitted ones
    bool derivative;
};

}  // namespace

struct trial_runs::impl {
    const scenario& s;
    const operating_point& at;
    coupled_slots slots;
    identified_subsystem& into;
    std::vector<int> fitted;  ///< outputs that the realisation has
    std::vector<relation> others;
    std::unique_ptr<subsystem> one;  ///< where it saves and restores
    std::unique_ptr<snapshot> begin;
    std::vector<double> size;  ///< of the steps, by coupled input
    MatrixXd baseline;         ///< [tick][fitted]
    std::optional<realisation> model;

    void sort_outputs();
    std::unique_ptr<subsystem> make();
    MatrixXd run(double dt, int count, int input);
    std::vector<MatrixXd> answers(double dt, int count);
    void write(const realisation& r, double dt);
    void find_start(double dt);
};

/// Motions of ports tell what is whose rate, and descriptions do.
void trial_runs::impl::sort_outputs() {
    const subsystem_description& d = into.description;
    std::vector<int> rate(static_cast<std::size_t>(d.output_count()), -1);
    for (const output_variable& y : d.outputs)
        for (int k = 0; k < y.size && y.rate_slot >= 0; ++k)
            rate[static_cast<std::size_t>(y.slot + k)] = y.rate_slot + k;
    for (const port& p : d.ports)
        if (p.causality == causality::takes_load && p.kind != port_kind::frame)
            for (int k = 0; k < 2; ++k)
                if (p.motion[static_cast<std::size_t>(k)] >= 0 && p.motion[static_cast<std::size_t>(k) + 1] >= 0)
                    rate[static_cast<std::size_t>(p.motion[static_cast<std::size_t>(k)])] =
                        p.motion[static_cast<std::size_t>(k) + 1];
    const auto place = [&](int slot) {
        const auto found = std::ranges::find(fitted, slot);
        if (found == fitted.end()) fitted.push_back(slot);
        return static_cast<int>(std::ranges::find(fitted, slot) - fitted.begin());
    };
    std::vector<int> base(rate.size(), -1);  // by output: whose rate it is
    for (std::size_t k = 0; k < rate.size(); ++k)
        if (rate[k] >= 0) base[static_cast<std::size_t>(rate[k])] = static_cast<int>(k);
    for (const int slot : slots.outputs) {
        const int own_rate = rate[static_cast<std::size_t>(slot)], of = base[static_cast<std::size_t>(slot)];
        const bool is_acceleration = of >= 0 && base[static_cast<std::size_t>(of)] >= 0;
        if (is_acceleration)
            others.push_back({slot, place(of), true});
        else if (own_rate >= 0 && of < 0)
            others.push_back({slot, place(own_rate), false});
        else
            place(slot);
    }
}

std::unique_ptr<subsystem> trial_runs::impl::make() {
    std::unique_ptr<subsystem> fresh = make_alone(s, into.name);
    fresh->initialise(at.t);
    ++into.instances;
    return fresh;
}

/// Outputs at 0, dt, 2 dt ...; with a step of one input, or none (-1).
MatrixXd trial_runs::impl::run(double dt, int count, int input) {
    std::unique_ptr<subsystem> fresh;
    if (into.offers.save_restore) {
        if (!one) {
            one = make();
            begin = one->make_snapshot();
            one->save(*begin);
        } else {
            one->restore(*begin);
        }
    } else {
        fresh = make();
    }
    subsystem& used = one ? *one : *fresh;
    std::vector<double> u(into.u0.begin(), into.u0.end()), y(static_cast<std::size_t>(into.description.output_count()));
    if (input >= 0)
        u[static_cast<std::size_t>(slots.inputs[static_cast<std::size_t>(input)])] +=
            size[static_cast<std::size_t>(input)];
    std::vector<polynomial> constant(u.size());
    for (std::size_t k = 0; k < u.size(); ++k) constant[k].c[0] = u[k];
    MatrixXd seen(count + 1, static_cast<Index>(fitted.size()));
    const auto note = [&](int tick) {
        for (std::size_t k = 0; k < fitted.size(); ++k) {
            const double value = y[static_cast<std::size_t>(fitted[k])];
            if (!std::isfinite(value)) throw run_error("an output is no number in a trial");
            seen(tick, static_cast<Index>(k)) = value;
        }
    };
    used.outputs(u, y);
    note(0);
    if (input < 0) into.y0 = Eigen::Map<const VectorXd>(y.data(), static_cast<Index>(y.size()));
    const time_grid grid(at.t, at.t + count * dt, dt);
    for (int k = 0; k < count; ++k) {
        used.advance(grid.step(k), constant, y);
        if (used.has_notice()) used.take_notice();
        note(k + 1);
    }
    into.advances += count;
    return seen;
}

std::vector<MatrixXd> trial_runs::impl::answers(double dt, int count) {
    baseline = run(dt, count, -1);
    const auto inputs = static_cast<Index>(slots.inputs.size());
    std::vector<MatrixXd> all(static_cast<std::size_t>(count) + 1,
                              MatrixXd::Zero(static_cast<Index>(fitted.size()), inputs));
    for (Index i = 0; i < inputs; ++i) {
        const MatrixXd seen = run(dt, count, static_cast<int>(i));
        for (int k = 0; k <= count; ++k)
            all[static_cast<std::size_t>(k)].col(i) =
                (seen.row(k) - baseline.row(k)).transpose() / size[static_cast<std::size_t>(i)];
    }
    // What is not said to depend on an input at once is so by rounding, or by an output that follows late.
    for (std::size_t k = 0; k < fitted.size(); ++k)
        for (const output_variable& y : into.description.outputs)
            if (fitted[k] >= y.slot && fitted[k] < y.slot + y.size)
                for (std::size_t i = 0; i < slots.inputs.size(); ++i)
                    if (std::ranges::find(y.direct, slots.inputs[i]) == y.direct.end())
                        all[0](static_cast<Index>(k), static_cast<Index>(i)) = 0;
    return all;
}

/// Into the slots of the subsystem, with integrals as states behind those of the realisation.
void trial_runs::impl::write(const realisation& r, double dt) {
    const Index n = r.A.rows(), inputs = into.description.input_count(), outputs = into.description.output_count();
    const Index integrals = std::ranges::count(others, false, &relation::derivative), all = n + integrals;
    linear_equations& eq = into.eq;
    MatrixXd B = MatrixXd::Zero(n, inputs), D = MatrixXd::Zero(static_cast<Index>(fitted.size()), inputs);
    for (std::size_t i = 0; i < slots.inputs.size(); ++i) {
        B.col(slots.inputs[i]) = r.B.col(static_cast<Index>(i));
        D.col(slots.inputs[i]) = r.D.col(static_cast<Index>(i));
    }
    eq.A = MatrixXd::Zero(all, all);
    eq.B = MatrixXd::Zero(all, inputs);
    eq.E = MatrixXd::Zero(all, inputs);
    eq.C = MatrixXd::Zero(outputs, all);
    eq.D = MatrixXd::Zero(outputs, inputs);
    eq.A.topLeftCorner(n, n) = r.A;
    eq.B.topRows(n) = B;
    for (std::size_t k = 0; k < fitted.size(); ++k) {
        eq.C.row(fitted[k]).head(n) = r.C.row(static_cast<Index>(k));
        eq.D.row(fitted[k]) = D.row(static_cast<Index>(k));
    }
    Index next = n;
    for (const relation& o : others) {
        if (o.derivative) {
            eq.C.row(o.slot).head(n) = r.C.row(o.of) * r.A;
            eq.D.row(o.slot) = r.C.row(o.of) * B;
            continue;
        }
        eq.A.row(next).head(n) = r.C.row(o.of);
        eq.B.row(next) = D.row(o.of);
        eq.C(o.slot, next++) = 1;
    }
    into.f = VectorXd::Zero(all);
    into.start = VectorXd::Zero(all);
    find_start(dt);
}

/// The run without steps tells where the states are and what drives them: y(t) = y0 + C (e^{At} - 1) x + C times the answer to a constant f.
void trial_runs::impl::find_start(double dt) {
    const Index n = into.states() - std::ranges::count(others, false, &relation::derivative), ticks = baseline.rows(),
                p = baseline.cols();
    if (n > 0) {
        const MatrixXd A = into.eq.A.topLeftCorner(n, n);
        MatrixXd C(p, n), M = MatrixXd::Zero(2 * n, 2 * n);
        for (Index k = 0; k < p; ++k) C.row(k) = into.eq.C.row(fitted[static_cast<std::size_t>(k)]).head(n);
        M.topLeftCorner(n, n) = A;
        M.topRightCorner(n, n).setIdentity();
        const MatrixXd step = matrix_exponential(M * dt);
        MatrixXd now = MatrixXd::Identity(2 * n, 2 * n), left((ticks - 1) * p, 2 * n);
        VectorXd right((ticks - 1) * p);
        for (Index k = 1; k < ticks; ++k) {
            now = step * now;
            left.middleRows((k - 1) * p, p).leftCols(n) = C * (now.topLeftCorner(n, n) - MatrixXd::Identity(n, n));
            left.middleRows((k - 1) * p, p).rightCols(n) = C * now.topRightCorner(n, n);
            right.segment((k - 1) * p, p) = (baseline.row(k) - baseline.row(0)).transpose();
        }
        const VectorXd found = left.completeOrthogonalDecomposition().solve(right);
        into.start.head(n) = found.head(n);
        into.f.head(n) = found.tail(n);
        for (Index k = 0; k < p; ++k)
            into.y0[fitted[static_cast<std::size_t>(k)]] = baseline(0, k) - C.row(k).dot(found.head(n));
    }
    // Integrals begin at y0 and go on with the rate itself, not with its distance from y0.
    Index next = n;
    for (const relation& o : others)
        if (!o.derivative) into.f[next++] = into.y0[fitted[static_cast<std::size_t>(o.of)]];
}

trial_runs::trial_runs(const scenario& s, const operating_point& at, coupled_slots slots, identified_subsystem& into)
    : self_(new impl{s, at, std::move(slots), into, {}, {}, nullptr, nullptr, {}, {}, {}}) {
    self_->sort_outputs();
    for (const int input : self_->slots.inputs) {
        const double moved = into.moved.size() > 0 ? into.moved[input] : 0;
        const double value = std::fabs(into.u0[input]);
        self_->size.push_back(moved > 0 ? part_of_motion * moved : value > 0 ? part_of_value * value : part_of_value);
    }
}

trial_runs::~trial_runs() = default;

void trial_runs::look_once(double dt) {
    const auto seen = self_->answers(dt, 1);
    const Index p = seen[0].rows();
    // Every output is an integrator of its own for every input that moves it.
    self_->write({MatrixXd::Zero(p, p), (seen[1] - seen[0]) / dt, MatrixXd::Identity(p, p), seen[0]}, dt);
    self_->into.how = identified_subsystem::way::trials;
}

void trial_runs::identify(double dt, int count) {
    self_->model = realise(self_->answers(dt, count), dt);
    self_->write(*self_->model, dt);
    self_->into.how = identified_subsystem::way::trials;
}

void trial_runs::confirm(double dt, int count) {
    const VectorXd found = self_->into.y0;
    const auto seen = self_->answers(dt, count), told = step_answers(*self_->model, dt, count);
    self_->into.y0 = found;
    double worst = 0;
    for (Index i = 0; i < seen[0].rows(); ++i)
        for (Index j = 0; j < seen[0].cols(); ++j) {
            double off = 0, largest = 0;
            for (std::size_t k = 0; k < seen.size(); ++k) {
                off = std::max(off, std::fabs(seen[k](i, j) - told[k](i, j)));
                largest = std::max(largest, std::fabs(seen[k](i, j)));
            }
            if (largest > 0) worst = std::max(worst, off / largest);
        }
    self_->into.misfit = worst;
}

}  // namespace mdpcosim

#include "analysis/recurrence.hpp"

#include <algorithm>
#include <cmath>

#include "coupling/eigenvalues.hpp"

namespace mdpcosim {

recurrence::recurrence(linear_system& system) : system_(system) {
    for (auto* part : system.parts) states_ += static_cast<int>(part->state().size());
    network_ = system.system.coupling.memory_size();
    scratch_.resize(static_cast<std::size_t>(states_) + network_ + system.chosen->memory_size(system.system));
    zeros_.resize(system.system.subsystems->inputs().size());
    P_.resize(size(), size());
}

void recurrence::set(double t, double H, std::span<const double> r) {
    coupled_system& system = system_.system;
    auto from = r.begin();
    for (std::size_t i = 0; i < system_.parts.size(); ++i) {
        const auto x = system_.parts[i]->state();
        std::copy_n(from, x.size(), x.begin());
        from += static_cast<std::ptrdiff_t>(x.size());
        const auto inputs = static_cast<std::size_t>(system_.parts[i]->describe().input_count());
        system.subsystems->evaluate(subsystem_index(i), std::span<const double>(zeros_).first(inputs));
    }
    const auto own = from + static_cast<std::ptrdiff_t>(network_);
    system.coupling.set_memory(t, H, {from, own});
    system_.chosen->set_memory(H, {own, r.end()});
    system.evaluate(t, system.at_each_step);
}

void recurrence::get(double t, std::span<double> r) const {
    auto to = r.begin();
    for (auto* part : system_.parts) to = std::copy(part->state().begin(), part->state().end(), to);
    const auto own = to + static_cast<std::ptrdiff_t>(network_);
    system_.system.coupling.memory(t, {to, own});
    system_.chosen->memory({own, r.end()});
}

const Eigen::MatrixXd& recurrence::matrix(double H) {
    for (int column = 0; column < size(); ++column) {
        std::fill(scratch_.begin(), scratch_.end(), 0.0);
        scratch_[static_cast<std::size_t>(column)] = 1;
        set(0, H, scratch_);
        system_.chosen->step(system_.system, {0, H, 0});
        get(H, {P_.col(column).data(), scratch_.size()});
    }
    return P_;
}

std::vector<std::complex<double>> eigenvalues(Eigen::MatrixXd P) {
    balance(P);
    const Eigen::EigenSolver<Eigen::MatrixXd> solver(P, false);
    return {solver.eigenvalues().begin(), solver.eigenvalues().end()};
}

double spectral_radius(Eigen::MatrixXd P) {
    balance(P);
    return Eigen::EigenSolver<Eigen::MatrixXd>(P, false).eigenvalues().cwiseAbs().maxCoeff();
}

}  // namespace mdpcosim

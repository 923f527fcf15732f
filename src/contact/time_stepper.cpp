#include "contact/time_stepper.hpp"

#include <algorithm>
#include <numeric>

namespace mdpcosim {

time_stepper::time_stepper(const contact_system& system, const stepper_settings& settings)
    : system_(system), settings_(settings), problem_(system.body_sizes(), system.contact_count(), settings.contacts) {
    const auto sizes = system.body_sizes();
    const auto n = static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), 0));
    const auto widest = static_cast<std::size_t>(sizes.empty() ? 0 : *std::ranges::max_element(sizes));
    problem_.reserve(static_cast<std::size_t>(system.contact_count()), static_cast<std::size_t>(system.most_terms()));
    for (auto* all : {&q_, &v_, &before_, &f_}) all->resize(n);
    mass_.resize(widest * widest);
    failures_.reserve(most_failures);
}

void time_stepper::start(std::span<const double> q, std::span<const double> v) {
    std::ranges::copy(q, q_.begin());
    std::ranges::copy(v, v_.begin());
    std::ranges::fill(problem_.impulses(), 0.0);
    ask_for_masses();
}

void time_stepper::ask_for_masses() {
    for (int b = 0; const int n : system_.body_sizes()) {
        const auto size = static_cast<std::size_t>(n);
        const auto into = std::span(mass_).first(size * size);
        system_.inverse_mass(b, q_, into);
        problem_.set_inverse_mass(b++, into);
    }
}

contact_outcome time_stepper::step(double t, double h) {
    system_.move(h / 2, v_, q_);
    if (system_.masses_vary()) ask_for_masses();
    system_.forces(t + h / 2, q_, v_, f_);
    before_ = v_;
    for (std::size_t b = 0, first = 0; const int size : system_.body_sizes()) {
        const auto n = static_cast<std::size_t>(size);
        const auto mass = problem_.inverse_mass(static_cast<int>(b++));
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = 0; j < n; ++j) v_[first + i] += h * mass[i * n + j] * f_[first + j];
        first += n;
    }
    problem_.clear();
    system_.close_contacts(t + h / 2, q_, problem_);
    const contact_outcome outcome = problem_.solve(before_, v_);
    if (settings_.correction > 0) problem_.correct(q_, settings_.correction, settings_.slop);
    system_.move(h / 2, v_, q_);

    ++counted_.steps;
    counted_.problems += problem_.size() > 0;
    counted_.sweeps += outcome.sweeps;
    counted_.impacts += outcome.impacts;
    counted_.without_rebound += outcome.without_rebound;
    if (!outcome.converged) {
        ++counted_.not_converged;
        if (failures_.size() < most_failures) failures_.push_back({t + h, outcome.worst, outcome.change});
    }
    return outcome;
}

void time_stepper::save(std::span<double> into) const {
    auto at = std::ranges::copy(q_, into.begin()).out;
    at = std::ranges::copy(v_, at).out;
    std::ranges::copy(impulses(), at);
}

void time_stepper::restore(std::span<const double> from) {
    const auto n = static_cast<std::ptrdiff_t>(q_.size());
    std::copy_n(from.begin(), n, q_.begin());
    std::copy_n(from.begin() + n, n, v_.begin());
    std::copy(from.begin() + 2 * n, from.end(), problem_.impulses().begin());
    if (!system_.masses_vary()) return;
    ask_for_masses();
}

}  // namespace mdpcosim

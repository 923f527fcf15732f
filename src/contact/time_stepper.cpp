#include "contact/time_stepper.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace mdpcosim {

time_stepper::time_stepper(const contact_system& system, const stepper_settings& settings)
    : system_(system),
      settings_(settings),
      problem_(system.body_sizes(), system.contact_count(), settings.contacts),
      most_contacts_(static_cast<std::size_t>(system.most_contacts())) {
    const auto sizes = system.body_sizes();
    const auto n = static_cast<std::size_t>(std::accumulate(sizes.begin(), sizes.end(), 0));
    const auto widest = static_cast<std::size_t>(sizes.empty() ? 0 : *std::ranges::max_element(sizes));
    problem_.reserve(most_contacts_, static_cast<std::size_t>(system.most_terms()));
    q_.resize(system.coordinate_count());
    for (auto* all : {&v_, &before_, &f_}) all->resize(n);
    mass_.resize(widest * widest);
}

void time_stepper::start(std::span<const double> q, std::span<const double> v) {
    std::ranges::copy(q, q_.begin());
    std::ranges::copy(v, v_.begin());
    problem_.restore(std::array{0.0});
    ask_for_masses();
}

void time_stepper::ask_for_masses() {
    for (int b = 0; const int n : system_.body_sizes()) {
        const auto into = std::span(mass_).first(static_cast<std::size_t>(n * n));
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
    if (settings_.correction > 0 && problem_.correction(settings_.correction, settings_.slop, before_))
        system_.move(1, before_, q_);
    system_.move(h / 2, v_, q_);

    ++counted_.steps;
    counted_.problems += problem_.size() > 0;
    counted_.sweeps += outcome.sweeps;
    counted_.impacts += outcome.impacts;
    counted_.without_rebound += outcome.without_rebound;
    counted_.not_converged += !outcome.converged;
    return outcome;
}

void time_stepper::save(std::span<double> into) const {
    std::ranges::copy(q_, into.begin());
    std::ranges::copy(v_, into.begin() + static_cast<std::ptrdiff_t>(q_.size()));
    problem_.save(into.subspan(q_.size() + v_.size()));
}

void time_stepper::restore(std::span<const double> from) {
    std::ranges::copy(from.first(q_.size()), q_.begin());
    std::ranges::copy(from.subspan(q_.size(), v_.size()), v_.begin());
    problem_.restore(from.subspan(q_.size() + v_.size()));
    ask_for_masses();
}

}  // namespace mdpcosim

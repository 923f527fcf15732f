#include "contact/contact_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace mdpcosim {

namespace {

constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();

}  // namespace

contact_problem::contact_problem(std::span<const int> body_sizes, int ids, const contact_settings& settings)
    : settings_(settings), size_of_body_(body_sizes.begin(), body_sizes.end()), touched_(body_sizes.size()) {
    std::size_t masses = 0;
    for (std::size_t b = 0; b < size_of_body_.size(); ++b) {
        first_of_body_.push_back(static_cast<int>(body_of_.size()));
        mass_of_body_.push_back(masses);
        const auto n = static_cast<std::size_t>(size_of_body_[b]);
        body_of_.insert(body_of_.end(), n, static_cast<int>(b));
        masses += n * n;
    }
    inverse_mass_.resize(masses);
    impulses_.resize(3 * static_cast<std::size_t>(ids));
    scratch_.resize(body_of_.size());
    free_.resize(body_of_.size());
}

void contact_problem::reserve(std::size_t contacts, std::size_t terms) {
    contacts_.reserve(contacts);
    rows_.reserve(3 * contacts);
    terms_.reserve(terms);
    const int widest = size_of_body_.empty() ? 0 : *std::ranges::max_element(size_of_body_);
    responses_.reserve(terms * static_cast<std::size_t>(widest));
}

void contact_problem::set_inverse_mass(int body, std::span<const double> matrix) {
    std::ranges::copy(matrix, inverse_mass_.begin() + static_cast<std::ptrdiff_t>(mass_of_body_[body]));
}

std::span<const double> contact_problem::inverse_mass(int body) const {
    const auto n = static_cast<std::size_t>(size_of_body_[body]);
    return std::span(inverse_mass_).subspan(mass_of_body_[body], n * n);
}

void contact_problem::clear() {
    contacts_.clear();
    rows_.clear();
    terms_.clear();
    responses_.clear();
}

void contact_problem::add(const closed_contact& c) {
    if (3 * static_cast<std::size_t>(c.id) >= impulses_.size()) throw std::logic_error("a contact without a place");
    contact added{c.id, 0, c.restitution, c.friction, c.depth, rows_.size()};
    add_row(c.normal, c.normal_speed);
    if (c.friction > 0 && !c.tangent.empty()) {
        add_row(c.tangent, c.tangent_speed);
        added.tangents = 1;
        if (!c.second_tangent.empty()) {
            add_row(c.second_tangent, c.second_tangent_speed);
            added.tangents = 2;
        }
    }
    contacts_.push_back(added);
}

/// M^-1 G^T reaches all coordinates of the bodies that the row touches.
void contact_problem::add_row(std::span<const direction_term> terms, double speed) {
    row added;
    added.speed = speed;
    added.begin = terms_.size();
    added.response_begin = responses_.size();
    for (const auto& term : terms) {
        terms_.push_back(term);
        touched_[static_cast<std::size_t>(body_of_[term.coordinate])] = true;
        scratch_[term.coordinate] += term.factor;
    }
    added.end = terms_.size();
    for (std::size_t k = added.begin; k < added.end; ++k) {
        const int b = body_of_[terms_[k].coordinate], first = first_of_body_[b], n = size_of_body_[b];
        if (!touched_[static_cast<std::size_t>(b)]) continue;
        touched_[static_cast<std::size_t>(b)] = false;
        const auto mass = inverse_mass(b);
        for (int i = 0; i < n; ++i) {
            const std::size_t row = static_cast<std::size_t>(i) * static_cast<std::size_t>(n);
            double sum = 0;
            for (int j = 0; j < n; ++j) sum += mass[row + static_cast<std::size_t>(j)] * scratch_[first + j];
            if (sum == 0) continue;
            responses_.push_back({first + i, sum});
            added.own += sum * scratch_[first + i];
        }
        std::fill_n(scratch_.begin() + first, n, 0.0);
    }
    added.response_end = responses_.size();
    rows_.push_back(added);
}

double contact_problem::rate(const row& r, std::span<const double> v) const {
    double sum = r.speed;
    for (std::size_t k = r.begin; k < r.end; ++k) sum += terms_[k].factor * v[terms_[k].coordinate];
    return sum;
}

void contact_problem::push(row& r, double change, std::span<double> v) const {
    r.impulse += change;
    for (std::size_t k = r.response_begin; k < r.response_end; ++k)
        v[responses_[k].coordinate] += responses_[k].factor * change;
}

/// The largest change of velocity that came of it.
double contact_problem::relax(contact& c, std::span<double> v) {
    row& normal = rows_[c.first_row];
    if (!(normal.own > 0)) return 0;
    const double wanted = std::max(0.0, normal.impulse - (rate(normal, v) + c.bias) / normal.own);
    const double change = wanted - normal.impulse;
    if (change != 0) push(normal, change, v);
    return std::max(std::fabs(change) * normal.own, c.tangents > 0 ? relax_friction(c, v) : 0);
}

/// Projection onto [-mu lambda, mu lambda], or onto the disc of that radius.
double contact_problem::relax_friction(contact& c, std::span<double> v) {
    const double limit = c.friction * rows_[c.first_row].impulse;
    row& first = rows_[c.first_row + 1];
    if (c.tangents == 1) {
        if (!(first.own > 0)) return 0;
        const double wanted = std::clamp(first.impulse - rate(first, v) / first.own, -limit, limit);
        const double change = wanted - first.impulse;
        if (change != 0) push(first, change, v);
        return std::fabs(change) * first.own;
    }
    row& second = rows_[c.first_row + 2];
    const double own = std::max(first.own, second.own);
    if (!(own > 0)) return 0;
    double x = first.impulse - rate(first, v) / own, y = second.impulse - rate(second, v) / own;
    const double size = std::hypot(x, y);
    if (size > limit) x *= limit / size, y *= limit / size;
    const double by_x = x - first.impulse, by_y = y - second.impulse;
    push(first, by_x, v);
    push(second, by_y, v);
    return std::hypot(by_x, by_y) * own;
}

/// What the impact law asks of every contact; returns the largest velocity in one. A rebound slower than what the forces take
/// within the step is none: the contact rests.
double contact_problem::prepare(std::span<const double> before, std::span<const double> v, contact_outcome& outcome) {
    double scale = 0;
    for (contact& c : contacts_) {
        c.was = rate(rows_[c.first_row], before);
        c.free = rate(rows_[c.first_row], v);
        scale = std::max({scale, std::fabs(c.was), std::fabs(c.free)});
        for (int t = 1; t <= c.tangents; ++t)
            scale = std::max(scale, std::fabs(rate(rows_[c.first_row + static_cast<std::size_t>(t)], v)));
    }
    const double nothing = settings_.tolerance * scale;
    for (contact& c : contacts_) {
        const double rebound = -c.restitution * std::min(0.0, c.was);
        c.bias = rebound > std::max(c.was - c.free, nothing) ? -rebound : 0;
        outcome.impacts += -c.was > 2 * std::fabs(c.was - c.free) + nothing;
    }
    return scale;
}

/// With the impulses of the last problem.
void contact_problem::start(std::span<double> v) {
    for (const contact& c : contacts_)
        for (std::size_t t = 0; t <= static_cast<std::size_t>(c.tangents); ++t) {
            row& r = rows_[c.first_row + t];
            r.impulse = 0;
            if (const double kept = impulses_[3 * static_cast<std::size_t>(c.id) + t]; kept != 0 && r.own > 0)
                push(r, kept, v);
        }
}

/// Until what all further sweeps would change, by the ratio of the last two, is below the tolerance.
void contact_problem::sweep(std::span<double> v, double scale, contact_outcome& outcome) {
    double last = std::numeric_limits<double>::infinity();
    outcome.converged = false;
    for (int n = 0; n < settings_.most_sweeps && !outcome.converged; ++n) {
        outcome.change = 0;
        for (contact& c : contacts_) {
            const double change = relax(c, v);
            if (change > outcome.change) outcome.change = change, outcome.worst = c.id;
        }
        ++outcome.sweeps;
        const double ratio = outcome.change / last;
        outcome.converged =
            outcome.change <= rounding * scale ||
            (ratio < 1 && outcome.change * std::max(1.0, ratio / (1 - ratio)) <= settings_.tolerance * scale);
        last = outcome.change;
    }
}

/// By the impulses, on the velocities between free and final ones, beyond rounding.
bool contact_problem::makes_energy(std::span<const double> v, double scale) const {
    double work = 0, size = 0;
    for (const row& r : rows_) {
        work += r.impulse * (rate(r, v) + rate(r, free_)) / 2;
        size += std::fabs(r.impulse) * scale;
    }
    return work > 1e-9 * size;
}

contact_outcome contact_problem::solve(std::span<const double> before, std::span<double> v) {
    contact_outcome outcome;
    if (!contacts_.empty()) {
        std::ranges::copy(v, free_.begin());
        const double scale = prepare(before, v, outcome);
        start(v);
        sweep(v, scale, outcome);
        // Newton's law of impacts may make energy where restitutions differ, or with friction, and may ask of several contacts what no
        // impulses give; without restitution there is a solution, and none makes energy.
        if (std::ranges::any_of(contacts_, [](const contact& c) { return c.bias != 0; }) &&
            (!outcome.converged || makes_energy(v, scale))) {
            outcome.without_rebound = true;
            for (contact& c : contacts_) c.bias = 0;
            std::ranges::copy(free_, v.begin());
            start(v);
            sweep(v, scale, outcome);
        }
    }
    std::ranges::fill(impulses_, 0.0);
    for (const contact& c : contacts_)
        for (std::size_t t = 0; t <= static_cast<std::size_t>(c.tangents); ++t)
            impulses_[3 * static_cast<std::size_t>(c.id) + t] = rows_[c.first_row + t].impulse;
    if (outcome.converged) outcome.worst = -1;
    return outcome;
}

void contact_problem::correct(std::span<double> q, double fraction, double slop) const {
    for (const contact& c : contacts_) {
        const row& normal = rows_[c.first_row];
        if (!(c.depth > slop) || !(normal.own > 0)) continue;
        const double by = fraction * (c.depth - slop) / normal.own;
        for (std::size_t k = normal.response_begin; k < normal.response_end; ++k)
            q[responses_[k].coordinate] += responses_[k].factor * by;
    }
}

}  // namespace mdpcosim

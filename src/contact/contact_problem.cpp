#include "contact/contact_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/error.hpp"

namespace mdpcosim {

contact_problem::contact_problem(std::span<const int> body_sizes, int ids, const contact_settings& settings)
    : settings_(settings),
      size_of_body_(body_sizes.begin(), body_sizes.end()),
      islands_(body_sizes.size()),
      touched_(body_sizes.size()) {
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
    held_.reserve(contacts);
    unsolved_.reserve(contacts);
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
            const std::size_t begin_of_row = static_cast<std::size_t>(i) * static_cast<std::size_t>(n);
            double sum = 0;
            for (int j = 0; j < n; ++j) sum += mass[begin_of_row + static_cast<std::size_t>(j)] * scratch_[first + j];
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

/// What rounding does to the velocities in contacts, which may be small against those of bodies, and to what presses against each other.
double contact_problem::rounding_of(std::span<const double> v) const {
    double largest = 0;
    for (const row& r : rows_) {
        double sum = std::fabs(r.impulse) * r.own + std::fabs(r.speed);
        for (std::size_t k = r.begin; k < r.end; ++k) sum += std::fabs(terms_[k].factor * v[terms_[k].coordinate]);
        largest = std::max(largest, sum);
    }
    return 4 * std::numeric_limits<double>::epsilon() * largest;
}

/// Until what all further sweeps would change, by the ratio of the last two, is below the tolerance. One small change alone tells nothing: where sweeps
/// get ahead slowly, each problem would leave its error to the next.
void contact_problem::sweep(std::span<double> v, double scale, contact_outcome& outcome) {
    double last = 0;
    outcome.converged = false;
    for (int n = 0; n < settings_.most_sweeps && !outcome.converged; ++n) {
        outcome.change = 0;
        for (contact& c : contacts_) {
            c.change = relax(c, v);
            outcome.change = std::max(outcome.change, c.change);
        }
        ++outcome.sweeps;
        const double ratio = outcome.change / last;
        outcome.converged = (n > 0 && ratio < 1 &&
                             outcome.change * std::max(1.0, ratio / (1 - ratio)) <= settings_.tolerance * scale) ||
                            (outcome.change <= settings_.tolerance * scale && outcome.change <= rounding_of(v));
        last = outcome.change;
    }
}

/// None: no impulse of the contact moves anything.
contact_problem::island* contact_problem::island_of(const contact& c) {
    const row& normal = rows_[c.first_row];
    if (normal.response_begin == normal.response_end) return nullptr;
    int b = body_of_[responses_[normal.response_begin].coordinate];
    while (islands_[b].up != b) b = islands_[b].up = islands_[islands_[b].up].up;
    return &islands_[b];
}

/// Newton's law of impacts may make energy where restitutions differ, or with friction, and may ask of several contacts what no impulses give;
/// without restitution there is a solution, and none makes energy: the work of the impulses, on the velocities between free and final
/// ones, beyond rounding. Contacts that impulses do not lead to keep their rebounds. True: some lost theirs.
bool contact_problem::drop_rebounds(std::span<const double> v, double scale, bool converged) {
    if (std::ranges::all_of(contacts_, [](const contact& c) { return c.bias == 0; })) return false;
    for (int b = 0; island & one : islands_) one = {b++};
    for (const contact& c : contacts_) {
        island* const all = island_of(c);
        if (all == nullptr) continue;
        for (std::size_t r = c.first_row; r <= c.first_row + static_cast<std::size_t>(c.tangents); ++r)
            for (std::size_t k = rows_[r].response_begin; k < rows_[r].response_end; ++k) {
                int b = body_of_[responses_[k].coordinate];
                while (islands_[b].up != b) b = islands_[b].up;
                islands_[b].up = all->up;
            }
    }
    for (const contact& c : contacts_) {
        island* const all = island_of(c);
        if (all == nullptr) continue;
        for (std::size_t r = c.first_row; r <= c.first_row + static_cast<std::size_t>(c.tangents); ++r) {
            all->work += rows_[r].impulse * (rate(rows_[r], v) + rate(rows_[r], free_)) / 2;
            all->size += std::fabs(rows_[r].impulse) * scale;
        }
        all->fails |= !converged && c.change > settings_.tolerance * scale;
    }
    bool dropped = false;
    for (contact& c : contacts_)
        if (const island* all = island_of(c); all != nullptr && (all->fails || all->work > 1e-9 * all->size)) {
            dropped |= c.bias != 0;
            c.bias = 0;
        }
    return dropped;
}

/// What the next problem begins with, and what is told of this one.
void contact_problem::keep(double scale, bool converged) {
    for (const int id : held_) std::fill_n(impulses_.begin() + 3 * static_cast<std::ptrdiff_t>(id), 3, 0.0);
    held_.clear();
    unsolved_.clear();
    const contact* worst = nullptr;
    for (const contact& c : contacts_) {
        held_.push_back(c.id);
        for (std::size_t t = 0; t <= static_cast<std::size_t>(c.tangents); ++t)
            impulses_[3 * static_cast<std::size_t>(c.id) + t] = rows_[c.first_row + t].impulse;
        if (converged) continue;
        if (worst == nullptr || c.change > worst->change) worst = &c;
        if (!(c.change <= settings_.tolerance * scale)) unsolved_.push_back(c.id);
    }
    if (worst == nullptr) return;
    const auto place = std::ranges::find(unsolved_, worst->id);
    if (place == unsolved_.end())
        unsolved_.insert(unsolved_.begin(), worst->id);
    else
        std::rotate(unsolved_.begin(), place, place + 1);
}

contact_outcome contact_problem::solve(std::span<const double> before, std::span<double> v) {
    contact_outcome outcome;
    double scale = 0;
    if (!contacts_.empty()) {
        std::ranges::copy(v, free_.begin());
        scale = prepare(before, v, outcome);
        start(v);
        sweep(v, scale, outcome);
        outcome.without_rebound = drop_rebounds(v, scale, outcome.converged);
        if (outcome.without_rebound) {
            std::ranges::copy(free_, v.begin());
            start(v);
            sweep(v, scale, outcome);
        }
    }
    keep(scale, outcome.converged);
    return outcome;
}

void contact_problem::save(std::span<double> into) const {
    if (state_size(held_.size()) > into.size()) throw std::logic_error("more contacts than a state has room for");
    std::ranges::fill(into, 0.0);
    into[0] = static_cast<double>(held_.size());
    auto at = into.begin() + 1;
    for (const int id : held_) {
        *at++ = id;
        at = std::copy_n(impulses_.begin() + 3 * static_cast<std::ptrdiff_t>(id), 3, at);
    }
}

void contact_problem::restore(std::span<const double> from) {
    for (const int id : held_) std::fill_n(impulses_.begin() + 3 * static_cast<std::ptrdiff_t>(id), 3, 0.0);
    held_.clear();
    const auto must = [](bool is) {
        if (!is)
            throw run_error("impulses of contacts that do not exist: the state is not of this subsystem, or damaged");
    };
    must(from[0] >= 0 && from[0] <= static_cast<double>((from.size() - 1) / 4));
    for (std::size_t at = 1, end = 1 + 4 * static_cast<std::size_t>(from[0]); at < end; at += 4) {
        must(from[at] >= 0 && 3 * from[at] < static_cast<double>(impulses_.size()));
        held_.push_back(static_cast<int>(from[at]));
        std::ranges::copy(from.subspan(at + 1, 3), impulses_.begin() + 3 * static_cast<std::ptrdiff_t>(held_.back()));
    }
}

bool contact_problem::correction(double fraction, double slop, std::span<double> displacement) const {
    bool any = false;
    std::ranges::fill(displacement, 0.0);
    for (const contact& c : contacts_) {
        const row& normal = rows_[c.first_row];
        if (!(c.depth > slop) || !(normal.own > 0)) continue;
        any = true;
        const double by = fraction * (c.depth - slop) / normal.own;
        for (std::size_t k = normal.response_begin; k < normal.response_end; ++k)
            displacement[static_cast<std::size_t>(responses_[k].coordinate)] += responses_[k].factor * by;
    }
    return any;
}

}  // namespace mdpcosim

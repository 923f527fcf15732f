#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "core/error.hpp"
#include "forces.hpp"

// Newton's method for the smallest potential energy, damped by what the energy does: (K + mu D) dq = f, where K leaves out what would make it
// indefinite (links under pressure across themselves, normals that turn). Unknowns are the pins in their order, a band of four diagonals, and, in
// a border of a few columns, the last pin and the supports: costs grow with the number of links, whatever it is.

namespace mdpcosim::drive {

namespace {

class bordered_system {
   public:
    bordered_system(std::size_t n, std::size_t border)
        : n_(n), m_(border), band_(4 * n), side_(n * border), corner_(border * border) {}

    void clear() {
        for (auto* all : {&band_, &side_, &corner_}) std::ranges::fill(*all, 0.0);
    }
    /// Entries (i, j) and (j, i); unknowns from n on are those of the border.
    void add(std::size_t i, std::size_t j, double value) {
        if (i > j) std::swap(i, j);
        if (i >= n_) {
            corner_[(i - n_) * m_ + j - n_] += value;
            if (i != j) corner_[(j - n_) * m_ + i - n_] += value;
        } else if (j >= n_) {
            side_[i * m_ + j - n_] += value;
        } else {
            band_[4 * i + j - i] += value;
        }
    }

    /// `b` becomes the solution; the entries are spent.
    void solve(std::vector<double>& b) {
        // Band as L D L^T, each of side and b as right-hand sides.
        for (std::size_t i = 0; i < n_; ++i) {
            const std::size_t last = std::min<std::size_t>(3, n_ - 1 - i);
            const double pivot = band_[4 * i];
            std::array<double, 4> row{};
            for (std::size_t k = 1; k <= last; ++k) row[k] = band_[4 * i + k] / pivot;
            for (std::size_t k = 1; k <= last; ++k) {
                for (std::size_t l = k; l <= last; ++l) band_[4 * (i + k) + l - k] -= row[k] * band_[4 * i + l];
                for (std::size_t c = 0; c < m_; ++c) side_[(i + k) * m_ + c] -= row[k] * side_[i * m_ + c];
                b[i + k] -= row[k] * b[i];
            }
        }
        // Schur complement of the border: side^T D^-1 side.
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t r = 0; r < m_; ++r) {
                const double part = side_[i * m_ + r] / band_[4 * i];
                if (part == 0) continue;
                for (std::size_t c = 0; c < m_; ++c) corner_[r * m_ + c] -= part * side_[i * m_ + c];
                b[n_ + r] -= part * b[i];
            }
        for (std::size_t k = 0; k < m_; ++k)
            for (std::size_t r = k + 1; r < m_; ++r) {
                const double factor = corner_[r * m_ + k] / corner_[k * m_ + k];
                for (std::size_t c = k; c < m_; ++c) corner_[r * m_ + c] -= factor * corner_[k * m_ + c];
                b[n_ + r] -= factor * b[n_ + k];
            }
        for (std::size_t k = m_; k-- > 0;) {
            for (std::size_t c = k + 1; c < m_; ++c) b[n_ + k] -= corner_[k * m_ + c] * b[n_ + c];
            b[n_ + k] /= corner_[k * m_ + k];
        }
        for (std::size_t i = n_; i-- > 0;) {
            for (std::size_t c = 0; c < m_; ++c) b[i] -= side_[i * m_ + c] * b[n_ + c];
            for (std::size_t k = 1; k <= 3 && i + k < n_; ++k) b[i] -= band_[4 * i + k] * b[i + k];
            b[i] /= band_[4 * i];
        }
    }

   private:
    std::size_t n_, m_;
    std::vector<double> band_, side_, corner_;
};

/// One chain with its supports, which move without loads and shafts.
class rest {
   public:
    rest(const drive_data& d, const chain_data& c)
        : d_(d), c_(c), forces_(d), at_(static_cast<std::size_t>(d.coordinates), 0) {
        for (int i = 0; i < c.links; ++i)
            for (const int coordinate : {d.x(c.first_pin + i), d.y(c.first_pin + i)}) take(coordinate, 1);
        const std::size_t inner = unknowns_.size() - 2;
        for (const int k : c.route) {
            const support& s = d.supports[static_cast<std::size_t>(k)];
            if (s.rotation >= 0 && !s.prescribed) take(s.rotation, s.radius * s.radius);
            if (s.free_centre) take(s.centre, 1), take(s.centre + 1, 1);
            if (s.kind == support_kind::rail) take(s.shift, 1);
            if (s.kind == support_kind::pivoting_rail)
                take(s.shift,
                     std::max(1e-6, (s.x - s.pivot_x) * (s.x - s.pivot_x) + (s.y - s.pivot_y) * (s.y - s.pivot_y)));
        }
        system_ = std::make_unique<bordered_system>(inner, unknowns_.size() - inner);
        f_.resize(static_cast<std::size_t>(d.coordinates));
        still_.resize(f_.size());
        step_.resize(unknowns_.size());
    }

    /// The largest force left.
    double find(std::vector<double>& q) {
        constexpr int most_tries = 2000;
        constexpr double enough = 1e-7;
        double mu = c_.stiffness / 1000, energy = forces_.energy(0, q.data(), still_.data(), true), left = residual(q);
        std::vector<double> tried = q;
        for (int n = 0; n < most_tries && left > enough && mu < 1e14; ++n) {
            assemble(q, mu);
            system_->solve(step_);
            double longest = 0, slope = 0;
            for (std::size_t k = 0; k < unknowns_.size(); ++k) {
                if (k < 2 * static_cast<std::size_t>(c_.links)) longest = std::max(longest, std::fabs(step_[k]));
                slope += step_[k] * f_[static_cast<std::size_t>(unknowns_[k])];
            }
            // Back along the way until the energy has fallen by what its slope promises, at the very end until forces have.
            double part = std::min(1.0, 0.1 * c_.pitch / longest);
            const std::vector<double> way = step_;
            for (int halved = 0;; ++halved, part /= 2) {
                for (std::size_t k = 0; k < unknowns_.size(); ++k) {
                    const auto i = static_cast<std::size_t>(unknowns_[k]);
                    tried[i] = q[i] + part * way[k];
                }
                const double then = forces_.energy(0, tried.data(), still_.data(), true), left_then = residual(tried);
                if (energy - then > 0.1 * part * slope ||
                    (left_then < left && then < energy + 1e-12 * std::fabs(energy))) {
                    q = tried;
                    energy = then;
                    left = left_then;
                    mu = halved < 2 ? std::max(mu / 4, 1e-3) : halved > 4 ? 4 * mu : mu;
                    break;
                }
                if (halved == 8) {
                    residual(q);
                    mu *= 16;
                    break;
                }
            }
        }
        return left;
    }

   private:
    void take(int coordinate, double weight) {
        at_[static_cast<std::size_t>(coordinate)] = unknowns_.size() + 1;
        unknowns_.push_back(coordinate);
        weights_.push_back(weight);
    }

    double residual(const std::vector<double>& q) {
        forces_.all(0, q.data(), still_.data(), f_.data());
        double largest = 0;
        for (std::size_t k = 0; k < unknowns_.size(); ++k) {
            step_[k] = f_[static_cast<std::size_t>(unknowns_[k])];
            largest = std::max(largest, std::fabs(step_[k]) / std::sqrt(weights_[k]));
        }
        return largest;
    }

    /// Adds factor g g^T, g given by coordinates.
    void add(std::span<const std::pair<int, double>> g, double factor) {
        for (std::size_t a = 0; a < g.size(); ++a)
            for (std::size_t b = a; b < g.size(); ++b) {
                const std::size_t i = at_[static_cast<std::size_t>(g[a].first)],
                                  j = at_[static_cast<std::size_t>(g[b].first)];
                if (i > 0 && j > 0) system_->add(i - 1, j - 1, factor * g[a].second * g[b].second);
            }
    }

    void assemble(const std::vector<double>& q, double mu) {
        system_->clear();
        for (std::size_t k = 0; k < unknowns_.size(); ++k) system_->add(k, k, mu * weights_[k]);
        const auto at = [&](int i) { return q[static_cast<std::size_t>(i)]; };
        for (int n = 0; n < c_.links; ++n) {
            const int i = c_.first_pin + n, j = c_.first_pin + (n + 1) % c_.links;
            const double dx = at(d_.x(j)) - at(d_.x(i)), dy = at(d_.y(j)) - at(d_.y(i)), l = std::hypot(dx, dy),
                         ex = dx / l, ey = dy / l;
            const std::array<std::pair<int, double>, 4> along{
                {{d_.x(i), -ex}, {d_.y(i), -ey}, {d_.x(j), ex}, {d_.y(j), ey}}};
            const std::array<std::pair<int, double>, 4> across{
                {{d_.x(i), ey}, {d_.y(i), -ex}, {d_.x(j), -ey}, {d_.y(j), ex}}};
            add(along, c_.stiffness);
            add(across, std::max(0.0, c_.stiffness * (l - c_.pitch)) / l);
        }
        for (const int k : c_.route) {
            const support& s = d_.supports[static_cast<std::size_t>(k)];
            if (s.free_centre)
                for (const int i : {s.centre, s.centre + 1})
                    add(std::array<std::pair<int, double>, 1>{{{i, 1}}}, s.bearing_stiffness);
            const pose p = forces_.pose_of(s, 0, q.data(), still_.data());
            forces_.touches(s, p, q.data(), [&](const touch& found) {
                drive_forces::row g;
                const std::size_t terms = forces_.relative_velocity(s, p, found, found.nx, found.ny, g);
                add(std::span(g).first(terms), s.contact_stiffness);
                forces_.relative_velocity(s, p, found, found.ny, -found.nx, g);
                add(std::span(g).first(terms), -found.gap * found.bend * s.contact_stiffness);
            });
        }
    }

    const drive_data& d_;
    const chain_data& c_;
    drive_forces forces_;
    std::vector<std::size_t> at_;  ///< unknown of a coordinate, from 1 on; 0: none
    std::vector<int> unknowns_;
    std::vector<double> weights_, f_, still_, step_;
    std::unique_ptr<bordered_system> system_;
};

/// What is reached becomes the zero of the supports' coordinates.
void begin_there(drive_data& d) {
    for (support& s : d.supports) {
        const auto coordinate = [&](int i) -> double& { return d.q[static_cast<std::size_t>(i)]; };
        if (s.rotation >= 0) s.phase += std::exchange(coordinate(s.rotation), 0);
        if (s.free_centre) {
            s.bearing_x = -s.bearing_stiffness * coordinate(s.centre);
            s.bearing_y = -s.bearing_stiffness * coordinate(s.centre + 1);
            s.x += std::exchange(coordinate(s.centre), 0);
            s.y += std::exchange(coordinate(s.centre + 1), 0);
        }
        if (s.shift < 0) continue;
        const double by = std::exchange(coordinate(s.shift), 0);
        if (s.kind == support_kind::rail) {
            s.x += by * s.direction_x;
            s.y += by * s.direction_y;
        } else {
            const double c = std::cos(by), n = std::sin(by), rx = s.x - s.pivot_x, ry = s.y - s.pivot_y;
            s.x = s.pivot_x + c * rx - n * ry;
            s.y = s.pivot_y + n * rx + c * ry;
            s.middle += by;
        }
    }
}

/// Every chain along itself, wheels with it.
void set_in_motion(drive_data& d) {
    for (const chain_data& c : d.chains) {
        const double speed = c.speed * c.pitch;
        for (int n = 0; n < c.links; ++n) {
            const auto x = [&](int k) {
                return d.q[static_cast<std::size_t>(d.x(c.first_pin + (n + k + c.links) % c.links))];
            };
            const auto y = [&](int k) {
                return d.q[static_cast<std::size_t>(d.y(c.first_pin + (n + k + c.links) % c.links))];
            };
            const double dx = x(1) - x(-1), dy = y(1) - y(-1), l = std::hypot(dx, dy);
            d.v[static_cast<std::size_t>(d.x(c.first_pin + n))] = speed * dx / l;
            d.v[static_cast<std::size_t>(d.y(c.first_pin + n))] = speed * dy / l;
        }
        for (const int k : c.route)
            if (const support& s = d.supports[static_cast<std::size_t>(k)]; s.rotation >= 0)
                d.v[static_cast<std::size_t>(s.rotation)] = s.turn * c.speed * 2 * std::numbers::pi / s.teeth;
    }
}

}  // namespace

void relax(drive_data& d) {
    drive_data unloaded = d;
    unloaded.shafts.clear();
    for (support& s : unloaded.supports) s.load = s.load_amplitude = s.speed = s.amplitude = s.stiffness = 0;
    for (const chain_data& c : unloaded.chains) {
        const double left = rest(unloaded, c).find(d.q);
        if (left > 1e-2)
            throw user_error(c.where,
                             fmt::format("chain '{}' finds no rest around its parts: a force of {:.3g} N is left over. "
                                         "Are preloads of rails so "
                                         "large that they push the chain off its wheels, or do they pull at it?",
                                         c.name, left));
    }
    begin_there(d);
    set_in_motion(d);
}

}  // namespace mdpcosim::drive

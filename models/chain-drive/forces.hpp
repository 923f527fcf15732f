#pragma once

#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "drive.hpp"

/// Forces of a drive at one instant.
///
///     link i from pin i to i + 1:   F = c (l - p) + d l'
///     pin in pocket k, in the pocket's axes (xi outwards, eta along the circle):   gap = clearance - dist,
///         dist = -xi sin b + |eta| cos b  where xi cos b + |eta| sin b >= 0,   sqrt(xi^2 + eta^2)  elsewhere;   teeth end at xi = 0.3 p, where gap = xi - 0.3 p if that is nearer
///     pin on a guide or rail:   gap = |r - C| - R
///     compliant contact:   F = max(0, -c_w gap - d_w gap'),   friction   -mu F w/sqrt(w^2 + w_0^2),  w: sliding speed, w_0 = 0.05 m/s
///
/// Every pin touches one support at most, near which it is looked for among the pins that have come there with the wheel's rotation.
namespace mdpcosim::drive {

/// A support in motion.
struct pose {
    double x, y, vx, vy;  ///< of the circle's centre
    double angle, speed;  ///< of what carries it
    double cosine = 1, sine = 0;
};

struct touch {
    int pin;
    double gap, nx, ny;  ///< gap <= 0; the normal points into the pin
    double rx, ry;       ///< pin from the centre
    double bend = 0;  ///< how fast the normal turns as the pin moves across it, 1/m; where it turns against the motion
};

class drive_forces {
   public:
    explicit drive_forces(const drive_data& d);

    pose pose_of(const support& s, double t, const double* q, const double* v) const;

    /// The pins that touch a support, in a fixed order.
    template <class Found>
    void touches(const support& s, const pose& p, const double* q, const Found& found) const;

    /// Of links, bearings, springs and loads, into f by coordinates; the forces of links stay readable.
    void smooth(double t, const double* q, const double* v, double* f);
    /// The same with those of compliant contacts; the parts of work_of() may have been done before, by any threads: the same bits.
    void all(double t, const double* q, const double* v, double* f);
    void finish(double t, const double* q, const double* v, double* f);

    /// What may be done at the same time: the links from..to of a chain, or the contacts of a support (links none).
    struct part_of_work {
        int chain = 0, from = 0, to = 0, support = 0;
    };
    /// Shares of about the same size.
    std::vector<std::vector<part_of_work>> shares(int members) const;
    void work(const part_of_work& part, double t, const double* q, const double* v);

    /// What acts on supports by the last all(): force on it, and torque about its centre.
    struct reaction {
        double x = 0, y = 0, torque = 0;
    };
    std::span<const reaction> reactions() const { return reactions_; }
    std::span<reaction> reactions() { return reactions_; }
    std::span<const double> link_forces() const { return tension_; }

    /// How the velocity of a touching pin along (dx, dy), against the support's material, follows from velocities: entries for at most 5 coordinates.
    /// What a prescribed rotation adds is left out.
    using row = std::array<std::pair<int, double>, 5>;
    std::size_t relative_velocity(const support& s, const pose& p, const touch& at, double dx, double dy,
                                  row& into) const;

    /// Force (fx, fy) and torque about its centre, on a support, into its coordinates.
    void put(const support& s, const pose& p, const reaction& r, double* f) const;

    /// Kinetic and potential energy; zero of springs and preloads: the start.
    double energy(double t, const double* q, const double* v, bool with_contacts) const;

    const drive_data& drive() const { return d_; }

   private:
    void stretch(const chain_data& c, int from, int to, const double* q, const double* v);
    void press(std::size_t support, double t, const double* q, const double* v);
    void collect(double t, const double* q, const double* v, double* f) const;

    /// A contact's force on its pin.
    struct push {
        int pin;
        double x, y;
    };
    struct pocket_table {
        std::vector<double> cosine, sine;
        double sin_flank = 0, cos_flank = 1, tip = 0, tan_half = 0, cos_arc = 1, reach2 = 0;
    };

    const drive_data& d_;
    std::vector<pocket_table> pockets_;  ///< by support
    std::vector<double> tension_, gx_, gy_;
    std::vector<reaction> reactions_;
    std::vector<std::vector<push>> pushes_;  ///< by support
};

template <class Found>
void drive_forces::touches(const support& s, const pose& p, const double* q, const Found& found) const {
    const chain_data& c = d_.chains[static_cast<std::size_t>(s.chain)];
    const pocket_table& table = pockets_[static_cast<std::size_t>(&s - d_.supports.data())];
    const double *x = q + c.first_pin, *y = q + d_.pins + c.first_pin;
    const int N = c.links;

    // Whole links that have come past it since the start; a pin stays in its pocket until it leaves the wheel.
    const support& wheel = s.is_sprocket() ? s : d_.supports[static_cast<std::size_t>(c.leader)];
    const double come = std::floor(wheel.turn * q[wheel.rotation] * wheel.teeth / (2 * std::numbers::pi) + 0.5);
    const int step = s.turn > 0 ? 1 : -1;
    const auto place = [](double of, int size) {
        const double rest = std::fmod(of, size);
        const int at = std::isfinite(rest) ? static_cast<int>(rest) : 0;  // an attempt of a solver may be anywhere
        return at < 0 ? at + size : at;
    };
    const int usual = 2 * s.window + 1;
    const int first = place(s.pin - s.window - come, N);
    int pocket = s.is_sprocket() ? place(step * (-s.window - come), s.teeth) : 0;
    const auto next_pocket = [&](int by) {
        pocket += by;
        pocket = pocket < 0 ? s.teeth - 1 : pocket >= s.teeth ? 0 : pocket;
    };

    const auto near = [&](int i) {
        const double rx = x[i] - p.x, ry = y[i] - p.y, r2 = rx * rx + ry * ry;
        return r2 <= table.reach2 && (s.is_sprocket() || rx * p.cosine + ry * p.sine >= std::sqrt(r2) * table.cos_arc);
    };
    const auto look = [&](int i) {
        const double rx = x[i] - p.x, ry = y[i] - p.y;
        if (!s.is_sprocket()) {
            const double r = std::sqrt(rx * rx + ry * ry);
            return found(touch{i + c.first_pin, r - s.radius, rx / r, ry / r, rx, ry});
        }
        const double a = rx * p.cosine + ry * p.sine, b = -rx * p.sine + ry * p.cosine;
        double xi, eta, ck, sk;
        for (int tries = 0;; ++tries) {
            ck = table.cosine[static_cast<std::size_t>(pocket)];
            sk = table.sine[static_cast<std::size_t>(pocket)];
            xi = a * ck + b * sk;
            eta = -a * sk + b * ck;
            if (std::fabs(eta) <= xi * table.tan_half || tries > s.teeth) break;
            next_pocket(eta > 0 ? 1 : -1);
        }
        xi -= s.radius;
        if (xi > table.tip) return;
        const double side = eta < 0 ? -1 : 1, sb = table.sin_flank, cb = table.cos_flank;
        double dist, nxi, neta, bend = 0;
        if (xi * cb + side * eta * sb >= 0) {
            dist = -xi * sb + side * eta * cb;
            if (dist <= s.clearance) return;
            if (table.tip - xi < dist - s.clearance) {
                dist = table.tip - xi + s.clearance;
                nxi = 1;
                neta = 0;
            } else {
                nxi = sb;
                neta = -side * cb;
            }
        } else {
            dist = std::sqrt(xi * xi + eta * eta);
            if (dist <= s.clearance) return;
            nxi = -xi / dist;
            neta = -eta / dist;
            bend = 1 / dist;
        }
        const double na = nxi * ck - neta * sk, nb = nxi * sk + neta * ck;
        found(touch{i + c.first_pin, s.clearance - dist, na * p.cosine - nb * p.sine, na * p.sine + nb * p.cosine, rx,
                    ry, bend});
    };
    // Usual ones, and beyond them as long as there is somebody near, where the chain has jumped over teeth.
    int i = first, count = usual;
    while (count < N && near(i == 0 ? N - 1 : i - 1)) {
        i = i == 0 ? N - 1 : i - 1;
        ++count;
        if (s.is_sprocket()) next_pocket(-step);
    }
    for (int n = 0; n < N; ++n) {
        if (near(i))
            look(i);
        else if (n >= count)
            break;
        if (++i == N) i = 0;
        if (s.is_sprocket()) next_pocket(step);
    }
}

}  // namespace mdpcosim::drive

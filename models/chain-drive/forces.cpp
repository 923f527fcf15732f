#include "forces.hpp"

#include <algorithm>
#include <functional>

namespace mdpcosim::drive {

namespace {

constexpr double slip_speed = 0.05;  ///< m/s

}  // namespace

drive_forces::drive_forces(const drive_data& d) : d_(d) {
    for (auto* all : {&tension_, &gx_, &gy_}) all->resize(static_cast<std::size_t>(d.pins));
    reactions_.resize(d.supports.size());
    pushes_.resize(d.supports.size());
    for (std::size_t k = 0; k < pushes_.size(); ++k)
        pushes_[k].reserve(static_cast<std::size_t>(d.chains[static_cast<std::size_t>(d.supports[k].chain)].links));
    for (const support& s : d.supports) {
        pocket_table table;
        const double pitch = d.chains[static_cast<std::size_t>(s.chain)].pitch;
        if (s.is_sprocket()) {
            for (int k = 0; k < s.teeth; ++k) {
                table.cosine.push_back(std::cos(2 * std::numbers::pi * k / s.teeth));
                table.sine.push_back(std::sin(2 * std::numbers::pi * k / s.teeth));
            }
            table.sin_flank = std::sin(s.flank);
            table.cos_flank = std::cos(s.flank);
            table.tip = 0.3 * pitch;
            table.tan_half = std::tan(std::numbers::pi / s.teeth);
            const double reach = (s.radius + table.tip) / std::cos(std::numbers::pi / s.teeth);
            table.reach2 = reach * reach;
        } else {
            table.cos_arc = std::cos(std::min(s.arc, std::numbers::pi));
            table.reach2 = s.radius * s.radius;
        }
        pockets_.push_back(std::move(table));
    }
}

pose drive_forces::pose_of(const support& s, double t, const double* q, const double* v) const {
    pose p{s.x, s.y, 0, 0, 0, 0};
    if (s.is_sprocket()) {
        p.angle = q[s.rotation];
        p.speed = s.prescribed ? prescribed(s, t).speed : v[s.rotation];
        if (s.free_centre) {
            p.x += q[s.centre];
            p.y += q[s.centre + 1];
            p.vx = v[s.centre];
            p.vy = v[s.centre + 1];
        }
    } else if (s.kind == support_kind::rail) {
        p.x += q[s.shift] * s.direction_x;
        p.y += q[s.shift] * s.direction_y;
        p.vx = v[s.shift] * s.direction_x;
        p.vy = v[s.shift] * s.direction_y;
    } else if (s.kind == support_kind::pivoting_rail) {
        p.angle = q[s.shift];
        p.speed = v[s.shift];
        const double c = std::cos(p.angle), n = std::sin(p.angle), rx = s.x - s.pivot_x, ry = s.y - s.pivot_y;
        const double ax = c * rx - n * ry, ay = n * rx + c * ry;
        p.x = s.pivot_x + ax;
        p.y = s.pivot_y + ay;
        p.vx = -p.speed * ay;
        p.vy = p.speed * ax;
    }
    const double at = p.angle + (s.is_sprocket() ? s.phase : s.middle);
    p.cosine = std::cos(at);
    p.sine = std::sin(at);
    return p;
}

void drive_forces::stretch(const chain_data& chain, int from, int to, const double* q, const double* v) {
    const std::size_t first = static_cast<std::size_t>(chain.first_pin), pins = static_cast<std::size_t>(d_.pins);
    const std::size_t n = static_cast<std::size_t>(chain.links);
    const double *x = q + first, *y = q + pins + first, *vx = v + first, *vy = v + pins + first;
    double* __restrict gx = gx_.data() + first;
    double* __restrict gy = gy_.data() + first;
    double* __restrict tension = tension_.data() + first;
    const double c = chain.stiffness, d = chain.damping, p = chain.pitch;
    const auto one = [&](std::size_t i, std::size_t j) __attribute__((always_inline)) {
        const double dx = x[j] - x[i], dy = y[j] - y[i], l = std::sqrt(dx * dx + dy * dy), inverse = 1 / l;
        const double ex = dx * inverse, ey = dy * inverse;
        const double F = c * (l - p) + d * ((vx[j] - vx[i]) * ex + (vy[j] - vy[i]) * ey);
        tension[i] = F;
        gx[i] = F * ex;
        gy[i] = F * ey;
    };
    const std::size_t last = static_cast<std::size_t>(to);
    for (std::size_t i = static_cast<std::size_t>(from); i < std::min(last, n - 1); ++i) one(i, i + 1);
    if (last == n) one(n - 1, 0);
}

void drive_forces::press(std::size_t k, double t, const double* q, const double* v) {
    const support& s = d_.supports[k];
    const int pins = d_.pins;
    const pose p = pose_of(s, t, q, v);
    auto& pushes = pushes_[k];
    pushes.clear();
    reaction sum;
    touches(s, p, q, [&](const touch& found) {
        const int i = found.pin, j = pins + i;
        // Of the pin against the support's material there.
        const double wx = v[i] - p.vx + p.speed * found.ry, wy = v[j] - p.vy - p.speed * found.rx;
        const double normal = -s.contact_stiffness * found.gap - s.contact_damping * (wx * found.nx + wy * found.ny);
        if (!(normal > 0)) return;
        double fx = normal * found.nx, fy = normal * found.ny;
        if (s.friction > 0) {
            const double slip = wx * found.ny - wy * found.nx;
            const double drag = -s.friction * normal * slip / std::sqrt(slip * slip + slip_speed * slip_speed);
            fx += drag * found.ny;
            fy -= drag * found.nx;
        }
        pushes.push_back({i, fx, fy});
        sum.x -= fx;
        sum.y -= fy;
        sum.torque -= found.rx * fy - found.ry * fx;
    });
    reactions_[k] = sum;
}

void drive_forces::collect(double t, const double* q, const double* v, double* f) const {
    for (const chain_data& c : d_.chains) {
        const std::size_t first = static_cast<std::size_t>(c.first_pin), n = static_cast<std::size_t>(c.links);
        for (auto [g, into] :
             {std::pair(gx_.data() + first, f + first), std::pair(gy_.data() + first, f + d_.pins + first)}) {
            into[0] = g[0] - g[n - 1];
            for (std::size_t i = 1; i < n; ++i) into[i] = g[i] - g[i - 1];
        }
    }
    for (const support& s : d_.supports) {
        if (s.rotation >= 0)
            f[s.rotation] = s.prescribed ? prescribed(s, t).acceleration
                                         : -(s.load + s.load_amplitude * std::sin(s.load_order * q[s.rotation]));
        if (s.free_centre) {
            f[s.centre] = s.bearing_x - s.bearing_stiffness * q[s.centre] - s.bearing_damping * v[s.centre];
            f[s.centre + 1] = s.bearing_y - s.bearing_stiffness * q[s.centre + 1] - s.bearing_damping * v[s.centre + 1];
        }
        if (s.shift >= 0) f[s.shift] = s.preload - s.stiffness * q[s.shift] - s.damping * v[s.shift];
    }
    for (const shaft_data& one : d_.shafts) {
        const support &a = d_.supports[static_cast<std::size_t>(one.first)],
                      &b = d_.supports[static_cast<std::size_t>(one.second)];
        const auto spring = [&](int i, int j, double c, double d) {
            const double u = c * (q[i] - q[j]) + d * (v[i] - v[j]);
            f[i] -= u;
            f[j] += u;
        };
        // A prescribed wheel takes any torque.
        const double at_a = f[a.rotation], at_b = f[b.rotation];
        spring(a.rotation, b.rotation, one.stiffness, one.damping);
        if (a.prescribed) f[a.rotation] = at_a;
        if (b.prescribed) f[b.rotation] = at_b;
        if (one.bending > 0) {
            spring(a.centre, b.centre, one.bending, 0);
            spring(a.centre + 1, b.centre + 1, one.bending, 0);
        }
    }
}

void drive_forces::smooth(double t, const double* q, const double* v, double* f) {
    for (const chain_data& c : d_.chains) stretch(c, 0, c.links, q, v);
    collect(t, q, v, f);
}

void drive_forces::all(double t, const double* q, const double* v, double* f) {
    for (const chain_data& c : d_.chains) stretch(c, 0, c.links, q, v);
    for (std::size_t k = 0; k < d_.supports.size(); ++k) press(k, t, q, v);
    finish(t, q, v, f);
}

void drive_forces::finish(double t, const double* q, const double* v, double* f) {
    collect(t, q, v, f);
    for (std::size_t k = 0; k < d_.supports.size(); ++k) {
        for (const push& one : pushes_[k]) {
            f[one.pin] += one.x;
            f[d_.pins + one.pin] += one.y;
        }
        put(d_.supports[k], pose_of(d_.supports[k], t, q, v), reactions_[k], f);
    }
}

void drive_forces::work(const part_of_work& part, double t, const double* q, const double* v) {
    if (part.to > part.from)
        stretch(d_.chains[static_cast<std::size_t>(part.chain)], part.from, part.to, q, v);
    else
        press(static_cast<std::size_t>(part.support), t, q, v);
}

std::vector<std::vector<drive_forces::part_of_work>> drive_forces::shares(int members) const {
    constexpr double pin_near_support = 4;  // times a link
    std::vector<std::pair<double, int>> contacts;
    double all = d_.pins;
    for (std::size_t k = 0; k < d_.supports.size(); ++k) {
        contacts.emplace_back(pin_near_support * (2 * d_.supports[k].window + 1), static_cast<int>(k));
        all += contacts.back().first;
    }
    // The largest first, each to whom has least.
    std::ranges::stable_sort(contacts, std::greater{}, &std::pair<double, int>::first);
    std::vector<std::vector<part_of_work>> result(static_cast<std::size_t>(members));
    std::vector<double> sizes(result.size());
    for (const auto& [size, support] : contacts) {
        const auto least = std::ranges::min_element(sizes) - sizes.begin();
        sizes[static_cast<std::size_t>(least)] += size;
        result[static_cast<std::size_t>(least)].push_back({.support = support});
    }
    // Links in one piece each: what two cores write side by side they wait for.
    double room = 0;
    for (const double size : sizes) room += std::max(0.0, all / members - size);
    int pin = 0;
    double until = 0;
    for (std::size_t m = 0; m < result.size(); ++m) {
        until += std::max(0.0, all / members - sizes[m]) * d_.pins / room;
        const int end = m + 1 == result.size() ? d_.pins : static_cast<int>(until);
        for (std::size_t c = 0; c < d_.chains.size(); ++c) {
            const int first = d_.chains[c].first_pin, from = std::max(pin - first, 0),
                      to = std::min(end - first, d_.chains[c].links);
            if (to > from) result[m].push_back({.chain = static_cast<int>(c), .from = from, .to = to});
        }
        pin = std::max(pin, end);
    }
    return result;
}

void drive_forces::put(const support& s, const pose& p, const reaction& r, double* f) const {
    if (s.is_sprocket()) {
        if (!s.prescribed) f[s.rotation] += r.torque;
        if (s.free_centre) {
            f[s.centre] += r.x;
            f[s.centre + 1] += r.y;
        }
    } else if (s.kind == support_kind::rail) {
        f[s.shift] += r.x * s.direction_x + r.y * s.direction_y;
    } else if (s.kind == support_kind::pivoting_rail) {
        f[s.shift] += r.torque + (p.x - s.pivot_x) * r.y - (p.y - s.pivot_y) * r.x;
    }
}

std::size_t drive_forces::relative_velocity(const support& s, const pose& p, const touch& at, double dx, double dy,
                                            row& into) const {
    std::size_t n = 0;
    into[n++] = {d_.x(at.pin), dx};
    into[n++] = {d_.y(at.pin), dy};
    const double arm = at.rx * dy - at.ry * dx;
    if (s.is_sprocket() && !s.prescribed) into[n++] = {s.rotation, -arm};
    if (s.free_centre) {
        into[n++] = {s.centre, -dx};
        into[n++] = {s.centre + 1, -dy};
    }
    if (s.kind == support_kind::rail) into[n++] = {s.shift, -(dx * s.direction_x + dy * s.direction_y)};
    if (s.kind == support_kind::pivoting_rail)
        into[n++] = {s.shift, -(arm + (p.x - s.pivot_x) * dy - (p.y - s.pivot_y) * dx)};
    return n;
}

double drive_forces::energy(double t, const double* q, const double* v, bool with_contacts) const {
    double sum = 0;
    const auto moving = [&](int i) { return v[i] * v[i] / (2 * d_.inverse_mass[static_cast<std::size_t>(i)]); };
    const auto spring = [&](double c, double s) { return c * s * s / 2; };
    for (const chain_data& c : d_.chains)
        for (int n = 0; n < c.links; ++n) {
            const int i = c.first_pin + n, j = c.first_pin + (n + 1) % c.links, pins = d_.pins;
            sum += spring(c.stiffness, std::hypot(q[j] - q[i], q[pins + j] - q[pins + i]) - c.pitch);
            sum += moving(i) + moving(pins + i);
        }
    for (const support& s : d_.supports) {
        if (s.rotation >= 0)
            sum += s.prescribed ? s.inertia * prescribed(s, t).speed * prescribed(s, t).speed / 2 : moving(s.rotation);
        if (s.free_centre)
            for (const int i : {s.centre, s.centre + 1})
                sum +=
                    moving(i) + spring(s.bearing_stiffness, q[i]) - (i == s.centre ? s.bearing_x : s.bearing_y) * q[i];
        if (s.shift >= 0) sum += moving(s.shift) + spring(s.stiffness, q[s.shift]) - s.preload * q[s.shift];
        if (with_contacts)
            touches(s, pose_of(s, t, q, v), q,
                    [&](const touch& found) { sum += spring(s.contact_stiffness, found.gap); });
    }
    for (const shaft_data& one : d_.shafts) {
        const support &a = d_.supports[static_cast<std::size_t>(one.first)],
                      &b = d_.supports[static_cast<std::size_t>(one.second)];
        sum += spring(one.stiffness, q[a.rotation] - q[b.rotation]);
        if (one.bending > 0)
            sum +=
                spring(one.bending, q[a.centre] - q[b.centre]) + spring(one.bending, q[a.centre + 1] - q[b.centre + 1]);
    }
    return sum;
}

}  // namespace mdpcosim::drive

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "drive.hpp"

// The path: arcs on the supports' circles and common tangents between them. With D from centre to centre and k = turn_2 R_2 - turn_1 R_1 the
// tangent's direction theta is that of D less asin(k/|D|). On arcs pins stand at their pitch; the rest of the links is shared by the straight spans in
// proportion to their lengths, which sag to the left as parabolas where there are more links than a straight span takes.

namespace mdpcosim::drive {

namespace {

constexpr double pi = std::numbers::pi;
constexpr double most_strain = 2e-3;  ///< of a chain that is laid
constexpr double most_slack = 1;      ///< pitches

struct piece {
    const support* round;
    double begin, wrap;                        ///< angle at which the arc begins on its circle, how far it goes
    double pitch_angle;                        ///< of one link on it
    double from_x, from_y, direction, length;  ///< of the span behind it
};

double pitch_angle(const support& s, double pitch) { return 2 * std::asin(pitch / (2 * s.radius)); }

const char* kind_name(const support& s) {
    constexpr const char* names[]{"sprocket", "guide", "rail", "pivoting-rail"};
    return names[static_cast<int>(s.kind)];
}

std::string title(const support& s) { return fmt::format("{} '{}'", kind_name(s), s.name); }

/// The support with its rail shifted by part `lambda` of its travel.
support shifted(support s, double lambda) {
    if (s.kind == support_kind::rail) {
        const double way = lambda * s.travel * (s.preload < 0 ? -1 : 1);
        s.x += way * s.direction_x;
        s.y += way * s.direction_y;
    } else if (s.kind == support_kind::pivoting_rail) {
        const double by = lambda * s.travel * (s.preload < 0 ? -1 : 1), c = std::cos(by), n = std::sin(by);
        const double rx = s.x - s.pivot_x, ry = s.y - s.pivot_y;
        s.x = s.pivot_x + c * rx - n * ry;
        s.y = s.pivot_y + n * rx + c * ry;
    }
    return s;
}

std::vector<support> around(const drive_data& d, const chain_data& c, double lambda) {
    std::vector<support> found;
    for (const int k : c.route) found.push_back(shifted(d.supports[static_cast<std::size_t>(k)], lambda));
    return found;
}

void refuse_overlap(const std::vector<support>& all) {
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i + 1; j < all.size(); ++j) {
            const support &a = all[i], &b = all[j];
            const double between = std::hypot(b.x - a.x, b.y - a.y);
            if (a.is_sprocket() && b.is_sprocket() && between < a.radius + b.radius)
                throw user_error(
                    b.where,
                    fmt::format(
                        "sprockets '{}' and '{}' overlap by {:.4g} mm: their centres are {:.6g} mm apart, their pitch "
                        "radii are {:.6g} mm ({} teeth) and {:.6g} mm ({} teeth). Move one of them, or give it "
                        "fewer teeth.",
                        a.name, b.name, 1e3 * (a.radius + b.radius - between), 1e3 * between, 1e3 * a.radius, a.teeth,
                        1e3 * b.radius, b.teeth));
        }
}

/// Whether the supports can be passed in this order; `pieces` holds them then.
std::string find_path(const std::vector<support>& all, double pitch, std::vector<piece>& pieces) {
    const std::size_t n = all.size();
    pieces.clear();
    for (std::size_t i = 0; i < n; ++i) {
        const support &a = all[i], &b = all[(i + 1) % n];
        const double dx = b.x - a.x, dy = b.y - a.y, apart = std::hypot(dx, dy),
                     k = b.turn * b.radius - a.turn * a.radius;
        if (!(apart > std::fabs(k)))
            return fmt::format(
                "there is no way for the chain from {} to {}: their centres are {:.6g} mm apart, which with radii of "
                "{:.6g} mm and "
                "{:.6g} mm and their 'turn' would have to be more than {:.6g} mm. Move one of them, or change its "
                "'turn'.",
                title(a), title(b), 1e3 * apart, 1e3 * a.radius, 1e3 * b.radius, 1e3 * std::fabs(k));
        const double theta = std::atan2(dy, dx) - std::asin(k / apart);
        pieces.push_back({.round = &a,
                          .begin = 0,
                          .wrap = 0,
                          .pitch_angle = pitch_angle(a, pitch),
                          .from_x = a.x + a.turn * a.radius * std::sin(theta),
                          .from_y = a.y - a.turn * a.radius * std::cos(theta),
                          .direction = theta,
                          .length = std::sqrt(apart * apart - k * k)});
    }
    for (std::size_t i = 0; i < n; ++i) {
        piece& here = pieces[i];
        const double in = pieces[(i + n - 1) % n].direction, out = here.direction, turn = here.round->turn;
        here.wrap = std::fmod(turn * (out - in), 2 * pi);
        if (here.wrap < -1e-12) here.wrap += 2 * pi;
        here.begin = in - turn * pi / 2;
        if (here.wrap > (here.round->is_sprocket() ? 1.8 : 1) * pi)
            return fmt::format(
                "the chain does not touch {} on its way: on the side that 'turn' says it would go around it by {:.4g} "
                "deg. Move it "
                "towards the chain, change its 'turn', or list it between other parts.",
                title(*here.round), here.wrap * 180 / pi);
    }
    // A closed path that does not cross itself turns once.
    double left = 0, right = 0;
    for (const piece& p : pieces) (p.round->turn > 0 ? left : right) += p.wrap * 180 / pi;
    if (std::fabs(std::fabs(left - right) - 360) > 180) {
        const double few = left < right ? 1 : -1;
        const auto odd = std::ranges::find_if(all, [&](const support& s) { return s.turn == few; });
        return fmt::format(
            "the chain would cross itself: it turns by {:.4g} deg to the left and {:.4g} deg to the right, which would "
            "have to differ by 360. Change the 'turn' of {}, or the order of the parts.",
            left, right, title(odd == all.end() ? all.back() : *odd));
    }
    return {};
}

double pitches(const std::vector<piece>& pieces, double pitch) {
    double sum = 0;
    for (const piece& p : pieces) sum += p.wrap / p.pitch_angle + p.length / pitch;
    return sum;
}

/// Other supports that a span runs through.
void refuse_penetration(const chain_data& c, const std::vector<piece>& pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i)
        for (std::size_t j = 0; j < pieces.size(); ++j) {
            if (j == i || j == (i + 1) % pieces.size()) continue;
            const piece& span = pieces[i];
            const support& s = *pieces[j].round;
            const double ex = std::cos(span.direction), ey = std::sin(span.direction);
            const double rx = s.x - span.from_x, ry = s.y - span.from_y,
                         along = std::clamp(rx * ex + ry * ey, 0.0, span.length);
            const double px = along * ex - rx, py = along * ey - ry, depth = s.radius - std::hypot(px, py);
            // A guide's surface is where it looks towards the chain.
            const double middle = pieces[j].begin + s.turn * pieces[j].wrap / 2;
            const double half = s.is_sprocket() ? 4 : s.arc > 0 ? s.arc : pieces[j].wrap + pieces[j].pitch_angle;
            if (depth > 1e-9 && std::fabs(std::remainder(std::atan2(py, px) - middle, 2 * pi)) < half)
                throw user_error(s.where,
                                 fmt::format("chain '{}' and {} penetrate each other by {:.4g} mm at the start, "
                                             "between '{}' and '{}' where the "
                                             "chain goes straight. Move one of them, or list '{}' between the two.",
                                             c.name, title(s), 1e3 * depth, span.round->name,
                                             pieces[(i + 1) % pieces.size()].round->name, s.name));
        }
}

[[noreturn]] void refuse_length(const chain_data& c, double least, double most) {
    // What fits between a path that is as short, and one that is as long as rails make it.
    const int from = static_cast<int>(std::ceil(least / (1 + most_strain))),
              to = static_cast<int>(std::floor(most + most_slack));
    const bool rails = most - least > 1e-9;
    const bool short_of = c.links < from;
    throw user_error(
        c.where,
        fmt::format("chain '{}' is too {}: {} links of {:.6g} mm, and the path around its parts has {}. {} would fit. "
                    "Change 'links', or move "
                    "a part so that the path gets {} by {:.4g} mm.",
                    c.name, short_of ? "short" : "long", c.links, 1e3 * c.pitch,
                    rails ? fmt::format("{:.6g} to {:.6g} pitches, as rails are shifted", least, most)
                          : fmt::format("{:.6g} pitches", least),
                    from >= to ? fmt::format("{} links", from) : fmt::format("{} to {} links", from, to),
                    short_of ? "shorter" : "longer", 1e3 * c.pitch * (short_of ? least - c.links : c.links - most)));
}

/// The shift of rails at which the chain is taut, or as near to it as they get.
std::vector<piece> fit(drive_data& d, const chain_data& c, std::vector<support>& all) {
    std::vector<piece> pieces;
    bool rails = false;
    for (const int k : c.route) rails = rails || d.supports[static_cast<std::size_t>(k)].shift >= 0;
    const auto length_at = [&](double lambda) {
        all = around(d, c, lambda);
        const std::string why = find_path(all, c.pitch, pieces);
        return why.empty() ? pitches(pieces, c.pitch) : -1;
    };
    all = around(d, c, 0);
    refuse_overlap(all);
    // Where rails may be, so that every part is touched: around the place nearest to that of the scenario.
    constexpr int steps = 64;
    const auto valid = [&](int n) { return length_at(static_cast<double>(n) / steps) > 0; };
    int at = 0;
    while (!valid(at) && rails && at > -steps) at = at > 0 ? -at : -at + 1;
    if (const std::string why = (length_at(static_cast<double>(at) / steps), find_path(all, c.pitch, pieces));
        !why.empty()) {
        length_at(0);
        const std::string here = find_path(all, c.pitch, pieces);
        const auto blamed =
            std::ranges::find_if(all, [&](const support& s) { return here.find(title(s)) != std::string::npos; });
        throw user_error(blamed->where, fmt::format("chain '{}': {}", c.name, here));
    }
    int from = at, to = at;
    while (rails && from > -steps && valid(from - 1)) --from;
    while (rails && to < steps && valid(to + 1)) ++to;
    double low = static_cast<double>(from) / steps, high = static_cast<double>(to) / steps;
    double at_low = length_at(low), at_high = length_at(high);
    const double least = std::min(at_low, at_high), most = std::max(at_low, at_high), N = c.links;
    if (N < least / (1 + most_strain) || N > most + most_slack) refuse_length(c, least, most);
    double lambda = 0;
    if (rails) {
        if (N <= least) {
            lambda = at_low <= at_high ? low : high;
        } else if (N >= most) {
            lambda = at_low >= at_high ? low : high;
        } else {
            for (int n = 0; n < 60; ++n) {
                lambda = (low + high) / 2;
                ((length_at(lambda) < N) == (at_low < at_high) ? low : high) = lambda;
            }
        }
    }
    length_at(lambda);
    return pieces;
}

struct place {
    double x, y;
};

void lay_chain(drive_data& d, const chain_data& c) {
    std::vector<support> all;
    const std::vector<piece> pieces = fit(d, c, all);
    refuse_penetration(c, pieces);

    double arcs = 0, straight = 0;
    for (const piece& p : pieces) arcs += p.wrap / p.pitch_angle, straight += p.length;
    const double slack = c.links - arcs - straight / c.pitch;
    const double links_per_metre = (c.links - arcs) / straight;
    // A parabola of height a over L is longer by 8 a^2/(3 L).
    const double sag = slack > 0 ? std::sqrt(3 * slack * c.pitch / (8 * straight)) : 0;

    // Pin 0 stands in the middle of the first sprocket's wrap.
    std::size_t first = 0;
    while (!pieces[first].round->is_sprocket()) ++first;
    double begin = -pieces[first].wrap / pieces[first].pitch_angle / 2;  // of the piece, in links
    int pin = 0;
    for (std::size_t n = 0; n <= pieces.size(); ++n) {
        const std::size_t at = (first + n) % pieces.size();
        const piece& p = pieces[at];
        const double on_arc = p.wrap / p.pitch_angle, on_span = p.length * links_per_metre,
                     end = begin + on_arc + on_span;
        if (n < pieces.size()) {
            support& s = d.supports[static_cast<std::size_t>(c.route[at])];
            s.x = p.round->x;
            s.y = p.round->y;
            const double middle = begin + on_arc / 2, nearest = std::round(middle);
            s.pin = static_cast<int>(nearest) % c.links;
            s.window = std::min(static_cast<int>(on_arc / 2) + 5, (c.links - 1) / 2);
            s.phase = p.begin + s.turn * (nearest - begin) * p.pitch_angle;
            s.middle = p.begin + s.turn * p.wrap / 2;
            if (!s.is_sprocket() && s.arc == 0) s.arc = p.wrap + p.pitch_angle;
        }
        for (; pin < c.links && pin <= end; ++pin) {
            place r;
            if (pin <= begin + on_arc) {
                const double angle = p.begin + p.round->turn * (pin - begin) * p.pitch_angle;
                r = {p.round->x + p.round->radius * std::cos(angle), p.round->y + p.round->radius * std::sin(angle)};
            } else {
                const double tau = (pin - begin - on_arc) / on_span, ex = std::cos(p.direction),
                             ey = std::sin(p.direction);
                const double along = tau * p.length, aside = 4 * sag * p.length * tau * (1 - tau);
                r = {p.from_x + along * ex - aside * ey, p.from_y + along * ey + aside * ex};
            }
            d.q[static_cast<std::size_t>(d.x(c.first_pin + pin))] = r.x;
            d.q[static_cast<std::size_t>(d.y(c.first_pin + pin))] = r.y;
        }
        begin = end;
    }
}

}  // namespace

void lay(drive_data& d) {
    d.q.assign(static_cast<std::size_t>(d.coordinates), 0.0);
    d.v.assign(static_cast<std::size_t>(d.coordinates), 0.0);
    for (const chain_data& c : d.chains) lay_chain(d, c);
}

}  // namespace mdpcosim::drive

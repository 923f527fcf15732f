#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "subsystem/body_frame.hpp"
#include "system.hpp"

// Pictures: every body as the box with its mass and inertia, springs, wheels that roll. Vehicles (what has tyres, with z up) are seen from the side, the view follows
// the first body that moves freely, and a grid on the ground passes below it.

namespace mdpcosim::multibody {

namespace {

using words = std::array<std::string, 3>;

class artist {
   public:
    explicit artist(const described_system& d) : d_(d) {
        if (d.tyres.empty() || d.up[2] < 0.5) return;
        for (const auto& joint : d.joints)
            if (joint.kind == joint_kind::free && followed_ == ground) followed_ = joint.child;
    }

    model_scene draw() {
        if (followed_ != ground) add_grid();
        for (std::size_t b = 0; b < d_.bodies.size(); ++b)
            if (!is_wheel(static_cast<int>(b))) add_box(static_cast<int>(b));
        for (const auto& s : d_.springs)
            scene_.shapes.push_back(
                {"spring",
                 {seen(place(s.between.first, s.between.at_first)), seen(place(s.between.second, s.between.at_second))},
                 {},
                 {},
                 {}});
        for (const auto& t : d_.tyres) add_wheel(t);
        return std::move(scene_);
    }

   private:
    std::string name(int body) const { return scene_name(d_.bodies[static_cast<std::size_t>(body)].name); }

    /// Nothing but its tyre: an axle with two is drawn as a box, too.
    bool is_wheel(int body) const { return std::ranges::count(d_.tyres, body, &tyre_data::body) == 1; }

    /// In inertial axes, of a point of a body in its axes.
    words place(int body, const triple& at) const {
        words out;
        if (body == ground) {
            for (std::size_t k = 0; k < 3; ++k) out[k] = fmt::format("{:.6g}", at[k]);
            return out;
        }
        // v + 2 (w q x v + q x (q x v))
        const triple v = at - d_.bodies[static_cast<std::size_t>(body)].centre;
        const auto q = [&](std::size_t k) { return fmt::format("{}_orientation_{}", name(body), k); };
        const std::string w = q(0);
        const auto turned = [&](std::size_t k) {  // (q x v)_k
            return fmt::format("({}*{:.6g} - {}*{:.6g})", q(1 + (k + 1) % 3), v[(k + 2) % 3], q(1 + (k + 2) % 3),
                               v[(k + 1) % 3]);
        };
        for (std::size_t k = 0; k < 3; ++k) {
            out[k] = fmt::format("{}_position_{}", name(body), k);
            if (dot(v, v) < 1e-18) continue;
            out[k] += fmt::format(" + {:.6g} + 2*({}*{} + {}*{} - {}*{})", v[k], w, turned(k), q(1 + (k + 1) % 3),
                                  turned((k + 2) % 3), q(1 + (k + 2) % 3), turned((k + 1) % 3));
        }
        return out;
    }

    /// As it is drawn: ahead to the right, up, the left side away from the viewer, beside what is followed.
    std::vector<std::string> seen(const words& p) const {
        if (followed_ == ground) return {p[0], p[1], p[2]};
        return {fmt::format("{} - {}_position_0", p[0], name(followed_)), p[2],
                fmt::format("{1}_position_1 - ({0})", p[1], name(followed_))};
    }

    void add_box(int body) {
        const body_data& b = d_.bodies[static_cast<std::size_t>(body)];
        const auto side = [&](std::size_t i, std::size_t j, std::size_t k) {
            return fmt::format(
                "{:.6g}",
                std::max(0.01, std::sqrt(std::max(0.0, 6 * (b.inertia[j] + b.inertia[k] - b.inertia[i]) / b.mass))));
        };
        std::vector<std::string> turn;
        for (int k = 0; k < 4; ++k) turn.push_back(fmt::format("{}_orientation_{}", name(body), k));
        if (followed_ != ground) {  // a quarter turn about x before everything else
            constexpr const char* half = "0.707106781";
            turn = {fmt::format("{}*({} + {})", half, turn[0], turn[1]),
                    fmt::format("{}*({} - {})", half, turn[1], turn[0]),
                    fmt::format("{}*({} + {})", half, turn[2], turn[3]),
                    fmt::format("{}*({} - {})", half, turn[3], turn[2])};
        }
        scene_.shapes.push_back(
            {"box", {seen(place(body, b.centre))}, {side(0, 1, 2), side(1, 0, 2), side(2, 0, 1)}, turn, {}});
    }

    /// Its circle and one spoke.
    void add_wheel(const tyre_data& t) {
        constexpr int corners = 12;
        triple first = cross(t.axis, std::fabs(t.axis[2]) < 0.9 ? triple{0, 0, 1} : triple{1, 0, 0});
        first = (1 / std::sqrt(dot(first, first))) * first;
        const triple second = cross(t.axis, first);
        std::vector<std::vector<std::string>> points;
        for (int n = 0; n <= corners; ++n) {
            const double angle = 2 * std::numbers::pi * n / corners;
            points.push_back(
                seen(place(t.body, t.at + t.radius * (std::cos(angle) * first + std::sin(angle) * second))));
        }
        points.push_back(seen(place(t.body, t.at)));
        scene_.shapes.push_back({"line", std::move(points), {}, {}, {}});
    }

    /// Squares of 2 m that stay where they are while the view moves: x - 2 round(x/2) is a saw of the tangent.
    void add_grid() {
        constexpr int ahead = 3, across = 2;
        const auto passed = [&](int k) {
            return fmt::format("2/pi*atan(tan(pi/2*{}_position_{}))", name(followed_), k);
        };
        const auto line = [&](std::vector<std::string> from, std::vector<std::string> to) {
            scene_.shapes.push_back({"line", {std::move(from), std::move(to)}, {}, {}, {}});
        };
        for (int k = -across; k <= across; ++k) {
            const std::string z = fmt::format("{} + {}", 2 * k, passed(1));
            line({fmt::format("{}", -2 * ahead), "0", z}, {fmt::format("{}", 2 * ahead), "0", z});
        }
        for (int k = -ahead; k <= ahead; ++k) {
            const std::string x = fmt::format("{} - {}", 2 * k, passed(0));
            line({x, "0", fmt::format("{}", -2 * across)}, {x, "0", fmt::format("{}", 2 * across)});
        }
    }

    const described_system& d_;
    int followed_ = ground;
    model_scene scene_{false, {}};
};

}  // namespace

model_scene draw(const described_system& d) { return artist(d).draw(); }

}  // namespace mdpcosim::multibody

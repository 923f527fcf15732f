#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "train.hpp"

// Cams stand in a row, each with what it moves: a lever on a pivot to the left of the cam (a tappet where it has no ratio), its adjuster, valves
// with springs, and the cylinder head as lines. Sizes but for base circles, lifts and ratios are those of pictures.

namespace mdpcosim::valve_train {

namespace {

constexpr double pi = std::numbers::pi;
constexpr double lever = 0.03, thickness = 0.006, adjuster_length = 0.014, stem = 0.095, plate = 0.010, head = 0.055,
                 beside = 0.03;

std::string number(double value) { return fmt::format("{:.6g}", value); }

/// A number less factor times an output.
std::string below(double start, const std::string& output, double factor = 1) {
    return fmt::format("{:.9g} - ({:.9g})*{}", start, factor, scene_name(output));
}

class painter {
   public:
    explicit painter(const train_data& d) : d_(d) {}

    model_scene scene() {
        for (const shaft_data& s : d_.shafts)
            for (std::size_t k = 0; k < s.cams.size(); ++k) {
                const cam_data& c = d_.cams[static_cast<std::size_t>(s.cams[k])];
                const double x = s.x + s.spacing * static_cast<double>(k);
                for (const follower_data& f : d_.followers)
                    if (f.cam == s.cams[k]) add_follower(f, x, s.y - c.base_radius - thickness / 2);
                add_cam(c, s, x, k == 0);
            }
        return std::move(scene_);
    }

   private:
    using expressions = std::vector<std::string>;

    void add(const char* kind, std::vector<expressions> points, expressions size) {
        scene_.shapes.push_back({.kind = kind, .points = std::move(points), .size = std::move(size)});
    }

    /// What points downwards while the shaft stands at phi is the cam's angle phi - angle.
    void add_cam(const cam_data& c, const shaft_data& s, double x, bool first) {
        scene_shape shape{.kind = "outline", .rotation = {scene_name(s.name + ".angle")}};
        constexpr int points = 72;
        for (int k = 0; k < points; ++k) {
            const double own = 2 * pi * k / points, at = -pi / 2 - c.angle - own, r = c.base_radius + c.law.at(own).h;
            shape.points.push_back({number(r * std::cos(at)), number(r * std::sin(at))});
        }
        shape.place = {number(x), number(s.y)};
        if (first) shape.ports = {s.name};
        scene_.shapes.push_back(std::move(shape));
        add("disc", {{number(x), number(s.y)}}, {number(0.5 * c.base_radius)});
    }

    void add_follower(const follower_data& f, double cam_x, double y) {
        const double x = f.ratio == 1 ? cam_x : cam_x + (f.ratio - 1) * lever;
        const std::string lift = f.name + ".lift";
        if (f.ratio == 1)
            add("box", {{number(x), below(y, lift)}}, {number(lever), number(thickness)});
        else
            add("rod", {{number(cam_x - lever), number(y)}, {number(x), below(y, lift, f.ratio)}}, {number(thickness)});
        double tip = y - thickness / 2;
        if (f.adjuster >= 0) {
            const std::string& name = d_.adjusters[static_cast<std::size_t>(f.adjuster)].name;
            tip -= adjuster_length;
            add("rod",
                {{number(x), below(y, lift, f.ratio)},
                 {number(x), below(tip, lift, f.ratio) + " - " + scene_name(name + ".extension")}},
                {number(0.011)});
        }
        const double count = static_cast<double>(f.valves.size());
        for (std::size_t k = 0; k < f.valves.size(); ++k)
            add_valve(d_.valves[static_cast<std::size_t>(f.valves[k])],
                      x + (static_cast<double>(k) - (count - 1) / 2) * 1.2 * beside, tip);
    }

    void add_valve(const valve_data& v, double x, double tip) {
        const std::string lift = v.name + ".lift", at = number(x);
        add("rod", {{at, below(tip, lift)}, {at, below(tip - stem, lift)}}, {number(0.006)});
        add("box", {{at, below(tip - stem, lift)}}, {number(beside), number(0.004)});
        add("box", {{at, below(tip - plate, lift)}}, {number(0.8 * beside), number(0.003)});
        for (const double side : {-1.0, 1.0}) {
            const std::string spring = number(x + side * 0.3 * beside), inner = number(x + side * 0.5 * beside),
                              outer = number(x + side * 0.75 * beside);
            add("spring", {{spring, below(tip - plate, lift)}, {spring, number(tip - head)}}, {});
            add("line", {{number(x + side * 0.15 * beside), number(tip - head)}, {outer, number(tip - head)}}, {});
            add("line", {{outer, number(tip - stem)}, {inner, number(tip - stem)}}, {});
        }
    }

    const train_data& d_;
    model_scene scene_;
};

}  // namespace

model_scene draw(const train_data& d) { return painter(d).scene(); }

}  // namespace mdpcosim::valve_train

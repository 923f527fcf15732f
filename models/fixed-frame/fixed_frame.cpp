#include "subsystem/body_frame.hpp"
#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// A frame at rest: the ground that joints hold on to. Loads do not move it.

namespace mdpcosim {

namespace {

const subsystem_description& description() {
    static const subsystem_description shared = [] {
        subsystem_description d;
        d.type = "model fixed-frame";
        add_frame_port(d, "frame", "a place of the ground; loads on it have no effect");
        for (auto& output : d.outputs) {
            output.direct.clear();
            output.rate_needs_input = false;
        }
        return d;
    }();
    return shared;
}

class fixed_frame final : public equations {
   public:
    explicit fixed_frame(const parameter_values& p)
        : place_{.position = read_vector(p, "position"), .orientation = read_orientation(p, "orientation")} {}

    const subsystem_description& describe() const noexcept override { return description(); }
    int state_count() const override { return 0; }
    void initial_state(double /*t0*/, double* /*x*/) const override {}
    void derivatives(double /*t*/, const double* /*x*/, const double* /*u*/, double* /*dx*/) const override {}
    void outputs(double /*t*/, const double* /*x*/, const double* /*u*/, double* y) const override {
        put_motion(place_, {}, y);
    }

   private:
    body_motion place_;
};

using range = parameter_info::range;

const model_registration registered{{
    "fixed-frame",
    "a frame at rest in space: the ground for joints",
    {
        {"position", "m", "position of the frame", 0, range::any, false, true},
        {"orientation", "rad", "quaternion, or vector of rotation", 0, range::any, false, true},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<fixed_frame>(p); },
    {},
    [](const parameter_values&) {
        return model_scene{
            false, {{"ball", {{"frame_position_0", "frame_position_1", "frame_position_2"}}, {"0.01"}, {}, {"frame"}}}};
    },
}};

}  // namespace

}  // namespace mdpcosim

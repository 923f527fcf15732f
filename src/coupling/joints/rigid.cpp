// A rigid link or shaft between two ports of one dimension: g = first - second - offset.
#include "coupling/joint.hpp"

namespace mdpcosim {

namespace {

class rigid_joint final : public joint {
   public:
    rigid_joint(double offset, port_kind kind) : offset_(offset), kind_(kind) {}

    int equations() const override { return 1; }
    void evaluate(const double* first, const double* second, jet* g, jet* first_load, jet* second_load) const override {
        *g = {first[0] - second[0] - offset_, first[1] - second[1], first[2] - second[2]};
        *first_load = {-1};
        *second_load = {1};
    }
    std::string unit(int) const override { return info(kind_).motion_unit[0]; }
    std::string multiplier_unit(int) const override { return info(kind_).load_unit; }

   private:
    double offset_;
    port_kind kind_;
};

const joint_registration registered{
    {"rigid",
     "a rigid link or shaft: both ports move as one",
     {port_kind::translation, port_kind::rotation},
     {{.name = "offset", .unit = "{motion}", .description = "first - second, which stays as it is"}},
     [](const parameter_values& p, port_kind kind) { return std::make_unique<rigid_joint>(p["offset"], kind); }}};

}  // namespace

}  // namespace mdpcosim

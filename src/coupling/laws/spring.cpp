#include "coupling/law.hpp"

/// Linear spring with the unloaded offset `length`:
///     u = stiffness (q - length) ,   du/dt = stiffness v ,   q = first - second .
namespace mdpcosim {

namespace {

class spring final : public law {
   public:
    explicit spring(const parameter_values& p) : stiffness_(p["stiffness"]), length_(p["length"]) {}

    bool remembers() const override { return false; }
    std::optional<double> stiffness() const override { return stiffness_; }
    law_value evaluate(double q, double v) const override { return {stiffness_ * (q - length_), stiffness_ * v}; }

   private:
    double stiffness_, length_;
};

using range = parameter_info::range;

const law_registration registered{{
    .name = "spring",
    .summary = "linear spring, u = stiffness (q - length)",
    .kinds = {port_kind::translation, port_kind::rotation},
    .parameters =
        {
            {.name = "stiffness",
             .unit = "{load}/{motion}",
             .description = "spring constant",
             .allowed = range::not_negative,
             .required = true,
             .choices = {}},
            {.name = "length",
             .unit = "{motion}",
             .description = "first - second of the unloaded spring",
             .choices = {}},
        },
    .make = [](const parameter_values& p) { return std::make_unique<spring>(p); },
}};

}  // namespace

}  // namespace mdpcosim

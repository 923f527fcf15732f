#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// y = y_i + (y_{i+1} - y_i)(u - x_i)/(x_{i+1} - x_i) for x_i <= u <= x_{i+1}, outside the first or last y; no states.

namespace mdpcosim {

namespace {

const subsystem_description& description(bool constant) {
    return shared_description(fmt::format("model lookup-table {}", constant), [&](subsystem_description& d) {
        d.type = "model lookup-table";
        const int u = add_input(d, "u", "", "input signal");
        add_output(d, "y", "", "the table's value at u");
        if (!constant) output_named(d, "y").direct = {u};
    });
}

class lookup_table final : public equations {
   public:
    explicit lookup_table(const parameter_values& p) : x_(p.list("x")), y_(p.list("y")) {
        if (x_.size() != y_.size())
            throw std::invalid_argument(
                fmt::format("x has {} values and y has {}; a table needs one y for every x", x_.size(), y_.size()));
        for (std::size_t i = 1; i < x_.size(); ++i)
            if (!(x_[i] > x_[i - 1]))
                throw std::invalid_argument(
                    fmt::format("x must rise from value to value; x[{}] = {} follows {}", i, x_[i], x_[i - 1]));
        constant_ = std::all_of(y_.begin(), y_.end(), [&](double value) { return value == y_[0]; });
    }

    const subsystem_description& describe() const noexcept override { return description(constant_); }
    int state_count() const override { return 0; }
    void initial_state(double /*t0*/, double* /*x*/) const override {}
    void derivatives(double /*t*/, const double* /*x*/, const double* /*u*/, double* /*dx*/) const override {}
    void outputs(double /*t*/, const double* /*x*/, const double* u, double* y) const override { y[0] = value(u[0]); }
    bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* /*dfdx*/) const override {
        return true;
    }

   private:
    double value(double u) const {
        if (constant_ || u <= x_.front()) return y_.front();
        if (u >= x_.back()) return y_.back();
        const auto i = static_cast<std::size_t>(std::upper_bound(x_.begin(), x_.end(), u) - x_.begin());
        if (i == x_.size()) return u - u + y_.back();  // u is no number: neither is y
        return y_[i - 1] + (y_[i] - y_[i - 1]) * ((u - x_[i - 1]) / (x_[i] - x_[i - 1]));
    }

    std::vector<double> x_, y_;
    bool constant_;
};

using range = parameter_info::range;

const model_registration registered{{
    "lookup-table",
    "function of a signal given by points, linear between them",
    {
        {"x", "", "inputs of the points, rising", 0, range::any, false, true},
        {"y", "", "outputs of the points", 0, range::any, false, true},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<lookup_table>(p); },
}};

}  // namespace

}  // namespace mdpcosim

#include <fmt/format.h>

#include <stdexcept>

#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// Y/U = (b_n s^n + ... + b_0)/(s^n + a_{n-1} s^{n-1} + ... + a_0), in controllable canonical form:
//   x_i' = x_{i+1},  x_n' = u - a_0 x_1 - ... - a_{n-1} x_n,  y = c_0 x_1 + ... + c_{n-1} x_n + d u
// with d = b_n and c_i = b_i - a_i d.

namespace mdpcosim {

namespace {

/// y has a rate y' = C x' unless it depends on u itself; y' depends on u where the degrees differ by one.
const subsystem_description& description(bool direct, bool rate_needs_input) {
    return shared_description(fmt::format("model transfer-function {} {}", direct, rate_needs_input),
                              [&](subsystem_description& d) {
                                  d.type = "model transfer-function";
                                  const int u = add_input(d, "u", "", "input signal");
                                  add_output(d, "y", "", "output signal");
                                  if (direct) {
                                      output_named(d, "y").direct = {u};
                                      return;
                                  }
                                  const int rate = add_output(d, "der(y)", "", "rate of y");
                                  output_named(d, "y").rate_slot = rate;
                                  output_named(d, "y").rate_needs_input = rate_needs_input;
                                  if (rate_needs_input) output_named(d, "der(y)").direct = {u};
                              });
}

std::vector<double> without_leading_zeros(std::vector<double> polynomial) {
    while (polynomial.size() > 1 && polynomial.front() == 0) polynomial.erase(polynomial.begin());
    return polynomial;
}

class transfer_function final : public equations {
   public:
    explicit transfer_function(const parameter_values& p) {
        const auto num = without_leading_zeros(p.list("num")), den = without_leading_zeros(p.list("den"));
        if (den.front() == 0) throw std::invalid_argument("den is zero");
        if (num.size() > den.size())
            throw std::invalid_argument(
                fmt::format("num has the degree {} and den the degree {}: the output would need derivatives of the "
                            "input. Raise the degree of den, for example by a factor T s + 1 with a small T",
                            num.size() - 1, den.size() - 1));
        const std::size_t n = den.size() - 1;
        a_.resize(n);
        c_.resize(n);
        for (std::size_t i = 0; i < n; ++i) a_[i] = den[n - i] / den[0];
        d_ = num.size() == den.size() ? num[0] / den[0] : 0;
        for (std::size_t i = 0; i < n; ++i) {
            const double b = i < num.size() ? num[num.size() - 1 - i] / den[0] : 0;
            c_[i] = b - a_[i] * d_;
        }
        x0_ = p.list("x0");
        if (x0_.size() == 1) x0_.assign(n, x0_[0]);
        if (x0_.size() != n)
            throw std::invalid_argument(fmt::format("x0 has {} values; one for all or {} are needed", x0_.size(), n));
    }

    const subsystem_description& describe() const noexcept override {
        return description(d_ != 0, !c_.empty() && c_.back() != 0);
    }
    int state_count() const override { return static_cast<int>(a_.size()); }
    void initial_state(double /*t0*/, double* x) const override { std::copy(x0_.begin(), x0_.end(), x); }

    void derivatives(double /*t*/, const double* x, const double* u, double* dx) const override {
        const std::size_t n = a_.size();
        if (n == 0) return;
        for (std::size_t i = 0; i + 1 < n; ++i) dx[i] = x[i + 1];
        dx[n - 1] = highest(x, u);
    }

    void outputs(double /*t*/, const double* x, const double* u, double* y) const override {
        const std::size_t n = a_.size();
        y[0] = 0;
        for (std::size_t i = 0; i < n; ++i) y[0] += c_[i] * x[i];
        if (d_ != 0) {
            y[0] += d_ * u[0];
            return;
        }
        y[1] = 0;
        for (std::size_t i = 0; i + 1 < n; ++i) y[1] += c_[i] * x[i + 1];
        if (n > 0 && c_[n - 1] != 0) y[1] += c_[n - 1] * highest(x, u);
    }

    bool jacobian(double /*t*/, const double* /*x*/, const double* /*u*/, double* dfdx) const override {
        const std::size_t n = a_.size();
        std::fill_n(dfdx, n * n, 0.0);
        for (std::size_t i = 0; i + 1 < n; ++i) dfdx[i + (i + 1) * n] = 1;
        for (std::size_t j = 0; j < n; ++j) dfdx[n - 1 + j * n] = -a_[j];
        return true;
    }

   private:
    double highest(const double* x, const double* u) const {
        double sum = u[0];
        for (std::size_t i = 0; i < a_.size(); ++i) sum -= a_[i] * x[i];
        return sum;
    }

    std::vector<double> a_, c_, x0_;
    double d_ = 0;
};

using range = parameter_info::range;

const model_registration registered{{
    "transfer-function",
    "linear filter given by numerator and denominator",
    {
        {"num", "", "numerator's coefficients, the highest power first", 1, range::any, false, true},
        {"den", "", "denominator's coefficients, the highest power first", 1, range::any, false, true},
        {"x0", "", "states at the start: one value for all, or a list", 0, range::any, false, true},
    },
    [](const parameter_values& p) -> std::unique_ptr<equations> { return std::make_unique<transfer_function>(p); },
}};

}  // namespace

}  // namespace mdpcosim

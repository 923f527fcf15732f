#pragma once

#include "subsystem/solvers/one_step.hpp"

/// The frame of all fixed-step solvers; a method supplies one micro step.
///
/// A method is a struct with
///     static constexpr const char* name;
///     std::size_t work_size(std::size_t n) const;                                 doubles of scratch it needs
///     void prepare(equations& model, const double* x, double t, double* u);       once, may allocate
///     void step(micro_step& m, double s, double h);                               m.x from begin + s to begin + s + h
/// Without events the frame costs a few comparisons.
namespace mdpcosim {

/// Number of equal micro steps for a span: the smallest whose size is at most `step`.
inline std::int64_t micro_step_count(double span, double step) {
    return static_cast<std::int64_t>(std::clamp(std::ceil(span / step - 1e-9), 1.0, 1e15));
}

[[noreturn]] void throw_not_finite(const char* solver, double t, const equations& model, const double* x,
                                   std::size_t n);

/// The option `step`, and the one way to read it (0: not given).
std::vector<parameter_info> fixed_step_options();
double step_option(const parameter_values& options);

template <class Method>
class fixed_step_solver final : public one_step_solver {
   public:
    explicit fixed_step_solver(double step) : one_step_solver(Method::name), step_(step) {}

    void initialise(equations& model, double t0, std::span<double> x) override {
        one_step_solver::initialise(model, t0, x);
        reserve(static_cast<std::size_t>(model.describe().input_count()), method_.work_size(now_.n), false);
        few_numbers numbers;
        const lending here(*this, numbers);
        method_.prepare(model, x.data(), t0, now_.u);
    }

    void integrate(double begin, double end, std::span<const polynomial> inputs, std::span<double> x) override {
        few_numbers numbers;
        const lending here(*this, numbers);
        start(begin, inputs, x);
        if (undisturbed(end)) [[likely]]
            run(0, end - begin);
        else
            integrate_watched(end);
        if (!all_finite(x.data(), x.size())) throw_not_finite(Method::name, end, *now_.model, x.data(), x.size());
    }

   private:
    double micro(double s, double end) override {
        method_.step(now_, s, end - s);
        ++micro_steps_;
        return end - s;
    }
    void again(double s, double h) override { method_.step(now_, s, h); }

    double run(double s, double end) override {
        const std::int64_t n = step_ == 0 ? 1 : micro_step_count(end - s, step_);
        const double h = (end - s) / static_cast<double>(n);
        if (has_to_cover()) {
            for (std::int64_t i = 0; i < n; ++i) {
                const double reached =
                    cover(s + static_cast<double>(i) * h, i + 1 == n ? end : s + static_cast<double>(i + 1) * h);
                if (interrupted_) return reached;
            }
            return end;
        }
        for (std::int64_t i = 0; i < n; ++i) method_.step(now_, s + static_cast<double>(i) * h, h);
        micro_steps_ += n;
        return end;
    }

    Method method_;
    double step_;
};

template <class Method>
std::unique_ptr<solver> make_fixed_step(const parameter_values& options) {
    return std::make_unique<fixed_step_solver<Method>>(step_option(options));
}

}  // namespace mdpcosim

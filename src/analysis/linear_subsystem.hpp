#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "subsystem/subsystem.hpp"

/// A linear subsystem that integrates itself exactly, whatever the degree of its input polynomials:
///     x' = A x + B u + E u' ,   y = C x + D u .
/// E carries inputs whose rate acts too, a displacement at the far end of a damper. The inputs are states of an
/// autonomous system themselves, z_k = k! c_k with z_k' = z_(k+1), so that one matrix exponential over the macro step gives the new
/// state as a sum over x and the coefficients c_k. It is kept as long as the step stays the same up to the rounding of its times.
namespace mdpcosim {

struct linear_equations {
    Eigen::MatrixXd A, B, E, C, D;
    std::vector<std::string> inputs, outputs;
};

class linear_subsystem final : public subsystem {
   public:
    /// `input_degree` is the highest degree of polynomial that every input takes.
    linear_subsystem(linear_equations equations, Eigen::VectorXd start, int input_degree);
    /// In the place of another subsystem, which it describes itself as; of what that offers it keeps what says how a master uses it.
    linear_subsystem(linear_equations equations, Eigen::VectorXd start, subsystem_description as,
                     const capabilities& offered);

    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return offered_; }
    void rate_sensitivities(std::span<const double> u, int input, std::span<double> by_output) override;
    /// Texts have no part in it.
    void set_text(int, std::string_view) override {}
    void get_text(int, std::string& into) override { into.clear(); }
    void initialise(double t0) override;
    void outputs(std::span<const double> u, std::span<double> y) override;
    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override;
    std::unique_ptr<snapshot> make_snapshot() const override;
    void save(snapshot& into) override;
    void restore(const snapshot& from) override;

    std::span<double> state() { return {x_.data(), static_cast<std::size_t>(x_.size())}; }

   private:
    struct stored;

    void prepare(const macro_step& step, int degree);
    void find_acting_inputs();

    linear_equations eq_;
    capabilities offered_{.save_restore = true, .why_no_save_restore = {}};
    subsystem_description description_;
    std::vector<int> acting_;  ///< inputs that act on the state; the others show in outputs only
    Eigen::VectorXd start_, x_, next_;
    double H_ = 0;
    int degree_ = -1;              ///< highest degree that propagation_ holds
    Eigen::MatrixXd propagation_;  ///< x(t + H) = propagation_ (x, c_0 of the acting inputs, c_1 ...)
};

/// e^M by scaling, Taylor series and squaring.
Eigen::MatrixXd matrix_exponential(Eigen::MatrixXd M);

}  // namespace mdpcosim

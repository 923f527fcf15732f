#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "master/method.hpp"

/// The nonlinear test system for orders (M. Friedrich, Parallel Co-Simulation for Mechatronic Systems, dissertation, TU Muenchen,
/// 2011, Fig. 2.6): two oscillators with cubic springs and dampers, A excited, joined by a spring,
///     m x'' + d x' + d3 x'^3 + c x + c3 x^3 = f sin(2 t + 1/2) -+ u ,   u = 4 N/m (x_A - x_B) ,
///            m       c        c3         d            d3             f
///     A    1 kg    3 N/m    2 N/m3    0.4 N.s/m    0.3 N.s3/m3      1 N
///     B  0.7 kg    2 N/m  1.5 N/m3    0.3 N.s/m    0.2 N.s3/m3      0
/// Everything is a polynomial but the sine, so that the Taylor coefficients of a motion follow from each other: with up to 24
/// of them and micro steps of at most 1/64 s the motion is exact to the rounding of extended precision, for the bodies with their input
/// polynomials and for the coupled system alike. The coupling in between runs in double precision, as always.
namespace mdpcosim {

struct nonlinear_pair {
    using real = long double;
    using state = std::array<real, 4>;  ///< x_A, v_A, x_B, v_B in m and m/s

    static constexpr double F = 4.0 / 3;  ///< stiffness of the coupling over A's linear one

    /// The coupled system's motion from the state `from` at t to t_end, forwards or backwards, without co-simulation.
    static state exact(const state& from, double t, double t_end);
    /// Where measurements begin: 1 s after a state with all springs stretched and both bodies moving. Not much earlier than that the
    /// motion has no past, since cubic dampers, run backwards, reach infinite velocities.
    static constexpr double begin = 1;
    static const state& at_begin();
};

class nonlinear_body;

/// The co-simulated pair, driven by a registered method.
class co_simulated_pair {
   public:
    /// Throws std::invalid_argument for an unknown method.
    co_simulated_pair(const extrapolation_rule& rule, const std::string& method, int input_degree);
    ~co_simulated_pair();

    /// Begins anew in the state z at t, without history.
    void start(const nonlinear_pair::state& z, double t);
    void step(double t, double t_end);
    /// The first step of a run, which has no history: in parts, where runs divide it.
    void first_step(double t, double t_end);
    /// Replaces the states and the coupling variables that follow from them; what was accepted before stays history.
    void replace(const nonlinear_pair::state& z, double t);
    nonlinear_pair::state present() const;

   private:
    coupled_system system_;
    std::unique_ptr<method> chosen_;
    std::array<nonlinear_body*, 2> bodies_{};  ///< owned by the system's transport
};

}  // namespace mdpcosim

#pragma once

#include <memory>

#include "subsystem/sampled_equations.hpp"
#include "subsystem/tuning.hpp"

namespace mdpcosim {

/// A discrete-time model with its clock.
///
/// At a sample time outputs(u, y) gives g(x_k, u) (feed-through, `direct`) when there is no delay; advance() from there
/// takes the values of its input polynomials at t_k, updates the state once and holds y_k. Between samples, and always
/// where there is a delay, the outputs are the held ones, whatever u is. Sample times are meant to be macro points; one
/// inside a step (a trial step of another length) takes the polynomials' values there. Offers save/restore.
std::unique_ptr<subsystem> make_sampled_subsystem(std::unique_ptr<sampled_equations> model, const sampling& clock,
                                                  std::unique_ptr<tuning<sampled_equations>> how_tuned = nullptr);

}  // namespace mdpcosim

#pragma once

#include <string>

#include "coupling/fixed_point.hpp"
#include "coupling/network.hpp"

namespace mdpcosim {

/// Coupling variables that depend on themselves at one time, because no output between them has a state. With the values of the torn
/// channels everything in the loop can be evaluated in an order; at its end stand new values of the torn ones, which must be the same.
class algebraic_loop {
   public:
    /// `path`: the loop from output to input, for messages.
    algebraic_loop(std::vector<channel_index> torn, std::string path, const fixed_point_options& options);

    const std::vector<channel_index>& torn() const { return torn_; }
    const std::string& path() const { return path_; }
    std::span<const double> solution() const { return x_; }  ///< the last one, of the torn channels
    const fixed_point_options& options() const { return solver_.options(); }

    /// From u of the torn channels on: `evaluate()` evaluates everything in the loop with the present u and leaves the outputs in y. Throws run_error
    /// where the iteration fails. Then u of the torn channels belongs to the outputs.
    template <class Evaluate>
    void solve(double t, const network& net, std::span<const double> y, std::span<double> u, const Evaluate& evaluate) {
        for (std::size_t i = 0; i < torn_.size(); ++i) x_[i] = u[torn_[i].value()];
        solver_.begin();
        auto state = fixed_point::outcome::more;
        while (state == fixed_point::outcome::more) {
            for (std::size_t i = 0; i < torn_.size(); ++i) u[torn_[i].value()] = x_[i];
            evaluate();
            for (std::size_t i = 0; i < torn_.size(); ++i) g_[i] = net.evaluate_one(t, torn_[i], y);
            state = solver_.next(x_, g_);
        }
        counts_.add(solver_);
        if (state == fixed_point::outcome::failed) fail(t, net);
    }

    const iteration_counts& so_far() const { return counts_; }
    void count_anew() { counts_ = {}; }
    /// But for the counts, which tell of work that was done, whatever became of it.
    void state(state_bytes& bytes) { bytes(solver_, x_, g_); }

   private:
    [[noreturn]] void fail(double t, const network& net) const;

    std::vector<channel_index> torn_;
    std::string path_;
    fixed_point solver_;
    std::vector<double> x_, g_;
    iteration_counts counts_;
};

}  // namespace mdpcosim

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/state_bytes.hpp"
#include "core/time_grid.hpp"

/// Quality of the couplings and macro steps over time, in a fixed amount of memory: macro steps are gathered in buckets, and when
/// all buckets are full, neighbours are joined. Extremes are never lost. Of very many channels the first 512 are followed. Allocates
/// nothing after construction.
namespace mdpcosim {

class coupling_trace {
   public:
    explicit coupling_trace(std::size_t channels, std::size_t bonds = 0);

    /// One accepted macro step: what the extrapolations missed (coupling_monitor::jumps) and the energy errors so far, of channels and of bonds.
    void step(const macro_step& step, std::span<const double> jumps, std::span<const double> energy_errors,
              std::span<const double> bond_errors = {});
    /// With step control, before the accepted step it belongs to: an attempt of length H, its error as a multiple of what is
    /// allowed, and whether it was thrown away.
    void attempt(double H, double error, bool accepted);

    std::size_t buckets() const { return used_; }

    void state(state_bytes& bytes) {
        bytes(buckets_, jump_, residual_, energy_, before_, used_, stride_, in_last_, waiting_);
    }

    /// A JSON document; channels and bonds by name, channels without a name are left out.
    std::string to_json(const std::vector<std::string>& names, const std::vector<std::string>& bonds = {}) const;

   private:
    struct bucket {
        double end = 0;  ///< of its last macro step
        double H_min = 0, H_max = 0;
        double H_rejected = 0;  ///< largest
        double error = 0;       ///< largest of accepted steps
        std::int64_t rejected = 0;
    };

    void join_neighbours();
    void follow_energy(std::size_t column, double error);

    std::size_t channels_, columns_;  ///< columns: channels, then bonds
    std::vector<bucket> buckets_;
    std::vector<double> jump_;      ///< largest size, by bucket and channel
    std::vector<double> residual_;  ///< largest energy error of one macro step, by bucket and column
    std::vector<double> energy_;    ///< energy error at the end of the bucket
    std::vector<double> before_;    ///< energy errors after the last step
    std::size_t used_ = 0;
    std::int64_t stride_ = 1, in_last_ = 0;
    bucket waiting_;  ///< attempts at the next accepted step
};

}  // namespace mdpcosim

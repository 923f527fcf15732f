#pragma once

#include <string>
#include <vector>

#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

/// A scenario run step by step in memory, for tests that look at every macro point.
namespace mdpcosim::test {

class coupled_run {
   public:
    explicit coupled_run(const scenario& s, int workers = 1)
        : grid(s.time.start, s.time.end, s.time.step), all(s, {.workers = workers}) {
        all.initialise();
    }

    /// Watches an output by its address; read it with value().
    std::size_t watch(const std::string& address) {
        places_.push_back(all.find(address));
        return places_.size() - 1;
    }
    double value(std::size_t watched) const { return all.value(places_[watched]); }

    double time() const { return all.time(); }
    bool done() const { return all.done(); }
    void step() { all.step(); }

    /// The watched values at every macro point, the start included.
    std::vector<std::vector<double>> rows() {
        std::vector<std::vector<double>> rows;
        for (;; step()) {
            auto& row = rows.emplace_back();
            for (std::size_t i = 0; i < places_.size(); ++i) row.push_back(value(i));
            if (done()) return rows;
        }
    }

    time_grid grid;
    simulation all;

   private:
    std::vector<simulation::place> places_;
};

}  // namespace mdpcosim::test

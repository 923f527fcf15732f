#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assembly/address_book.hpp"
#include "assembly/assembly.hpp"
#include "scenario/read.hpp"

/// A scenario run step by step in memory, for tests that look at every macro point.
namespace mdpcosim::test {

class coupled_run {
   public:
    explicit coupled_run(const scenario& s, int workers = 1)
        : grid(s.time.start, s.time.end, s.time.step),
          assembled(assemble(s, {.workers = workers})),
          method_(make_method(s)),
          book_(*assembled.system.subsystems) {
        assembled.system.initialise(s.time.start);
        method_->prepare(assembled.system);
    }

    /// Watches an output by its address; read it with value().
    std::size_t watch(const std::string& address) {
        slots_.push_back(book_.find_output({address, {}}, "test").slot);
        return slots_.size() - 1;
    }
    double value(std::size_t watched) const { return assembled.system.subsystems->outputs()[slots_[watched].value()]; }

    double time() const { return grid.time(n); }
    bool done() const { return n == grid.steps(); }
    void step() { method_->step(assembled.system, grid.step(n++)); }

    /// The watched values at every macro point, the start included.
    std::vector<std::vector<double>> rows() {
        std::vector<std::vector<double>> all;
        for (;; step()) {
            auto& row = all.emplace_back();
            for (std::size_t i = 0; i < slots_.size(); ++i) row.push_back(value(i));
            if (done()) return all;
        }
    }

    time_grid grid;
    assembly assembled;
    std::int64_t n = 0;

   private:
    std::unique_ptr<method> method_;
    address_book book_;
    std::vector<output_slot> slots_;
};

}  // namespace mdpcosim::test

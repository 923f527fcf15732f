#pragma once

#include "subsystem/subsystem.hpp"

namespace mdpcosim::bench {

/// One output that repeats the one input: less work than any model.
class echo final : public subsystem {
   public:
    echo() {
        description_.type = "echo";
        description_.inputs.resize(1);
        description_.inputs[0].name = "u";
        description_.outputs.resize(1);
        description_.outputs[0].name = "y";
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return {}; }
    void initialise(double) override {}
    void outputs(std::span<const double> u, std::span<double> y) override { y[0] = u[0]; }
    void advance(const macro_step&, std::span<const polynomial> inputs, std::span<double> y) override {
        y[0] = inputs[0].c[0];
    }

   private:
    subsystem_description description_;
};

}  // namespace mdpcosim::bench

#pragma once

#include "coupling/law.hpp"

namespace mdpcosim {

/// A signal with an offset: u = q + offset, q the sum of its terms. A signal without one needs no law.
class signal_law final : public law {
   public:
    explicit signal_law(double offset) : offset_(offset) {}
    bool physical() const override { return false; }
    law_value evaluate(double q, double v) const override { return {q + offset_, v}; }
    bool remembers() const override { return false; }

   private:
    double offset_;
};

}  // namespace mdpcosim

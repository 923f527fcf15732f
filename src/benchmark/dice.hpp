#pragma once

#include <cmath>
#include <initializer_list>
#include <random>

namespace mdpcosim {

/// Random numbers for generated systems, the same everywhere for the same seed.
class dice {
   public:
    explicit dice(unsigned seed) : engine_(seed) {}

    double uniform(double a, double b) {
        return a + (b - a) * static_cast<double>(engine_()) / static_cast<double>(std::mt19937::max());
    }
    double power(double a, double b) { return std::pow(10, uniform(a, b)); }
    bool chance(double p) { return uniform(0, 1) < p; }
    template <class T>
    T pick(std::initializer_list<T> choices) {
        return choices.begin()[engine_() % choices.size()];
    }

   private:
    std::mt19937 engine_;
};

}  // namespace mdpcosim

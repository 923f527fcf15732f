#pragma once

#include <cmath>

#include "expression/expression.hpp"

namespace mdpcosim {

/// The value of one operation; constant folding and compiled programs share it, so that both give the same bits.
inline double apply(operation op, double a, double b, double c) {
    const auto truth = [](bool condition) { return condition ? 1.0 : 0.0; };
    switch (op) {
        case operation::constant:
        case operation::variable:
            return a;
        case operation::add:
            return a + b;
        case operation::subtract:
            return a - b;
        case operation::multiply:
            return a * b;
        case operation::divide:
            return a / b;
        case operation::power:
            return std::pow(a, b);
        case operation::negate:
            return -a;
        case operation::sin:
            return std::sin(a);
        case operation::cos:
            return std::cos(a);
        case operation::tan:
            return std::tan(a);
        case operation::asin:
            return std::asin(a);
        case operation::acos:
            return std::acos(a);
        case operation::atan:
            return std::atan(a);
        case operation::atan2:
            return std::atan2(a, b);
        case operation::sinh:
            return std::sinh(a);
        case operation::cosh:
            return std::cosh(a);
        case operation::tanh:
            return std::tanh(a);
        case operation::exp:
            return std::exp(a);
        case operation::log:
            return std::log(a);
        case operation::log10:
            return std::log10(a);
        case operation::sqrt:
            return std::sqrt(a);
        case operation::abs:
            return std::abs(a);
        case operation::sign:
            return a > 0 ? 1.0 : a < 0 ? -1.0 : a;  // keeps a NaN visible
        case operation::min:
            return a <= b ? a : std::isnan(a) ? a : b;
        case operation::max:
            return a >= b ? a : std::isnan(a) ? a : b;
        case operation::less:
            return truth(a < b);
        case operation::less_equal:
            return truth(a <= b);
        case operation::equal:
            return truth(a == b);
        case operation::not_equal:
            return truth(a != b);
        case operation::logical_and:
            return truth(a != 0 && b != 0);
        case operation::logical_or:
            return truth(a != 0 || b != 0);
        case operation::logical_not:
            return truth(a == 0);
        case operation::select:
            return a != 0 ? b : c;
    }
    return 0;
}

}  // namespace mdpcosim

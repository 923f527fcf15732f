#pragma once

#include <string>
#include <vector>

/// The printed stability limits of M. Friedrich, Parallel Co-Simulation for Mechatronic Systems, dissertation, TU Muenchen, 2011,
/// Tables 2.4 to 2.8: largest stable omega H of two equal undamped bodies (V = 1).
namespace mdpcosim {

struct published_limit {
    double F;                  ///< 10^-1, 10^-1/4, 10^1/2, 10^5/4 or 10^2, printed rounded
    double omega_max;          ///< as printed
    double unit;               ///< of the last printed digit
    std::vector<double> free;  ///< the last 2K - R of a_k, b_k, as printed
    bool found = false;        ///< none are printed: these, on the straight line, are what optimise() finds
};

struct published_table {
    std::string number;  ///< "2.5"
    std::string rule;    ///< "lin-2-3"
    int degree, K, R;
    std::vector<published_limit> rows;
};

/// 2.4 to 2.7.
const std::vector<published_table>& published_tables();

/// 2.8: the same four rules, printed with three digits, for F = 10^2, 10^5/4, 10^1/2.
const std::vector<published_table>& published_comparison();

/// 10^-1, 10^-1/4, 10^1/2, 10^5/4, 10^2
std::vector<double> published_F();

}  // namespace mdpcosim

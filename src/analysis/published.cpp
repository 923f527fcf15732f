#include "analysis/published.hpp"

#include <cmath>

namespace mdpcosim {

std::vector<double> published_F() {
    return {std::pow(10, -1), std::pow(10, -0.25), std::pow(10, 0.5), std::pow(10, 1.25), std::pow(10, 2)};
}

const std::vector<published_table>& published_tables() {
    static const std::vector<double> F = published_F();
    static const std::vector<published_table> tables{
        {"2.4",
         "const-2-3",
         0,
         2,
         3,
         {{F[0], 2.38, 1e-2, {0}},
          {F[1], 1.34, 1e-2, {0}},
          {F[2], 0.606, 1e-3, {0}},
          {F[3], 0.259, 1e-3, {0}},
          {F[4], 0.109, 1e-3, {0}}}},
        {"2.5",
         "lin-2-3",
         1,
         2,
         3,
         {{F[0], 2.3607, 1e-4, {0.12446}},
          {F[1], 1.4745, 1e-4, {-0.097519}},
          {F[2], 0.72003, 1e-5, {-0.18132}},
          {F[3], 0.31417, 1e-5, {-0.19994}},
          {F[4], 0.13335, 1e-5, {-0.20322}}}},
        // Printed are p_1 = b_1 and p_2 = b_0; from F = 10^1/2 on the optimum is a straight line.
        {"2.6",
         "const-2-2",
         0,
         2,
         2,
         {{F[0], 2.5347, 1e-4, {0.73499, 0.11734}},
          {F[1], 1.5858, 1e-4, {0.601361, 0.049051}},
          {F[2], 0.76531, 1e-5, {0.512655, 0}, true},
          {F[3], 0.33281, 1e-5, {0.507325, 0.005}, true},
          {F[4], 0.14120, 1e-5, {0.500420, 0}, true}}},
        {"2.7",
         "lin-2-2",
         1,
         2,
         2,
         {{F[0], 2.4054, 1e-4, {0.93711, 0.20301}},
          {F[1], 1.5373, 1e-4, {0.749684, 0.057105}},
          {F[2], 0.75832, 1e-5, {0.686343, 0.014735}},
          {F[3], 0.32978, 1e-5, {0.666899, -0.020791}},
          {F[4], 0.14071, 1e-5, {0.6667712, -0.0069416}}}},
    };
    return tables;
}

const std::vector<published_table>& published_comparison() {
    static const std::vector<published_table> table = [] {
        constexpr double printed[4][3] = {
            {0.109, 0.259, 0.606}, {0.133, 0.314, 0.720}, {0.141, 0.333, 0.765}, {0.141, 0.330, 0.750}};
        std::vector<published_table> made;
        for (std::size_t i = 0; i < 4; ++i) {
            published_table row = published_tables()[i];
            row.number = "2.8";
            row.rows = {row.rows[4], row.rows[3], row.rows[2]};
            for (std::size_t k = 0; k < 3; ++k) {
                row.rows[k].omega_max = printed[i][k];
                row.rows[k].unit = 1e-3;
            }
            made.push_back(std::move(row));
        }
        return made;
    }();
    return table;
}

}  // namespace mdpcosim

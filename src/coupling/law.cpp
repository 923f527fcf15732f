#include "coupling/law.hpp"

namespace mdpcosim {

law_slope law::slope(double q, double /*v*/) const {
    if (!has_rate()) throw std::logic_error("a law without a rate does not tell its slope");
    return {evaluate(q, 1).rate, 0};
}

std::vector<port_role> two_port_roles() { return {{1, -1}, {-1, 1}}; }

}  // namespace mdpcosim

#include "coupling/law.hpp"

namespace mdpcosim {

std::vector<port_role> two_port_roles() { return {{1, -1}, {-1, 1}}; }

}  // namespace mdpcosim

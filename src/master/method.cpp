#include "master/method.hpp"

#include <stdexcept>

namespace mdpcosim {

estimate_orders method::estimate(coupled_system&, const macro_step&, std::span<double>) {
    throw std::logic_error("this method estimates no errors");
}

}  // namespace mdpcosim

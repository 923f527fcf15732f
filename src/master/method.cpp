#include "master/method.hpp"

#include <stdexcept>

namespace mdpcosim {

void method::keep(coupled_system& system) {
    system.save_begin();
    kept_.write();
    kept_(system, *this);
}

void method::rollback(coupled_system& system) {
    system.restore_begin();
    kept_.read();
    kept_(system, *this);
    kept_.finish();
}

estimate_orders method::attempt_and_estimate(coupled_system&, const macro_step&, std::span<double>) {
    throw std::logic_error("the method does not estimate errors");
}

}  // namespace mdpcosim

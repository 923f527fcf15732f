#include "subsystem/subsystem.hpp"

#include <stdexcept>

namespace mdpcosim {

// Methods check offers().save_restore before the run, so that these three are reached by a programming error only.

std::unique_ptr<snapshot> subsystem::make_snapshot() const { throw std::logic_error("no save/restore"); }

void subsystem::save(snapshot&) { throw std::logic_error("no save/restore"); }

void subsystem::restore(const snapshot&) { throw std::logic_error("no save/restore"); }

}  // namespace mdpcosim

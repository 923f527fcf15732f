#pragma once

#include <sys/types.h>

#include <vector>

/// On which processing units threads and processes run.
namespace mdpcosim {

/// Units this process may use, by the system's numbers: one of every core first, then the cores' further hardware threads.
const std::vector<int>& processing_units();

/// How many threads this process can run at once; a container's quota counts.
int available_cores();

/// Lets a thread or process (0: the calling thread) run on one unit, or on all with -1. False where the system refuses.
bool bind_to_unit(pid_t task, int unit);

/// Binds the calling thread for the time of its life.
class bound_thread {
   public:
    explicit bound_thread(int unit) : bound_(unit >= 0 && bind_to_unit(0, unit)) {}
    bound_thread(const bound_thread&) = delete;
    bound_thread& operator=(const bound_thread&) = delete;
    ~bound_thread() {
        if (bound_) bind_to_unit(0, -1);
    }

   private:
    bool bound_;
};

/// The right to bind without being asked: one run of a user on a machine has it, since two would choose the same units.
class binding_right {
   public:
    binding_right();
    binding_right(const binding_right&) = delete;
    binding_right& operator=(const binding_right&) = delete;
    ~binding_right();
    bool granted() const { return socket_ >= 0; }

   private:
    int socket_;
};

/// Who may and must run where.
struct binding {
    bool automatic = false;       ///< what is not named below is bound, too, where that helps
    std::vector<int> units = {};  ///< by subsystem; -1 or beyond the end: free
    int master = -1;              ///< of the thread that couples
    int of(std::size_t subsystem) const { return subsystem < units.size() ? units[subsystem] : -1; }
};

}  // namespace mdpcosim

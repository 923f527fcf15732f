#include "transport/affinity.hpp"

#include <hwloc.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <thread>

namespace mdpcosim {

namespace {

/// Asked once: what the program binds later does not count.
const cpu_set_t& allowed_units() {
    static const cpu_set_t allowed = [] {
        cpu_set_t set;
        CPU_ZERO(&set);
        if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) == 0)
            for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) CPU_SET(i, &set);
        return set;
    }();
    return allowed;
}

/// Cores' worth of time that a container may use; a large number where nothing limits it.
int quota() {
    long long most = 0, period = 0;
    if (std::FILE* file = std::fopen("/sys/fs/cgroup/cpu.max", "re")) {
        if (std::fscanf(file, "%lld %lld", &most, &period) != 2) period = 0;  // "max" is no number
        std::fclose(file);
    }
    return period > 0 ? static_cast<int>(std::max(1LL, (most + period - 1) / period)) : CPU_SETSIZE;
}

std::vector<int> find_units() {
    std::vector<int> first, further;
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) == 0) {
        if (hwloc_topology_load(topology) == 0) {
            hwloc_obj_t core = nullptr;
            const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
            for (int i = 0; i < count; ++i) {
                hwloc_obj_t unit = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, static_cast<unsigned>(i));
                const int number = static_cast<int>(unit->os_index);
                if (!CPU_ISSET(number, &allowed_units())) continue;
                hwloc_obj_t of = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit);
                (of == nullptr || of != core ? first : further).push_back(number);
                core = of;
            }
        }
        hwloc_topology_destroy(topology);
    }
    first.insert(first.end(), further.begin(), further.end());
    if (!first.empty()) return first;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &allowed_units())) first.push_back(i);
    return first;
}

}  // namespace

const std::vector<int>& processing_units() {
    static const std::vector<int> units = find_units();
    return units;
}

int available_cores() {
    static const int cores = std::min(CPU_COUNT(&allowed_units()), quota());
    return cores;
}

bool bind_to_unit(pid_t task, int unit) {
    cpu_set_t set = allowed_units();
    if (unit >= 0) {
        CPU_ZERO(&set);
        CPU_SET(unit, &set);
    }
    return sched_setaffinity(task, sizeof set, &set) == 0;
}

/// A name that the system forgets with the process, whatever its end.
binding_right::binding_right() : socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "mdpcosim-binding-%u", getuid());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
    if (socket_ >= 0 && bind(socket_, reinterpret_cast<const sockaddr*>(&name), size) != 0) {
        close(socket_);
        socket_ = -1;
    }
}

binding_right::~binding_right() {
    if (socket_ >= 0) close(socket_);
}

}  // namespace mdpcosim

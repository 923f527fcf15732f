#include "transport/affinity.hpp"

#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdio>
#include <string>
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

/// A number that the system tells about a processing unit; -1: it tells none.
int topology_of(int unit, const char* what) {
    const std::string path = "/sys/devices/system/cpu/cpu" + std::to_string(unit) + "/topology/" + what;
    int value = -1;
    if (std::FILE* file = std::fopen(path.c_str(), "re")) {
        if (std::fscanf(file, "%d", &value) != 1) value = -1;
        std::fclose(file);
    }
    return value;
}

/// One unit of every core first, package after package; then the further ones of cores that have several.
std::vector<int> find_units() {
    struct place {
        int package, core, unit;
        auto operator<=>(const place&) const = default;
    };
    std::vector<place> all;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &allowed_units())) {
            const int core = topology_of(i, "core_id");
            all.push_back({topology_of(i, "physical_package_id"), core >= 0 ? core : i, i});
        }
    std::ranges::sort(all);
    std::vector<int> first, further;
    for (std::size_t k = 0; k < all.size(); ++k) {
        const bool same = k > 0 && all[k].package == all[k - 1].package && all[k].core == all[k - 1].core;
        (same ? further : first).push_back(all[k].unit);
    }
    first.insert(first.end(), further.begin(), further.end());
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

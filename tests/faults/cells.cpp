#include "faults/cells.hpp"

namespace mdpcosim::faults {

const char* name_of(kind k) {
    constexpr const char* names[] = {"SIGSEGV",    "SIGBUS",    "SIGFPE",  "SIGILL",  "SIGABRT", "exit(0)",
                                     "_exit(0)",   "exit(5)",   "hang",    "NaN",     "error",   "exception",
                                     "kill -9",    "lost rank", "SIGTERM", "SIGINT",  "SIGHUP",  "garbage",
                                     "disconnect", "flood",     "memory",  "CPU time"};
    return names[static_cast<int>(k)];
}

const char* name_of(place p) {
    constexpr const char* names[] = {"threads", "processes", "tcp", "mpi"};
    return names[static_cast<int>(p)];
}

const char* name_of(source s) {
    constexpr const char* names[] = {"native", "ode", "plugin", "fmu", "program", "exported"};
    return names[static_cast<int>(s)];
}

bool cell::limited() const {
    return what == kind::hang || what == kind::flood || what == kind::killed || what == kind::garbage;
}

bool cell::isolated() const {
    return where == place::processes || where == place::tcp || who == source::program || limited() ||
           what == kind::memory || what == kind::cpu;
}

bool cell::needs_supervisor() const { return what == kind::hang_up || (what <= kind::status && !isolated()); }

std::string cell::impossible() const {
    const bool own_code = who == source::native || who == source::ode;
    const bool of_others =
        what <= kind::hang || what == kind::error || what == kind::exception || what >= kind::garbage;
    if (own_code && of_others) return "own";
    if (what == kind::exception && who == source::program) return "C";
    if (what == kind::disconnect && where != place::tcp) return "none";
    if (what == kind::lost_rank && where != place::mpi) return "none";
    return {};
}

std::vector<cell> all_cells() {
    std::vector<cell> all;
    for (int k = 0; k < kinds; ++k)
        for (int p = 0; p < places; ++p)
            for (int s = 0; s < sources; ++s)
                all.push_back({static_cast<kind>(k), static_cast<place>(p), static_cast<source>(s)});
    return all;
}

}  // namespace mdpcosim::faults

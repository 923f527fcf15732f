#pragma once

#include <atomic>
#include <functional>

#include "transport/processes.hpp"

namespace mdpcosim {

class listener;

struct tcp_options {
    std::string listen = {};       ///< "HOST:PORT", "PORT"; no host: this machine only; no port: any free one
    std::string token = {};        ///< empty: a random one
    std::vector<int> remote = {};  ///< subsystems that programs elsewhere bring, each over a connection of its own
    double wait = 60;              ///< s for them to come, and then to make what they bring
    std::function<void(const listener&)> announce = {};  ///< called once somebody can connect, if there are any of them
    const std::atomic<bool>* interrupt = nullptr;        ///< set: nobody is waited for any more, a run_error
    binding cores = {};
};

/// Subsystems in processes of their own that connect to this one over TCP: started here (see make_process_transport()), and
/// programs elsewhere. Nobody can connect any more once all have come. A subsystem that nobody brings in time is a user_error.
std::unique_ptr<transport> make_tcp_transport(std::vector<subsystem_recipe> subsystems,
                                              const std::vector<std::vector<int>>& groups = {},
                                              const tcp_options& options = {});

}  // namespace mdpcosim

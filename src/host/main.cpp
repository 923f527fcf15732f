// mdpcosim-host: the program that subsystems' processes run. mdpcosim starts it; see remote/host_task.hpp.
#include <cstdio>

#include "core/foreign_call.hpp"
#include "remote/host_task.hpp"

int main(int count, char** arguments) {
    mdpcosim::watch_crashes();
    mdpcosim::live_as_host(count, arguments);
    std::fputs("mdpcosim-host is started by mdpcosim where subsystems live in processes of their own.\n", stderr);
    return 2;
}

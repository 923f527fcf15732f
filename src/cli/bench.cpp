#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "engine/bench_transport.hpp"

namespace mdpcosim {

void add_bench(CLI::App& app, int& status) {
    CLI::App* command = app.add_subcommand("bench", "Measure this machine");
    command->require_subcommand(1);
    CLI::App* transport = command->add_subcommand(
        "transport", "What a macro step costs on every transport, beside the bare round trip of its medium");
    auto json = std::make_shared<bool>(false);
    transport->add_flag("--json", *json, "Seconds as one JSON document on standard output");
    transport->callback([json, &status] {
        const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
        const auto timings = bench_transports(self, [](const std::string& next) { fmt::print(stderr, "{}\n", next); });
        fmt::print("{}", *json ? to_json(timings) : to_table(timings));
        status = 0;
    });
    CLI::App* rank = command->add_subcommand("mpi-ping-pong")->group("");
    auto file = std::make_shared<std::string>();
    rank->add_option("file", *file)->required();
    rank->callback([file, &status] { status = mpi_ping_pong(*file); });
}

}  // namespace mdpcosim

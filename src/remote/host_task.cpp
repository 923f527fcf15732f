#include "remote/host_task.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "core/error.hpp"
#include "core/messages.hpp"
#include "core/shared_library.hpp"
#include "remote/frame_link.hpp"
#include "remote/host_program.hpp"
#include "remote/listener.hpp"
#include "remote/system_calls.hpp"
#include "remote/tcp.hpp"
#include "scenario/entry_text.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

namespace {

/// Argument 0 of a host; argument 1 is the number of the file with its task.
constexpr std::string_view host_title = "mdpcosim-host";

/// Programs of one build understand each other; another one must not try.
constexpr std::uint32_t host_version = 3;

/// A file without a name that holds these bytes, to be read from its begin.
file_handle file_with(std::span<const char> bytes) {
    file_handle file = above_standard(file_handle(memfd_create("mdpcosim-task", MFD_CLOEXEC)));
    if (file.get() < 0) file = above_standard(file_handle(open(P_tmpdir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)));
    const int reason = errno;
    if (file.get() < 0)
        throw run_error(fmt::format("no file for a process's task: {}{}", std::strerror(reason), remedy_of(reason)));
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t n = write(file.get(), bytes.data() + done, bytes.size() - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            throw run_error(
                fmt::format("no place for the {} bytes of a process's task: {}", bytes.size(), std::strerror(errno)));
        done += static_cast<std::size_t>(n);
    }
    lseek(file.get(), 0, SEEK_SET);
    return file;
}

std::vector<char> content_of(int file) {
    std::vector<char> bytes;
    char part[1 << 16];
    for (ssize_t n; (n = read(file, part, sizeof part)) != 0;) {
        if (n < 0 && errno != EINTR) throw run_error(fmt::format("no task: {}", std::strerror(errno)));
        if (n > 0) bytes.insert(bytes.end(), part, part + n);
    }
    return bytes;
}

/// The filter of system calls must stand before the first line of others' code, and after what the host itself has to write.
void compute_only() {
    auto filter = compute_filter(false);
    address_filter(filter, getpid());
    if (!apply_filter(filter))
        throw run_error(fmt::format("'limits: system-calls' cannot be had here: {}", std::strerror(errno)));
}

void do_task(std::span<const char> bytes) {
    wire_reader words(bytes);
    if (words.get<std::uint32_t>() != host_version)
        throw run_error(fmt::format("the host program belongs to another mdpcosim; see {}", host_variable));
    if (words.get<bool>()) before_first_library(compute_only);
    const std::string name = words.get_text();
    const host_task* task = registry<host_task>::instance().find(name);
    if (task == nullptr) throw run_error(fmt::format("the host program knows no task '{}'", name));
    task->run(words);
}

/// Serves the subsystems of the words' end over a link.
void serve_members(frame_link& link, wire_reader& words) {
    wire_writer introduction;
    subsystem_host host(get_makers(words), introduction);
    serve(link, host, introduction);
}

const host_task_registration linked_task{{"linked", [](wire_reader& words) {
                                              file_handle socket(words.get<int>());
                                              const bool spin = words.get<bool>();
                                              fcntl(socket.get(), F_SETFD, FD_CLOEXEC);
                                              serve_members(*make_socket_link(std::move(socket), spin), words);
                                          }}};

const host_task_registration connecting_task{{"connecting", [](wire_reader& words) {
                                                  const std::string address = words.get_text();
                                                  remote_hello hello;
                                                  hello.token = words.get_text();
                                                  hello.name = words.get_text();
                                                  const bool spin = words.get<bool>();
                                                  serve_members(*connect_to_master(address, hello, spin), words);
                                              }}};

const maker_registration entry_maker{
    {"entry", [](const std::string& text) { return make_subsystem(read_entry(text)); }}};
const maker_registration tunable_entry_maker{{"tunable entry", [](const std::string& text) {
                                                  subsystem_spec spec = read_entry(text);
                                                  spec.tunable = true;
                                                  return make_subsystem(spec);
                                              }}};

}  // namespace

std::unique_ptr<child_process> start_host(const std::string& task, const wire_writer& words, std::vector<int> files,
                                          const process_limits& limits) {
    wire_writer all;
    all.put(host_version);
    all.put(limits.compute_only);
    all.put(task);
    all.put_bytes(words.bytes().data(), words.bytes().size());
    const file_handle file = file_with(all.bytes());
    files.push_back(file.get());
    return std::make_unique<child_process>(
        child_process::program{.command = {find_host_program().string(), std::to_string(file.get())},
                               .files = std::move(files),
                               .title = std::string(host_title),
                               .subsystem = true,
                               .limits = limits});
}

void live_as_host(int count, char** arguments) {
    if (count != 2 || arguments[0] != host_title) return;
    signal(SIGPIPE, SIG_IGN);
    // What is written here, the process that started this one keeps and tells.
    const message_scope to_starter([](const std::string& text) { fmt::print(stderr, "{}\n", text); });
    int status = 0;
    try {
        file_handle file(std::atoi(arguments[1]));
        const std::vector<char> bytes = content_of(file.get());
        file.close();
        do_task(bytes);
    } catch (const std::exception& problem) {
        fmt::print(stderr, "{}\n", problem.what());
        status = 1;
    }
    std::fflush(nullptr);
    _exit(status);  // an FMU's exit handlers may do anything
}

subsystem_text text_of(const subsystem_spec& spec) {
    subsystem_spec inside = spec;
    inside.fmu.isolate = inside.fmu.isolate_decided = false;
    inside.fmu.isolate_because = {};
    inside.limit = 0;
    inside.limits = {};
    return {spec.tunable ? "tunable entry" : "entry", write_entry(inside), spec.limits};
}

process_limits limits_of(const std::vector<subsystem_text>& members) {
    return members.size() == 1 ? members.front().limits : process_limits{};
}

void put(wire_writer& to, const std::vector<subsystem_text>& members) {
    to.put(members.size());
    for (const auto& m : members) {
        to.put(m.maker);
        to.put(m.text);
    }
}

std::vector<subsystem_maker> get_makers(wire_reader& from) {
    std::vector<subsystem_maker> makers(from.get<std::size_t>());
    for (auto& make : makers) {
        const std::string name = from.get_text();
        const maker_info* info = registry<maker_info>::instance().find(name);
        if (info == nullptr) throw run_error(fmt::format("the host program knows no maker '{}'", name));
        make = [info, text = from.get_text()] { return info->make(text); };
    }
    return makers;
}

std::unique_ptr<child_process> start_connecting(const listener& door, const std::string& key,
                                                const std::vector<subsystem_text>& members, bool spin) {
    wire_writer words;
    words.put(door.address());
    words.put(door.token_of(key));
    words.put(key);
    words.put(spin);
    put(words, members);
    return start_host("connecting", words, {}, limits_of(members));
}

std::unique_ptr<child_process> start_linked(int link, const std::vector<subsystem_text>& members, bool spin) {
    wire_writer words;
    words.put(link);
    words.put(spin);
    put(words, members);
    return start_host("linked", words, {link}, limits_of(members));
}

}  // namespace mdpcosim

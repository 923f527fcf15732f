#include "program/master_link.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "core/error.hpp"
#include "remote/listener.hpp"
#include "remote/program_environment.hpp"
#include "remote/shared_areas.hpp"

namespace mdpcosim {

namespace {

constexpr std::chrono::milliseconds look_after{20};
constexpr double patience = 30;  // s for a master elsewhere to be there

remote_member member_of(const program_declaration& d) {
    const auto one = [](const std::vector<program_variable>& from, auto& to) {
        int slot = 0;
        for (const auto& v : from)
            if (v.type < variable_type::string) slot += v.size;
        if (slot == 0) return;
        to.resize(1);
        to.front().size = slot;
    };
    remote_member m;
    one(d.inputs, m.description.inputs);
    one(d.outputs, m.description.outputs);
    return m;
}

}  // namespace

master_link::master_link() {
    const char* name = std::getenv(program_name_variable);
    const char* files = std::getenv(program_files_variable);
    const char* address = std::getenv(address_variable);
    const char* token = std::getenv(token_variable);
    const char* key = std::getenv(program_key_variable);
    const char* spin = std::getenv(program_spin_variable);
    if (name == nullptr || (files == nullptr && address == nullptr))
        throw user_error(fmt::format(
            "this program is a subsystem of mdpcosim, which has to start it. Name it in a scenario, 'subsystems: {{a: "
            "{{program: ./this-program}}}}', and run that: mdpcosim run scenario.yaml. To join a run on another "
            "machine, set "
            "{}=HOST:PORT, {} and {}=name-of-the-subsystem.",
            address_variable, token_variable, program_name_variable));
    name_ = name;
    spin_ = spin != nullptr && std::string(spin) == "1";
    const remote_hello hello{token == nullptr ? "" : token, key == nullptr ? name_ : key, 0, {}};
    if (files != nullptr) {
        read_files(files);
        put(said_, hello);
        link_->send(said_.bytes());
    } else {
        link_ = connect_to_master(address, hello, spin_, patience);
    }
    for (const char* variable : {program_files_variable, address_variable, token_variable, program_key_variable})
        unsetenv(variable);  // what this program starts is no subsystem
}

master_link::~master_link() {
    if (memory_ != nullptr) munmap(memory_, areas_.size());
}

void master_link::read_files(const char* files) {
    int memory = -1;
    if (std::sscanf(files, "%d %d", &socket_, &memory) != 2 || fcntl(socket_, F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(memory, F_SETFD, FD_CLOEXEC) != 0)
        throw user_error(
            fmt::format("{} is '{}', but there are no such open files: a program between mdpcosim and this one "
                        "must leave them open",
                        program_files_variable, files));
    link_ = make_socket_link(file_handle(socket_));
    memory_file_ = file_handle(memory);
}

program_answer master_link::converse() {
    link_->send(said_.bytes());
    while (!link_->receive(frame_, std::chrono::minutes(1), longest_introduction)) continue;
    return get_program_answer(frame_);
}

program_answer master_link::ask(const program_question& question) {
    said_.clear();
    put(said_, question);
    return converse();
}

void master_link::refuse(const std::string& reason) {
    said_.clear();
    put(said_, program_refusal{reason});
    link_->send(said_.bytes());
}

void master_link::declare(const program_declaration& declaration) {
    said_.clear();
    put(said_, declaration);
    const std::vector<double> told = converse().numbers;
    const double size = told.empty() ? 0 : told.front();
    const remote_member self = member_of(declaration);
    areas_ = exchange({&self, 1});
    if (size != static_cast<double>(areas_.size()))
        throw run_error(fmt::format("mdpcosim wants {} bytes of shared memory, this library {}", size, areas_.size()));
    if (memory_file_.get() < 0) return areas_.place();
    memory_ = map_areas(memory_file_, areas_.size());
    areas_.place(memory_, false);
}

void master_link::next() {
    if (memory_ != nullptr) {
        ++round_;
        while (!areas_.top().request_box.wait_for(round_, areas_.top().first_look(spin_), habit_, look_after))
            look_after_master();
        return;
    }
    while (!link_->receive(frame_, std::chrono::minutes(1), 2 * areas_.size())) continue;
    get_request(frame_, areas_);
}

void master_link::reply() {
    if (memory_ != nullptr) return areas_.top().reply_box.post(round_);
    said_.clear();
    put_reply(said_, areas_);
    link_->send(said_.bytes());
}

/// Nothing comes over the socket any more but its end.
void master_link::look_after_master() {
    pollfd end{socket_, POLLIN, 0};
    if (poll(&end, 1, 0) > 0) throw run_error("mdpcosim has ended without saying so");
}

}  // namespace mdpcosim

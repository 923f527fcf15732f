#include "remote/frame_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "core/error.hpp"
#include "core/forked_copy.hpp"

namespace mdpcosim {

using clock = std::chrono::steady_clock;

linked_group::linked_group(options given, std::unique_ptr<frame_link> link, std::unique_ptr<child_process> process)
    : options_(std::move(given)), link_(std::move(link)), process_(std::move(process)) {
    set_limit(options_.limit);
    set_title_of(options_.name);
}

linked_group::~linked_group() { leave(); }

void linked_group::leave() noexcept {
    if (!link_) return;
    if (size() > 0 && !gone() && say_goodbye() && process_) process_->finish(10);
    link_.reset();
    if (!process_) return;
    process_->finish(0);
    if (!gone()) process_->show_text(options_.name);
}

void linked_group::receive_introduction() {
    const auto begin = clock::now();
    try {
        while (!link_->receive(frame_, look_after, longest_introduction)) {
            if (process_) process_->collect();
            check_limit(begin, "at its start");
        }
    } catch (const run_error& problem) {
        if (gone()) throw;
        lost(problem, "at its start");
    }
}

void linked_group::introduce() {
    set_limit(options_.limit > 0 || options_.start_limit > 0 ? std::max(options_.limit, options_.start_limit) : 0);
    receive_introduction();
    set_limit(options_.limit);
    try {
        meet(get_introduction(frame_, options_.members));
        areas_.place();
        frame_.reserve(areas_.size());
        said_.reserve(areas_.size());
    } catch (const std::bad_alloc&) {
        lost(run_error("there is no memory for what it announced"), "at its start");
    }
}

/// A process that has gone says more than the connection that it took along, but not more than what it sent before.
void linked_group::lost(const run_error& problem, const std::string& during) {
    if (process_) process_->ended(0.2);
    const std::string ending = ended();
    stop();
    const bool nothing_sent = dynamic_cast<const connection_lost*>(&problem) != nullptr;
    if (ending.empty() || !nothing_sent)
        give_up(fmt::format("{} {}{}", problem.what(), during, ending.empty() ? "" : "; " + ending));
    give_up(fmt::format("{} {}", ending, during));
}

void linked_group::send() {
    said_.clear();
    put_request(said_, areas_);
    try {
        link_->send(said_.bytes());
    } catch (const run_error&) {  // receive() tells
    }
}

bool linked_group::receive(std::chrono::milliseconds wait) {
    try {
        if (!link_->receive(frame_, wait, areas_.size())) return false;
        get_reply(frame_, areas_);
    } catch (const run_error& problem) {
        lost(problem, fmt::format("in {}", name_of(areas_.top().request.command)));
    }
    return true;
}

std::string linked_group::ended() {
    const std::string ending = process_ ? process_->ended() : std::string();
    return ending.empty() ? ending : "its process " + ending;
}

void linked_group::stop() noexcept {
    link_.reset();
    if (process_) process_->kill();
}

void serve(frame_link& link, request_host& host, const wire_writer& introduction) {
    link.send(introduction.bytes());
    if (!host.made()) return;
    exchange areas(host.members());
    areas.place();
    std::vector<char> frame;
    wire_writer said;
    frame.reserve(areas.size());
    said.reserve(areas.size());
    for (bool last = false; !last;) {
        while (!link.receive(frame, std::chrono::minutes(1), 2 * areas.size())) continue;
        get_request(frame, areas);
        host.carry_out(areas);
        if (is_forked_copy()) end_forked_copy();
        last = areas.top().request.command == remote_command::quit;
        said.clear();
        put_reply(said, areas);
        link.send(said.bytes());
    }
}

}  // namespace mdpcosim

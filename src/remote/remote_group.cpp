#include "remote/remote_group.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace mdpcosim {

using clock = std::chrono::steady_clock;

void remote_group::meet(std::vector<remote_member> members) {
    members_ = std::move(members);
    areas_ = exchange(members_);
    late_.reset();
}

void remote_group::post(const remote_request& request) {
    if (gone_) return;  // done() tells
    areas_.top().request = request;
    waiting_since_.reset();
    send();
}

bool remote_group::done(std::chrono::milliseconds wait) {
    if (gone_) throw run_error(why_gone_);
    failed_ = -1;
    if (!receive(wait)) {
        look_after_it();
        return false;
    }
    late_.reset();
    const auto& top = areas_.top();
    if (top.failed < 0 || top.request.command == remote_command::quit) return true;
    failed_ = top.failed;
    throw run_error(top.message.front() == '\0' ? "it gives no reason" : top.message.data());
}

std::vector<std::byte> remote_group::get_pieces(remote_command command, std::size_t member, int number) {
    std::vector<std::byte> all;
    do {
        areas_.top().piece.at = all.size();
        call({.command = command, .subsystem = static_cast<std::int32_t>(member), .number = number});
    } while (!areas_.take_piece(all));
    return all;
}

void remote_group::set_pieces(remote_command command, std::size_t member, int number,
                              std::span<const std::byte> bytes) {
    state_piece& piece = areas_.top().piece;
    std::size_t at = 0;
    do {
        piece.at = at;
        areas_.give_piece(bytes);
        call({.command = command, .subsystem = static_cast<std::int32_t>(member), .number = number});
        at += piece.size;
    } while (at < bytes.size());
}

std::vector<std::byte> remote_group::get_state(std::size_t member, int number) {
    return get_pieces(remote_command::write_state, member, number);
}

void remote_group::set_state(std::size_t member, int number, std::span<const std::byte> bytes) {
    set_pieces(remote_command::read_state, member, number, bytes);
}

void remote_group::get_text(std::size_t member, int output, std::string& into) {
    const std::vector<std::byte> bytes = get_pieces(remote_command::get_text, member, output);
    into.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void remote_group::set_text(std::size_t member, int input, std::string_view text) {
    set_pieces(remote_command::set_text, member, input, std::as_bytes(std::span(text)));
}

void remote_group::set_plan(int number, const group_plan& plan) {
    wire_writer words;
    put(words, plan);
    set_pieces(remote_command::set_plan, 0, number, std::as_bytes(words.bytes()));
    areas_.set_plan(number, plan);
}

void remote_group::look_after_it() {
    if (!waiting_since_) waiting_since_ = clock::now();
    const std::string ending = ended();
    if (ending.empty() && !over_limit(*waiting_since_) && (late_ || !is_late(*waiting_since_))) return;
    const remote_request& r = areas_.top().request;
    const std::string during = fmt::format("in {}", name_of(r.command));
    if (!ending.empty()) give_up(fmt::format("{} {}", ending, during));
    check_limit(*waiting_since_, during, areas_.advances() ? r.step.begin : no_time);
}

void remote_group::finish() {
    call({.command = remote_command::quit});
    if (const std::string ending = end_of_finished(); !ending.empty()) give_up(ending + " at its end");
    end("it has ended");
}

bool remote_group::say_goodbye() noexcept {
    constexpr auto patience = std::chrono::seconds(10) / look_after;
    try {
        post({.command = remote_command::quit});
        for (int i = 0; i < patience; ++i)
            if (done(look_after)) return true;
    } catch (const std::exception&) {  // it has ended otherwise
    }
    return false;
}

void remote_group::end(const std::string& reason) noexcept {
    if (gone_) return;
    stop();
    gone_ = true;
    why_gone_ = reason;
}

bool remote_group::over_limit(clock::time_point begin) const {
    return limit_ > 0 && clock::now() - begin > std::chrono::duration<double>(limit_);
}

bool remote_group::is_late(clock::time_point begin) const {
    return clock::now() - begin > std::chrono::milliseconds(200);
}

void remote_group::check_limit(clock::time_point begin, const std::string& during, double t) {
    if (!late_ && is_late(begin)) late_.emplace(fmt::format("{} {}{}", title_, during, text_of_call(nullptr, t)));
    if (!over_limit(begin)) return;
    stop();
    give_up(fmt::format("its process did not answer within {:g} s {} and was ended", limit_, during));
}

void remote_group::set_title_of(const std::string& name) {
    title_ = fmt::format("subsystem{} '{}' ({})", name.find(", ") == std::string::npos ? "" : "s", name,
                         process() > 0 ? fmt::format("process {}", process()) : "elsewhere");
}

void remote_group::give_up(const std::string& reason) {
    gone_ = true;
    late_.reset();
    const std::string text = last_text();
    why_gone_ = text.empty() ? reason : fmt::format("{}; it wrote last: {}", reason, text);
    throw run_error(why_gone_);
}

}  // namespace mdpcosim

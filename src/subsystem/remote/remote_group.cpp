#include "subsystem/remote/remote_group.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace mdpcosim {

using clock = std::chrono::steady_clock;

void remote_group::meet(std::vector<remote_member> members) {
    members_ = std::move(members);
    areas_ = exchange(members_);
}

void remote_group::post(const remote_request& request) {
    if (gone_) return;  // wait() tells
    areas_.top().request = request;
    send();
}

void remote_group::wait() {
    if (gone_) throw run_error(why_gone_);
    failed_ = -1;
    if (!receive()) wait_patiently();
    const auto& top = areas_.top();
    if (top.failed < 0 || top.request.what == remote_command::quit) return;
    failed_ = top.failed;
    throw run_error(top.message.data());
}

/// A long request: looks now and then whether the other side still lives.
void remote_group::wait_patiently() {
    const auto begin = clock::now();
    const std::string where = fmt::format("in {}", name_of(areas_.top().request.what));
    while (!receive()) {
        if (const std::string how = ended(); !how.empty()) give_up(fmt::format("{} {}", how, where));
        check_limit(begin, where);
    }
}

void remote_group::check_limit(clock::time_point begin, const std::string& where) {
    if (limit_ <= 0 || clock::now() - begin <= std::chrono::duration<double>(limit_)) return;
    stop();
    give_up(fmt::format("its process did not answer within {:g} s {} and was ended", limit_, where));
}

void remote_group::give_up(const std::string& reason) {
    gone_ = true;
    const std::string text = last_text();
    why_gone_ = text.empty() ? reason : fmt::format("{}; it wrote last: {}", reason, text);
    throw run_error(why_gone_);
}

}  // namespace mdpcosim

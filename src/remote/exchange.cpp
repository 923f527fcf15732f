#include "remote/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/error.hpp"

namespace mdpcosim {

const char* name_of(remote_command command) {
    constexpr const char* names[] = {"expect",   "initialise", "outputs",     "advance",    "make_snapshot",
                                     "save",     "restore",    "write_state", "read_state", "tune",
                                     "set_text", "get_text",   "reset",       "statistics", "rate_sensitivities",
                                     "clock",    "set_plan",   "carry_out",   "its end"};
    return names[static_cast<int>(command)];
}

bool wants_piece(remote_command command) {
    return command == remote_command::write_state || command == remote_command::get_text;
}

bool brings_piece(remote_command command) {
    return command == remote_command::read_state || command == remote_command::set_text ||
           command == remote_command::set_plan;
}

exchange::exchange(std::span<const remote_member> members) {
    for (const auto& m : members)
        spots_.push_back({static_cast<std::size_t>(m.description.input_count()),
                          static_cast<std::size_t>(m.description.output_count())});
    size_ = walk([](auto*&, std::size_t, std::size_t) {});
}

/// Calls visit(pointer, place, count) for every area, in the order of the memory; says where it ends.
template <class Visit>
std::size_t exchange::walk(const Visit& visit) {
    // Each side writes cache lines of its own.
    constexpr std::size_t line = 64;
    std::size_t end = 0;
    const auto area = [&]<class T>(T*& pointer, std::size_t count) {
        end = (end + line - 1) / line * line;
        visit(pointer, end, count);
        end += count * sizeof(T);
    };
    area(head_, 1);
    for (auto& s : spots_) area(s.report, 1);
    for (auto& s : spots_) {
        area(s.polynomials, s.input_count);
        area(s.inputs, s.input_count);
        area(s.outputs, s.output_count);
        area(s.needed, s.output_count);
        area(s.driven, s.input_count);
        area(s.expected, 1);
        area(s.derivatives, s.output_count);
    }
    return (end + line - 1) / line * line;
}

void exchange::place(void* memory, bool fresh) {
    walk([&]<class T>(T*& pointer, std::size_t at, std::size_t count) {
        pointer = reinterpret_cast<T*>(static_cast<char*>(memory) + at);
        if (fresh)
            for (std::size_t k = 0; k < count; ++k) new (pointer + k) T{};
    });
}

void exchange::place() {
    constexpr std::align_val_t line{64};
    own_ = {::operator new(size_, line), [](void* memory) { ::operator delete(memory, line); }};
    place(own_.get(), true);
}

exchange::range exchange::addressed() const {
    const auto which = head_->request.subsystem;
    if (which < 0) return {0, spots_.size()};
    return {static_cast<std::size_t>(which), static_cast<std::size_t>(which) + 1};
}

const group_plan* exchange::present_plan() const {
    const remote_request& r = head_->request;
    const auto plan = static_cast<std::size_t>(r.number), level = static_cast<std::size_t>(r.level);
    if (r.command != remote_command::carry_out || r.number < 0 || plan >= plans_.size() || r.level < 0) return nullptr;
    return level < plans_[plan].levels() ? &plans_[plan] : nullptr;
}

bool exchange::advances() const {
    if (head_->request.command == remote_command::advance) return true;
    const group_plan* plan = present_plan();
    return plan != nullptr && plan->advances && head_->request.level == 0;
}

bool exchange::moves() const {
    const remote_command command = head_->request.command;
    return command == remote_command::initialise || command == remote_command::restore ||
           command == remote_command::tune || command == remote_command::set_text || advances();
}

std::span<const group_plan::item> exchange::evaluated() const {
    const group_plan* plan = present_plan();
    if (plan == nullptr) return {};
    return plan->level(static_cast<std::size_t>(head_->request.level));
}

void exchange::set_plan(std::int32_t number, group_plan plan) {
    const auto at = static_cast<std::size_t>(number);
    plans_.resize(std::max(plans_.size(), at + 1));
    plans_[at] = std::move(plan);
}

void exchange::put_usage(std::size_t i, const usage& used) {
    const auto copy = [](const std::vector<bool>& from, std::span<char> to) {
        if (from.empty())
            std::ranges::fill(to, 1);
        else
            std::ranges::copy(from, to.begin());
    };
    copy(used.outputs, needed(i));
    copy(used.inputs, driven(i));
    expected(i) = {used.outputs_follow, used.next_event, used.goes_back, used.end, used.step};
}

usage exchange::get_usage(std::size_t i) const {
    return {{needed(i).begin(), needed(i).end()},
            {driven(i).begin(), driven(i).end()},
            expected(i).outputs_follow,
            expected(i).next_event,
            expected(i).goes_back,
            expected(i).end,
            expected(i).step};
}

void exchange::notice(std::size_t member, const step_notice& told) {
    if (!head_->noticed)
        for (auto [i, end] = addressed(); i < end; ++i) report(i).notice = {};
    head_->noticed = true;
    report(member).notice = told;
}

void exchange::give_piece(std::span<const std::byte> all) {
    state_piece& piece = head_->piece;
    const std::size_t at = std::min<std::size_t>(piece.at, all.size());
    piece.total = all.size();
    piece.size = static_cast<std::uint32_t>(std::min(all.size() - at, state_piece::largest));
    if (piece.size > 0) std::memcpy(piece.bytes.data(), all.data() + at, piece.size);
}

bool exchange::take_piece(std::vector<std::byte>& all) const {
    const state_piece& piece = head_->piece;
    if (piece.at == 0) all.clear();
    const bool fits = piece.at == all.size() && piece.total <= state_piece::most && piece.at <= piece.total &&
                      piece.size <= std::min<std::uint64_t>(state_piece::largest, piece.total - piece.at) &&
                      (piece.size > 0 || piece.at == piece.total);
    if (!fits) throw run_error("a piece of a state or text does not fit the ones before");
    const auto* bytes = reinterpret_cast<const std::byte*>(piece.bytes.data());
    all.insert(all.end(), bytes, bytes + piece.size);
    return all.size() == piece.total;
}

void exchange::fail(std::size_t member, const char* reason) {
    if (head_->failed >= 0) return;
    head_->failed = static_cast<std::int32_t>(member);
    std::strncpy(head_->message.data(), reason, head_->message.size() - 1);
}

}  // namespace mdpcosim

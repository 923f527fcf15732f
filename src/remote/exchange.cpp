#include "remote/exchange.hpp"

#include <cstring>
#include <new>

namespace mdpcosim {

const char* name_of(remote_command command) {
    constexpr const char* names[] = {"need_outputs",       "initialise", "outputs", "advance",
                                     "make_snapshot",      "save",       "restore", "statistics",
                                     "rate_sensitivities", "clock",      "its end"};
    return names[static_cast<int>(command)];
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

void exchange::fail(std::size_t member, const char* reason) {
    if (head_->failed >= 0) return;
    head_->failed = static_cast<std::int32_t>(member);
    std::strncpy(head_->message.data(), reason, head_->message.size() - 1);
}

}  // namespace mdpcosim

#include "master/text_signals.hpp"

#include <algorithm>
#include <utility>

namespace mdpcosim {

std::size_t text_signals::number(subsystem_index to, int input) const {
    const auto found = std::ranges::find_if(targets_, [&](const target& t) { return t.to == to && t.input == input; });
    return static_cast<std::size_t>(found - targets_.begin());
}

void text_signals::drive(subsystem_index from, int output, subsystem_index to, int input) {
    targets_.push_back({.to = to, .input = input, .from = from, .output = output});
    ++driven_;
}

bool text_signals::is_driven(subsystem_index to, int input) const {
    const std::size_t i = number(to, input);
    return i < targets_.size() && targets_[i].from.valid();
}

void text_signals::set(subsystem_index to, int input, std::string text) {
    const std::size_t i = number(to, input);
    if (i == targets_.size()) targets_.push_back({.to = to, .input = input});
    targets_[i].text = std::move(text);
    targets_[i].known = true;
    targets_[i].given = false;
}

const std::string* text_signals::find(subsystem_index to, int input) const {
    const std::size_t i = number(to, input);
    return i < targets_.size() && targets_[i].known ? &targets_[i].text : nullptr;
}

void text_signals::begin(transport& subsystems, input_journal& journal) {
    for (target& t : targets_) {
        t.given = false;
        if (t.from.valid()) t.known = false;
    }
    pass(subsystems, journal);
}

void text_signals::pass_all(transport& subsystems, input_journal& journal) {
    // First all are read: no input sees a text that follows from another input's new one.
    for (target& t : targets_) {
        if (!t.from.valid()) continue;
        subsystems.get_text(t.from, t.output, present_);
        if (t.known && present_ == t.text) continue;
        std::swap(t.text, present_);
        t.known = true;
        t.given = false;
    }
    for (target& t : targets_) {
        if (t.given) continue;
        subsystems.set_text(t.to, t.input, t.text);
        journal.add(t.to, t.input, t.text);
        t.given = true;
    }
}

std::optional<text_signals::address> text_signals::set_here_only(const text_signals& there) const {
    for (const target& t : targets_) {
        if (t.from.valid() || !t.known) continue;
        const std::size_t i = there.number(t.to, t.input);
        if (i == there.targets_.size() || !there.targets_[i].known) return address{t.to, t.input};
    }
    return {};
}

void text_signals::give_again(transport& subsystems) const {
    for (const target& t : targets_) {
        if (t.to.value() >= subsystems.size() || t.input < 0 ||
            static_cast<std::size_t>(t.input) >= subsystems.describe(t.to).text_inputs.size())
            throw state_mismatch("the saved state has a text input that is not here");
        if (t.given) subsystems.set_text(t.to, t.input, t.text);
    }
}

void text_signals::state(state_bytes& bytes) {
    auto count = static_cast<std::uint64_t>(targets_.size());
    bytes(count);
    if (!bytes.reading()) {
        for (target& t : targets_) t.state(bytes);
        return;
    }
    // Those that signals drive come first and are the same in every simulation of the scenario.
    const auto mismatch = [] { return state_mismatch("the saved state has other signals of texts"); };
    if (count < driven_ || count > bytes.left()) throw mismatch();
    std::vector<target> read(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < read.size(); ++i) {
        read[i].state(bytes);
        if (i < driven_ ? !read[i].same_signal(targets_[i]) : read[i].from.valid()) throw mismatch();
    }
    targets_ = std::move(read);
}

}  // namespace mdpcosim

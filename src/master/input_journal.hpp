#pragma once

#include <span>
#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace mdpcosim {

/// The steps that subsystems have taken since the last committed macro point, each with its inputs, and the new texts that inputs were given
/// before: enough to take the steps again with one of the subsystems alone. What was rolled back is not in it.
class input_journal {
   public:
    struct entry {
        macro_step step;
        std::span<const polynomial> inputs;
    };

    struct given_text {
        subsystem_index subsystem;
        int input;
        std::string text;
    };

    /// Nothing is kept before.
    void keep(const transport& of);
    bool kept() const { return !all_.empty(); }

    /// For the next macro step.
    void clear() {
        for (auto& s : all_) s.steps.clear(), s.inputs.clear(), s.stands = 0;
        texts_.clear();
    }
    /// What is there stands, whatever becomes of what is added: parts of a divided macro step.
    void keep_present() {
        for (auto& s : all_) s.stands = s.steps.size();
    }
    /// What was added since then is taken back; the texts stay, since a macro step that is repeated has the same.
    void take_back() {
        for (auto& s : all_) s.steps.resize(s.stands), s.inputs.resize(s.stands * s.count);
    }
    /// All subsystems, or some, were advanced with these inputs (of all, by slot).
    void add(const macro_step& step, std::span<const polynomial> inputs) {
        for (auto& s : all_) s.add(step, inputs);
    }
    void add(std::span<const subsystem_step> some, std::span<const polynomial> inputs) {
        for (const auto& [i, step] : some) all_[i.value()].add(step, inputs);
    }
    void add(subsystem_index subsystem, int input, const std::string& text) {
        if (kept()) texts_.push_back({subsystem, input, text});
    }

    std::span<const given_text> texts() const { return texts_; }
    std::size_t steps(subsystem_index i) const { return all_[i.value()].steps.size(); }
    entry at(subsystem_index i, std::size_t k) const {
        const own& s = all_[i.value()];
        return {s.steps[k], std::span(s.inputs).subspan(k * s.count, s.count)};
    }

   private:
    struct own {
        std::size_t first = 0, count = 0;  ///< of its inputs
        std::vector<macro_step> steps = {};
        std::vector<polynomial> inputs = {};
        std::size_t stands = 0;  ///< number of steps

        void add(const macro_step& step, std::span<const polynomial> from) {
            steps.push_back(step);
            const auto used = from.subspan(first, count);
            inputs.insert(inputs.end(), used.begin(), used.end());
        }
    };
    std::vector<own> all_;  ///< by subsystem
    std::vector<given_text> texts_;
};

inline void input_journal::keep(const transport& of) {
    all_.clear();
    for (std::size_t i = 0; i < of.size(); ++i)
        all_.push_back({of.input_offset(subsystem_index(i)),
                        static_cast<std::size_t>(of.describe(subsystem_index(i)).input_count())});
}

}  // namespace mdpcosim

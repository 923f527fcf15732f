#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/state_bytes.hpp"
#include "master/input_journal.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

/// Texts (strings and bytes) between subsystems, and from outside. At the begin of a macro step an input gets the text that its output has
/// then, where that is a new one, and keeps it; a subsystem without such signals is never asked.
///
/// Call order: drive(), or set() for an input that nothing drives, before the start or between steps; begin() at each start, pass() before each
/// macro step.
class text_signals {
   public:
    void drive(subsystem_index from, int output, subsystem_index to, int input);
    bool any_driven() const { return driven_ > 0; }
    bool is_driven(subsystem_index to, int input) const;
    void set(subsystem_index to, int input, std::string text);
    /// That the input has been given, or will be; nullptr: it still has its own.
    const std::string* find(subsystem_index to, int input) const;

    /// The subsystems have been initialised.
    void begin(transport& subsystems, input_journal& journal);
    void pass(transport& subsystems, input_journal& journal) {
        if (!targets_.empty()) [[unlikely]]
            pass_all(subsystems, journal);
    }
    /// A text from outside that is set here but not there, which only a new simulation can forget.
    struct address {
        subsystem_index subsystem;
        int input;
    };
    std::optional<address> set_here_only(const text_signals& there) const;
    /// The subsystems have taken over a saved state, as this has: what had been given then is given again.
    void give_again(transport& subsystems) const;
    void state(state_bytes& bytes);

   private:
    struct target {
        subsystem_index to;
        int input = 0;
        subsystem_index from = {};  ///< not valid: it is set from outside
        int output = 0;
        std::string text = {};
        bool known = false, given = false;
        bool same_signal(const target& other) const {
            return to == other.to && input == other.input && from == other.from && output == other.output;
        }
        void state(state_bytes& bytes) { bytes(to, input, from, output, text, known, given); }
    };
    std::size_t number(subsystem_index to, int input) const;  ///< of the target; as many as there are: it is none
    void pass_all(transport& subsystems, input_journal& journal);

    std::vector<target> targets_;
    std::size_t driven_ = 0;
    std::string present_;
};

}  // namespace mdpcosim

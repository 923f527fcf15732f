#pragma once

#include "core/parameter.hpp"
#include "plugin/declarations.hpp"
#include "remote/exchange.hpp"
#include "remote/program_frames.hpp"
#include "scenario/spec.hpp"

namespace mdpcosim {

/// What a program says about itself against what the scenario says about it. All mistakes are user errors that name subsystem,
/// program and item.
class program_interview {
   public:
    explicit program_interview(const subsystem_spec& spec);

    program_answer answer(const program_question& question);
    /// The last word: settings that no question was for are mistakes.
    remote_member meet(const program_declaration& declared);

    /// "subsystem 'a' (program mass)"
    const std::string& owner() const { return owner_; }

    [[noreturn]] void refuse(const std::string& reason) const;

   private:
    const setting* given(const std::string& name) const;

    subsystem_spec spec_;
    std::string owner_;
    declaration_reader reader_{"The program"};
    std::vector<std::string> asked_;
};

}  // namespace mdpcosim

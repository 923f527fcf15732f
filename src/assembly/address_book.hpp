#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/index.hpp"
#include "scenario/spec.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

/// Resolves addresses `subsystem.port`, `subsystem.variable`, `subsystem.port.variable`, `subsystem.vector[i]`.
/// `object` names who asks, for messages ("connection 'shaft'").
class address_book {
   public:
    struct port_place {
        subsystem_index subsystem;
        const mdpcosim::port* port = nullptr;
    };
    struct output_place {
        subsystem_index subsystem;
        const output_variable* variable = nullptr;
        output_slot slot;
    };
    struct input_place {
        subsystem_index subsystem;
        const input_variable* variable = nullptr;
        input_slot slot;
    };

    explicit address_book(const transport& subsystems);

    port_place find_port(const text& address, const std::string& object) const;
    output_place find_output(const text& address, const std::string& object) const;
    input_place find_input(const text& address, const std::string& object) const;

    /// Strings and bytes, which only these two find.
    struct text_place {
        subsystem_index subsystem;
        const text_variable* variable = nullptr;
        int slot = 0;
    };
    std::optional<text_place> text_output(const std::string& address) const;
    std::optional<text_place> text_input(const std::string& address) const;
    [[noreturn]] void unknown_text(const text& address, const std::string& object, bool want_input) const;

    bool has_input(const std::string& address) const;
    bool has_output(const std::string& address) const;
    /// Number of one of the parameters that the subsystem offers to change.
    struct parameter_place {
        subsystem_index subsystem;
        int number = 0;
        tunable_parameter parameter;
    };
    parameter_place find_parameter(const text& address, const std::string& object) const;

    output_slot global_output(subsystem_index s, int slot) const;
    input_slot global_input(subsystem_index s, int slot) const;

    /// `subsystem.variable` or `subsystem.vector[i]` of a global slot.
    std::string output_address(output_slot slot) const;
    std::string input_address(input_slot slot) const;

   private:
    struct parts {
        subsystem_index subsystem;
        std::string rest;
    };
    parts split(const text& address, const std::string& object, const char* form) const;
    [[noreturn]] void unknown_variable(const text& address, const parts& p, const std::string& object,
                                       bool want_input) const;
    std::optional<text_place> find_text(const std::string& address, bool input) const;
    void refuse_text(const text& address, const parts& p, const std::string& object) const;

    const transport& subsystems_;
    std::unordered_map<std::string_view, subsystem_index> by_name_;
};

}  // namespace mdpcosim

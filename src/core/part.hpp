#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/parameter.hpp"

/// Parts of a model: what a model with a structure of its own (a belt over wheels, a pipe network) lets the user put
/// together. The model declares kinds of parts (part_info); the scenario lists parts of these kinds under `parts:`; the
/// model's factory receives them checked and in SI (part).
namespace mdpcosim {

/// A key of a part whose value is the name of another part.
struct part_reference {
    std::string name;
    std::string description;
    std::vector<std::string> kinds = {};  ///< of the other part; empty: any
    bool required = true;
};

/// A key of a part whose value is text that the model itself reads, a formula for example.
struct part_text {
    std::string name;
    std::string description;
    bool required = true;
};

/// One kind of part that a model declares.
struct part_info {
    std::string kind;
    std::string summary;
    std::vector<parameter_info> parameters = {};
    std::vector<part_reference> references = {};
    std::vector<part_info> parts = {};  ///< kinds of parts inside it
    std::vector<part_text> texts = {};
};

/// One part of the scenario.
struct part {
    std::string name;
    std::string kind;
    location where;
    parameter_values values;                                           ///< of the declared parameters
    std::vector<std::pair<std::string, std::string>> references = {};  ///< key and address of the other part
    std::vector<part> parts = {};
    struct text {
        std::string key, value;
        location where;
    };
    std::vector<text> texts = {};

    /// What is written for this key; nullptr where it is not given.
    const text* written(std::string_view key) const {
        for (const auto& one : texts)
            if (one.key == key) return &one;
        return nullptr;
    }

    /// Address of the part that this key names; empty where it is not given.
    std::string_view refers_to(std::string_view key) const {
        for (const auto& [name_of_key, address] : references)
            if (name_of_key == key) return address;
        return {};
    }
};

/// The part with this address, names joined by points (`gearbox.wheel`); null where there is none.
inline const part* find_part(const std::vector<part>& parts, std::string_view address) {
    const std::size_t dot = address.find('.');
    for (const part& one : parts)
        if (one.name == address.substr(0, dot))
            return dot == std::string_view::npos ? &one : find_part(one.parts, address.substr(dot + 1));
    return nullptr;
}

}  // namespace mdpcosim

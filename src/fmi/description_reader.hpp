#pragma once

#include <malloc.h>

#include <iterator>
#include <unordered_map>

#include "archive/xml_file.hpp"
#include "fmi/description.hpp"

/// What the readers of the versions share: elements and attributes to plain data, places of violations. Private to fmi/.
namespace mdpcosim::fmi {

using archive::parse_integer;
using archive::parse_number;
using archive::violation_sink;
using archive::xml_file;

/// Variables of a description by value reference.
using reference_index = std::unordered_map<std::uint64_t, int>;
inline std::uint64_t reference_key(version v, base_type type, value_reference reference) {
    // In 1.0 and 2.0 the references of each type count for themselves, enumerations with the integers; in 3.0 all are one set.
    if (v == version::v3) return reference;
    if (type == base_type::enumeration) type = base_type::int32;
    return static_cast<std::uint64_t>(type) << 32 | reference;
}

/// The children of an element, each removed when it has been read: of a million variables the text, the tree and what is made of it would
/// need more than a gigabyte at the same time.
class consumed {
   public:
    explicit consumed(pugi::xml_node parent) : parent_(parent) {}

    class iterator {
       public:
        explicit iterator(pugi::xml_node parent) : parent_(parent), node_(parent.first_child()) {}
        pugi::xml_node operator*() const { return node_; }
        iterator& operator++() {
            const pugi::xml_node next = node_.next_sibling();
            parent_.remove_child(node_);
            node_ = next;
            if (++count_ % 100'000 == 0) ::malloc_trim(0);  // or the system would not see it
            return *this;
        }
        bool operator!=(std::default_sentinel_t) const { return static_cast<bool>(node_); }

       private:
        pugi::xml_node parent_, node_;
        std::size_t count_ = 0;
    };
    iterator begin() const { return iterator(parent_); }
    std::default_sentinel_t end() const { return {}; }

   private:
    pugi::xml_node parent_;
};

/// Definitions by name: the linear search of description::find_type is for single questions.
using type_index = std::unordered_map<std::string_view, const type_definition*>;
type_index index_types(const xml_file& xml, const description& d);

void read_root(const xml_file& xml, description& d);   ///< what all versions have in the root and beside the variables
void read_units(const xml_file& xml, description& d);  ///< 2.0 and 3.0
void read_items(const xml_file& xml, pugi::xml_node type, type_definition& definition);
/// Causality, variability, initial with the defaults of the standard, the rest of what 2.0 and 3.0 write alike; false
/// when the variable has no meaning.
bool read_common(const xml_file& xml, pugi::xml_node node, version v, variable& x);
/// Unit, limits and declared type; `node` is the element that carries them.
void read_value_attributes(const xml_file& xml, pugi::xml_node node, const type_index& types, variable& x);
void read_terminals(const xml_file& xml, description& d);

void read_description_1(const xml_file& xml, description& d);
void read_description_2(const xml_file& xml, description& d);
void read_description_3(const xml_file& xml, description& d);

/// False, and fatal, when there are so many variables that they are an attack on the memory.
bool check_count(const xml_file& xml, std::size_t variables);

/// read_description() for a text that is not needed any more.
description consume_description(std::string text, std::string terminals_text, const std::string& fmu,
                                std::vector<violation>* violations = nullptr);

/// The rules that bind several elements, the same for all versions.
void check_description(const xml_file& xml, const description& d);

}  // namespace mdpcosim::fmi

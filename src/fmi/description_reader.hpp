#pragma once

#include <fmt/format.h>

#include <pugixml.hpp>
#include <unordered_map>

#include "fmi/description.hpp"

/// What the readers of both versions share: elements and attributes to plain data, places of violations. Private to fmi/.
namespace mdpcosim::fmi {

/// The number in `text`, blanks around it ignored, "INF" and "NaN" as XML Schema writes them.
std::optional<double> parse_number(std::string_view text);
template <class Integer>
std::optional<Integer> parse_integer(std::string_view text);

/// The words between blanks.
std::vector<std::string> split_words(std::string_view text);

/// Line of a place in a text.
class line_table {
   public:
    explicit line_table(std::string_view text);
    /// Of a text in Latin-1 that the parser turned into UTF-8, where its upper half takes two bytes.
    static line_table widened(std::string_view text);
    int line(std::ptrdiff_t offset) const;  ///< 0: unknown

   private:
    std::vector<std::size_t> ends_;
};

/// Collects violations, or throws the first fatal one when nobody collects.
class violation_sink {
   public:
    violation_sink(const std::string& fmu, std::vector<violation>* violations) : fmu_(fmu), violations_(violations) {}

    void add(const char* file, int line, bool fatal, std::string what);

   private:
    const std::string& fmu_;
    std::vector<violation>* violations_;
};

/// One XML file of the FMU.
class xml_file {
   public:
    /// Parses; empty root() when the text is not XML, has a DTD or is beyond all measure (a fatal violation).
    xml_file(const char* name, std::string text, violation_sink& sink);

    /// Gives the memory back; lines stay known.
    void forget_text() {
        document_.reset();
        text_ = {};
    }

    pugi::xml_node root() const { return document_.document_element(); }
    int line(pugi::xml_node node) const { return lines_.line(node.offset_debug()); }

    template <class... Values>
    void violation(pugi::xml_node at, fmt::format_string<Values...> text, Values&&... values) const {
        sink_.add(name_, line(at), false, fmt::format(text, std::forward<Values>(values)...));
    }
    template <class... Values>
    void fatal(pugi::xml_node at, fmt::format_string<Values...> text, Values&&... values) const {
        sink_.add(name_, line(at), true, fmt::format(text, std::forward<Values>(values)...));
    }
    template <class... Values>
    void fatal_at(int at, fmt::format_string<Values...> text, Values&&... values) const {
        sink_.add(name_, at, true, fmt::format(text, std::forward<Values>(values)...));
    }
    template <class... Values>
    void violation_at(int at, fmt::format_string<Values...> text, Values&&... values) const {
        sink_.add(name_, at, false, fmt::format(text, std::forward<Values>(values)...));
    }

    // Attributes; a value that cannot be read is a violation and counts as absent.
    std::string text(pugi::xml_node node, const char* attribute) const { return node.attribute(attribute).value(); }
    std::string required_text(pugi::xml_node node, const char* attribute) const;  ///< fatal when absent
    bool flag(pugi::xml_node node, const char* attribute, bool otherwise = false) const;
    std::optional<double> number(pugi::xml_node node, const char* attribute) const;
    template <class Integer>
    std::optional<Integer> integer(pugi::xml_node node, const char* attribute) const {
        const pugi::xml_attribute value = node.attribute(attribute);
        if (!value) return {};
        const std::optional<Integer> result = parse_integer<Integer>(value.value());
        if (!result)
            violation(node, "<{}> has {}=\"{}\", which is not a whole number in the allowed range.", node.name(),
                      attribute, value.value());
        return result;
    }

   private:
    /// What is wrong with the whole text, and where; empty: nothing.
    std::pair<int, std::string> parse();

    const char* name_;
    violation_sink& sink_;
    std::string text_;  ///< parsed in place: large descriptions are in memory once
    pugi::xml_document document_;
    line_table lines_;
};

/// Variables of a description by value reference.
using reference_index = std::unordered_map<std::uint64_t, int>;
inline std::uint64_t reference_key(version v, base_type type, value_reference reference) {
    // In 2.0 the references of each type count for themselves, enumerations with the integers; in 3.0 all are one set.
    if (v == version::v3) return reference;
    if (type == base_type::enumeration) type = base_type::int32;
    return static_cast<std::uint64_t>(type) << 32 | reference;
}

/// Definitions by name: the linear search of description::find_type is for single questions.
using type_index = std::unordered_map<std::string_view, const type_definition*>;
type_index index_types(const xml_file& xml, const description& d);

void read_root(const xml_file& xml, description& d);  ///< what both versions have in the root and beside the variables
void read_units(const xml_file& xml, description& d);
void read_items(const xml_file& xml, pugi::xml_node type, type_definition& definition);
/// Causality, variability, initial with the defaults of the standard, the rest of what both versions write alike; false
/// when the variable has no meaning.
bool read_common(const xml_file& xml, pugi::xml_node node, version v, variable& x);
/// Unit, limits and declared type; `node` is the element that carries them.
void read_value_attributes(const xml_file& xml, pugi::xml_node node, const type_index& types, variable& x);
void read_terminals(const xml_file& xml, description& d);

void read_description_2(const xml_file& xml, description& d);
void read_description_3(const xml_file& xml, description& d);

/// read_description() for a text that is not needed any more.
description consume_description(std::string xml, std::string terminals_xml, const std::string& fmu,
                                std::vector<violation>* violations = nullptr);

/// The rules that bind several elements, the same for both versions.
void check_description(const xml_file& xml, const description& d);

}  // namespace mdpcosim::fmi

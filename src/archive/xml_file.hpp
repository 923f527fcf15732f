#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

/// XML that may be hostile, as elements and attributes with their lines; what is wrong in it is collected or thrown.
namespace mdpcosim::archive {

/// How much a violation matters: it may change what an importer computes, it contradicts the standard without that, it is a matter of form.
enum class level { error, warning, note };
const char* name(level of);

/// One violation of a standard: what is wrong and where.
struct violation {
    std::string file;  ///< inside the archive
    int line = 0;
    std::string message;
    bool fatal = false;  ///< the archive cannot be used
    archive::level level = archive::level::error;
};

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
    int line(std::ptrdiff_t offset) const;    ///< 0: unknown
    int column(std::ptrdiff_t offset) const;  ///< in bytes, from 1

   private:
    std::vector<std::size_t> ends_;
};

/// Collects violations, a thousand and those that are fatal, or throws the first fatal one when nobody collects.
class violation_sink {
   public:
    /// `owner` begins messages: "FMU 'x.fmu'".
    violation_sink(std::string owner, std::vector<archive::violation>* violations)
        : owner_(std::move(owner)), violations_(violations) {}

    void add(const char* file, int line, bool fatal, std::string message, level how = level::error);

   private:
    std::string owner_;
    std::vector<archive::violation>* violations_;
};

/// One XML file of an archive.
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
    int column(pugi::xml_node node) const { return lines_.column(node.offset_debug()); }

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
    void warning(pugi::xml_node at, fmt::format_string<Values...> text, Values&&... values) const {
        sink_.add(name_, line(at), false, fmt::format(text, std::forward<Values>(values)...), level::warning);
    }
    template <class... Values>
    void note(pugi::xml_node at, fmt::format_string<Values...> text, Values&&... values) const {
        sink_.add(name_, line(at), false, fmt::format(text, std::forward<Values>(values)...), level::note);
    }
    template <class... Values>
    void violation_at(level how, int at, fmt::format_string<Values...> text, Values&&... values) const {
        sink_.add(name_, at, false, fmt::format(text, std::forward<Values>(values)...), how);
    }
    template <class... Values>
    void violation_at(int at, fmt::format_string<Values...> text, Values&&... values) const {
        sink_.add(name_, at, false, fmt::format(text, std::forward<Values>(values)...));
    }

    // Attributes; a value that cannot be read is a violation and counts as absent.
    std::string text(pugi::xml_node node, const char* attribute) const { return node.attribute(attribute).value(); }
    std::string required_text(pugi::xml_node node, const char* attribute) const;  ///< fatal when absent
    std::vector<std::string> words(pugi::xml_node node,
                                   const char* attribute) const;  ///< fatal when there are too many
    bool count_words(pugi::xml_node node,
                     std::size_t count) const;  ///< of a list that is there once more; false: too many
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
    mutable std::size_t words_ = 0;  ///< so far
};

}  // namespace mdpcosim::archive

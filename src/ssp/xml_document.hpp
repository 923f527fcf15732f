#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/xml_file.hpp"
#include "core/error.hpp"

/// An XML file whose mistakes are user errors with their place. Private to ssp/.
namespace mdpcosim::ssp {

/// "System" of `ssd:System`.
std::string_view local_name(pugi::xml_node node);

class xml_document {
   public:
    xml_document(const std::string& text, const std::filesystem::path& path);

    /// The root, which must have this name.
    pugi::xml_node root(std::string_view expected) const;
    location place(pugi::xml_node node) const;

    /// The first child of that name, if there is one.
    pugi::xml_node child(pugi::xml_node node, std::string_view wanted) const;
    /// All of them.
    std::vector<pugi::xml_node> children(pugi::xml_node node, std::string_view wanted) const;

    std::string text(pugi::xml_node node, const char* attribute) const { return node.attribute(attribute).value(); }
    std::string required_text(pugi::xml_node node, const char* attribute) const;  ///< nor may it be empty
    std::optional<std::string> optional_text(pugi::xml_node node, const char* attribute) const;
    bool flag(pugi::xml_node node, const char* attribute) const;
    std::optional<double> number(pugi::xml_node node, const char* attribute) const;
    int whole(pugi::xml_node node, const char* attribute) const;  ///< 0: not there

    [[noreturn]] void fail(pugi::xml_node node, const std::string& message) const;

   private:
    std::string_view file_;
    std::vector<archive::violation> violations_;
    archive::violation_sink sink_;
    archive::xml_file xml_;
};

}  // namespace mdpcosim::ssp

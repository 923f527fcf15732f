#include "ssp/xml_document.hpp"

#include <fmt/format.h>

#include <cmath>

namespace mdpcosim::ssp {

std::string_view local_name(pugi::xml_node node) {
    const std::string_view whole = node.name();
    return whole.substr(whole.find(':') == std::string_view::npos ? 0 : whole.find(':') + 1);
}

xml_document::xml_document(const std::string& text, const std::filesystem::path& path)
    : file_(intern(path.string())), sink_({}, &violations_), xml_(file_.data(), text, sink_) {
    for (const archive::violation& v : violations_)
        if (v.fatal) throw user_error({file_, v.line, 1}, v.message);
}

pugi::xml_node xml_document::root(std::string_view expected) const {
    const pugi::xml_node node = xml_.root();
    if (local_name(node) != expected)
        fail(node, fmt::format("the root is <{}>; <{}> is expected.", node.name(), expected));
    return node;
}

location xml_document::place(pugi::xml_node node) const { return {file_, xml_.line(node), xml_.column(node)}; }

pugi::xml_node xml_document::child(pugi::xml_node node, std::string_view wanted) const {
    for (const pugi::xml_node inner : node.children())
        if (inner.type() == pugi::node_element && local_name(inner) == wanted) return inner;
    return {};
}

std::vector<pugi::xml_node> xml_document::children(pugi::xml_node node, std::string_view wanted) const {
    std::vector<pugi::xml_node> found;
    for (const pugi::xml_node inner : node.children())
        if (inner.type() == pugi::node_element && local_name(inner) == wanted) found.push_back(inner);
    return found;
}

std::string xml_document::required_text(pugi::xml_node node, const char* attribute) const {
    std::string value = text(node, attribute);
    if (value.empty()) fail(node, fmt::format("<{}> has no attribute '{}'.", node.name(), attribute));
    return value;
}

std::optional<std::string> xml_document::optional_text(pugi::xml_node node, const char* attribute) const {
    if (!node.attribute(attribute)) return {};
    return text(node, attribute);
}

bool xml_document::flag(pugi::xml_node node, const char* attribute) const {
    const std::string value = text(node, attribute);
    if (value == "true" || value == "1") return true;
    if (value.empty() || value == "false" || value == "0") return false;
    fail(node, fmt::format("<{}> has {}=\"{}\"; allowed are true and false.", node.name(), attribute, value));
}

std::optional<double> xml_document::number(pugi::xml_node node, const char* attribute) const {
    if (!node.attribute(attribute)) return {};
    const std::optional<double> value = archive::parse_number(text(node, attribute));
    if (value && std::isfinite(*value)) return value;
    fail(node,
         fmt::format("<{}> has {}=\"{}\", which is not a number.", node.name(), attribute, text(node, attribute)));
}

int xml_document::whole(pugi::xml_node node, const char* attribute) const {
    if (!node.attribute(attribute)) return 0;
    if (const auto value = archive::parse_integer<std::int32_t>(text(node, attribute))) return *value;
    fail(node, fmt::format("<{}> has {}=\"{}\", which is not a whole number.", node.name(), attribute,
                           text(node, attribute)));
}

void xml_document::fail(pugi::xml_node node, const std::string& message) const {
    throw user_error(place(node), message);
}

}  // namespace mdpcosim::ssp

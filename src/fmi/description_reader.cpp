#include "fmi/description_reader.hpp"

#include <cstring>

namespace mdpcosim::fmi {

namespace {

void read_version(const xml_file& xml, description& d, bool& known) {
    known = false;
    d.version_text = xml.required_text(xml.root(), "fmiVersion");
    const std::string& text = d.version_text;
    const bool unfinished = text.find_first_not_of("0123456789.") != std::string::npos;
    if (unfinished || !(text.starts_with("1.") || text.starts_with("2.") || text.starts_with("3.")))
        xml.fatal(xml.root(), "fmiVersion=\"{}\" is not supported{}. Supported are 1.0, 2.0 and 3.0.", text,
                  unfinished && !text.empty() ? " (not a released version)" : "");
    else
        known = true;
    d.version = text.starts_with("3.") ? version::v3 : text.starts_with("1.") ? version::v1 : version::v2;
    if (known && text != name(d.version) && !text.starts_with(fmt::format("{}.", name(d.version))))
        xml.violation(xml.root(), "fmiVersion=\"{}\" is unknown; it is read as {}.", text, name(d.version));
}

}  // namespace

bool check_count(const xml_file& xml, std::size_t variables) {
    constexpr std::size_t most = 2'000'000;
    if (variables > most) xml.fatal(xml.root(), "it has more than {} variables.", most);
    return variables <= most;
}

description read_description(std::string_view xml, std::string_view terminals_xml, const std::string& fmu,
                             std::vector<violation>* violations) {
    return consume_description(std::string(xml), std::string(terminals_xml), fmu, violations);
}

description consume_description(std::string text, std::string terminals_text, const std::string& fmu,
                                std::vector<violation>* violations) {
    description d;
    const std::string owner = fmt::format("FMU '{}'", fmu);
    violation_sink sink(owner, violations);
    {
        xml_file xml("modelDescription.xml", std::move(text), sink);
        if (!xml.root()) return d;
        if (std::strcmp(xml.root().name(), "fmiModelDescription") != 0) {
            xml.fatal(xml.root(), "the root element is <{}> instead of <fmiModelDescription>.", xml.root().name());
            return d;
        }
        bool known = false;
        read_version(xml, d, known);
        if (!known) return d;
        const auto variables = xml.root().child("ModelVariables").children();
        if (!check_count(xml, static_cast<std::size_t>(std::distance(variables.begin(), variables.end())))) return d;
        read_root(xml, d);
        read_units(xml, d);
        if (d.version == version::v1)
            read_description_1(xml, d);
        else if (d.version == version::v2)
            read_description_2(xml, d);
        else
            read_description_3(xml, d);
        xml.forget_text();
        d.build_index();
        check_description(xml, d);
    }
    if (!terminals_text.empty()) {
        // Ports by themselves are a comfort: a broken file is told by `fmu validate`, but the FMU stays usable.
        std::vector<violation> found;
        violation_sink gentle(owner, &found);
        const xml_file xml("terminalsAndIcons/terminalsAndIcons.xml", std::move(terminals_text), gentle);
        if (xml.root()) read_terminals(xml, d);
        for (violation& v : found)
            sink.add("terminalsAndIcons/terminalsAndIcons.xml", v.line, false, std::move(v.message));
    }
    return d;
}

}  // namespace mdpcosim::fmi

#include "report/page.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/files.hpp"

// The file is put into the program as it is: no array for the compiler to read.
__asm__(
    ".pushsection .rodata\n"
    "mdpcosim_page_begin:\n"
    ".incbin \"" MDPCOSIM_PAGE
    "\"\n"
    "mdpcosim_page_end:\n"
    ".popsection\n");
extern "C" const char mdpcosim_page_begin[], mdpcosim_page_end[];

namespace mdpcosim {

namespace {

constexpr std::string_view title_place = "@TITLE@", data_place = "@DATA@";

std::string escaped_html(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '<' || c == '>' || c == '&')
            out += fmt::format("&#{};", static_cast<int>(c));
        else
            out += c;
    }
    return out;
}

/// Inside strings only can these characters stand in JSON, where their numbers mean the same.
void append_json(std::string& out, std::string_view json) {
    for (const char c : json) {
        if (c == '<')
            out += "\\u003c";
        else if (c == '&')
            out += "\\u0026";
        else
            out += c;
    }
}

}  // namespace

bool has_page() { return mdpcosim_page_end - mdpcosim_page_begin > 0; }

std::string page_with(std::string_view title, std::string_view json) {
    const std::string_view page(mdpcosim_page_begin, static_cast<std::size_t>(mdpcosim_page_end - mdpcosim_page_begin));
    const std::size_t at_title = page.find(title_place), at_data = page.find(data_place);
    if (at_title == std::string_view::npos || at_data == std::string_view::npos || at_data < at_title)
        throw user_error(
            "this program was built without the page of reports (Node.js was missing: see docs/report.md).");
    std::string out;
    out.reserve(page.size() + title.size() + json.size() + json.size() / 16);
    out += page.substr(0, at_title);
    out += escaped_html(title);
    out += page.substr(at_title + title_place.size(), at_data - at_title - title_place.size());
    append_json(out, json);
    out += page.substr(at_data + data_place.size());
    return out;
}

void write_page(const std::string& path, const std::string& page) {
    try {
        write_document(path, page);
    } catch (const file_problem& problem) {
        throw user_error(fmt::format("{}: the file cannot be written ({}).", path, problem.what()));
    }
}

}  // namespace mdpcosim

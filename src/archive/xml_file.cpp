#include "archive/xml_file.hpp"

#include <algorithm>
#include <charconv>

#include "archive/utf8.hpp"
#include "core/error.hpp"

namespace mdpcosim::archive {

namespace {

constexpr std::string_view blanks = " \t\r\n";
/// Text, elements and attributes in memory; more is an attack on it, not a description.
constexpr std::size_t most_bytes = 750'000'000, bytes_of_element = 64, bytes_of_attribute = 40;
/// Of all lists; every one becomes a text.
constexpr std::size_t most_words = 8'000'000;

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// from_chars() takes no plus sign, XML Schema does.
std::string_view without_plus(std::string_view text) {
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    return text;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
    text = without_plus(trimmed(text));
    double value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status == std::errc::result_out_of_range && end == text.data() + text.size())
        return std::strtod(std::string(text).c_str(), nullptr);  // zero or infinity: as close as it gets
    if (status != std::errc() || end != text.data() + text.size()) return {};
    return value;
}

template <class Integer>
std::optional<Integer> parse_integer(std::string_view text) {
    text = without_plus(trimmed(text));
    Integer value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc() || end != text.data() + text.size()) return {};
    return value;
}
template std::optional<std::int32_t> parse_integer(std::string_view);
template std::optional<std::uint32_t> parse_integer(std::string_view);
template std::optional<std::int64_t> parse_integer(std::string_view);
template std::optional<std::uint64_t> parse_integer(std::string_view);

std::vector<std::string> split_words(std::string_view text) {
    std::vector<std::string> words;
    for (std::size_t at = text.find_first_not_of(blanks); at != std::string_view::npos;
         at = text.find_first_not_of(blanks, at)) {
        const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
        words.emplace_back(text.substr(at, end - at));
        at = end;
    }
    return words;
}

line_table::line_table(std::string_view text) {
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
        ends_.push_back(at);
}

line_table line_table::widened(std::string_view text) {
    line_table table({});
    std::size_t at = 0;
    for (const char c : text) {
        if (c == '\n') table.ends_.push_back(at);
        at += c < 0 ? 2 : 1;
    }
    return table;
}

int line_table::line(std::ptrdiff_t offset) const {
    if (offset < 0) return 0;
    const auto place = std::lower_bound(ends_.begin(), ends_.end(), static_cast<std::size_t>(offset));
    return static_cast<int>(place - ends_.begin()) + 1;
}

int line_table::column(std::ptrdiff_t offset) const {
    const int at = line(offset);
    if (at <= 1) return static_cast<int>(std::max<std::ptrdiff_t>(offset, 0)) + 1;
    return static_cast<int>(static_cast<std::size_t>(offset) - ends_[static_cast<std::size_t>(at) - 2]);
}

const char* name(level of) { return of == level::error ? "error" : of == level::warning ? "warning" : "note"; }

void violation_sink::add(const char* file, int line, bool fatal, std::string message, level how) {
    if (violations_ != nullptr) {
        constexpr std::size_t most = 1000;
        if (violations_->size() < most || fatal) violations_->push_back({file, line, std::move(message), fatal, how});
        if (violations_->size() == most && !fatal)
            violations_->push_back({file, line, fmt::format("more than {} violations: the rest is not told.", most)});
    } else if (fatal) {
        throw user_error(line > 0 ? fmt::format("{}: {}, line {}: {}", owner_, file, line, message)
                                  : fmt::format("{}: {}: {}", owner_, file, message));
    }
}

xml_file::xml_file(const char* name, std::string text, violation_sink& sink)
    : name_(name), sink_(sink), text_(std::move(text)), lines_(text_) {
    const auto [at, problem] = parse();
    if (problem.empty()) return;
    document_.reset();
    sink_.add(name_, at, true, problem);
}

std::pair<int, std::string> xml_file::parse() {
    std::size_t bytes = text_.size();
    for (std::size_t i = 0; i + 1 < text_.size(); ++i) {
        if (text_[i] == '<' && text_[i + 1] != '/') bytes += bytes_of_element;
        if (text_[i] == '=') bytes += bytes_of_attribute;
    }
    if (bytes > most_bytes)
        return {0,
                fmt::format("with its elements and attributes it would take {} MB of memory; at most {} are allowed.",
                            bytes / 1'000'000, most_bytes / 1'000'000)};
    const std::size_t wrong = find_invalid_utf8(text_);
    // Entities are left as they stand: there is nothing to expand, and a DTD is seen and refused.
    const pugi::xml_parse_result result =
        document_.load_buffer_inplace(text_.data(), text_.size(), pugi::parse_default | pugi::parse_doctype);
    if (!result)
        return {lines_.line(result.offset), fmt::format("it is not well-formed XML: {}.", result.description())};
    for (const pugi::xml_node node : document_.children())
        if (node.type() == pugi::node_doctype)
            return {line(node), "it has a document type definition (DTD), which is not allowed."};
    if (!root()) return {0, "it has no root element."};
    if (result.encoding != pugi::encoding_utf8) {
        // The text itself is untouched: the parser works on its own copy.
        lines_ = result.encoding == pugi::encoding_latin1 ? line_table::widened(text_) : line_table({});
        note(root(), "it is not written in UTF-8, as the standard demands.");
    } else if (wrong != std::string::npos) {
        repair_utf8(text_);  // the document's names and values stand in it
        sink_.add(name_, lines_.line(static_cast<std::ptrdiff_t>(wrong)), false,
                  "a byte that is not UTF-8 is read as '?'.", level::note);
    }
    return {};
}

std::string xml_file::required_text(pugi::xml_node node, const char* attribute) const {
    if (!node.attribute(attribute)) fatal(node, "<{}> has no attribute '{}'.", node.name(), attribute);
    return node.attribute(attribute).value();
}

std::vector<std::string> xml_file::words(pugi::xml_node node, const char* attribute) const {
    const std::string_view list = node.attribute(attribute).value();
    std::size_t count = 0;
    bool within = false;
    for (const char c : list) {
        const bool blank = blanks.find(c) != std::string_view::npos;
        count += !blank && !within;
        within = !blank;
    }
    return count_words(node, count) ? split_words(list) : std::vector<std::string>();
}

bool xml_file::count_words(pugi::xml_node node, std::size_t count) const {
    words_ += count;
    if (words_ <= most_words) return true;
    fatal(node, "<{}>: with it the file has more than {} words in lists, which is not allowed.", node.name(),
          most_words);
    return false;
}

bool xml_file::flag(pugi::xml_node node, const char* attribute, bool otherwise) const {
    const pugi::xml_attribute value = node.attribute(attribute);
    if (!value) return otherwise;
    const std::string_view text = trimmed(value.value());
    if (text == "true" || text == "1") return true;
    if (text != "false" && text != "0") {
        violation(node, "<{}> has {}=\"{}\"; allowed are true and false.", node.name(), attribute, text);
        return otherwise;
    }
    return false;
}

std::optional<double> xml_file::number(pugi::xml_node node, const char* attribute) const {
    const pugi::xml_attribute value = node.attribute(attribute);
    if (!value) return {};
    const std::optional<double> result = parse_number(value.value());
    if (!result) violation(node, "<{}> has {}=\"{}\", which is not a number.", node.name(), attribute, value.value());
    return result;
}

}  // namespace mdpcosim::archive

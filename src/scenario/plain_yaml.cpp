#include "scenario/plain_yaml.hpp"

#include <algorithm>
#include <unordered_set>

namespace mdpcosim {

namespace {

constexpr std::size_t longest_key = 200, most_levels = 50;

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

/// Thrown away as soon as anything is unusual.
class plain_reader {
   public:
    plain_reader(std::string_view text, std::string_view file, int lines_above)
        : text_(text), file_(intern(file)), line_(lines_above) {}

    bool read(yaml_node& root) {
        if (!std::ranges::all_of(text_, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); })) return false;
        return next_line() && !ended_ && indent_ == 0 && read_map(root, 0, 0) && ended_;
    }

   private:
    char now() const { return at_ < text_.size() ? text_[at_] : '\n'; }
    location here() const { return {file_, line_, static_cast<int>(at_ - line_begin_) + 1}; }
    int column() const { return static_cast<int>(at_ - line_begin_); }
    void skip_blanks() {
        while (now() == ' ') ++at_;
    }
    bool at_line_end() const { return now() == '\n' || (now() == '#' && text_[at_ - 1] == ' '); }

    /// To the first character of the next line that holds more than a comment; false: a document's begin or end. At the end of the text
    /// there is a line without indentation.
    bool next_line() {
        for (;;) {
            indent_ = 0;
            line_begin_ = at_;
            ++line_;
            skip_blanks();
            if (at_ >= text_.size()) return ended_ = true;
            if (now() != '\n' && now() != '#') break;
            to_line_end();
        }
        indent_ = column();
        return indent_ > 0 || (!text_.substr(at_).starts_with("---") && !text_.substr(at_).starts_with("..."));
    }
    void to_line_end() {
        at_ = std::min(text_.find('\n', at_), text_.size());
        if (at_ < text_.size()) ++at_;
    }
    /// Behind a value.
    bool finish_line() {
        skip_blanks();
        if (!at_line_end()) return false;
        to_line_end();
        return next_line();
    }

    bool read_key(yaml_key& key, bool in_flow) {
        key.where = here();
        const std::size_t begin = at_;
        while (is_letter_or_digit(now()) || now() == '_' || now() == '.' || (now() == '-' && at_ > begin)) ++at_;
        const std::string_view name = text_.substr(begin, at_ - begin);
        if (name.empty() || name.size() > longest_key || is_null(name) || now() != ':') return false;
        ++at_;
        if (now() != ' ' && (in_flow || now() != '\n')) return false;
        key.name = name;
        return true;
    }

    static bool is_null(std::string_view word) { return word == "null" || word == "Null" || word == "NULL"; }

    /// Whether all keys differ: few are compared, many looked up.
    static bool all_differ(const std::vector<yaml_entry>& entries) {
        if (entries.size() > 16) {
            std::unordered_set<std::string_view> seen(2 * entries.size());
            return std::ranges::all_of(entries, [&](const yaml_entry& e) { return seen.insert(e.key.name).second; });
        }
        for (auto e = entries.begin(); e != entries.end(); ++e)
            if (std::any_of(entries.begin(), e, [&](const yaml_entry& x) { return x.key.name == e->key.name; }))
                return false;
        return true;
    }

    /// At the first key of a block map whose keys stand in column `indent`.
    bool read_map(yaml_node& map, int indent, std::size_t level) {
        map.kind = yaml_node::type::map;
        map.where = here();
        if (level > most_levels) return false;
        while (!ended_ && indent_ == indent) {
            yaml_entry& entry = map.entries.emplace_back();
            if (!read_key(entry.key, false) || !read_entry(entry.value, entry.key.where, indent, level)) return false;
        }
        return (ended_ || indent_ < indent) && all_differ(map.entries);
    }

    /// What follows `key:`; nothing where the next line is no deeper.
    bool read_entry(yaml_node& value, const location& key, int indent, std::size_t level) {
        skip_blanks();
        if (!at_line_end()) return read_inline(value, indent, level);
        if (!finish_line()) return false;
        if (ended_ || indent_ <= indent) {
            value.where = key;
            return !at_item();  // a list may stand as deep as its key
        }
        return at_item() ? read_list(value, indent_, level + 1) : read_map(value, indent_, level + 1);
    }

    bool at_item() const { return now() == '-' && at_ + 1 < text_.size() && text_[at_ + 1] == ' '; }

    bool read_list(yaml_node& list, int indent, std::size_t level) {
        list.kind = yaml_node::type::list;
        list.where = here();
        if (level > most_levels) return false;
        while (!ended_ && indent_ == indent) {
            if (!at_item()) return false;
            at_ += 2;
            skip_blanks();
            if (at_line_end() || !read_inline(list.items.emplace_back(), indent, level)) return false;
        }
        return ended_ || indent_ < indent;
    }

    /// A value on the key's line, or beginning there. What follows must be no deeper: plain texts go on in deeper lines.
    bool read_inline(yaml_node& value, int indent, std::size_t level) {
        return read_value(value, indent, false, level) && finish_line() && (ended_ || indent_ <= indent);
    }

    bool read_value(yaml_node& value, int indent, bool in_flow, std::size_t level) {
        if (now() == '{' || now() == '[') return read_flow(value, indent, level + 1);
        value.kind = yaml_node::type::scalar;
        value.where = here();
        if (now() == '"' || now() == '\'') return read_quoted(value);
        return in_flow ? read_word(value, ",]}", "?:{[#") : read_word(value, "", "");
    }

    bool read_quoted(yaml_node& value) {
        const char quote = now();
        ++value.where.column;
        const std::size_t begin = ++at_, end = text_.find(quote, begin);
        if (end == std::string_view::npos) return false;
        value.scalar = text_.substr(begin, end - begin);
        at_ = end + 1;
        return now() != quote && value.scalar.find_first_of("\\\n") == std::string::npos;
    }

    /// A plain text, up to one of `ends` or the end of the line; false where it holds one of `unusual`.
    bool read_word(yaml_node& value, std::string_view ends, std::string_view unusual) {
        const std::size_t begin = at_;
        const bool usual = is_letter_or_digit(now()) || now() == '_' || now() == '$' || now() == '.' || now() == '/' ||
                           now() == '(' || now() == '+' ||
                           (now() == '-' && begin + 1 < text_.size() &&
                            (is_letter_or_digit(text_[begin + 1]) || text_[begin + 1] == '.'));
        if (!usual) return false;
        for (; now() != '\n' && ends.find(now()) == std::string_view::npos; ++at_) {
            if (unusual.find(now()) != std::string_view::npos) return false;
            if (now() == '#' && text_[at_ - 1] == ' ') break;
            if (now() == ':' && (at_ + 1 == text_.size() || text_[at_ + 1] == ' ' || text_[at_ + 1] == '\n'))
                return false;
        }
        std::string_view word = text_.substr(begin, at_ - begin);
        while (word.back() == ' ') word.remove_suffix(1);
        value.scalar = word;
        return !is_null(word);
    }

    /// Blanks, and line ends behind which the lines are deeper than `indent`.
    bool skip_space(int indent) {
        for (;;) {
            skip_blanks();
            if (now() != '\n') return now() != '#';
            if (at_ >= text_.size()) return false;
            ++at_;
            ++line_;
            line_begin_ = at_;
            skip_blanks();
            if (now() != '\n' && column() <= indent) return false;
        }
    }

    bool read_flow(yaml_node& value, int indent, std::size_t level) {
        const bool is_map = now() == '{';
        const char end = is_map ? '}' : ']';
        value.kind = is_map ? yaml_node::type::map : yaml_node::type::list;
        value.where = here();
        ++at_;
        if (level > most_levels || !skip_space(indent)) return false;
        if (now() == end) return ++at_, true;
        for (;;) {
            if (is_map) {
                yaml_entry& entry = value.entries.emplace_back();
                if (!read_key(entry.key, true) || !skip_space(indent) || !read_value(entry.value, indent, true, level))
                    return false;
            } else if (!read_value(value.items.emplace_back(), indent, true, level)) {
                return false;
            }
            if (!skip_space(indent)) return false;
            const char separator = now();
            ++at_;
            if (separator == end) return all_differ(value.entries);
            if (separator != ',' || !skip_space(indent)) return false;
        }
    }

    std::string_view text_, file_;
    std::size_t at_ = 0, line_begin_ = 0;
    int line_, indent_ = 0;
    bool ended_ = false;
};

}  // namespace

std::optional<yaml_node> read_plain_yaml(std::string_view text, std::string_view file, int lines_above) {
    yaml_node root;
    if (!plain_reader(text, file, lines_above).read(root)) return std::nullopt;
    return root;
}

}  // namespace mdpcosim

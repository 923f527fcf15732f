#include "scenario/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <sstream>
#include <unordered_map>

#include "core/files.hpp"
#include "scenario/plain_yaml.hpp"

namespace mdpcosim {

namespace {

constexpr std::size_t largest_file = 32'000'000;

/// Builds the tree from parser events. The node tree of yaml-cpp would lose duplicate keys.
class tree_builder : public YAML::EventHandler {
   public:
    tree_builder(std::string_view file, bool one_place, int lines_above)
        : file_(intern(file)), one_place_(one_place), lines_above_(lines_above) {
        root_.where = {file_, one_place ? 0 : lines_above + 1, one_place ? 0 : 1};  // of a text that holds nothing
    }

    yaml_node take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (finished_)
            throw user_error(place(mark),
                             "a second document begins here ('---'); a scenario is one document in one file.");
    }
    void OnDocumentEnd() override { finished_ = true; }
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        add(node(yaml_node::type::null, mark), anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end())
            throw user_error(place(mark), "this alias ('*name') stands inside the anchor it refers to.");
        yaml_node copy = found->second;
        copied_ += count(copy);
        if (copied_ > most_copied)
            throw user_error(
                place(mark),
                fmt::format("the aliases ('*name') of this file stand for more than {} values.", most_copied));
        copy.where = place(mark);
        add(std::move(copy), 0);
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        yaml_node scalar = node(yaml_node::type::scalar, mark);
        // A quoted text is placed behind its quote, so that positions inside it can be counted from there.
        if (tag == "!" && !one_place_) ++scalar.where.column;
        scalar.scalar = value;
        add(std::move(scalar), anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open_.push_back({node(yaml_node::type::list, mark), anchor, {}, {}, false});
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open_.push_back({node(yaml_node::type::map, mark), anchor, {}, {}, false});
    }
    void OnMapEnd() override { close(); }

   private:
    struct frame {
        yaml_node node;
        YAML::anchor_t anchor;
        yaml_key key;
        std::unordered_map<std::string, location> seen;
        bool has_key;
    };

    static constexpr std::size_t most_copied = 1'000'000;

    static std::size_t count(const yaml_node& node) {
        std::size_t sum = 1;
        for (const auto& item : node.items) sum += count(item);
        for (const auto& [key, value] : node.entries) sum += count(value);
        return sum;
    }

    location place(const YAML::Mark& mark) const {
        if (one_place_) return {file_, 0, 0};
        return {file_, lines_above_ + mark.line + 1, mark.column + 1};
    }

    yaml_node node(yaml_node::type kind, const YAML::Mark& mark) const {
        yaml_node n;
        n.kind = kind;
        n.where = place(mark);
        return n;
    }

    void close() {
        frame done = std::move(open_.back());
        open_.pop_back();
        add(std::move(done.node), done.anchor);
    }

    void add(yaml_node&& value, YAML::anchor_t anchor) {
        if (anchor != 0) anchors_[anchor] = value;
        if (open_.empty()) {
            root_ = std::move(value);
            return;
        }
        frame& parent = open_.back();
        // The library places nothing at whatever follows it; the user looks at the key, or at the list.
        if (value.kind == yaml_node::type::null) value.where = parent.has_key ? parent.key.where : parent.node.where;
        if (parent.node.kind == yaml_node::type::list) {
            parent.node.items.push_back(std::move(value));
        } else if (!parent.has_key) {
            take_key(parent, value);
        } else {
            parent.node.entries.push_back({std::move(parent.key), std::move(value)});
            parent.has_key = false;
        }
    }

    static void take_key(frame& parent, const yaml_node& value) {
        if (value.kind != yaml_node::type::scalar)
            throw user_error(value.where, fmt::format("a key must be a plain name, not {}.", describe(value.kind)));
        const auto [earlier, is_new] = parent.seen.emplace(value.scalar, value.where);
        if (!is_new) {
            const location& first = earlier->second;
            const std::string place =
                first.line == 0 ? "" : fmt::format("; the first is at line {}, column {}", first.line, first.column);
            throw user_error(value.where, fmt::format("key '{}' stands twice{}.", value.scalar, place));
        }
        parent.key = {value.scalar, value.where};
        parent.has_key = true;
    }

    std::string_view file_;
    bool one_place_;
    int lines_above_;
    bool finished_ = false;
    std::size_t copied_ = 0;
    yaml_node root_;
    std::vector<frame> open_;
    std::map<YAML::anchor_t, yaml_node> anchors_;
};

/// The library's reason, or a plainer one for what happens most.
std::string explain(const YAML::Exception& problem, const std::string& text) {
    if (dynamic_cast<const YAML::DeepRecursion*>(&problem) != nullptr) return "lists and maps are nested too deep here";
    std::istringstream lines(text);
    std::string line;
    for (int i = 0; i <= problem.mark.line; ++i) std::getline(lines, line);
    const std::size_t indented = line.find_first_not_of(' ');
    if (indented != std::string::npos && line[indented] == '\t') return "this line is indented with a tab. Use blanks";
    if (problem.msg == YAML::ErrorMsg::MAP_VALUE)
        return "no ':' can stand here. Put a text that holds ': ' into quotes";
    if (problem.msg == YAML::ErrorMsg::END_OF_MAP_FLOW) return "a '{' has no '}'";
    if (problem.msg == YAML::ErrorMsg::END_OF_SEQ_FLOW) return "a '[' has no ']'";
    return problem.msg;
}

/// The length of the character that begins at `at`, or 0 where that is a control character or not UTF-8.
std::size_t character_length(std::string_view text, std::size_t at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) return (byte >= 0x20 && byte != 0x7f) || byte == '\t' || byte == '\n' || byte == '\r' ? 1 : 0;
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    if (byte < 0xc2 || byte > 0xf4 || at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((static_cast<unsigned char>(text[at + i]) & 0xc0U) != 0x80U) return 0;
    return length;
}

/// What is no text would end as nonsense in messages and results.
void refuse_binary(const std::string& text, std::string_view name, bool one_place, int lines_above) {
    location where{intern(name), one_place ? 0 : lines_above + 1, 1};
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = character_length(text, at);
        if (length == 0)
            throw user_error(where,
                             fmt::format("a scenario is a text in UTF-8, but this file holds the byte 0x{:02x} here.",
                                         static_cast<unsigned char>(text[at])));
        where.column += static_cast<int>(length);
        if (text[at] == '\n') where = {where.file, one_place ? 0 : where.line + 1, 1};
        at += length;
    }
}

yaml_node read_stream(const std::string& text, std::string_view name, bool one_place, int lines_above) {
    if (!one_place)
        if (auto plain = read_plain_yaml(text, name, lines_above)) return std::move(*plain);
    refuse_binary(text, name, one_place, lines_above);
    tree_builder builder(name, one_place, lines_above);
    try {
        std::istringstream in(text);
        YAML::Parser parser(in);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const YAML::Exception& problem) {
        const location where{intern(name), one_place ? 0 : lines_above + problem.mark.line + 1,
                             problem.mark.column + 1};
        throw user_error(where, fmt::format("this is not valid YAML: {}.", explain(problem, text)));
    }
    return builder.take();
}

}  // namespace

yaml_node* yaml_node::find(std::string_view key) {
    for (auto& [name, value] : entries)
        if (name.name == key) return &value;
    return nullptr;
}

const char* describe(yaml_node::type kind) {
    switch (kind) {
        case yaml_node::type::null:
            return "nothing";
        case yaml_node::type::scalar:
            return "a number or text";
        case yaml_node::type::list:
            return "a list";
        case yaml_node::type::map:
            return "a map";
    }
    return "";
}

yaml_node read_yaml_file(const std::filesystem::path& path) {
    std::error_code status;
    if (std::filesystem::is_directory(path, status))
        throw user_error(fmt::format("{}: this is a folder, not a scenario file.{}", path.string(),
                                     std::filesystem::exists(path / "modelDescription.xml", status)
                                         ? " In it is an FMU that is not packed: 'cd FOLDER && zip -r ../NAME.fmu .'"
                                         : ""));
    const auto text = [&] {
        try {
            return read_input(path, largest_file);
        } catch (const file_problem& problem) {
            throw user_error(fmt::format("{}: the file cannot be read ({}).", path.string(), problem.what()));
        }
    }();
    return read_stream(text, path.string(), false, 0);
}

yaml_node read_yaml_text(const std::string& text, std::string_view name, bool one_place, int lines_above) {
    return read_stream(text, name, one_place, lines_above);
}

}  // namespace mdpcosim

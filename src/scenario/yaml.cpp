#include "scenario/yaml.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <unordered_map>

namespace mdpcosim {

namespace {

/// Builds the tree from parser events. The node tree of yaml-cpp would lose duplicate keys.
class tree_builder : public YAML::EventHandler {
   public:
    tree_builder(std::string_view file, bool one_place) : file_(intern(file)), one_place_(one_place) {}

    yaml_node take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(node(yaml_node::type::null, mark), anchor); }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        yaml_node copy = anchors_.at(anchor);
        copy.where = place(mark);
        add(std::move(copy), 0);
    }

    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string& value) override {
        yaml_node scalar = node(yaml_node::type::scalar, mark);
        scalar.scalar = value;
        add(std::move(scalar), anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open_.push_back({node(yaml_node::type::list, mark), anchor, {}, {}, false});
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
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

    location place(const YAML::Mark& mark) const {
        if (one_place_) return {file_, 0, 0};
        return {file_, mark.line + 1, mark.column + 1};
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
        if (parent.node.kind == yaml_node::type::list) {
            parent.node.items.push_back(std::move(value));
        } else if (!parent.has_key) {
            take_key(parent, value);
        } else {
            parent.node.entries.emplace_back(std::move(parent.key), std::move(value));
            parent.has_key = false;
        }
    }

    static void take_key(frame& parent, const yaml_node& value) {
        if (value.kind != yaml_node::type::scalar)
            throw user_error(value.where, fmt::format("a key must be a plain name, not {}.", describe(value.kind)));
        const auto [earlier, is_new] = parent.seen.emplace(value.scalar, value.where);
        if (!is_new)
            throw user_error(value.where, fmt::format("key '{}' stands twice; the first is at line {}, column {}.", value.scalar,
                                                      earlier->second.line, earlier->second.column));
        parent.key = {value.scalar, value.where};
        parent.has_key = true;
    }

    std::string_view file_;
    bool one_place_;
    yaml_node root_;
    std::vector<frame> open_;
    std::map<YAML::anchor_t, yaml_node> anchors_;
};

yaml_node read_stream(std::istream& in, std::string_view name, bool one_place) {
    tree_builder builder(name, one_place);
    try {
        YAML::Parser parser(in);
        parser.HandleNextDocument(builder);
    } catch (const YAML::Exception& problem) {
        const location where{intern(name), one_place ? 0 : problem.mark.line + 1, problem.mark.column + 1};
        throw user_error(where, fmt::format("this is not valid YAML: {}.", problem.msg));
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
        case yaml_node::type::null: return "nothing";
        case yaml_node::type::scalar: return "a number or text";
        case yaml_node::type::list: return "a list";
        case yaml_node::type::map: return "a map";
    }
    return "";
}

yaml_node read_yaml_file(const std::filesystem::path& path) {
    std::error_code status;
    if (std::filesystem::is_directory(path, status))
        throw user_error(fmt::format("{}: this is a folder, not a scenario file.", path.string()));
    std::ifstream in(path, std::ios::binary);
    if (!in) throw user_error(fmt::format("{}: the file cannot be read ({}).", path.string(), std::strerror(errno)));
    return read_stream(in, path.string(), false);
}

yaml_node read_yaml_text(const std::string& text, std::string_view name, bool one_place) {
    std::istringstream in(text);
    return read_stream(in, name, one_place);
}

}  // namespace mdpcosim

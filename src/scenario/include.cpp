#include "scenario/include.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/suggest.hpp"

namespace mdpcosim {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> shared_sections{"let", "subsystems", "connections", "signals", "bonds"};

/// Puts included files into their places, and remembers which are being read.
class includer {
   public:
    explicit includer(folders_of_files& folders) : folders_(folders) {}

    void expand(yaml_node& root, const fs::path& file) {
        const open_file here(*this, file);
        expand_top(root);
        if (yaml_node* subsystems = root.find("subsystems"))
            for (auto& [key, entry] : subsystems->entries) expand_entry(entry, key.name);
    }

   private:
    /// On the list of files that are being read, as long as it lives.
    class open_file {
       public:
        open_file(includer& owner, const fs::path& file) : owner_(owner) { owner_.open_.push_back(whole_path(file)); }
        ~open_file() { owner_.open_.pop_back(); }
        open_file(const open_file&) = delete;
        open_file& operator=(const open_file&) = delete;

       private:
        includer& owner_;
    };

    /// The nodes of `include:`, one or a list; the key is gone afterwards.
    static std::vector<yaml_node> take(yaml_node& map, const std::string& object) {
        const auto found = std::find_if(map.entries.begin(), map.entries.end(),
                                        [](const auto& entry) { return entry.key.name == "include"; });
        if (found == map.entries.end()) return {};
        yaml_node given = std::move(found->value);
        map.entries.erase(found);
        std::vector<yaml_node> files;
        if (given.kind == yaml_node::type::list)
            files = std::move(given.items);
        else
            files.push_back(std::move(given));
        for (const auto& file : files)
            if (file.kind != yaml_node::type::scalar || file.scalar.empty())
                throw user_error(file.where, fmt::format("{}: a file or a list of files is expected, not {}.", object,
                                                         describe(file.kind)));
        return files;
    }

    static std::string similar(const fs::path& path) {
        std::error_code ignored;
        std::vector<std::string> names;
        for (const auto& other : fs::directory_iterator(path.parent_path().empty() ? "." : path.parent_path(), ignored))
            if (other.is_regular_file(ignored)) names.push_back(other.path().filename().string());
        return did_you_mean(path.filename().string(), names);
    }

    void refuse_circle(const fs::path& path, const yaml_node& name, const std::string& object) const {
        const fs::path whole = whole_path(path);
        const auto first = std::find(open_.begin(), open_.end(), whole);
        if (first == open_.end()) return;
        std::vector<std::string> circle;
        for (auto file = first; file != open_.end(); ++file) circle.push_back(file->filename().string());
        circle.push_back(whole.filename().string());
        throw user_error(name.where,
                         fmt::format("{}: '{}' includes itself: {}.", object, name.scalar, fmt::join(circle, " -> ")));
    }

    /// A name that no file can have stays as it is.
    static fs::path whole_path(const fs::path& path) {
        std::error_code problem;
        fs::path whole = fs::weakly_canonical(path, problem);
        return problem ? path : whole;
    }

    /// The tree of the file, and where it lies.
    std::pair<yaml_node, fs::path> read(const yaml_node& name, const std::string& object) {
        const fs::path path = folder_of(name.where) / name.scalar;
        refuse_circle(path, name, object);
        if (std::error_code ignored; !fs::exists(path, ignored))
            throw user_error(name.where,
                             fmt::format("{}: file '{}' does not exist.{}", object, path.string(), similar(path)));
        folders_[intern(path.string())] = path.parent_path();
        return {read_yaml_file(path), path};
    }

    fs::path folder_of(const location& where) const {
        const auto found = folders_.find(where.file);
        return found == folders_.end() ? folders_.at({}) : found->second;
    }

    void expand_top(yaml_node& root) {
        for (const yaml_node& name : take(root, "include")) {
            auto [tree, path] = read(name, "include");
            if (tree.kind != yaml_node::type::map)
                throw user_error(tree.where.file.empty() ? name.where : tree.where,
                                 fmt::format("an included file is a map with {}, not {}.", name_list(shared_sections),
                                             describe(tree.kind)));
            expand(tree, path);
            for (auto& [key, section] : tree.entries) merge(root, key, std::move(section));
        }
    }

    static void merge(yaml_node& root, const yaml_key& key, yaml_node&& section) {
        if (key.name == "mdpcosim") return;
        if (std::ranges::find(shared_sections, key.name) == shared_sections.end())
            throw user_error(key.where,
                             fmt::format("key '{}' cannot stand in an included file. It has: {}, include.{}", key.name,
                                         name_list(shared_sections), did_you_mean(key.name, shared_sections)));
        yaml_node* own = root.find(key.name);
        if (own == nullptr) {
            root.entries.push_back({key, std::move(section)});
            return;
        }
        if (own->kind == yaml_node::type::null) own->kind = section.kind;
        if (own->kind != section.kind) return;  // the reader of the section tells
        for (const auto& [name, value] : section.entries)
            for (const auto& [other, ignored] : own->entries)
                if (name.name == other.name)
                    throw user_error(other.where, fmt::format("{}: '{}' stands twice; it is also at {}.", key.name,
                                                              name.name, to_string(name.where)));
        // Values of 'let' may refer to earlier ones: those of included files come first.
        own->entries.insert(own->entries.begin(), std::make_move_iterator(section.entries.begin()),
                            std::make_move_iterator(section.entries.end()));
        own->items.insert(own->items.begin(), std::make_move_iterator(section.items.begin()),
                          std::make_move_iterator(section.items.end()));
    }

    void expand_entry(yaml_node& entry, const std::string& name) {
        const std::string object = fmt::format("subsystem '{}': include", name);
        for (const yaml_node& file : take(entry, object)) {
            auto [tree, path] = read(file, object);
            if (tree.kind != yaml_node::type::map)
                throw user_error(file.where,
                                 fmt::format("{}: '{}' holds the keys of a subsystem, 'model: ...', not {}.", object,
                                             file.scalar, describe(tree.kind)));
            const open_file here(*this, path);
            expand_entry(tree, name);
            for (auto& [key, value] : tree.entries) put_under(entry, key, std::move(value));
        }
    }

    /// What the entry says itself comes first; inside `set` one by one.
    static void put_under(yaml_node& entry, const yaml_key& key, yaml_node&& value) {
        yaml_node* own = entry.find(key.name);
        if (own == nullptr) {
            entry.entries.push_back({key, std::move(value)});
        } else if (key.name == "set" && own->kind == yaml_node::type::map) {
            for (auto& [name, inner] : value.entries)
                if (own->find(name.name) == nullptr) own->entries.push_back({name, std::move(inner)});
        }
    }

    folders_of_files& folders_;
    std::vector<fs::path> open_;
};

}  // namespace

void expand_includes(yaml_node& root, const std::filesystem::path& file, const std::filesystem::path& folder,
                     folders_of_files& folders) {
    folders[{}] = folder;
    includer(folders).expand(root, file);
}

}  // namespace mdpcosim

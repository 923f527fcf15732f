#include "scenario/read.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "scenario/include.hpp"
#include "scenario/keys.hpp"
#include "scenario/override.hpp"

namespace mdpcosim {

namespace {

let_table read_let(const yaml_node* node, std::vector<setting>& written) {
    let_table let;
    if (node == nullptr || node->kind == yaml_node::type::null) return let;
    const map_reader check(*node, let, "let");
    for (const auto& [key, value] : node->entries) {
        check_name(key, "let value");
        const text resolved =
            read_text(value, let, fmt::format("let value '{}'", key.name));  // '$' reaches earlier values
        let[key.name] = resolved;
        written.push_back({key.name, key.where, {resolved}, false});
    }
    return let;
}

/// One name, one object: subsystems, connections and named signals share the addresses of results and messages.
void check_unique(const scenario& s) {
    std::unordered_map<std::string, const char*> seen;
    const auto add = [&](const std::string& name, const location& where, const char* kind) {
        const auto [found, is_new] = seen.emplace(name, kind);
        if (!is_new)
            throw user_error(
                where, fmt::format("{} '{}': a {} has the same name. Names must differ.", kind, name, found->second));
    };
    for (const auto& x : s.subsystems) add(x.name, x.where, "subsystem");
    for (const auto& x : s.connections) add(x.name, x.where, "connection");
    for (const auto& x : s.signals)
        if (x.name != x.target.value) add(x.name, x.where, "signal");
}

}  // namespace

scenario read_scenario_tree(yaml_node root, const std::filesystem::path& path, const std::filesystem::path& folder,
                            const std::vector<scenario_override>& overrides) {
    if (root.kind != yaml_node::type::map)
        throw user_error({intern(path.string()), 1, 1},
                         fmt::format("a scenario is a map with 'time' and 'subsystems', not {}.", describe(root.kind)));
    // `--set include=...` chooses the files, all others change what is in them.
    const auto chooses_file = [](const scenario_override& change) {
        return change.address == "include" || change.address.ends_with(".include");
    };
    for (const auto& change : overrides)
        if (chooses_file(change)) apply_override(root, change);
    folders_of_files folders;
    expand_includes(root, path, folder, folders);
    for (const auto& change : overrides)
        if (!chooses_file(change)) apply_override(root, change);

    scenario s;
    s.path = path;
    for (const auto& [file, unused] : folders)
        if (!file.empty()) s.included.emplace_back(file);
    const let_table let = read_let(root.find("let"), s.let);
    const auto folder_of = [&](const location& where) {
        const auto found = folders.find(where.file);
        return found == folders.end() ? folder : found->second;
    };
    const reading in{let, folder_of, &s};
    read_keys(scenario_keys(), &s, {}, root, {in, "scenario", {}, false});
    check_unique(s);
    for (auto& entry : s.subsystems)
        if (entry.replicas == 0 && entry.can_have_replicas()) entry.replicas = s.replicas;
    return s;
}

scenario read_scenario(const std::filesystem::path& path, const std::vector<scenario_override>& overrides) {
    return read_scenario_tree(read_yaml_file(path), path, path.parent_path(), overrides);
}

scenario read_scenario_text(const std::string& text, const std::string& name, const std::filesystem::path& folder,
                            const std::vector<scenario_override>& overrides) {
    return read_scenario_tree(read_yaml_text(text, name), name, folder, overrides);
}

}  // namespace mdpcosim

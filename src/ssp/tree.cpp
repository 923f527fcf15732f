#include "ssp/tree.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/suggest.hpp"
#include "ssp/read.hpp"

namespace mdpcosim::ssp {

namespace {

/// Systems that refer to each other can be many more than they are in the files.
constexpr std::size_t most_parts = 100'000, most_uses = 200'000, deepest_use = 64;

constexpr const char *definition_type = "application/x-ssp-definition", *package_type = "application/x-ssp-package",
                     *default_file = "SystemStructure.ssd";

const element* find_id(const element& system, const std::string& id) {
    if (system.id == id && system.what == element::form::system) return &system;
    for (const element& inner : system.elements)
        if (const element* found = find_id(inner, id)) return found;
    return nullptr;
}

class tree_maker {
   public:
    explicit tree_maker(flat_system& system) : system_(system) {}

    std::unique_ptr<element_use> make(const std::filesystem::path& file) {
        const description& top = read(file, {}, "the system");
        system_.top = &top;
        auto root = std::make_unique<element_use>();
        root->what = &top.system;
        root->document = file;
        fill(*root);
        return root;
    }

   private:
    const description& read(const std::filesystem::path& file, const location& where, const std::string& object) {
        auto& kept = system_.documents[file.string()];
        if (kept) return *kept;
        std::string text;
        try {
            text = read_text(file, "system structure");
        } catch (const user_error& problem) {
            if (where.file.empty()) throw;
            throw user_error(where, fmt::format("{}: {}", object, problem.what()));
        }
        kept = std::make_unique<description>(parse_description(text, file));
        if (kept->version != "1.0" && kept->version != "2.0")
            system_.notes.push_back(fmt::format("{}: version '{}' is read as 2.0, the newest that is known.",
                                                file.string(), kept->version));
        return *kept;
    }

    void fill(element_use& use) {
        if (++uses_ > most_uses || use.names.size() > deepest_use)
            throw user_error(use.what->where,
                             fmt::format("{}: with all that they refer to, systems have more than {} elements or are "
                                         "nested more than {} deep, which is not allowed.",
                                         use.title(), most_uses, deepest_use));
        for (const connector& c : use.what->connectors) use.connectors.emplace(c.name, &c);
        if (use.what->what == element::form::dictionary_reference) refer(use);
        if (use.what->what != element::form::system) return;
        for (const signal_dictionary& d : use.what->dictionaries) add_dictionary(use, d);
        for (const element& inner : use.what->elements) {
            auto child = std::make_unique<element_use>();
            child->what = &inner;
            child->parent = &use;
            child->document = use.document;
            child->names = use.names;
            child->names.push_back(inner.name);
            if (inner.what == element::form::component) enter(*child);
            fill(*child);
            use.by_name.emplace(inner.name, child.get());
            use.children.push_back(std::move(child));
        }
    }

    /// A component becomes a part, or the system that it refers to.
    void enter(element_use& use) {
        const element& component = *use.what;
        const std::string object = use.title();
        if (!component.uri) return add_part(use, {});
        const std::size_t hash = component.uri->find('#');
        const std::string file = component.uri->substr(0, hash);
        const std::string fragment = hash == std::string::npos ? std::string() : component.uri->substr(hash + 1);
        const std::string ending = std::filesystem::path(file).extension().string();
        const bool package = component.type == package_type || (component.type.empty() && ending == ".ssp");
        const bool definition = component.type == definition_type || (component.type.empty() && ending == ".ssd");
        if (!package && !definition && !(file.empty() && !fragment.empty()))
            return add_part(use, resolve(*component.uri, use.document, component.where, object));

        const element* target = nullptr;
        if (file.empty()) {
            target = find_id(system_.documents.at(use.document.string())->system, fragment);
        } else {
            std::filesystem::path document = resolve(file, use.document, component.where, object);
            if (package) document /= default_file;
            if (package && !fragment.empty()) document = resolve(fragment, document, component.where, object);
            const description& inner = read(document, component.where, object);
            use.document = document;
            target = package || fragment.empty() ? &inner.system : find_id(inner.system, fragment);
            if (!inner.annotation.text.empty() || !inner.system.annotation.text.empty())
                system_.notes.push_back(
                    fmt::format("{}: its own annotation of mdpcosim is passed over: that of the "
                                "outermost system holds.",
                                object));
        }
        if (target == nullptr)
            throw user_error(component.where,
                             fmt::format("{}: there is no system with the id '{}'.", object, fragment));
        for (const element_use* around = use.parent; around != nullptr; around = around->parent)
            if (around->what == target)
                throw user_error(component.where, fmt::format("{}: the system contains itself: '{}' leads back to {}.",
                                                              object, *component.uri, around->title()));
        use.referred = &component;
        use.what = target;
    }

    void add_part(element_use& use, std::filesystem::path path) {
        if (system_.parts.size() >= most_parts)
            throw user_error(use.what->where, fmt::format("there are more than {} components.", most_parts));
        use.part = static_cast<int>(system_.parts.size());
        system_.parts.push_back({use.names, use.what, use.document, std::move(path)});
    }

    void add_dictionary(element_use& use, const signal_dictionary& d) {
        dictionary_use made{.what = &d};
        const std::vector<connector>* entries = nullptr;
        if (d.entries.uri) {
            const std::string object = fmt::format("signal dictionary '{}'", d.name);
            const auto path = resolve(*d.entries.uri, use.document, d.where, object);
            auto found = system_.dictionaries.find(path.string());
            if (found == system_.dictionaries.end())
                found =
                    system_.dictionaries.emplace(path.string(), parse_dictionary(read_at(path, object, d.where), path))
                        .first;
            entries = &found->second;
        } else {
            entries = &*d.entries.content;
        }
        for (const connector& entry : *entries) made.entries.emplace(entry.name, &entry);
        if (!use.dictionaries.emplace(d.name, std::move(made)).second)
            throw user_error(d.where, fmt::format("signal dictionary '{}' stands twice.", d.name));
    }

    static std::string read_at(const std::filesystem::path& path, const std::string& object, const location& where) {
        try {
            return read_text(path, object);
        } catch (const user_error& problem) {
            throw user_error(where, problem.what());
        }
    }

    static void refer(element_use& use) {
        const element& reference = *use.what;
        std::vector<std::string> known;
        for (const element_use* at = use.parent; at != nullptr; at = at->parent) {
            const auto found = at->dictionaries.find(reference.dictionary);
            if (found != at->dictionaries.end()) {
                use.refers_to = &found->second;
                break;
            }
            for (const auto& [name, ignored] : at->dictionaries) known.push_back(name);
        }
        if (use.refers_to == nullptr)
            throw user_error(reference.where,
                             unknown_name("signal dictionary", reference.dictionary, "The system", known));
        for (const connector& c : reference.connectors) {
            if (use.refers_to->entries.contains(c.name)) continue;
            std::vector<std::string> entries;
            for (const auto& [name, ignored] : use.refers_to->entries) entries.emplace_back(name);
            throw user_error(
                c.where,
                unknown_name("entry", c.name, fmt::format("Signal dictionary '{}'", reference.dictionary), entries));
        }
    }

    flat_system& system_;
    std::size_t uses_ = 0;
};

}  // namespace

std::string part::full_name() const { return fmt::format("{}", fmt::join(names, ".")); }

std::string element_use::title() const {
    if (parent == nullptr) return "the system";
    constexpr const char* forms[] = {"component", "system", "signal dictionary reference"};
    const element::form form = referred != nullptr ? element::form::component : what->what;
    return fmt::format("{} '{}'", forms[static_cast<int>(form)], fmt::join(names, "."));
}

std::string element_use::owner() const {
    std::string text = title();
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
}

std::unique_ptr<element_use> build_tree(const std::filesystem::path& file, flat_system& system) {
    return tree_maker(system).make(file);
}

flat_system flatten(const std::filesystem::path& description_file, const variable_test& has_variable) {
    flat_system system;
    const auto root = build_tree(description_file, system);
    const signal_graph graph(*root);
    hop_count all_hops;
    for (const signal_edge& edge : graph.edges()) {
        if (edge.target == nullptr || edge.target->part < 0) continue;
        // Back to where the value comes from. Whatever stands between has one way in; a circle among them shows by its length.
        link made;
        made.target = edge.target->part;
        made.to = edge.arrives;
        made.last = edge.by;
        const signal_edge* first = &edge;
        made.hops.push_back(hop_over(edge));
        while (first->source == nullptr || first->source->part < 0) {
            const signal_edge* before = graph.into(first->from);
            if (before == nullptr) break;
            first = before;
            made.hops.push_back(hop_over(*first));
            all_hops.add(1, edge.by->where);
            if (made.hops.size() > graph.edges().size())
                throw user_error(edge.by->where,
                                 fmt::format("{}: what feeds '{}' goes in a circle and comes from no component.",
                                             edge.target->title(), edge.by->end_connector));
        }
        if (first->source == nullptr || first->source->part < 0) {
            system.notes.push_back(
                fmt::format("{}: nothing feeds '{}', to which '{}' of {} is connected: it keeps its "
                            "start value.",
                            to_string(edge.by->where), first->from.name, edge.to.name, edge.target->title()));
            continue;
        }
        std::ranges::reverse(made.hops);
        made.source = first->source->part;
        made.from = first->leaves;
        system.links.push_back(std::move(made));
    }
    bind_parameters(*root, graph, has_variable, system);
    return system;
}

}  // namespace mdpcosim::ssp

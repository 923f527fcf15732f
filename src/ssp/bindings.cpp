// Parameter sets to the variables that they mean.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/suggest.hpp"
#include "ssp/read.hpp"
#include "ssp/tree.hpp"

namespace mdpcosim::ssp {

namespace {

constexpr const char *set_type = "application/x-ssp-parameter-set",
                     *mapping_type = "application/x-ssp-parameter-mapping";

/// No system is that deep or has that many; files that were made to take forever are.
constexpr std::size_t most_hops = 1000, most_steps = 10'000'000;

class parameter_binder {
   public:
    parameter_binder(const signal_graph& graph, const variable_test& has_variable, flat_system& system)
        : graph_(graph), has_variable_(has_variable), system_(system) {}

    /// Inner ones first: those further out, and later ones, take their place.
    void bind(const element_use& use) {
        for (const auto& child : use.children) bind(*child);
        for (const parameter_binding& binding : use.what->bindings) apply(use, binding, use.document);
        if (use.referred != nullptr)
            for (const parameter_binding& binding : use.referred->bindings) apply(use, binding, use.parent->document);
    }

   private:
    struct target {
        int part = -1;
        std::string variable;
        std::vector<hop> hops;
    };

    template <class Content, class Parse>
    const Content& load(const source<Content>& from, const element_use& use, const std::filesystem::path& document,
                        std::map<std::string, Content>& kept, const char* type, const char* what, const Parse& parse) {
        const std::string object = fmt::format("{}: {}", use.title(), what);
        if (!from.type.empty() && from.type != type)
            throw user_error(
                from.where, fmt::format("{}: the type '{}' cannot be read. It has to be {}.", object, from.type, type));
        if (from.content) return *from.content;
        std::filesystem::path base = document;
        if (from.in_component) {
            if (use.part < 0 || system_.parts[static_cast<std::size_t>(use.part)].path.empty())
                throw user_error(from.where,
                                 fmt::format("{}: sourceBase=\"component\" is for a component with a file.", object));
            base = system_.parts[static_cast<std::size_t>(use.part)].path / "modelDescription.xml";
        }
        const std::filesystem::path path = resolve(*from.uri, base, from.where, object);
        const auto found = kept.find(path.string());
        if (found != kept.end()) return found->second;
        std::string text;
        try {
            text = read_text(path, what);
        } catch (const user_error& problem) {
            throw user_error(from.where, fmt::format("{}: {}", use.title(), problem.what()));
        }
        return kept.emplace(path.string(), parse(text, path)).first->second;
    }

    void apply(const element_use& use, const parameter_binding& binding, const std::filesystem::path& document) {
        const parameter_set& set =
            load(binding.values, use, document, system_.sets, set_type, "parameter set", parse_parameters);
        if (binding.mapping) {
            const parameter_mapping& mapping = load(*binding.mapping, use, document, system_.mappings, mapping_type,
                                                    "parameter mapping", parse_mapping);
            return map(use, set, mapping, binding.prefix);
        }
        std::vector<std::string> unknown;
        const parameter* first = nullptr;
        for (const parameter& p : set.parameters) {
            if (set_all(use, binding.prefix + p.name, p, {}, p.where)) continue;
            if (unknown.empty()) first = &p;
            unknown.push_back(binding.prefix + p.name);
        }
        if (unknown.empty()) return;
        // A file may hold more than this system needs, as the standard has it. What stands in place, and a file of which nothing fits, is a mistake.
        if (binding.values.content || unknown.size() == set.parameters.size())
            throw user_error(first->where, unknown_name("parameter", unknown.front(), use.owner(), names(use)));
        system_.notes.push_back(fmt::format("{}: parameters that {} does not have are passed over: {}.", set.where.file,
                                            use.title(), name_list(unknown)));
    }

    void map(const element_use& use, const parameter_set& set, const parameter_mapping& mapping,
             const std::string& prefix) {
        std::map<std::string, const parameter*> by_name;
        for (const parameter& p : set.parameters) by_name.emplace(prefix + p.name, &p);
        for (const mapping_entry& entry : mapping.entries) {
            const auto found = by_name.find(entry.source);
            if (found == by_name.end()) {
                std::vector<std::string> known;
                for (const auto& [name, ignored] : by_name) known.push_back(name);
                throw user_error(entry.where,
                                 "mapping: " + unknown_name("parameter", entry.source, "The parameter set", known));
            }
            const hop over{&entry.transformation, entry.keep_number, {}, entry.where};
            if (!set_all(use, entry.target, *found->second, {over}, entry.where))
                throw user_error(entry.where,
                                 "mapping: " + unknown_name("parameter", entry.target, use.owner(), names(use)));
        }
    }

    /// For messages: what there is beside the variables of components.
    static std::vector<std::string> names(const element_use& use) {
        std::vector<std::string> all;
        for (const auto& [name, ignored] : use.connectors) all.push_back(name);
        for (const auto& child : use.children)
            for (const auto& [name, ignored] : child->connectors)
                all.push_back(fmt::format("{}.{}", child->names.back(), name));
        return all;
    }

    /// The value to every variable that the name means; false: there is none.
    bool set_all(const element_use& use, const std::string& name, const parameter& p, const std::vector<hop>& hops,
                 const location& where) {
        std::vector<target> targets;
        if (!find(use, name, hops, targets)) return false;
        if (targets.empty())
            system_.notes.push_back(fmt::format("{}: '{}' of {} leads to no component: its value is passed over.",
                                                to_string(where), name, use.title()));
        for (target& t : targets) {
            binding made{t.part, t.variable, &p, std::move(t.hops), where};
            const auto [place, is_new] = known_.emplace(std::pair{t.part, t.variable}, system_.bindings.size());
            if (is_new)
                system_.bindings.push_back(std::move(made));
            else
                system_.bindings[place->second] = std::move(made);
        }
        return true;
    }

    bool find(const element_use& use, const std::string& name, const std::vector<hop>& hops,
              std::vector<target>& targets) {
        if (++steps_ > most_steps)
            throw user_error(use.what->where, fmt::format("{}: parameters name too many variables.", use.title()));
        if (use.part >= 0) {
            if (!has_variable_(system_.parts[static_cast<std::size_t>(use.part)], name)) return false;
            targets.push_back({use.part, name, hops});
            return true;
        }
        bool found = false;
        if (const auto at = use.connectors.find(name); at != use.connectors.end()) {
            std::vector<hop> onward = hops;
            // A mapping's conversion ends in the unit of what it leads to, before its transformation.
            if (!onward.empty())
                onward.back().unit = at->second->unit;
            else
                onward.push_back({nullptr, false, at->second->unit, at->second->where});
            std::set<signal_node> seen;
            follow({&use, name}, onward, targets, seen);
            found = true;
        }
        // Names may hold dots, so that several elements may be meant.
        for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1))
            if (const auto child = use.by_name.find(std::string_view(name).substr(0, dot)); child != use.by_name.end())
                found = find(*child->second, name.substr(dot + 1), hops, targets) || found;
        return found;
    }

    /// Along the connections to the components.
    void follow(const signal_node& node, const std::vector<hop>& hops, std::vector<target>& targets,
                std::set<signal_node>& seen) {
        if (!seen.insert(node).second || hops.size() > most_hops) return;
        for (const signal_edge* edge : graph_.out_of(node)) {
            std::vector<hop> onward = hops;
            onward.push_back(hop_over(*edge));
            all_hops_.add(onward.size(), edge->by->where);
            if (edge->target != nullptr && edge->target->part >= 0)
                targets.push_back({edge->target->part, edge->to.name, std::move(onward)});
            else
                follow(edge->to, onward, targets, seen);
        }
    }

    const signal_graph& graph_;
    const variable_test& has_variable_;
    flat_system& system_;
    std::map<std::pair<int, std::string>, std::size_t> known_;
    std::size_t steps_ = 0;
    hop_count all_hops_;
};

}  // namespace

void bind_parameters(const element_use& root, const signal_graph& graph, const variable_test& has_variable,
                     flat_system& system) {
    parameter_binder(graph, has_variable, system).bind(root);
}

}  // namespace mdpcosim::ssp

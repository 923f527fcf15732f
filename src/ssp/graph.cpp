// Connections with their directions.
#include <fmt/format.h>

#include "core/suggest.hpp"
#include "ssp/tree.hpp"

namespace mdpcosim::ssp {

namespace {

enum class role { gives, takes, either };

/// What a connector does for a connection of the system around it.
role outer_role(kind k) {
    switch (k) {
        case kind::output:
        case kind::calculated_parameter:
        case kind::constant:
        case kind::local:
            return role::gives;
        case kind::input:
        case kind::parameter:
        case kind::structural_parameter:
            return role::takes;
        case kind::inout:
        case kind::unknown:
            break;
    }
    return role::either;
}

role inner_role(kind k) {
    const role outer = outer_role(k);
    return outer == role::gives ? role::takes : outer == role::takes ? role::gives : role::either;
}

/// One end of a connection.
struct end_point {
    signal_node node;
    const element_use* use = nullptr;  ///< nullptr: a dictionary
    const connector* at = nullptr;
    role how = role::either;
    std::string title;  ///< "'y' of component 'a'"
};

std::vector<std::string> names_of(const auto& map) {
    std::vector<std::string> names;
    for (const auto& [name, ignored] : map) names.push_back(name);
    return names;
}

end_point find_end(const element_use& system, const std::string& element, const std::string& name,
                   const location& where) {
    const element_use* use = &system;
    if (!element.empty()) {
        const auto found = system.by_name.find(element);
        if (found == system.by_name.end())
            throw user_error(
                where, "connection: " + unknown_name("element", element, system.owner(), names_of(system.by_name)));
        use = found->second;
    }
    const auto found = use->connectors.find(name);
    if (found == use->connectors.end())
        throw user_error(where,
                         "connection: " + unknown_name("connector", name, use->owner(), names_of(use->connectors)));
    const connector* at = found->second;
    end_point end{{use, name},
                  use,
                  at,
                  element.empty() ? inner_role(at->kind) : outer_role(at->kind),
                  fmt::format("'{}' of {}", name, use->title())};
    if (use->refers_to != nullptr) {
        end.node.owner = use->refers_to;
        end.use = nullptr;
        end.how = role::either;
        if (!at->unit)
            if (const auto entry = use->refers_to->entries.find(name); entry != use->refers_to->entries.end())
                end.at = entry->second;
    }
    return end;
}

}  // namespace

signal_graph::signal_graph(const element_use& root) { add(root); }

void signal_graph::add(const element_use& system) {
    for (const connection& by : system.what->connections) add(system, by);
    for (const auto& child : system.children)
        if (child->what->what == element::form::system) add(*child);
}

void signal_graph::add(const element_use& system, const connection& by) {
    if (!by.start_indices.empty() || !by.end_indices.empty())
        throw user_error(by.where,
                         "connection: startIndices and endIndices are not supported. Connect whole arrays, or give "
                         "the element a connector of its own, 'y[2]'.");
    end_point start = find_end(system, by.start_element, by.start_connector, by.where);
    end_point end = find_end(system, by.end_element, by.end_connector, by.where);
    if (start.how == end.how && start.how != role::either)
        throw user_error(by.where, fmt::format("connection: {} and {} both {} a value. Connect what gives one to what "
                                               "takes one.",
                                               start.title, end.title, start.how == role::gives ? "give" : "take"));
    if (start.how == role::takes || end.how == role::gives) std::swap(start, end);
    const std::size_t index = edges_.size();
    const auto [fed, is_new] = into_.emplace(end.node, index);
    if (!is_new)
        throw user_error(by.where, fmt::format("connection: {} is fed twice, also by the connection at {}.", end.title,
                                               to_string(edges_[fed->second].by->where)));
    out_.emplace(start.node, index);
    edges_.push_back({start.node, end.node, &by, start.use, end.use, start.at, end.at});
}

const signal_edge* signal_graph::into(const signal_node& node) const {
    const auto found = into_.find(node);
    return found == into_.end() ? nullptr : &edges_[found->second];
}

std::vector<const signal_edge*> signal_graph::out_of(const signal_node& node) const {
    std::vector<const signal_edge*> found;
    for (auto [at, end] = out_.equal_range(node); at != end; ++at) found.push_back(&edges_[at->second]);
    return found;
}

void hop_count::add(std::size_t hops, const location& where) {
    constexpr std::size_t most = 1'000'000;
    all_ += hops;
    if (all_ > most)
        throw user_error(
            where,
            fmt::format("connections and parameters lead through connectors of systems and dictionaries more than "
                        "{} times in all, which is not allowed.",
                        most));
}

hop hop_over(const signal_edge& edge) {
    return {&edge.by->transformation, edge.by->keep_number, edge.arrives->unit, edge.by->where};
}

}  // namespace mdpcosim::ssp

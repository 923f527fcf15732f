#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ssp/flatten.hpp"

/// The system with every use of a system or a file as a node of its own. Private to ssp/.
namespace mdpcosim::ssp {

/// The entries of a signal dictionary in one system.
struct dictionary_use {
    const signal_dictionary* what = nullptr;
    std::map<std::string_view, const connector*> entries = {};
};

struct element_use {
    const element* what = nullptr;      ///< of a component that refers to a system: that system
    const element* referred = nullptr;  ///< the component then
    const element_use* parent = nullptr;
    std::filesystem::path document;  ///< in which `what` stands
    std::vector<std::string> names;
    int part = -1;
    std::vector<std::unique_ptr<element_use>> children;
    std::map<std::string, element_use*, std::less<>> by_name;
    std::map<std::string, const connector*, std::less<>> connectors;
    std::map<std::string, dictionary_use, std::less<>> dictionaries;  ///< of a system: its own
    const dictionary_use* refers_to = nullptr;                        ///< of a reference

    std::string title() const;  ///< "component 'a.b'", "the system"
    std::string owner() const;  ///< the same at the begin of a sentence
};

/// A connector of a use, or an entry of a dictionary.
struct signal_node {
    const void* owner = nullptr;
    std::string name;
    auto operator<=>(const signal_node&) const = default;
};

struct signal_edge {
    signal_node from, to;
    const connection* by = nullptr;
    const element_use *source = nullptr, *target = nullptr;  ///< nullptr: a dictionary
    const connector *leaves = nullptr, *arrives = nullptr;
};

/// Reads the files and makes the tree; the parts of `system` are filled.
std::unique_ptr<element_use> build_tree(const std::filesystem::path& file, flat_system& system);

/// All connections with their directions.
class signal_graph {
   public:
    explicit signal_graph(const element_use& root);

    const std::vector<signal_edge>& edges() const { return edges_; }
    /// What feeds the connector; nullptr: nothing.
    const signal_edge* into(const signal_node& node) const;
    std::vector<const signal_edge*> out_of(const signal_node& node) const;

   private:
    void add(const element_use& system);
    void add(const element_use& system, const connection& by);

    std::vector<signal_edge> edges_;
    std::map<signal_node, std::size_t> into_;
    std::multimap<signal_node, std::size_t> out_;
};

hop hop_over(const signal_edge& edge);

/// Ways from connector to connector that are kept. Few lines of a file can stand for many times as many of them.
class hop_count {
   public:
    /// Throws user_error where that are more than any system has.
    void add(std::size_t hops, const location& where);

   private:
    std::size_t all_ = 0;
};

/// Fills the bindings of `system`.
void bind_parameters(const element_use& root, const signal_graph& graph, const variable_test& has_variable,
                     flat_system& system);

}  // namespace mdpcosim::ssp

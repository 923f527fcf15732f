#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/suggest.hpp"
#include "scenario/map_reader.hpp"

namespace mdpcosim {

namespace {

/// Names of subsystems, each at most once.
class roll_call {
   public:
    roll_call(const std::vector<subsystem_spec>& subsystems, std::vector<std::string> further, const char* object)
        : known_(std::move(further)), object_(object) {
        for (const auto& s : subsystems) known_.push_back(s.name);
    }
    void call(const std::string& name, const location& where) {
        if (std::find(known_.begin(), known_.end(), name) == known_.end())
            throw user_error(where, unknown_name("subsystem", name, object_, known_));
        if (!called_.insert(name).second)
            throw user_error(where, fmt::format("{}: subsystem '{}' is named twice.", object_, name));
    }

   private:
    std::vector<std::string> known_;
    std::set<std::string> called_;
    const char* object_;
};

}  // namespace

placement_spec read_placement(const yaml_node* node, const let_table& let,
                              const std::vector<subsystem_spec>& subsystems) {
    placement_spec placement;
    if (node == nullptr) return placement;
    map_reader map(*node, let, "placement");
    if (const yaml_node* groups = map.find("groups")) {
        if (groups->kind != yaml_node::type::list)
            throw user_error(groups->where, fmt::format("placement: 'groups' is a list of lists of subsystems, not {}.",
                                                        describe(groups->kind)));
        roll_call names(subsystems, {}, "placement: groups");
        for (const auto& item : groups->items) {
            if (item.kind != yaml_node::type::list || item.items.empty())
                throw user_error(item.where, "placement: a group is a list of subsystems, for example [a, b].");
            placement.groups.push_back(read_setting({"groups", item.where}, item, let, "placement: groups").values);
            for (const auto& name : placement.groups.back()) names.call(name.value, name.where);
        }
    }
    placement.cores = read_settings(map.find("cores"), let, "placement: cores");
    map.finish();
    roll_call names(subsystems, {"master"}, "placement: cores");
    for (const auto& entry : placement.cores) {
        names.call(entry.name, entry.where);
        const std::string& number = entry.values.empty() ? entry.name : entry.values[0].value;
        if (entry.list || number.empty() || number.size() > 5 || !std::ranges::all_of(number, ::isdigit))
            throw user_error(entry.where,
                             fmt::format("placement: cores: '{}' needs the number of one processing unit, for example "
                                         "'{}: 0'.",
                                         entry.name, entry.name));
    }
    return placement;
}

}  // namespace mdpcosim

#include <fmt/format.h>

#include <algorithm>

#include "core/suggest.hpp"
#include "scenario/map_reader.hpp"
#include "scenario/resolve.hpp"

namespace mdpcosim {

namespace {

double positive_time(const text& given, const std::string& object) {
    const double value = read_number(given, "s", object);
    if (!(value > 0)) throw user_error(given.where, fmt::format("{} {} s must be greater than zero.", object, value));
    return value;
}

}  // namespace

own_step_spec read_own_step(const text& given, const std::string& object) {
    if (given.empty()) return {};
    if (given.value == "solver") return {given.where, true, {}};
    return {given.where, false, positive_time(given, object + ": step")};
}

delay_spec read_delay(const text& given, const std::string& object) {
    if (given.empty()) return {};
    return {given.where, positive_time(given, object + ": delay")};
}

order_spec read_order(const yaml_node* node, const let_table& let, const std::vector<subsystem_spec>& subsystems) {
    order_spec order;
    if (node == nullptr) return order;
    order.where = node->where;
    if (node->kind != yaml_node::type::list)
        throw user_error(
            node->where,
            fmt::format("order: a list of all subsystems is expected, [first, second], not {}.", describe(node->kind)));
    std::vector<std::string> known, missing;
    for (const auto& s : subsystems) known.push_back(s.name);
    missing = known;
    order.names = read_setting({"order", node->where}, *node, let, "order").values;
    for (const text& name : order.names) {
        if (std::ranges::find(known, name.value) == known.end())
            throw user_error(name.where, "order: " + unknown_name("subsystem", name.value, "The scenario", known));
        if (std::erase(missing, name.value) == 0)
            throw user_error(name.where, fmt::format("order: subsystem '{}' is named twice.", name.value));
    }
    if (!missing.empty())
        throw user_error(node->where,
                         fmt::format("order: all subsystems are named, those are missing: {}.", name_list(missing)));
    return order;
}

}  // namespace mdpcosim

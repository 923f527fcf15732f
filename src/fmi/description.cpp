#include "fmi/description.hpp"

#include <algorithm>
#include <numeric>

namespace mdpcosim::fmi {

std::string_view name(version v) {
    constexpr std::string_view names[] = {"1.0", "2.0", "3.0"};
    return names[static_cast<int>(v)];
}

std::string_view name(base_type t) {
    constexpr std::string_view names[] = {"Float64", "Float32",     "Int8",   "UInt8",  "Int16",
                                          "UInt16",  "Int32",       "UInt32", "Int64",  "UInt64",
                                          "Boolean", "Enumeration", "String", "Binary", "Clock"};
    return names[static_cast<int>(t)];
}

std::string_view name(causality c) {
    constexpr std::string_view names[] = {"parameter", "calculatedParameter", "structuralParameter", "input", "output",
                                          "local",     "independent"};
    return names[static_cast<int>(c)];
}

std::string_view name(variability v) {
    constexpr std::string_view names[] = {"constant", "fixed", "tunable", "discrete", "continuous"};
    return names[static_cast<int>(v)];
}

std::string_view name(initial i) {
    constexpr std::string_view names[] = {"exact", "approx", "calculated", "none"};
    return names[static_cast<int>(i)];
}

std::string_view name(clock_interval i) {
    constexpr std::string_view names[] = {"constant", "fixed", "tunable", "changing", "countdown", "triggered"};
    return names[static_cast<int>(i)];
}

std::uint64_t description::state_count() const {
    std::uint64_t n = unlisted_states;
    for (const unknown& u : derivatives) n += variables[u.variable].element_count();
    return n;
}

void description::build_index() {
    by_name_.resize(variables.size());
    std::iota(by_name_.begin(), by_name_.end(), 0);
    // Of equal names the first one is found.
    std::stable_sort(by_name_.begin(), by_name_.end(),
                     [&](int a, int b) { return variables[a].name < variables[b].name; });
}

int description::index_of(std::string_view wanted) const {
    const auto place = std::lower_bound(by_name_.begin(), by_name_.end(), wanted,
                                        [&](int i, std::string_view other) { return variables[i].name < other; });
    return place != by_name_.end() && variables[*place].name == wanted ? *place : -1;
}

const variable* description::find(std::string_view wanted) const {
    const int index = index_of(wanted);
    return index < 0 ? nullptr : &variables[index];
}

namespace {

template <class Item>
const Item* find_named(const std::vector<Item>& items, std::string_view wanted) {
    const auto place = std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == wanted; });
    return place == items.end() ? nullptr : &*place;
}

}  // namespace

const unit_definition* description::find_unit(std::string_view wanted) const { return find_named(units, wanted); }
const type_definition* description::find_type(std::string_view wanted) const { return find_named(types, wanted); }

}  // namespace mdpcosim::fmi

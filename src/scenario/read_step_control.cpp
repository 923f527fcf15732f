#include <fmt/format.h>

#include <algorithm>

#include "core/suggest.hpp"
#include "scenario/map_reader.hpp"
#include "scenario/resolve.hpp"

namespace mdpcosim {

namespace {

void check_word(const text& word, const std::vector<std::string>& allowed, const char* key) {
    if (word.empty() || std::ranges::find(allowed, word.value) != allowed.end()) return;
    throw user_error(word.where, fmt::format("step-control: {} '{}' is not allowed. Allowed: {}.{}", key, word.value,
                                             name_list(allowed), did_you_mean(word.value, allowed)));
}

}  // namespace

step_control_spec read_step_control(const yaml_node* node, const let_table& let, const time_spec& time) {
    step_control_spec control;
    if (node == nullptr) return control;
    map_reader map(*node, let, "step-control");
    control.where = node->where;
    const auto number = [&](const text& given, const char* key, const char* unit) {
        const std::string object = fmt::format("step-control: {}", key);
        const double value = read_number(given, unit, object);
        if (!(value > 0))
            throw user_error(given.where, fmt::format("{} = {} must be greater than zero.", object, value));
        return value;
    };
    if (const text given = map.find_text("atol"); !given.empty()) control.atol = number(given, "atol", "1");
    control.atol_rate = control.atol;
    if (const text given = map.find_text("atol-rate"); !given.empty())
        control.atol_rate = number(given, "atol-rate", "1");
    const text smallest = map.find_text("smallest"), largest = map.find_text("largest");
    if (!smallest.empty()) control.smallest = number(smallest, "smallest", "s");
    if (!largest.empty()) control.largest = number(largest, "largest", "s");
    control.estimate = map.find_text("estimate");
    control.level = map.find_text("level");
    control.rtol = number(map.need_text("rtol"), "rtol", "1");
    map.finish();
    check_word(control.estimate, {"trial", "jump", "energy"}, "estimate");
    check_word(control.level, {"value", "rate", "both"}, "level");
    if (control.smallest && *control.smallest > time.step)
        throw user_error(smallest.where,
                         fmt::format("step-control: smallest {} s is above the first step, 'time: step', of {} s.",
                                     *control.smallest, time.step));
    if (control.largest && *control.largest < time.step)
        throw user_error(largest.where,
                         fmt::format("step-control: largest {} s is below the first step, 'time: step', of {} s.",
                                     *control.largest, time.step));
    return control;
}

}  // namespace mdpcosim

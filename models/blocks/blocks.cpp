#include <limits>
#include <stdexcept>

#include "diagram.hpp"
#include "subsystem/model.hpp"

// Block diagrams of parts: diagram.hpp has how they become equations.

namespace mdpcosim {

namespace blocks {

std::vector<part_info> part_kinds() {
    using range = parameter_info::range;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const part_text of{"of", "formula of what drives it"};
    const part_text unit{"unit", "SI unit of its value", false};
    const auto number = [](const char* name, const char* description, double value, range allowed = range::any) {
        return parameter_info{name, "", description, value, allowed};
    };
    const auto seconds = [](const char* name, const char* description, double value, range allowed = range::positive) {
        return parameter_info{name, "s", description, value, allowed};
    };
    const auto needed = [](parameter_info info) {
        info.required = true;
        return info;
    };
    const auto list = [](const char* name, const char* description, bool required = true) {
        return parameter_info{.name = name, .unit = "", .description = description, .required = required, .list = true};
    };
    const parameter_info lower = number("lower", "lower limit", -infinity),
                         upper = number("upper", "upper limit", infinity),
                         outside{.name = "outside",
                                 .unit = "",
                                 .description = "beyond the first and last points",
                                 .choices = {"hold", "extend"}};
    const auto kind = [&](const char* name, const char* summary, std::vector<parameter_info> parameters,
                          std::vector<part_text> texts) {
        texts.push_back(unit);
        return part_info{name, summary, std::move(parameters), {}, {}, std::move(texts)};
    };
    std::vector<part_info> all{
        kind("input", "input signal of the subsystem", {number("start", "value while nothing is connected", 0)}, {}),
        kind("constant", "a number", {needed(number("value", "its value, in SI units", 0))}, {}),
        kind("function", "sum, gain, product, switch: a formula of the time and of other blocks", {}, {of}),
        kind("table", "function given by points, linear between them",
             {list("x", "arguments of the points, rising"), list("values", "values there"), outside}, {of}),
        kind("map", "function of two arguments given by points, bilinear between them",
             {list("x", "first arguments, rising"), list("y", "second arguments, rising"),
              list("values", "for every x the values at all y, one x after the other"), outside},
             {of, {"by", "formula of the second argument"}}),
        kind("limiter", "what drives it, between limits", {lower, upper}, {of}),
        kind("integrator", "x' = what drives it, x between limits",
             {number("start", "value at the start", 0), lower, upper}, {of}),
        kind("lag", "T x' = gain * what drives it - x",
             {needed(seconds("time-constant", "time constant T", 0)), number("gain", "gain", 1),
              number("start", "value at the start", 0)},
             {of}),
        kind("transfer-function", "linear filter given by numerator and denominator",
             {list("num", "numerator's coefficients, the highest power first"),
              list("den", "denominator's coefficients, the highest power first"),
              list("start", "states at the start: one value for all, or a list", false)},
             {of}),
        kind("pid", "PID controller of the difference that drives it, with filtered derivative, limits and anti-windup",
             {number("kp", "proportional gain", 1), number("ki", "integral gain, per second", 0),
              number("kd", "derivative gain, times second", 0),
              seconds("filter-time", "time constant of the derivative's filter", 0.01), lower, upper,
              seconds("tracking-time", "time constant of the anti-windup; kp/ki when left out", 0),
              number("integral0", "integral part at the start", 0),
              number("filtered0", "filtered difference at the start", 0)},
             {of}),
        kind("delay", "what drives it, some time before",
             {needed(seconds("time", "the delay", 0)), number("before", "value of the time before the start", 0)},
             {of}),
        kind("sample", "what drives it, sampled and held",
             {needed(seconds("time", "sample time", 0)),
              seconds("offset", "time of the first sample, after the start", 0, range::not_negative),
              number("start", "value until the first sample", 0)},
             {of}),
        kind("relay", "switches at two thresholds",
             {needed(number("on", "goes on above", 0)),
              needed(number("off", "goes off below", 0)),
              number("high", "value when on", 1),
              number("low", "value when off", 0),
              {.name = "start",
               .unit = "",
               .description = "at the start, between the thresholds",
               .choices = {"off", "on"}}},
             {of}),
        kind("memory", "a number that rules change: gears, modes, counters", {number("start", "value at the start", 0)},
             {})};
    all.back().parts = {{"rule",
                         "sets the memory as soon as a formula rises above zero",
                         {},
                         {},
                         {},
                         {{"when", "formula that acts when it rises above zero"}, {"to", "formula of the new value"}}}};
    for (const auto port : {port_kind::rotation, port_kind::translation}) {
        const port_kind_info& words = info(port);
        all.push_back({words.name,
                       "port whose motion is that of blocks; its name stands for the load on it",
                       {},
                       {},
                       {},
                       {{words.motion[0], "formula of its " + words.motion[0]},
                        {words.motion[1], "formula of its " + words.motion[1]}}});
    }
    return all;
}

}  // namespace blocks

namespace {

const model_registration registered{{
    .name = "blocks",
    .summary = "block diagram: formulas, integrators, tables, delays, transfer functions, relays, rules",
    .parameters = {},
    .parts = blocks::part_kinds(),
    .make_of_parts = [](const parameter_values&, const std::vector<part>& parts) -> std::unique_ptr<equations> {
        if (parts.empty())
            throw std::invalid_argument("it has no block; add one under 'parts', a 'function' or a 'lag'");
        return blocks::make_diagram(blocks::read_diagram(parts));
    },
}};

}  // namespace

}  // namespace mdpcosim

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/units.hpp"
#include "diagram.hpp"
#include "subsystem/description_parts.hpp"

// From parts to formulas. The name of a block stands for its value in the formulas of others; a block whose value is a state is known before
// the formula that drives it, so that only blocks without memory can depend on each other in a circle.

namespace mdpcosim::blocks {

namespace {

/// Of a transfer function: coefficients of higher ones say nothing in double precision.
constexpr std::size_t highest_degree = 100;

// A longer chain of blocks could exhaust the stack.
constexpr std::size_t most_levels = 200;

[[noreturn]] void refuse(const part& p, const std::string& what) {
    throw user_error(p.where, fmt::format("{} '{}': {}", p.kind, p.name, what));
}

bool is_port(const part& p) { return p.kind == "rotation" || p.kind == "translation"; }

class diagram_reader {
   public:
    explicit diagram_reader(const std::vector<part>& parts) {
        for (const part& p : parts) declare(p);
        data_.given = data_.description.input_count();
        for (const part& p : parts)
            if (p.kind == "delay") {
                block& b = at(p);
                b.first = data_.given;
                b.value = variable(given_bank, data_.given);
                data_.delays.push_back({p.name, p.values["time"], p.values["before"], data_.given});
                data_.given += 2;
            }
        symbols_.names.emplace_back("t");
        symbols_.find = [this](std::string_view name) -> std::optional<expression> {
            if (name == "t") return variable(time_bank, 0);
            const auto found = blocks_.find(name);
            if (found == blocks_.end()) return std::nullopt;
            return value_of(found->second);
        };
        for (const part& p : parts) value_of(at(p));
        for (const part& p : parts) drive(p);
        for (const part& p : parts) show(p);
        add_rates();
    }

    diagram_data finish() { return std::move(data_); }

   private:
    struct block {
        const part* of = nullptr;
        int first = 0;  ///< of its states, or of what is given
        bool open = false;
        std::optional<expression> value = {}, driven_by = {};
    };

    static expression variable(int bank, int index) { return expression(variable_id{bank, index}); }
    static expression state(const block& b, int k = 0) { return variable(state_bank, b.first + k); }
    block& at(const part& p) { return blocks_.find(p.name)->second; }

    void add_state(const part& p, const char* suffix, double start, bool discrete = false) {
        data_.states.push_back({p.name + suffix, start, {}, discrete});
    }

    // names, inputs and states

    void declare(const part& p) {
        if (!is_identifier(p.name))
            refuse(
                p,
                "the name of a block stands in formulas, so that it consists of letters, digits and '_' and does not "
                "begin with a digit.");
        if (p.name == "t" || is_reserved_name(p.name))
            refuse(p, fmt::format("the name is reserved for {}. Choose another one.",
                                  p.name == "t" ? "the time" : "formulas"));
        symbols_.names.push_back(p.name);
        block& b = blocks_[p.name];
        b.of = &p;
        b.first = static_cast<int>(data_.states.size());
        const parameter_values& v = p.values;
        if (p.kind == "input") {
            b.value = variable(given_bank, add_input(data_.description, p.name, unit_of(p), "input signal"));
            data_.description.inputs.back().start = v["start"];
        } else if (is_port(p)) {
            const auto kind = *find_port_kind(p.kind);
            add_mechanical_port(data_.description, p.name, kind, "port of the block diagram");
            b.value = variable(given_bank, data_.description.ports.back().load);
        } else if (p.kind == "integrator") {
            check_limits(p);
            if (!(v["start"] >= v["lower"] && v["start"] <= v["upper"]))
                refuse(p, fmt::format("it starts at {}, outside its limits {} and {}.", v["start"], v["lower"],
                                      v["upper"]));
            add_state(p, "", std::clamp(v["start"], v["lower"] + gap(p, "lower"), v["upper"] - gap(p, "upper")));
            if (std::isfinite(v["lower"]) || std::isfinite(v["upper"])) add_state(p, ".held", 0, true);
        } else if (p.kind == "lag") {
            add_state(p, "", v["start"]);
        } else if (p.kind == "transfer-function") {
            declare_filter(p);
        } else if (p.kind == "pid") {
            check_limits(p);
            add_state(p, ".integral", v["integral0"]);
            add_state(p, ".filtered", v["filtered0"]);
        } else if (p.kind == "limiter") {
            check_limits(p);
        } else if (p.kind == "relay") {
            if (!(v["off"] < v["on"]))
                refuse(p,
                       fmt::format("it goes on at {} and off at {}. 'off' must be less than 'on', or it would switch "
                                   "to and fro without end.",
                                   v["on"], v["off"]));
            add_state(p, "", v["start"] == 1 ? v["high"] : v["low"], true);
        } else if (p.kind == "memory") {
            if (p.parts.empty()) refuse(p, "nothing changes it. Add parts of kind 'rule', or take a 'constant'.");
            add_state(p, "", v["start"], true);
        } else if (p.kind == "sample") {
            if (!(v["offset"] < v["time"]))
                refuse(p, fmt::format("'offset' ({} s) must be less than 'time' ({} s).", v["offset"], v["time"]));
            add_state(p, "", v["start"], true);
        }
        if (b.first < static_cast<int>(data_.states.size()) && p.kind != "transfer-function" && p.kind != "pid")
            b.value = p.kind == "integrator" ? held_value(b) : state(b);
    }

    /// By which a held integrator stays inside of a limit, so that it is on one side of it for solvers that look for events.
    static double gap(const part& p, const char* limit) {
        const double at = p.values[limit], other = p.values[limit == std::string_view("lower") ? "upper" : "lower"];
        if (!std::isfinite(at)) return 0;
        return 1e-12 * (at != 0 ? std::fabs(at) : std::isfinite(other) ? std::fabs(other) : 1);
    }

    static expression is_held(const block& b, double at) { return call(operation::equal, state(b, 1), at); }

    static expression held_value(const block& b) {
        expression value = state(b);
        for (const auto& [limit, at] : {std::pair{"upper", 1.0}, std::pair{"lower", -1.0}})
            if (const double held = b.of->values[limit]; std::isfinite(held))
                value = if_then_else(is_held(b, at), held, value);
        return value;
    }

    static void check_limits(const part& p) {
        if (!(p.values["lower"] < p.values["upper"]))
            refuse(p,
                   fmt::format("'lower' ({}) must be less than 'upper' ({}).", p.values["lower"], p.values["upper"]));
    }

    static expression limited(const part& p, expression e) {
        if (p.kind != "pid" && p.kind != "limiter") return e;
        if (std::isfinite(p.values["upper"])) e = call(operation::min, e, p.values["upper"]);
        if (std::isfinite(p.values["lower"])) e = call(operation::max, e, p.values["lower"]);
        return e;
    }

    std::string unit_of(const part& p) const {
        const part::text* unit = p.written("unit");
        if (unit == nullptr) return {};
        try {
            if (const std::string si = si_unit(unit->value); si != unit->value)
                throw user_error(unit->where, fmt::format("{} '{}': formulas are in SI units, and '{}' is none; write "
                                                          "'{}'.",
                                                          p.kind, p.name, unit->value, si));
        } catch (const unit_error& problem) {
            throw user_error(unit->where, fmt::format("{} '{}': the {}.", p.kind, p.name, problem.message()));
        }
        return unit->value;
    }

    // Y/U = (b_n s^n + ... + b_0)/(s^n + a_{n-1} s^{n-1} + ... + a_0) in controllable canonical form:
    // x_i' = x_{i+1}, x_n' = u - sum a_i x_{i+1}, y = sum c_i x_{i+1} + d u with d = b_n, c_i = b_i - a_i d.

    struct filter {
        std::vector<double> a, c;
        double d = 0;
    };

    static filter read_filter(const part& p) {
        const auto trimmed = [](std::vector<double> all) {
            while (all.size() > 1 && all.front() == 0) all.erase(all.begin());
            return all;
        };
        const auto num = trimmed(p.values.list("num")), den = trimmed(p.values.list("den"));
        if (den.front() == 0) refuse(p, "'den' is zero.");
        if (num.size() > den.size())
            refuse(p,
                   fmt::format("'num' has the degree {} and 'den' the degree {}: the value would need derivatives of "
                               "what drives it. Raise the degree of 'den', for example by a factor T s + 1.",
                               num.size() - 1, den.size() - 1));
        const std::size_t n = den.size() - 1;
        if (n > highest_degree)
            refuse(p, fmt::format("'den' has the degree {}; at most {} is allowed. Divide it into several blocks.", n,
                                  highest_degree));
        filter f;
        f.d = num.size() == den.size() ? num[0] / den[0] : 0;
        for (std::size_t i = 0; i < n; ++i) {
            f.a.push_back(den[n - i] / den[0]);
            f.c.push_back((i < num.size() ? num[num.size() - 1 - i] / den[0] : 0) - f.a.back() * f.d);
        }
        return f;
    }

    void declare_filter(const part& p) {
        const std::size_t n = read_filter(p).a.size();
        std::vector<double> start = p.values.list("start");
        if (start.size() == 1) start.assign(n, start[0]);
        if (start.size() != n)
            refuse(p, fmt::format("'start' has {} values; one for all or {} are needed.", start.size(), n));
        for (std::size_t i = 0; i < n; ++i) add_state(p, fmt::format(".x{}", i + 1).c_str(), start[i]);
    }

    // values

    expression value_of(block& b) {
        const part& p = *b.of;
        if (b.value) return *b.value;
        path_.push_back(p.name);
        if (b.open)
            refuse(p, fmt::format("algebraic loop: {}. Each value follows at once from the one before; a block with a "
                                  "memory among them (lag, integrator, delay) says in which order.",
                                  fmt::join(std::ranges::find(path_, p.name), path_.end(), " <- ")));
        if (path_.size() > most_levels)
            refuse(p, fmt::format("more than {} blocks without memory follow from each other.", most_levels));
        b.open = true;
        b.value = work_out(b);
        b.open = false;
        path_.pop_back();
        return *b.value;
    }

    expression work_out(block& b) {
        const part& p = *b.of;
        if (p.kind == "constant") return p.values["value"];
        if (p.kind == "table" || p.kind == "map") return look_up(p);
        if (p.kind == "transfer-function") {
            const filter f = read_filter(p);
            expression y = f.d == 0 ? expression(0.0) : f.d * driven_by(b);
            for (std::size_t i = 0; i < f.c.size(); ++i) y = y + f.c[i] * state(b, static_cast<int>(i));
            return y;
        }
        if (p.kind == "pid") return limited(p, unlimited(b));
        return limited(p, driven_by(b));
    }

    expression unlimited(block& b) {
        const parameter_values& v = b.of->values;
        return v["kp"] * driven_by(b) + state(b) +
               v["kd"] / v["filter-time"] * (v["kd"] == 0 ? expression(0.0) : driven_by(b) - state(b, 1));
    }

    expression look_up(const part& p) {
        table_data table;
        table.arguments.push_back(formula(p, "of"));
        table.x = p.values.list("x");
        table.values = p.values.list("values");
        table.extended = p.values["outside"] == 1;
        if (p.kind == "map") {
            table.arguments.push_back(formula(p, "by"));
            table.y = p.values.list("y");
        }
        const auto rises = [&](const char* key, const std::vector<double>& list) {
            for (std::size_t i = 1; i < list.size(); ++i)
                if (!(list[i] > list[i - 1]))
                    refuse(p, fmt::format("'{}' must rise from value to value; {} follows {}.", key, list[i],
                                          list[i - 1]));
        };
        rises("x", table.x);
        rises("y", table.y);
        const std::size_t rows = table.x.size(), columns = std::max<std::size_t>(table.y.size(), 1);
        if (table.values.size() != rows * columns)
            refuse(p, p.kind == "table"
                          ? fmt::format("'x' has {} values and 'values' has {}. A table needs one for every x.", rows,
                                        table.values.size())
                          : fmt::format("'x' has {} values, 'y' has {} and 'values' has {} instead of {}: for every x "
                                        "those of all y, one x after the other.",
                                        rows, columns, table.values.size(), rows * columns));
        table.given = data_.given;
        data_.given += 1 + static_cast<int>(table.arguments.size());
        data_.tables.push_back(std::move(table));
        return variable(given_bank, data_.tables.back().given);
    }

    // formulas

    expression driven_by(block& b) {
        if (!b.driven_by) b.driven_by = formula(*b.of, "of");
        return *b.driven_by;
    }

    expression formula(const part& p, std::string_view key) {
        const part::text& written = *p.written(key);
        const auto fail = [&](std::size_t position, const std::string& reason) {
            location where = written.where;
            if (where.line > 0) where.column += static_cast<int>(position);
            throw user_error(where,
                             fmt::format("{} '{}': '{}': {} (in '{}').", p.kind, p.name, key, reason, written.value));
        };
        try {
            expression e = parse_expression(written.value, symbols_);
            if (has_undefined_constant(e)) fail(0, "it is not a finite number with the values given");
            return e;
        } catch (const expression_error& error) {
            std::string reason = error.what();
            while (reason.ends_with('.')) reason.pop_back();
            fail(error.position(), reason);
            throw;
        }
    }

    // what drives states, delays and events

    expression& rate_of_state(const block& b, int k = 0) {
        return data_.states[static_cast<std::size_t>(b.first + k)].rate;
    }

    void add_rule(const part& p, const std::string& name, expression when, std::vector<assignment> sets) {
        data_.rules.push_back({fmt::format("{} '{}'{}", p.kind, p.name, name), std::move(when), std::move(sets)});
    }

    /// Beyond a limit it is held, until what drives it turns.
    void add_limit(block& b, const char* limit, double at) {
        const double value = b.of->values[limit];
        if (!std::isfinite(value)) return;
        const expression free = is_held(b, 0), beyond = at * (state(b) - value);
        add_rule(*b.of, fmt::format(" at its {} limit", limit), if_then_else(free, beyond, -1.0),
                 {{value - at * gap(*b.of, limit), b.first}, {at, b.first + 1}});
        add_rule(*b.of, fmt::format(" leaving its {} limit", limit),
                 if_then_else(is_held(b, at), -at * driven_by(b), -1.0), {{0.0, b.first + 1}});
        rate_of_state(b) = if_then_else(free, driven_by(b), 0.0);
    }

    void drive(const part& p) {
        block& b = at(p);
        const parameter_values& v = p.values;
        if (p.kind == "integrator") {
            rate_of_state(b) = driven_by(b);
            add_limit(b, "upper", 1);
            add_limit(b, "lower", -1);
        } else if (p.kind == "lag") {
            rate_of_state(b) = (v["gain"] * driven_by(b) - state(b)) / v["time-constant"];
        } else if (p.kind == "transfer-function") {
            const filter f = read_filter(p);
            const auto n = static_cast<int>(f.a.size());
            expression highest = driven_by(b);
            for (int i = 0; i < n; ++i) highest = highest - f.a[static_cast<std::size_t>(i)] * state(b, i);
            for (int i = 0; i < n; ++i) rate_of_state(b, i) = i + 1 < n ? state(b, i + 1) : highest;
        } else if (p.kind == "pid") {
            drive_pid(b);
        } else if (p.kind == "delay") {
            std::ranges::find(data_.delays, p.name, &delay_data::name)->of = driven_by(b);
        } else if (p.kind == "relay") {
            add_rule(p, " going on", driven_by(b) - v["on"], {{v["high"], b.first}});
            add_rule(p, " going off", v["off"] - driven_by(b), {{v["low"], b.first}});
        } else if (p.kind == "memory") {
            for (const part& rule : p.parts) {
                const expression when = formula(rule, "when");
                add_rule(p, fmt::format(" by rule '{}'", rule.name), when, {{formula(rule, "to"), b.first}});
            }
        } else if (p.kind == "sample") {
            data_.samples.push_back({b.first, v["time"], v["offset"], driven_by(b)});
        }
    }

    void drive_pid(block& b) {
        const part& p = *b.of;
        const parameter_values& v = p.values;
        expression back = 0.0;
        if (v["ki"] != 0 && (std::isfinite(v["lower"]) || std::isfinite(v["upper"]))) {
            if (v["kp"] == 0 && !v.given("tracking-time"))
                refuse(p,
                       "limits with kp = 0 need 'tracking-time', how fast the integral part comes back from a limit; "
                       "with kp it would be kp/ki.");
            const double Tt = v.given("tracking-time") ? v["tracking-time"] : std::fabs(v["kp"] / v["ki"]);
            back = (*b.value - unlimited(b)) / Tt;
        }
        rate_of_state(b) = v["ki"] * driven_by(b) + back;
        rate_of_state(b, 1) = (driven_by(b) - state(b, 1)) / v["filter-time"];
    }

    // outputs

    int add_shown(const std::string& name, const std::string& unit, const std::string& description,
                  const expression& e) {
        const int slot = add_output(data_.description, name, unit, description);
        bind(slot, e);
        return slot;
    }

    /// The formula of an output that is described.
    void bind(int slot, const expression& e) {
        data_.outputs.resize(std::max(data_.outputs.size(), static_cast<std::size_t>(slot) + 1));
        data_.outputs[static_cast<std::size_t>(slot)] = e;
        auto& direct = data_.description.outputs[static_cast<std::size_t>(slot)].direct;
        direct.clear();
        for (const auto& v : data_.sources_of(e))
            if (v.bank == given_bank) direct.push_back(v.index);
    }

    void show(const part& p) {
        if (p.kind == "input") return;
        if (!is_port(p))
            return void(add_shown(p.name, unit_of(p), fmt::format("value of {} '{}'", p.kind, p.name), *at(p).value));
        const auto port = *std::ranges::find(data_.description.ports, p.name, &mdpcosim::port::name);
        const auto& names = info(port.kind).motion;
        bind(port.motion[0], formula(p, names[0]));
        const expression speed = formula(p, names[1]);
        bind(port.motion[1], speed);
        const auto rate = rate_of(speed);
        if (!rate)
            throw user_error(p.written(names[1])->where,
                             fmt::format("{} '{}': its {} follows from an input at once, so that it has no {}. Put a "
                                         "block with a memory (integrator, lag) between them.",
                                         p.kind, p.name, names[1], names[2]));
        bind(port.motion[2], *rate);
        auto& described = data_.description.outputs[static_cast<std::size_t>(port.motion[1])];
        described.rate_needs_input =
            !data_.description.outputs[static_cast<std::size_t>(port.motion[2])].direct.empty();
    }

    /// Where no input changes it at once.
    std::optional<expression> rate_of(const expression& e) const {
        for (const auto& v : data_.sources_of(e))
            if (v.bank == given_bank) return std::nullopt;
        return data_.derivative_of(e, [this](variable_id v) {
            if (v.bank == time_bank) return expression(1.0);
            if (v.bank == state_bank) return data_.states[static_cast<std::size_t>(v.index)].rate;
            return variable(given_bank, v.index + 1);  // a delay tells its rate
        });
    }

    void add_rates() {
        for (auto& d : data_.delays) d.rate = rate_of(d.of);
        const auto count = data_.description.outputs.size();
        for (std::size_t i = 0; i < count; ++i) {
            if (data_.description.outputs[i].rate_slot >= 0) continue;
            const auto rate = rate_of(data_.outputs[i]);
            if (!rate) continue;
            const output_variable of = data_.description.outputs[i];
            const int slot = add_shown(fmt::format("der({})", of.name), rate_unit(of.unit),
                                       fmt::format("rate of {}", of.name), *rate);
            data_.description.outputs[i].rate_slot = slot;
            data_.description.outputs[i].rate_needs_input =
                !data_.description.outputs[static_cast<std::size_t>(slot)].direct.empty();
        }
    }

    diagram_data data_;
    std::map<std::string, block, std::less<>> blocks_;
    symbol_table symbols_;
    std::vector<std::string> path_;
};

}  // namespace

const table_data* diagram_data::table_of(variable_id v) const {
    for (const auto& t : tables)
        if (v.bank == given_bank && v.index >= t.given && v.index <= t.given + static_cast<int>(t.arguments.size()))
            return &t;
    return nullptr;
}

std::set<variable_id> diagram_data::sources_of(const expression& e) const {
    std::set<variable_id> found;
    for (const auto& v : variables_of(e)) {
        if (const table_data* table = table_of(v))
            for (const auto& argument : table->arguments) found.merge(sources_of(argument));
        else if (v.bank != given_bank || v.index < description.input_count())
            found.insert(v);
    }
    return found;
}

expression diagram_data::derivative_of(const expression& e, const std::function<expression(variable_id)>& rate) const {
    return derivative(e, [&](variable_id v) {
        if (const table_data* table = table_of(v)) {
            expression sum = 0.0;
            if (v.index != table->given) return sum;  // slopes are constant but for corners
            for (int k = 1; const auto& argument : table->arguments)
                sum = sum + expression(variable_id{given_bank, table->given + k++}) * derivative_of(argument, rate);
            return sum;
        }
        return rate(v);
    });
}

diagram_data read_diagram(const std::vector<part>& parts) { return diagram_reader(parts).finish(); }

}  // namespace mdpcosim::blocks

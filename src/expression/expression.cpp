#include "expression/expression.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>
#include <unordered_set>

#include "expression/apply.hpp"

namespace mdpcosim {

struct expression::node {
    operation op;
    double value;
    variable_id variable;
    std::vector<expression> operands;
    int depth;
};

expression::expression(double constant)
    : node_(std::make_shared<node>(node{operation::constant, constant, {}, {}, 1})) {}

expression::expression(variable_id variable)
    : node_(std::make_shared<node>(node{operation::variable, 0, variable, {}, 1})) {}

expression::expression(operation op, std::vector<expression> operands) {
    int depth = 0;
    for (const auto& operand : operands) depth = std::max(depth, operand.depth());
    node_ = std::make_shared<node>(node{op, 0, {}, std::move(operands), depth + 1});
}

operation expression::op() const { return node_->op; }
double expression::value() const { return node_->value; }
variable_id expression::variable() const { return node_->variable; }
std::span<const expression> expression::operands() const { return node_->operands; }
int expression::depth() const { return node_->depth; }

namespace {

bool both_constant(const expression& a, const expression& b) { return a.is_constant() && b.is_constant(); }

expression folded(operation op, const expression& a, const expression& b = {}) {
    return apply(op, a.value(), b.value(), 0);
}

bool same(const expression& a, const expression& b) {
    if (a.identity() == b.identity()) return true;
    return a.op() == operation::variable && b.op() == operation::variable && a.variable() == b.variable();
}

}  // namespace

expression operator+(const expression& a, const expression& b) {
    if (both_constant(a, b)) return folded(operation::add, a, b);
    if (a.is(0)) return b;
    if (b.is(0)) return a;
    if (b.op() == operation::negate) return a - b.operands()[0];
    if (a.op() == operation::negate) return b - a.operands()[0];
    return {operation::add, {a, b}};
}

expression operator-(const expression& a, const expression& b) {
    if (both_constant(a, b)) return folded(operation::subtract, a, b);
    if (a.is(0)) return -b;
    if (b.is(0)) return a;
    if (same(a, b)) return 0;
    if (b.op() == operation::negate) return a + b.operands()[0];
    return {operation::subtract, {a, b}};
}

expression operator*(const expression& a, const expression& b) {
    if (both_constant(a, b)) return folded(operation::multiply, a, b);
    if (b.is_constant()) return b * a;
    if (a.is(0)) return 0;
    if (a.is(1)) return b;
    if (a.is(-1)) return -b;
    if (a.op() == operation::negate) return -(a.operands()[0] * b);
    if (b.op() == operation::negate) return a.is_constant() ? (-a) * b.operands()[0] : -(a * b.operands()[0]);
    return {operation::multiply, {a, b}};
}

expression operator/(const expression& a, const expression& b) {
    if (both_constant(a, b)) return folded(operation::divide, a, b);
    if (b.is(1)) return a;
    if (b.is(-1)) return -a;
    if (a.is(0)) return 0;
    if (a.op() == operation::negate) return -(a.operands()[0] / b);
    return {operation::divide, {a, b}};
}

expression operator-(const expression& a) {
    if (a.is_constant()) return folded(operation::negate, a);
    if (a.op() == operation::negate) return a.operands()[0];
    if (a.op() == operation::subtract) return a.operands()[1] - a.operands()[0];
    return {operation::negate, {a}};
}

/// Small whole exponents become products, which are many times faster than std::pow.
expression power(const expression& base, const expression& exponent) {
    if (both_constant(base, exponent)) return folded(operation::power, base, exponent);
    if (exponent.is(0)) return 1;
    if (exponent.is(1)) return base;
    if (exponent.is(2)) return base * base;
    if (exponent.is(3)) return base * base * base;
    if (exponent.is(4)) return (base * base) * (base * base);
    if (exponent.is(-1)) return 1.0 / base;
    if (exponent.is(-2)) return 1.0 / (base * base);
    if (exponent.is(0.5)) return call(operation::sqrt, base);
    return {operation::power, {base, exponent}};
}

expression if_then_else(const expression& condition, const expression& yes, const expression& no) {
    if (condition.is_constant()) return condition.value() != 0 ? yes : no;
    if (same(yes, no)) return yes;
    if (both_constant(yes, no) && yes.value() == no.value()) return yes;
    return {operation::select, {condition, yes, no}};
}

expression call(operation op, const expression& a, const expression& b) {
    switch (op) {
        case operation::add:
            return a + b;
        case operation::subtract:
            return a - b;
        case operation::multiply:
            return a * b;
        case operation::divide:
            return a / b;
        case operation::power:
            return power(a, b);
        case operation::negate:
            return -a;
        case operation::logical_not:
            if (a.op() == op) return a.operands()[0];
            [[fallthrough]];
        default:
            break;
    }
    const bool binary = op == operation::atan2 || op == operation::min || op == operation::max ||
                        (op >= operation::less && op <= operation::logical_or);
    if (a.is_constant() && (!binary || b.is_constant())) return folded(op, a, b);
    if (op == operation::logical_and || op == operation::logical_or) {
        const bool decisive = op == operation::logical_or;  // `true or b` is true, `false and b` is false
        if (a.is_constant()) return (a.value() != 0) == decisive ? a : b;
        if (b.is_constant()) return (b.value() != 0) == decisive ? b : a;
    }
    if (binary) return {op, {a, b}};
    return {op, {a}};
}

namespace {

/// Calls `visit` once for every distinct node below and including `e`.
void for_each_node(const expression& e, const std::function<void(const expression&)>& visit) {
    std::unordered_set<const expression::node*> seen;
    std::vector<expression> open{e};
    while (!open.empty()) {
        const expression next = open.back();
        open.pop_back();
        if (!seen.insert(next.identity()).second) continue;
        visit(next);
        for (const auto& operand : next.operands()) open.push_back(operand);
    }
}

}  // namespace

std::set<variable_id> variables_of(const expression& e) {
    std::set<variable_id> found;
    for_each_node(e, [&](const expression& part) {
        if (part.op() == operation::variable) found.insert(part.variable());
    });
    return found;
}

bool depends_on_bank(const expression& e, int bank) {
    const auto variables = variables_of(e);
    return std::any_of(variables.begin(), variables.end(), [bank](variable_id v) { return v.bank == bank; });
}

std::vector<double> switching_points(const expression& e, variable_id variable) {
    std::set<double> found;
    for_each_node(e, [&](const expression& part) {
        if (part.op() < operation::less || part.op() > operation::not_equal) return;
        const auto is_variable = [&](const expression& x) {
            return x.op() == operation::variable && x.variable() == variable;
        };
        const expression& a = part.operands()[0];
        const expression& b = part.operands()[1];
        if (is_variable(a) && b.is_constant()) found.insert(b.value());
        if (is_variable(b) && a.is_constant()) found.insert(a.value());
    });
    return {found.begin(), found.end()};
}

bool has_undefined_constant(const expression& e) {
    bool undefined = false;
    for_each_node(e, [&](const expression& part) {
        if (part.is_constant() && !std::isfinite(part.value())) undefined = true;
        if (part.op() == operation::divide && part.operands()[1].is(0)) undefined = true;
    });
    return undefined;
}

namespace {

/// Chain rule, one derivative per shared node.
class differentiator {
   public:
    explicit differentiator(const std::function<expression(variable_id)>& rate) : rate_(rate) {}

    expression operator()(const expression& e) {
        if (e.is_constant() || e.is_condition()) return 0;
        if (e.op() == operation::variable) return rate_(e.variable());
        if (const auto known = done_.find(e.identity()); known != done_.end()) return known->second;
        expression result = e.operands().size() == 1 ? of_function(e) : of_operator(e);
        done_.emplace(e.identity(), result);
        return result;
    }

   private:
    expression of_operator(const expression& e) {
        const expression& a = e.operands()[0];
        const expression& b = e.operands()[1];
        if (e.op() == operation::select) return if_then_else(a, (*this)(b), (*this)(e.operands()[2]));
        const expression da = (*this)(a);
        const expression db = (*this)(b);
        if (da.is(0) && db.is(0)) return 0;
        switch (e.op()) {
            case operation::add:
                return da + db;
            case operation::subtract:
                return da - db;
            case operation::multiply:
                return da * b + a * db;
            case operation::divide:
                return db.is(0) ? da / b : (da - e * db) / b;
            case operation::power:
                return of_power(e, a, b, da, db);
            case operation::atan2:
                return zero_where(a * a + b * b, (b * da - a * db) / (a * a + b * b));
            case operation::min:
                return if_then_else(call(operation::less_equal, a, b), da, db);
            case operation::max:
                return if_then_else(call(operation::less_equal, b, a), da, db);
            default:
                return 0;
        }
    }

    /// A function that is finite where its slope is not (sqrt at 0) gets the slope 0 there, or a body at rest would
    /// have an undefined rate of sqrt(vx^2 + vy^2).
    static expression zero_where(const expression& critical, const expression& slope) {
        return if_then_else(call(operation::equal, critical, 0.0), 0.0, slope);
    }

    static expression of_arc_sine(const expression& a, const expression& da) {
        const expression root = call(operation::sqrt, 1.0 - a * a);
        return zero_where(root, da / root);
    }

    /// (a^b)' without the logarithm of a where b does not change, since a may be negative there.
    static expression of_power(const expression& e, const expression& a, const expression& b, const expression& da,
                               const expression& db) {
        expression by_base = da.is(0) ? expression(0) : b * power(a, b - 1.0) * da;
        const bool smooth_at_zero = b.is_constant() && (b.value() >= 1 || b.value() < 0);
        if (smooth_at_zero) return by_base;
        return zero_where(a, db.is(0) ? by_base : by_base + e * call(operation::log, a) * db);
    }

    expression of_function(const expression& e) {
        const expression& a = e.operands()[0];
        const expression da = (*this)(a);
        if (da.is(0)) return 0;
        switch (e.op()) {
            case operation::negate:
                return -da;
            case operation::sin:
                return call(operation::cos, a) * da;
            case operation::cos:
                return -(call(operation::sin, a) * da);
            case operation::tan:
                return (1.0 + e * e) * da;
            case operation::asin:
                return of_arc_sine(a, da);
            case operation::acos:
                return -of_arc_sine(a, da);
            case operation::atan:
                return da / (1.0 + a * a);
            case operation::sinh:
                return call(operation::cosh, a) * da;
            case operation::cosh:
                return call(operation::sinh, a) * da;
            case operation::tanh:
                return (1.0 - e * e) * da;
            case operation::exp:
                return e * da;
            case operation::log:
                return da / a;
            case operation::log10:
                return da / (std::numbers::ln10 * a);
            case operation::sqrt:
                return zero_where(e, da / (2.0 * e));
            case operation::abs:
                return call(operation::sign, a) * da;
            default:
                return 0;  // sign() is constant but for its jump
        }
    }

    const std::function<expression(variable_id)>& rate_;
    std::unordered_map<const expression::node*, expression> done_;
};

}  // namespace

expression derivative(const expression& e, const std::function<expression(variable_id)>& rate) {
    return differentiator(rate)(e);
}

expression partial_derivative(const expression& e, variable_id variable) {
    return derivative(e, [variable](variable_id v) { return expression(v == variable ? 1.0 : 0.0); });
}

}  // namespace mdpcosim

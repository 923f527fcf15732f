#pragma once

#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Expressions as users write them in a scenario: parsed once, differentiated exactly, compiled by `program`.
///
/// Grammar, loosest first: `or`; `and`; `not`; `< <= > >= == !=`; `+ -`; `* /`; unary `- +`; `^` (right associative, so
/// that -x^2 is -(x^2)); numbers, names, `$names`, functions, parentheses. Conditions are allowed only inside the first
/// argument of if(condition, a, b); functions are listed by function_names(); `pi` is the only constant.
namespace mdpcosim {

enum class operation : unsigned char {
    constant,
    variable,
    add,
    subtract,
    multiply,
    divide,
    power,
    negate,
    sin,
    cos,
    tan,
    asin,
    acos,
    atan,
    atan2,
    sinh,
    cosh,
    tanh,
    exp,
    log,
    log10,
    sqrt,
    abs,
    sign,
    min,
    max,
    // conditions: 1 true, 0 false
    less,
    less_equal,
    equal,
    not_equal,
    logical_and,
    logical_or,
    logical_not,
    select  ///< condition, value if true, value if false
};

/// A variable is element `index` of array `bank` at evaluation (for equations: time, states, inputs).
struct variable_id {
    int bank = 0;
    int index = 0;
    auto operator<=>(const variable_id&) const = default;
};

/// An immutable tree whose parts are shared between expressions; copying is cheap. The operators and functions below
/// simplify while they build: constants are folded, 0*x, 1*x, x+0, x^1 and the like vanish.
class expression {
   public:
    struct node;

    expression() : expression(0.0) {}
    expression(double constant);  // NOLINT: a number is an expression, so that formulas read as formulas
    explicit expression(variable_id variable);
    /// As it stands, not simplified.
    expression(operation op, std::vector<expression> operands);

    operation op() const;
    double value() const;          ///< of a constant
    variable_id variable() const;  ///< of a variable
    std::span<const expression> operands() const;
    int depth() const;  ///< of the tree

    bool is(double constant) const { return op() == operation::constant && value() == constant; }
    bool is_constant() const { return op() == operation::constant; }
    bool is_condition() const { return op() >= operation::less && op() <= operation::logical_not; }
    const node* identity() const { return node_.get(); }

   private:
    std::shared_ptr<const node> node_;
};

expression operator+(const expression& a, const expression& b);
expression operator-(const expression& a, const expression& b);
expression operator*(const expression& a, const expression& b);
expression operator/(const expression& a, const expression& b);
expression operator-(const expression& a);
expression power(const expression& base, const expression& exponent);
expression if_then_else(const expression& condition, const expression& yes, const expression& no);
/// Any other operation with its one or two operands.
expression call(operation op, const expression& a, const expression& b = {});

/// The variables `e` depends on.
std::set<variable_id> variables_of(const expression& e);
bool depends_on_bank(const expression& e, int bank);
/// The numbers that conditions inside compare `variable` with, sorted: for time, the moments at which if() switches.
std::vector<double> switching_points(const expression& e, variable_id variable);
/// True when a constant inside is infinite or not a number, or divides by zero (a parameter that is zero).
bool has_undefined_constant(const expression& e);

/// The exact derivative in a direction: `rate(v)` is the derivative of variable v. One for v and zero for the others
/// gives the partial derivative; x' = f(t, x) for the states and one for time gives the total derivative in time.
/// Conditions have the derivative zero, so that the derivative of if() is if() of the derivatives. Where a function is
/// finite but has no slope (abs, sqrt, atan2 at zero, asin at one) the slope is taken as zero.
expression derivative(const expression& e, const std::function<expression(variable_id)>& rate);
expression partial_derivative(const expression& e, variable_id variable);

/// What a parser may find by name.
struct symbol_table {
    std::function<std::optional<expression>(std::string_view)> find;
    std::vector<std::string> names;  ///< for "did you mean"
};

/// A mistake in the text of an expression: `position` counts characters from zero.
class expression_error : public std::runtime_error {
   public:
    expression_error(std::size_t position, const std::string& message)
        : std::runtime_error(message), position_(position) {}
    std::size_t position() const { return position_; }

   private:
    std::size_t position_;
};

/// Throws expression_error; what `symbols.find` throws passes through.
expression parse_expression(std::string_view text, const symbol_table& symbols);

std::vector<std::string> function_names();
/// `pi`, `if`, `and`, `or`, `not` and the functions: names a variable must not have.
bool is_reserved_name(std::string_view name);
bool is_identifier(std::string_view name);

}  // namespace mdpcosim

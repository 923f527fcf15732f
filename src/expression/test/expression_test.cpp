#include "expression/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "expression/program.hpp"

namespace mdpcosim {
namespace {

using testing::HasSubstr;

/// x, y, z are elements 0, 1, 2 of bank 1, t is bank 0, $c is 2.5.
symbol_table table() {
    return {[](std::string_view name) -> std::optional<expression> {
                if (name == "t") return expression(variable_id{0, 0});
                if (name == "x") return expression(variable_id{1, 0});
                if (name == "y") return expression(variable_id{1, 1});
                if (name == "z") return expression(variable_id{1, 2});
                if (name == "$c") return expression(2.5);
                return std::nullopt;
            },
            {"t", "x", "y", "z", "$c"}};
}

expression parse(std::string_view text) { return parse_expression(text, table()); }

double value(const expression& e, double x = 0, double y = 0, double z = 0, double t = 0) {
    const double xs[]{x, y, z};
    const assignment wanted[]{{e, 0}};
    double result = 0;
    program(wanted).evaluate({&t, xs, nullptr}, &result);
    return result;
}

double value(std::string_view text, double x = 0, double y = 0, double z = 0) { return value(parse(text), x, y, z); }

struct mistake {
    std::string_view text;
    std::size_t position;
    std::string_view message;
};

TEST(expression, precedence) {
    EXPECT_EQ(value("2+3*4"), 14);
    EXPECT_EQ(value("2-3-4"), -5);
    EXPECT_EQ(value("16/4/2"), 2);
    EXPECT_EQ(value("2^3^2"), 512);
    EXPECT_EQ(value("-x^2", 3), -9);
    EXPECT_EQ(value("(-x)^2", 3), 9);
    EXPECT_EQ(value("2^-1"), 0.5);
    EXPECT_EQ(value("2*-x", 3), -6);
    EXPECT_EQ(value("- -x", 3), 3);
    EXPECT_EQ(value("+x - +y", 3, 1), 2);
    EXPECT_EQ(value("(2+3)*4"), 20);
    EXPECT_EQ(value("x/y*z", 6, 3, 2), 4);
    EXPECT_EQ(value("x^-2*y", 2, 8), 2);
}

TEST(expression, numbers_names_and_constants) {
    EXPECT_EQ(value("1.5e-3"), 1.5e-3);
    EXPECT_EQ(value(".5+2."), 2.5);
    EXPECT_EQ(value("6.3E4"), 6.3e4);
    EXPECT_EQ(value("pi"), std::numbers::pi);
    EXPECT_EQ(value("$c*x", 2), 5);
    EXPECT_EQ(value(parse("t*2"), 0, 0, 0, 21), 42);
    EXPECT_EQ(value(" x\t+ y ", 1, 2), 3);
}

TEST(expression, functions) {
    EXPECT_EQ(value("atan2(x, y)", 1, 2), std::atan2(1.0, 2.0));
    EXPECT_EQ(value("min(x, y) + 10*max(x, y)", 1, 2), 21);
    EXPECT_EQ(value("sign(x)", -3), -1);
    EXPECT_EQ(value("sign(x)", 0), 0);
    EXPECT_EQ(value("abs(x)", -3), 3);
    EXPECT_EQ(value("pow(x, y)", 2, 5), 32);
    EXPECT_EQ(value("log10(x)", 1000), std::log10(1000.0));
    EXPECT_TRUE(std::isnan(value("min(x, 1)", std::nan(""))));
    EXPECT_TRUE(std::isnan(value("max(1, x)", std::nan(""))));
}

TEST(expression, conditions) {
    EXPECT_EQ(value("if(x > 1, 10, 20)", 2), 10);
    EXPECT_EQ(value("if(x > 1, 10, 20)", 1), 20);
    EXPECT_EQ(value("if(x >= 1 and y < 2, 1, 0)", 1, 1), 1);
    EXPECT_EQ(value("if(x < 1 or y < 1 and z < 1, 1, 0)", 0, 5, 5), 1);
    EXPECT_EQ(value("if((x < 1 or y < 1) and z < 1, 1, 0)", 0, 5, 5), 0);
    EXPECT_EQ(value("if(not x == y, 1, 0)", 1, 1), 0);
    EXPECT_EQ(value("if(x != y, 1, 0)", 1, 2), 1);
    EXPECT_EQ(value("if(not (x <= y) and not (y <= z), 1, 0)", 3, 2, 1), 1);
    // The branch not taken may be undefined.
    EXPECT_EQ(value("if(x > 0, sqrt(x), 0)", -1), 0);
}

TEST(expression, mistakes_have_position_and_message) {
    const mistake mistakes[]{
        {"-x/y*sin(* z)", 9, "expected a value but found '*'"},
        {"sin(x", 5, "expected ',' or ')' but found the end"},
        {"(x + y", 6, "expected ')' but found the end"},
        {"x + ", 4, "expected a value but found the end"},
        {"", 0, "empty"},
        {"  ", 0, "empty"},
        {"2 x", 2, "expected an operator or the end but found 'x'"},
        {"x)", 1, "expected an operator or the end but found ')'"},
        {"x # y", 2, "'#' is not allowed"},
        {"x \xC3\xA4", 2, "'\xC3\xA4' is not allowed"},
        {"if(x = y, 1, 2)", 5, "compare with '=='"},
        {"1 + 1e999", 4, "out of range"},
        {"x + sine(y)", 4, "function 'sine' does not exist. Did you mean 'sin'?"},
        {"2*x(3)", 2, "'x' is not a function"},
        {"sin + 1", 4, "expected '(' and the argument of function 'sin'"},
        {"1 + sin(x, y)", 4, "function 'sin' takes 1 argument, not 2"},
        {"atan2(x)", 0, "function 'atan2' takes 2 arguments, not 1"},
        {"if(x > 0, 1)", 0, "function 'if' takes 3 arguments, not 2"},
        {"sin()", 0, "function 'sin' takes 1 argument, not 0"},
        {"x*xx", 2, "name 'xx' does not exist"},
        {"x + $d", 4, "Did you mean '$c'?"},
        {"c*x", 0, "Did you mean '$c'?"},
        {"x > 0", 0, "found a condition"},
        {"1 + (x > 0)", 4, "found a condition"},
        {"if(x, 1, 2)", 3, "expected a condition such as 'x > 0' but found a value"},
        {"if(x > 0 and y, 1, 2)", 13, "expected a condition"},
        {"if(x > 0, y > 0, 2)", 10, "found a condition"},
        {"x and y", 0, "expected a condition"},
        {"x * and", 4, "expected a value but found 'and'"},
        {"1,5", 1, "expected an operator or the end but found ','"},
    };
    for (const auto& m : mistakes) {
        try {
            parse(m.text);
            ADD_FAILURE() << "no error for " << m.text;
        } catch (const expression_error& error) {
            EXPECT_EQ(error.position(), m.position) << m.text << ": " << error.what();
            EXPECT_THAT(error.what(), HasSubstr(std::string(m.message))) << m.text;
        }
    }
}

TEST(expression, hostile_texts_are_refused_not_crashed_on) {
    EXPECT_THROW(parse(std::string(100000, '(')), expression_error);
    EXPECT_THROW(parse(std::string(100000, '-')), expression_error);
    std::string powers = "x", sums = "x", nots = "if(";
    for (int i = 0; i < 20000; ++i) {
        powers += "^y";
        sums += "+y";
        nots += "not ";
    }
    EXPECT_THROW(parse(powers), expression_error);
    EXPECT_THROW(parse(sums), expression_error);
    EXPECT_THROW(parse(nots), expression_error);
}

TEST(expression, simplification) {
    const auto operations = [](std::string_view text) {
        const assignment wanted[]{{parse(text), 0}};
        return program(wanted).operation_count();
    };
    for (const auto* text : {"0*x", "x*0", "x-x", "0/x", "x^0", "2*3+sin(pi)", "if(1 < 2, 3, x)"})
        EXPECT_TRUE(parse(text).is_constant()) << text;
    for (const auto* text : {"1*x", "x*1", "x+0", "0+x", "x-0", "x/1", "x^1", "--x", "if(x > 0, y, y)"})
        EXPECT_EQ(operations(text), 0U) << text;
    EXPECT_EQ(operations("-1*x"), 1U);
    EXPECT_EQ(operations("sin(x*y) + cos(y*x) + sin(x*y)"), 5U) << "common parts are evaluated once";
    EXPECT_EQ(operations("x^2"), 1U);
    EXPECT_TRUE(variables_of(parse("0*x + y")) == (std::set<variable_id>{{1, 1}}));
}

TEST(expression, dependence) {
    const expression e = parse("x*sin(t) + if(z > 0, 1, 2)");
    EXPECT_EQ(variables_of(e), (std::set<variable_id>{{0, 0}, {1, 0}, {1, 2}}));
    EXPECT_TRUE(depends_on_bank(e, 0));
    EXPECT_FALSE(depends_on_bank(e, 2));
    EXPECT_TRUE(has_undefined_constant(parse("x + 1/0")));
    EXPECT_FALSE(has_undefined_constant(parse("x + if(0 == 0, 0, 1/0)")));
}

TEST(expression, equal_formulas_have_equal_numbers) {
    value_numbering numbering;
    EXPECT_EQ(numbering.number_of(parse("x*y + sin(z)")), numbering.number_of(parse("sin(z) + y*x")));
    EXPECT_NE(numbering.number_of(parse("x - y")), numbering.number_of(parse("y - x")));
}

/// Ten digits from central differences extrapolated three times (Richardson).
double differences(const expression& e, std::array<double, 3> at, std::size_t variable) {
    std::array<std::array<double, 4>, 4> d{};
    double h = 0.02;
    for (std::size_t i = 0; i < 4; ++i, h /= 2) {
        auto up = at, down = at;
        up[variable] += h;
        down[variable] -= h;
        d[i][0] =
            (value(e, up[0], up[1], up[2]) - value(e, down[0], down[1], down[2])) / (up[variable] - down[variable]);
        double factor = 1;
        for (std::size_t k = 1; k <= i; ++k) {
            factor *= 4;
            d[i][k] = d[i][k - 1] + (d[i][k - 1] - d[i - 1][k - 1]) / (factor - 1);
        }
    }
    return d[3][3];
}

void expect_exact_derivatives(const expression& e, std::array<double, 3> at, const std::string& text) {
    for (std::size_t variable = 0; variable < 3; ++variable) {
        const double exact = value(partial_derivative(e, {1, static_cast<int>(variable)}), at[0], at[1], at[2]);
        const double numeric = differences(e, at, variable);
        EXPECT_NEAR(exact, numeric, 1e-8 * std::max(1.0, std::abs(exact)))
            << "d/d"
            << "xyz"[variable] << " of " << text << " at " << at[0] << ", " << at[1] << ", " << at[2];
    }
}

TEST(expression, derivative_of_every_function) {
    const char* texts[]{"x+y",
                        "x-y",
                        "x*y",
                        "x/y",
                        "-x",
                        "x^y",
                        "x^2",
                        "x^3",
                        "x^4",
                        "x^-1",
                        "x^-2",
                        "x^0.5",
                        "x^2.7",
                        "1.7^x",
                        "pow(y, x)",
                        "sin(x)",
                        "cos(x)",
                        "tan(x)",
                        "asin(x)",
                        "acos(x)",
                        "atan(x)",
                        "atan2(x, y)",
                        "atan2(y, 2)",
                        "sinh(x)",
                        "cosh(x)",
                        "tanh(x)",
                        "exp(x)",
                        "log(x)",
                        "log10(x)",
                        "sqrt(x)",
                        "abs(x)",
                        "abs(-x)",
                        "sign(x)",
                        "min(x, y+1)",
                        "min(x*z, y-1)",
                        "max(x, y+1)",
                        "max(x*z, y-1)",
                        "if(x > 0 and y < 1, x*y, z)",
                        "if(x < 0 or not y > 0, x, x*z^2)"};
    std::mt19937 random(7);
    std::uniform_real_distribution<double> inside(0.15, 0.85);
    for (const auto* text : texts)
        for (int i = 0; i < 20; ++i)
            expect_exact_derivatives(parse(text), {inside(random), inside(random), inside(random)}, text);
}

TEST(expression, derivative_of_a_power_of_a_negative_base) {
    EXPECT_EQ(value(partial_derivative(parse("x^3"), {1, 0}), -2), 12);
    EXPECT_EQ(value(partial_derivative(parse("x^5"), {1, 0}), -2), 80);
    EXPECT_EQ(value(partial_derivative(parse("x^y"), {1, 0}), -2, 5), 80);
}

TEST(expression, derivatives_stay_finite_where_the_function_is) {
    for (const auto* text : {"sqrt(x^2 + y^2)", "sqrt(x)", "atan2(x, y)", "x^0.3", "abs(x)", "asin(1 - x)",
                             "acos(x - 1)", "abs(x)^(y + 2)"})
        EXPECT_EQ(value(partial_derivative(parse(text), {1, 0}), 0, 0), 0) << text;
    EXPECT_TRUE(std::isnan(value(partial_derivative(parse("sqrt(x)"), {1, 0}), -1)));
}

/// Smooth everywhere in the box, so that differences are exact enough to compare with.
std::string random_text(std::mt19937& random, int depth) {
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    const auto sub = [&] { return random_text(random, depth - 1); };
    if (depth == 0) return std::array{"x", "y", "z", "0.7", "1.3", "2"}[static_cast<std::size_t>(pick(6))];
    switch (pick(12)) {
        case 0:
            return "(" + sub() + "+" + sub() + ")";
        case 1:
            return "(" + sub() + "-" + sub() + ")";
        case 2:
            return "sin(" + sub() + ")*" + sub();
        case 3:
            return "cos(" + sub() + ")/(2+sin(" + sub() + "))";
        case 4:
            return "tanh(" + sub() + ")";
        case 5:
            return "-atan(" + sub() + ")^2";
        case 6:
            return "sqrt(1+atan(" + sub() + ")^2)";
        case 7:
            return "exp(sin(" + sub() + "))";
        case 8:
            return "log(3+cos(" + sub() + "))";
        case 9:
            return "(2+sin(" + sub() + "))^cos(" + sub() + ")";
        case 10:
            return "if(y < 5, " + sub() + ", 3*x)";
        default:
            return "atan2(" + sub() + ", 2+sin(" + sub() + "))";
    }
}

TEST(expression, derivatives_of_random_trees) {
    std::mt19937 random(42);
    std::uniform_real_distribution<double> inside(-0.9, 0.9);
    for (int i = 0; i < 300; ++i) {
        const std::string text = random_text(random, 1 + i % 4);
        const expression e = parse(text);
        const std::array at{inside(random), inside(random), inside(random)};
        // Strongly curved trees are beyond what differences can tell; they are compared more coarsely.
        for (std::size_t v = 0; v < 3; ++v) {
            const double exact = value(partial_derivative(e, {1, static_cast<int>(v)}), at[0], at[1], at[2]);
            EXPECT_NEAR(exact, differences(e, at, v), 2e-6 * std::max(1.0, std::abs(exact))) << text;
        }
    }
}

TEST(expression, total_derivative) {
    // y = x^2 t with x' = -3x: y' = 2 x x' t + x^2
    const expression y = parse("x^2*t");
    const expression rate =
        derivative(y, [](variable_id v) { return v.bank == 0 ? expression(1.0) : -3.0 * expression(v); });
    EXPECT_DOUBLE_EQ(value(rate, 1.5, 0, 0, 0.25), 2 * 1.5 * (-4.5) * 0.25 + 2.25);
}

TEST(expression, shared_parts_stay_linear_in_size) {
    // Each level doubles the tree; as a graph with shared nodes it stays small, and so do its derivatives.
    expression e = parse("x");
    for (int i = 0; i < 60; ++i) e = call(operation::sin, e * e + 0.5);
    const expression second = partial_derivative(partial_derivative(e, {1, 0}), {1, 0});
    const assignment wanted[]{{second, 0}};
    EXPECT_LT(program(wanted).operation_count(), 3000U);
    EXPECT_TRUE(std::isfinite(value(second, 0.3)));
}

TEST(expression, reserved_names) {
    for (const auto* name : {"pi", "sin", "if", "and", "or", "not", "pow"}) EXPECT_TRUE(is_reserved_name(name)) << name;
    EXPECT_FALSE(is_reserved_name("omega"));
    EXPECT_TRUE(is_identifier("_a1"));
    for (const auto* name : {"", "1a", "a-b", "$c", "a.b"}) EXPECT_FALSE(is_identifier(name)) << name;
}

}  // namespace
}  // namespace mdpcosim

#include <gtest/gtest.h>

#include <iostream>

#include "expression/program.hpp"
#include "support/fuzz.hpp"

namespace mdpcosim {
namespace {

/// What is taken has a value and derivatives; what is not is refused at a place within the text.
std::string try_expression(const std::string& text) {
    symbol_table symbols;
    symbols.names = {"x", "y", "t"};
    symbols.find = [&](std::string_view name) -> std::optional<expression> {
        for (std::size_t i = 0; i < symbols.names.size(); ++i)
            if (symbols.names[i] == name) return expression(variable_id{0, static_cast<int>(i)});
        return std::nullopt;
    };
    try {
        const expression e = parse_expression(text, symbols);
        const std::vector<assignment> all{{e, 0}, {partial_derivative(e, {0, 0}), 1}};
        const program compiled(all);
        const double values[] = {0.5, -2, 1};
        double results[2] = {};
        compiled.evaluate({values, nullptr, nullptr}, results);
        return "taken";
    } catch (const expression_error& problem) {
        EXPECT_LE(problem.position(), text.size());
        return problem.what();
    }
}

TEST(fuzz, expressions) {
    std::vector<std::string> words{"(",  ")",   "+",  "-",   "*",        "/",        "^",  ",", "<",  ">=",    "==",
                                   "!=", "and", "or", "not", "if(",      "x",        "y",  "t", "pi", "1e308", "1e-320",
                                   "1e", ".",   "0",  "2",   "((((((((", "--------", "^-", "$", "\"", "\xff",  " "};
    for (const auto& name : function_names()) words.push_back(name + "(");
    test::fuzzer fuzz("expression",
                      {"x + 2*y - t/3", "if(x > 0 and not (y < 1), sin(x)^2, -exp(-t))",
                       "atan2(y, x) + min(x, max(y, 0)) * pi", "2^-x^0.5", "abs(sqrt(x*x + y*y))"},
                      words);
    const long count = fuzz.run(try_expression);
    std::cout << count << " expressions, " << fuzz.outcomes() << " kinds of outcome\n";
    EXPECT_GT(count, 1000);
    EXPECT_GT(fuzz.outcomes(), 5u);
}

}  // namespace
}  // namespace mdpcosim

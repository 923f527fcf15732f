#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numbers>

#include "core/suggest.hpp"
#include "expression/expression.hpp"

namespace mdpcosim {

namespace {

// Deeper trees could exhaust the stack of the recursive parts.
constexpr int most_nesting = 200;
constexpr int most_depth = 2000;

struct function_info {
    std::string_view name;
    operation op;
    std::size_t arguments;
};

constexpr std::array<function_info, 20> functions{{
    {"sin", operation::sin, 1},     {"cos", operation::cos, 1},   {"tan", operation::tan, 1},
    {"asin", operation::asin, 1},   {"acos", operation::acos, 1}, {"atan", operation::atan, 1},
    {"atan2", operation::atan2, 2}, {"sinh", operation::sinh, 1}, {"cosh", operation::cosh, 1},
    {"tanh", operation::tanh, 1},   {"exp", operation::exp, 1},   {"log", operation::log, 1},
    {"log10", operation::log10, 1}, {"sqrt", operation::sqrt, 1}, {"abs", operation::abs, 1},
    {"sign", operation::sign, 1},   {"min", operation::min, 2},   {"max", operation::max, 2},
    {"pow", operation::power, 2},   {"if", operation::select, 3},
}};

bool is_keyword(std::string_view name) { return name == "and" || name == "or" || name == "not"; }

const function_info* find_function(std::string_view name) {
    const auto found = std::find_if(functions.begin(), functions.end(), [&](const auto& f) { return f.name == name; });
    return found == functions.end() ? nullptr : &*found;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

enum class token_kind { number, name, symbol, end };

struct token {
    token_kind kind = token_kind::end;
    std::string_view text;
    std::size_t position = 0;
    double value = 0;
};

std::string shown(const token& t) { return t.kind == token_kind::end ? "the end" : fmt::format("'{}'", t.text); }

class scanner {
   public:
    explicit scanner(std::string_view text) : text_(text) { next(); }

    const token& look() const { return token_; }

    token take() {
        const token taken = token_;
        next();
        return taken;
    }

   private:
    void next() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
        token_ = {token_kind::end, {}, at_, 0};
        if (at_ == text_.size()) return;
        const char c = text_[at_];
        if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
            read_number();
        } else if (is_letter(c) || c == '$') {
            std::size_t end = at_ + 1;
            while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
            finish(token_kind::name, end - at_);
        } else {
            read_symbol();
        }
    }

    void read_number() {
        double value = 0;
        const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        const auto length = static_cast<std::size_t>(end - (text_.data() + at_));
        if (status != std::errc{})
            throw expression_error(at_, fmt::format("the number '{}' is out of range", text_.substr(at_, length)));
        finish(token_kind::number, length);
        token_.value = value;
    }

    void read_symbol() {
        static constexpr std::array<std::string_view, 4> pairs{"<=", ">=", "==", "!="};
        const std::string_view two = text_.substr(at_, 2);
        if (std::find(pairs.begin(), pairs.end(), two) != pairs.end()) return finish(token_kind::symbol, 2);
        if (std::string_view("+-*/^(),<>").find(text_[at_]) != std::string_view::npos)
            return finish(token_kind::symbol, 1);
        std::size_t length = 1;  // the whole of a character of several bytes
        while (at_ + length < text_.size() && (static_cast<unsigned char>(text_[at_ + length]) & 0xC0U) == 0x80U)
            ++length;
        const std::string_view found = text_.substr(at_, length);
        throw expression_error(at_, fmt::format("'{}' is not allowed in an expression{}", found,
                                                found == "=" ? "; compare with '=='" : ""));
    }

    void finish(token_kind kind, std::size_t length) {
        token_.kind = kind;
        token_.text = text_.substr(at_, length);
        at_ += length;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    token token_;
};

/// Recursive descent, one function per level of the grammar. A part is a value or a condition, never both.
class parser {
   public:
    parser(std::string_view text, const symbol_table& symbols) : scanner_(text), symbols_(symbols) {}

    expression whole() {
        if (scanner_.look().kind == token_kind::end) throw expression_error(0, "the expression is empty");
        expression result = value(disjunction());
        if (scanner_.look().kind != token_kind::end) fail("an operator or the end");
        return result;
    }

   private:
    struct part {
        expression e;
        std::size_t position;
        bool condition = false;
    };

    [[noreturn]] void fail(std::string_view expected) const {
        const token& found = scanner_.look();
        throw expression_error(found.position, fmt::format("expected {} but found {}", expected, shown(found)));
    }

    bool next_is(std::string_view text) const {
        return scanner_.look().kind != token_kind::number && scanner_.look().text == text;
    }

    bool accept(std::string_view text) {
        if (!next_is(text)) return false;
        scanner_.take();
        return true;
    }

    static const expression& value(const part& p) {
        if (p.condition)
            throw expression_error(p.position, "expected a value but found a condition; write if(condition, a, b)");
        return p.e;
    }

    static const expression& condition(const part& p) {
        if (!p.condition) throw expression_error(p.position, "expected a condition such as 'x > 0' but found a value");
        return p.e;
    }

    /// A finished part; a long chain is refused before it can exhaust the stack.
    static part made(expression e, std::size_t position, bool is_condition = false) {
        if (e.depth() > most_depth)
            throw expression_error(position, fmt::format("more than {} operations in a chain", most_depth));
        return {std::move(e), position, is_condition};
    }

    // The left operand is checked before the right one is read, so that the first mistake is the one reported.

    part disjunction() {
        part left = conjunction();
        while (next_is("or")) {
            const expression a = condition(left);
            scanner_.take();
            left = made(call(operation::logical_or, a, condition(conjunction())), left.position, true);
        }
        return left;
    }

    part conjunction() {
        part left = negation();
        while (next_is("and")) {
            const expression a = condition(left);
            scanner_.take();
            left = made(call(operation::logical_and, a, condition(negation())), left.position, true);
        }
        return left;
    }

    part negation() {
        if (!next_is("not")) return comparison();
        const std::size_t position = scanner_.take().position;
        const nesting deeper(*this, position);
        return made(call(operation::logical_not, condition(negation())), position, true);
    }

    part comparison() {
        part left = sum();
        static constexpr std::array<std::string_view, 6> comparisons{"<", "<=", ">", ">=", "==", "!="};
        const token found = scanner_.look();
        if (std::find(comparisons.begin(), comparisons.end(), found.text) == comparisons.end()) return left;
        const expression a = value(left);
        scanner_.take();
        const expression b = value(sum());
        const auto compared = [&] {
            if (found.text == "<") return call(operation::less, a, b);
            if (found.text == "<=") return call(operation::less_equal, a, b);
            if (found.text == ">") return call(operation::less, b, a);
            if (found.text == ">=") return call(operation::less_equal, b, a);
            return call(found.text == "==" ? operation::equal : operation::not_equal, a, b);
        };
        return made(compared(), left.position, true);
    }

    part sum() {
        part left = product();
        while (next_is("+") || next_is("-")) {
            const expression a = value(left);
            const bool plus = scanner_.take().text == "+";
            const expression b = value(product());
            left = made(plus ? a + b : a - b, left.position);
        }
        return left;
    }

    part product() {
        part left = signed_value();
        while (next_is("*") || next_is("/")) {
            const expression a = value(left);
            const bool times = scanner_.take().text == "*";
            const expression b = value(signed_value());
            left = made(times ? a * b : a / b, left.position);
        }
        return left;
    }

    part signed_value() {
        const std::size_t position = scanner_.look().position;
        const nesting deeper(*this, position);
        if (accept("-")) return made(-value(signed_value()), position);
        if (accept("+")) return made(value(signed_value()), position);
        part first = primary();
        if (!next_is("^")) return first;
        const expression base = value(first);
        scanner_.take();
        return made(power(base, value(signed_value())), position);
    }

    part primary() {
        const token first = scanner_.look();
        if (first.kind == token_kind::number) {
            scanner_.take();
            return {first.value, first.position};
        }
        if (accept("(")) {
            part inner = disjunction();
            if (!accept(")")) fail("')'");
            inner.position = first.position;
            return inner;
        }
        if (first.kind != token_kind::name || is_keyword(first.text)) fail("a value");
        scanner_.take();
        return next_is("(") ? function(first) : name(first);
    }

    part name(const token& first) {
        if (first.text == "pi") return {std::numbers::pi, first.position};
        if (find_function(first.text) != nullptr)
            fail(fmt::format("'(' and the argument of function '{}'", first.text));
        if (auto found = symbols_.find(first.text)) return {std::move(*found), first.position};
        throw expression_error(first.position, unknown_name("name", first.text, "The subsystem", known_names()));
    }

    part function(const token& first) {
        const function_info* info = find_function(first.text);
        if (info == nullptr) {
            const auto known = known_names();
            if (std::find(known.begin(), known.end(), first.text) != known.end())
                throw expression_error(first.position, fmt::format("'{}' is not a function", first.text));
            throw expression_error(first.position, fmt::format("function '{}' does not exist.{}", first.text,
                                                               did_you_mean(first.text, function_names())));
        }
        accept("(");
        std::vector<part> arguments;
        if (!next_is(")")) {
            arguments.push_back(disjunction());
            while (accept(",")) arguments.push_back(disjunction());
        }
        if (!accept(")")) fail("',' or ')'");
        if (arguments.size() != info->arguments)
            throw expression_error(first.position,
                                   fmt::format("function '{}' takes {} argument{}, not {}", first.text, info->arguments,
                                               info->arguments == 1 ? "" : "s", arguments.size()));
        if (info->op == operation::select)
            return made(if_then_else(condition(arguments[0]), value(arguments[1]), value(arguments[2])),
                        first.position);
        const expression second = info->arguments == 2 ? value(arguments[1]) : expression();
        return made(call(info->op, value(arguments[0]), second), first.position);
    }

    std::vector<std::string> known_names() const {
        std::vector<std::string> names = symbols_.names;
        names.emplace_back("pi");
        return names;
    }

    /// Counts the levels of recursion while it lives.
    class nesting {
       public:
        nesting(parser& owner, std::size_t position) : level_(owner.level_) {
            if (++level_ > most_nesting) {
                --level_;
                throw expression_error(position, fmt::format("more than {} levels of nesting", most_nesting));
            }
        }
        ~nesting() { --level_; }
        nesting(const nesting&) = delete;
        nesting& operator=(const nesting&) = delete;

       private:
        int& level_;
    };

    scanner scanner_;
    const symbol_table& symbols_;
    int level_ = 0;
};

}  // namespace

expression parse_expression(std::string_view text, const symbol_table& symbols) {
    return parser(text, symbols).whole();
}

std::vector<std::string> function_names() {
    std::vector<std::string> names;
    for (const auto& f : functions) names.emplace_back(f.name);
    return names;
}

bool is_reserved_name(std::string_view name) {
    return name == "pi" || is_keyword(name) || find_function(name) != nullptr;
}

bool is_identifier(std::string_view name) {
    return !name.empty() && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

}  // namespace mdpcosim

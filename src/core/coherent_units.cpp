#include "core/coherent_units.hpp"

#include <array>

#include "core/common_units.hpp"

namespace mdpcosim {

namespace {

constexpr std::array<std::string_view, 8> base_names{"m", "kg", "s", "A", "K", "mol", "cd", "rad"};
constexpr int highest_power = 99;

class unit_reader {
   public:
    explicit unit_reader(std::string_view text) : rest_(text) {}

    bool read() { return product(1) && rest_.empty(); }

    std::string base() const {
        std::string text;
        for (std::size_t i = 0; i < powers_.size(); ++i) {
            if (powers_[i] == 0) continue;
            if (!text.empty()) text += '.';
            text += base_names[i];
            if (powers_[i] != 1) text += std::to_string(powers_[i]);
        }
        return text.empty() ? "1" : text;
    }

   private:
    /// `a.b/c` is (a.b)/c, as everywhere; every factor counts `sign` times.
    bool product(int sign) {
        if (!power(sign)) return false;
        while (!rest_.empty() && rest_.front() != ')') {
            const char between = rest_.front();
            if (between != '.' && between != '*' && between != '/') return false;
            rest_.remove_prefix(1);
            if (!power(between == '/' ? -sign : sign)) return false;
        }
        return true;
    }

    bool power(int sign) {
        if (rest_.starts_with('(')) {
            rest_.remove_prefix(1);
            const auto before = powers_;
            powers_ = {};
            if (!product(1) || !rest_.starts_with(')')) return false;
            rest_.remove_prefix(1);
            const auto inside = powers_;
            powers_ = before;
            const std::optional<int> n = exponent();
            if (!n) return false;
            for (std::size_t i = 0; i < powers_.size(); ++i) powers_[i] += sign * *n * inside[i];
            return true;
        }
        if (rest_.starts_with('1') &&
            (rest_.size() == 1 || std::string_view("./*)").find(rest_[1]) != std::string_view::npos)) {
            rest_.remove_prefix(1);
            return true;
        }
        std::size_t letters = 0;
        while (letters < rest_.size() &&
               ((rest_[letters] >= 'a' && rest_[letters] <= 'z') || (rest_[letters] >= 'A' && rest_[letters] <= 'Z')))
            ++letters;
        const std::string_view name = rest_.substr(0, letters);
        rest_.remove_prefix(letters);
        const std::optional<int> n = exponent();
        return n && !name.empty() && add(name, sign * *n);
    }

    /// `2`, `-1`, `^2`, or none, which is 1.
    std::optional<int> exponent() {
        if (rest_.starts_with('^')) rest_.remove_prefix(1);
        const bool negative = rest_.starts_with('-');
        if (negative) rest_.remove_prefix(1);
        int value = 0;
        std::size_t digits = 0;
        for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits)
            if ((value = 10 * value + (rest_[digits] - '0')) > highest_power) return std::nullopt;
        rest_.remove_prefix(digits);
        if (digits == 0) return negative ? std::nullopt : std::optional(1);
        return negative ? -value : value;
    }

    bool add(std::string_view name, int n) {
        for (std::size_t i = 0; i < base_names.size(); ++i)
            if (base_names[i] == name) {
                powers_[i] += n;
                return true;
            }
        const common_unit* known = find_common_unit(name);
        if (known == nullptr || !known->coherent() || known->base == name) return false;
        unit_reader inner(known->base);
        if (!inner.read()) return false;
        for (std::size_t i = 0; i < powers_.size(); ++i) powers_[i] += n * inner.powers_[i];
        return true;
    }

    std::string_view rest_;
    std::array<int, base_names.size()> powers_{};
};

}  // namespace

std::optional<std::string> coherent_base(std::string_view text) {
    unit_reader reader(text);
    if (!reader.read()) return std::nullopt;
    return reader.base();
}

}  // namespace mdpcosim

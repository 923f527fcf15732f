#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace mdpcosim {

/// A JSON value; objects keep the order of their keys. nlohmann-json stays behind it: files that include that take seconds each.
/// A braced list is an object where every item is a list of two that begins with a text, and an array otherwise.
/// Reading what is not there or of another type throws std::out_of_range.
class json {
   public:
    struct member;

    json() noexcept;
    json(std::nullptr_t) noexcept;
    json(const char* text);
    json(std::string text) noexcept;
    json(std::string_view text);
    json(std::initializer_list<json> items);
    template <class Number>
    requires std::is_arithmetic_v<Number> json(Number value) : json(stored<Number>(value), std::in_place) {}
    /// An array of the values.
    template <class List>
    requires(requires { typename List::value_type; } && !std::is_convertible_v<const List&, std::string_view>)
        json(const List& values)
        : json(array()) {
        for (const auto& value : values) push_back(value);
    }
    json(const json& other);
    json(json&& other) noexcept;
    json& operator=(json other) noexcept;  ///< its own copy: in `a["x"] = a["y"]` the latter may move when "x" is added
    ~json();

    static json array();
    static json array(std::initializer_list<json> items);
    static json object();
    /// Throws std::invalid_argument with the place of the mistake.
    static json parse(std::string_view text);
    /// Nothing where the text is not JSON.
    static std::optional<json> parse_if_valid(std::string_view text);
    /// On one line, or with every level indented. What is not UTF-8 is replaced; numbers that JSON does not have become null.
    std::string dump(int indent = -1) const;

    bool is_null() const;
    bool is_boolean() const;
    bool is_number() const;
    bool is_string() const;
    bool is_array() const;
    bool is_object() const;

    /// bool, a number, std::string or a vector of these.
    template <class T>
    T get() const {
        if constexpr (std::is_same_v<T, bool>) {
            return boolean();
        } else if constexpr (std::is_integral_v<T>) {
            return static_cast<T>(whole());
        } else if constexpr (std::is_floating_point_v<T>) {
            return static_cast<T>(number());
        } else if constexpr (std::is_same_v<T, std::string>) {
            return text();
        } else {
            T values;
            for (const json& item : *this) values.push_back(item.get<typename T::value_type>());
            return values;
        }
    }

    /// Of arrays and objects; zero for null.
    std::size_t size() const;
    bool empty() const { return size() == 0; }

    /// The items of an array.
    const json* begin() const;
    const json* end() const;
    json* begin();
    json* end();
    const json& operator[](std::size_t index) const;
    json& operator[](std::size_t index);
    json& back();
    /// Makes an array of null.
    void push_back(json value);

    const std::vector<member>& members() const;
    bool contains(std::string_view key) const;
    const json& at(std::string_view key) const;
    const json& operator[](std::string_view key) const { return at(key); }
    /// Adds what is missing, and makes an object of null.
    json& operator[](std::string_view key);
    template <class T>
    T value(std::string_view key, const T& otherwise) const {
        return contains(key) ? at(key).get<T>() : otherwise;
    }
    std::string value(std::string_view key, const char* otherwise) const { return value(key, std::string(otherwise)); }
    void erase(std::string_view key);
    /// Takes over all members of another object.
    void update(const json& other);

    /// The order of keys does not count, nor whether a number was written as a whole one.
    friend bool operator==(const json& a, const json& b) { return a.equals(b); }
    friend std::ostream& operator<<(std::ostream& out, const json& value) { return value.print(out); }

   private:
    using content = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string,
                                 std::vector<json>, std::vector<member>>;
    template <class Number>
    using stored = std::conditional_t<
        std::is_same_v<Number, bool>, bool,
        std::conditional_t<std::is_floating_point_v<Number>, double,
                           std::conditional_t<std::is_signed_v<Number>, std::int64_t, std::uint64_t>>>;

    json(bool value, std::in_place_t) noexcept;
    json(std::int64_t value, std::in_place_t) noexcept;
    json(std::uint64_t value, std::in_place_t) noexcept;
    json(double value, std::in_place_t) noexcept;

    static std::vector<json> taken(std::initializer_list<json> items);
    bool boolean() const;
    std::int64_t whole() const;
    double number() const;
    const std::string& text() const;
    json* find(std::string_view key);
    bool equals(const json& other) const;
    std::ostream& print(std::ostream& out) const;
    void append_to(std::string& out, int indent, std::size_t depth) const;

    mutable content value_;  ///< a braced list hands on its items, which the language makes constant
};

struct json::member {
    std::string key;
    json value;

    bool operator==(const member& other) const = default;
};

}  // namespace mdpcosim

#include "core/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>

namespace mdpcosim {

namespace {

using nlohmann::ordered_json;

json converted(ordered_json& from) {
    switch (from.type()) {
        case ordered_json::value_t::boolean:
            return from.get<bool>();
        case ordered_json::value_t::number_integer:
            return from.get<std::int64_t>();
        case ordered_json::value_t::number_unsigned:
            return from.get<std::uint64_t>();
        case ordered_json::value_t::number_float:
            return from.get<double>();
        case ordered_json::value_t::string:
            return std::move(from.get_ref<std::string&>());
        case ordered_json::value_t::array: {
            json list = json::array();
            for (auto& item : from) list.push_back(converted(item));
            return list;
        }
        case ordered_json::value_t::object: {
            json map = json::object();
            for (auto item = from.begin(); item != from.end(); ++item) map[item.key()] = converted(item.value());
            return map;
        }
        default:
            return nullptr;
    }
}

void append_text(std::string& out, const std::string& text) {
    static constexpr auto is_plain = [] {
        std::array<bool, 256> all{};
        for (unsigned c = ' '; c <= '~'; ++c) all[c] = c != '"' && c != '\\';
        return all;
    }();
    const bool plain = std::ranges::all_of(text, [](unsigned char c) { return is_plain[c]; });
    if (plain)
        out.append(1, '"').append(text).append(1, '"');
    else
        out += ordered_json(text).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void append_number(std::string& out, double value) {
    if (!std::isfinite(value)) {
        out += "null";
        return;
    }
    std::array<char, 64> digits;
    out.append(digits.data(), nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value));
}

template <class Whole>
void append_whole(std::string& out, Whole value) {
    std::array<char, 24> digits;
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

/// `content` is the type that was wanted, by the name in messages.
template <class T, class Content>
auto& expect(Content& content, const char* name) {
    auto* found = std::get_if<T>(&content);
    if (found == nullptr) throw std::out_of_range(fmt::format("JSON: there is no {} here", name));
    return *found;
}

}  // namespace

json::json() noexcept = default;
json::json(std::nullptr_t) noexcept {}
json::json(const char* text) : value_(std::string(text)) {}
json::json(std::string text) noexcept : value_(std::move(text)) {}
json::json(std::string_view text) : value_(std::string(text)) {}
json::json(bool value, std::in_place_t) noexcept : value_(value) {}
json::json(std::int64_t value, std::in_place_t) noexcept : value_(value) {}
json::json(std::uint64_t value, std::in_place_t) noexcept : value_(value) {}
json::json(double value, std::in_place_t) noexcept : value_(value) {}
json::json(const json& other) = default;
json::json(json&& other) noexcept = default;
json::~json() = default;

json& json::operator=(json other) noexcept {
    value_.swap(other.value_);
    return *this;
}

json::json(std::initializer_list<json> items) {
    const bool named = std::ranges::all_of(
        items, [](const json& item) { return item.is_array() && item.size() == 2 && item[0].is_string(); });
    if (!named) {
        value_.emplace<std::vector<json>>(taken(items));
        return;
    }
    auto& members = value_.emplace<std::vector<member>>();
    members.reserve(items.size());
    for (const json& item : items) {
        auto& pair = std::get<std::vector<json>>(item.value_);
        members.push_back({std::move(std::get<std::string>(pair[0].value_)), std::move(pair[1])});
    }
}

std::vector<json> json::taken(std::initializer_list<json> items) {
    std::vector<json> list(items.size());
    auto to = list.begin();
    for (const json& item : items) (to++)->value_ = std::move(item.value_);
    return list;
}

json json::array() {
    json made;
    made.value_.emplace<std::vector<json>>();
    return made;
}

json json::array(std::initializer_list<json> items) {
    json made;
    made.value_.emplace<std::vector<json>>(taken(items));
    return made;
}

json json::object() {
    json made;
    made.value_.emplace<std::vector<member>>();
    return made;
}

json json::parse(std::string_view text) {
    try {
        auto document = ordered_json::parse(text);
        return converted(document);
    } catch (const ordered_json::parse_error& problem) {
        throw std::invalid_argument(problem.what());
    }
}

std::optional<json> json::parse_if_valid(std::string_view text) {
    auto document = ordered_json::parse(text, nullptr, false);
    if (document.is_discarded()) return {};
    return converted(document);
}

std::string json::dump(int indent) const {
    std::string out;
    append_to(out, indent, 0);
    return out;
}

void json::append_to(std::string& out, int indent, std::size_t depth) const {
    const auto append_line = [&](std::size_t at) {
        if (indent >= 0) out.append(1, '\n').append(static_cast<std::size_t>(indent) * at, ' ');
    };
    const auto append_all = [&](const auto& all, char open, char close, const auto& append) {
        out += open;
        for (const auto& one : all) {
            if (&one != &all.front()) out += ',';
            append_line(depth + 1);
            append(one);
        }
        if (!all.empty()) append_line(depth);
        out += close;
    };
    if (const auto* list = std::get_if<std::vector<json>>(&value_)) {
        append_all(*list, '[', ']', [&](const json& item) { item.append_to(out, indent, depth + 1); });
    } else if (const auto* map = std::get_if<std::vector<member>>(&value_)) {
        append_all(*map, '{', '}', [&](const member& m) {
            append_text(out, m.key);
            out += indent >= 0 ? ": " : ":";
            m.value.append_to(out, indent, depth + 1);
        });
    } else if (const auto* text = std::get_if<std::string>(&value_)) {
        append_text(out, *text);
    } else if (const auto* flag = std::get_if<bool>(&value_)) {
        out += *flag ? "true" : "false";
    } else if (const auto* number = std::get_if<double>(&value_)) {
        append_number(out, *number);
    } else if (const auto* whole = std::get_if<std::int64_t>(&value_)) {
        append_whole(out, *whole);
    } else if (const auto* natural = std::get_if<std::uint64_t>(&value_)) {
        append_whole(out, *natural);
    } else {
        out += "null";
    }
}

bool json::is_null() const { return std::holds_alternative<std::monostate>(value_); }
bool json::is_boolean() const { return std::holds_alternative<bool>(value_); }
bool json::is_number() const {
    return std::holds_alternative<double>(value_) || std::holds_alternative<std::int64_t>(value_) ||
           std::holds_alternative<std::uint64_t>(value_);
}
bool json::is_string() const { return std::holds_alternative<std::string>(value_); }
bool json::is_array() const { return std::holds_alternative<std::vector<json>>(value_); }
bool json::is_object() const { return std::holds_alternative<std::vector<member>>(value_); }

bool json::boolean() const { return expect<bool>(value_, "boolean"); }

double json::number() const {
    if (const auto* whole = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*whole);
    if (const auto* whole = std::get_if<std::uint64_t>(&value_)) return static_cast<double>(*whole);
    return expect<double>(value_, "number");
}

std::int64_t json::whole() const {
    if (const auto* whole = std::get_if<std::int64_t>(&value_)) return *whole;
    if (const auto* whole = std::get_if<std::uint64_t>(&value_)) return static_cast<std::int64_t>(*whole);
    return static_cast<std::int64_t>(expect<double>(value_, "number"));
}

const std::string& json::text() const { return expect<std::string>(value_, "text"); }

std::size_t json::size() const {
    if (is_null()) return 0;
    return is_object() ? members().size() : expect<std::vector<json>>(value_, "array").size();
}

const json* json::begin() const { return is_null() ? nullptr : expect<std::vector<json>>(value_, "array").data(); }
const json* json::end() const { return is_null() ? nullptr : begin() + size(); }
json* json::begin() { return is_null() ? nullptr : expect<std::vector<json>>(value_, "array").data(); }
json* json::end() { return is_null() ? nullptr : begin() + size(); }
const json& json::operator[](std::size_t index) const { return expect<std::vector<json>>(value_, "array").at(index); }
json& json::operator[](std::size_t index) { return expect<std::vector<json>>(value_, "array").at(index); }
json& json::back() { return (*this)[size() - 1]; }

void json::push_back(json value) {
    if (is_null()) *this = array();
    expect<std::vector<json>>(value_, "array").push_back(std::move(value));
}

const std::vector<json::member>& json::members() const { return expect<std::vector<member>>(value_, "object"); }

json* json::find(std::string_view key) {
    auto& all = expect<std::vector<member>>(value_, "object");
    const auto found = std::ranges::find(all, key, &member::key);
    return found == all.end() ? nullptr : &found->value;
}

bool json::contains(std::string_view key) const {
    return is_object() && std::ranges::find(members(), key, &member::key) != members().end();
}

const json& json::at(std::string_view key) const {
    const auto found = std::ranges::find(members(), key, &member::key);
    if (found == members().end()) throw std::out_of_range(fmt::format("JSON: there is no '{}' here", key));
    return found->value;
}

json& json::operator[](std::string_view key) {
    if (is_null()) *this = object();
    if (json* found = find(key)) return *found;
    auto& all = expect<std::vector<member>>(value_, "object");
    all.push_back({std::string(key), {}});
    return all.back().value;
}

void json::erase(std::string_view key) {
    std::erase_if(expect<std::vector<member>>(value_, "object"), [&](const member& m) { return m.key == key; });
}

void json::update(const json& other) {
    for (const auto& [key, value] : other.members()) (*this)[key] = value;
}

bool json::equals(const json& other) const {
    if (is_number() && other.is_number()) return number() == other.number();
    if (!is_object() || !other.is_object()) return value_ == other.value_;
    return size() == other.size() && std::ranges::all_of(members(), [&](const member& m) {
               return other.contains(m.key) && other.at(m.key) == m.value;
           });
}

std::ostream& json::print(std::ostream& out) const { return out << dump(); }

}  // namespace mdpcosim

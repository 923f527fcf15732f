#include "simulation/saved_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <istream>
#include <ostream>

#include "core/check_sum.hpp"
#include "core/error.hpp"

namespace mdpcosim {

namespace {

constexpr std::string_view first_words = "mdpcosim state ";
constexpr std::size_t longest_piece = std::size_t{1} << 40;

std::string text_of(const check_sum& sum) { return fmt::format("{:016x}", sum.value()); }

[[noreturn]] void damaged() {
    throw user_error("the saved state is damaged or cut short; its check sum does not fit. Save it again.");
}

/// The lines of a text with the keys that lead there, `subsystems.a.set.m: 2 kg`.
std::vector<std::string> addressed_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::vector<std::pair<std::size_t, std::string>> open;  // indentation and key
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        at = end + 1;
        const std::size_t indent = line.find_first_not_of(" -");
        if (indent == std::string::npos) continue;
        while (!open.empty() && open.back().first >= indent) open.pop_back();
        std::string address;
        for (const auto& [depth, key] : open) address += key + ".";
        lines.push_back(address + line.substr(indent));
        if (line.ends_with(':')) open.emplace_back(indent, line.substr(indent, line.size() - indent - 1));
    }
    return lines;
}

}  // namespace

saved_simulation saved_simulation::read(std::istream& from) {
    std::string line;
    if (!std::getline(from, line) || !line.starts_with(first_words))
        throw user_error("it is no saved state of mdpcosim.");
    if (line != fmt::format("{}{}", first_words, version))
        throw user_error(fmt::format("the saved state has version '{}', this program reads version {}.",
                                     line.substr(first_words.size()), version));
    saved_simulation made;
    check_sum sum;
    while (std::getline(from, line)) {
        const std::size_t blank = line.rfind(' ');
        if (blank == std::string::npos) damaged();
        const std::string name = line.substr(0, blank), number = line.substr(blank + 1);
        if (name == "end") {
            if (number != text_of(sum)) damaged();
            return made;
        }
        if (number.empty() || number.size() > 13 || number.find_first_not_of("0123456789") != std::string::npos)
            damaged();
        const std::size_t size = std::stoull(number);
        if (size > longest_piece) damaged();
        std::vector<std::byte> bytes;
        // What is only announced takes no memory.
        constexpr std::size_t at_once = 1 << 20;
        while (bytes.size() < size) {
            const std::size_t before = bytes.size(), more = std::min(at_once, size - before);
            bytes.resize(before + more);
            if (!from.read(reinterpret_cast<char*>(bytes.data() + before), static_cast<std::streamsize>(more)))
                damaged();
        }
        sum.add(line.data(), line.size());
        sum.add(bytes.data(), bytes.size());
        made.add(name, std::move(bytes));
    }
    damaged();
}

void saved_simulation::write(std::ostream& to) const {
    check_sum sum;
    to << first_words << version << '\n';
    for (const auto& p : pieces_) {
        const std::string line = fmt::format("{} {}", p.name, p.bytes.size());
        sum.add(line.data(), line.size());
        sum.add(p.bytes.data(), p.bytes.size());
        to << line << '\n';
        to.write(reinterpret_cast<const char*>(p.bytes.data()), static_cast<std::streamsize>(p.bytes.size()));
    }
    to << "end " << text_of(sum) << '\n';
    if (!to.flush()) throw run_error("the state cannot be written: is the disk full?");
}

void saved_simulation::add(std::string name, std::vector<std::byte> bytes) {
    pieces_.push_back({std::move(name), std::move(bytes)});
}

void saved_simulation::add_text(std::string name, const std::string& text) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    add(std::move(name), {bytes, bytes + text.size()});
}

const saved_simulation::piece* saved_simulation::find(const std::string& name) const {
    const auto found = std::ranges::find(pieces_, name, &piece::name);
    return found == pieces_.end() ? nullptr : &*found;
}

const std::vector<std::byte>& saved_simulation::bytes(const std::string& name) const {
    if (const piece* p = find(name)) return p->bytes;
    throw user_error(fmt::format("the saved state has nothing about '{}'.", name));
}

std::string saved_simulation::text(const std::string& name) const {
    const auto& all = bytes(name);
    return {reinterpret_cast<const char*>(all.data()), all.size()};
}

std::string first_difference(const std::string& saved, const std::string& here) {
    if (saved == here) return {};
    const auto then = addressed_lines(saved), now = addressed_lines(here);
    const auto [a, b] = std::ranges::mismatch(then, now);
    if (a == then.end() && b == now.end()) return "they differ in blanks only";
    const auto shown = [](auto at, auto end) { return at == end ? std::string("nothing") : "'" + *at + "'"; };
    return fmt::format("saved with {}, here there is {}", shown(a, then.end()), shown(b, now.end()));
}

}  // namespace mdpcosim

#include "remote/kept_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace mdpcosim {

void kept_text::add(std::string_view more) {
    size_ += more.size();
    const std::size_t begin = std::min(more.size(), most_first - first_.size());
    first_ += more.substr(0, begin);
    more.remove_prefix(begin);
    if (more.size() > most_last) more.remove_prefix(more.size() - most_last);
    if (last_.size() + more.size() > most_last) last_.erase(0, last_.size() + more.size() - most_last);
    last_ += more;
}

std::string kept_text::text() const {
    const std::uint64_t left_out = size_ - first_.size() - last_.size();
    std::string all =
        left_out == 0 ? first_ + last_ : fmt::format("{} [{} bytes left out] {}", first_, left_out, last_);
    while (!all.empty() && std::isspace(static_cast<unsigned char>(all.back()))) all.pop_back();
    return all;
}

}  // namespace mdpcosim

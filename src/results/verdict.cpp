#include "results/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mdpcosim {

const char* name_of(trust level) {
    switch (level) {
        case trust::good:
            return "good";
        case trust::doubtful:
            return "doubtful";
        case trust::wrong:
            break;
    }
    return "wrong";
}

void verdict::add(trust how, std::string text, std::string remedy, reason::basis drawn_from) {
    level = std::max(level, how);
    const auto behind = std::ranges::find_if(reasons, [&](const reason& other) { return other.level < how; });
    reasons.insert(behind, {how, std::move(text), std::move(remedy), drawn_from});
}

void verdict::drop_guesses() {
    std::erase_if(reasons, [](const reason& r) { return r.drawn_from == reason::basis::guess; });
    for (auto& r : reasons)
        if (r.drawn_from == reason::basis::guess_with_events) r.level = std::min(r.level, trust::doubtful);
    std::ranges::stable_sort(reasons, std::ranges::greater{}, &reason::level);
    level = reasons.empty() ? trust::good : reasons.front().level;
}

std::string to_text(const verdict& v) {
    std::string out = fmt::format("verdict: {}\n", name_of(v.level));
    for (const auto& r : v.reasons) {
        out += fmt::format("  {}: {}\n", name_of(r.level), r.text);
        if (!r.remedy.empty()) out += fmt::format("    {}\n", r.remedy);
    }
    const auto guessed = [](const verdict::reason& r) { return r.drawn_from != verdict::reason::basis::fact; };
    if (v.measured) return out;
    if (v.reasons.empty())
        out += "  from this run alone; 'run --verify' measures it\n";
    else if (std::ranges::any_of(v.reasons, guessed))
        out += "    'run --verify' measures how far it is off\n";
    return out;
}

}  // namespace mdpcosim

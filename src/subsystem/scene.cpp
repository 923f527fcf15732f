#include "subsystem/scene.hpp"

#include <cctype>

namespace mdpcosim {

std::string scene_name(const std::string& output) {
    std::string name;
    for (const char c : output) {
        const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0;
        if (kept || (!name.empty() && name.back() != '_')) name += kept ? c : '_';
    }
    if (name.ends_with('_')) name.pop_back();
    return name;
}

}  // namespace mdpcosim

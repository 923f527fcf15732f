#include "engine/engine.hpp"

namespace mdpcosim {

comparison compare(const std::filesystem::path& a, const std::filesystem::path& b,
                   const std::vector<std::string>& only) {
    return compare_results(a, b, only);
}

}  // namespace mdpcosim

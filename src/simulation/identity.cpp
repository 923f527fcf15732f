#include "simulation/identity.hpp"

#include <fmt/format.h>

#include <fstream>
#include <map>

#include "archive/local_file.hpp"
#include "assembly/fingerprint.hpp"
#include "core/check_sum.hpp"

namespace mdpcosim {

namespace {

std::uint64_t sum_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    check_sum sum;
    std::vector<char> some(1 << 16);
    while (file.read(some.data(), static_cast<std::streamsize>(some.size())) || file.gcount() > 0)
        sum.add(some.data(), static_cast<std::size_t>(file.gcount()));
    return sum.value();
}

}  // namespace

std::string identity_of(scenario s, bool end_matters) {
    for (auto& entry : s.subsystems) {
        entry.scene.clear();
        entry.fmu.isolate = entry.fmu.isolate_decided = false;
        entry.fmu.isolate_because = {};
    }
    s.placement = {};
    if (!end_matters) s.time.end = s.time.start;
    return comparable_text(std::move(s));
}

std::string contents_of(const scenario& s) {
    std::map<std::filesystem::path, std::uint64_t> sums;
    std::string text;
    for (const auto& entry : s.subsystems) {
        std::vector<std::filesystem::path> paths{entry.path, entry.file.path};
        for (const auto& word : entry.program.command) paths.push_back(entry.program.folder / word);
        for (const auto& path : paths) {
            std::error_code none;
            if (path.empty() || sums.contains(path)) continue;
            const archive::local_file file(path);
            if (!std::filesystem::is_regular_file(file.path(), none)) continue;
            const std::uint64_t sum = sums.emplace(path, sum_of(file.path())).first->second;
            text += fmt::format("content of {}: {:016x}\n", path.filename().string(), sum);
        }
    }
    return text;
}

}  // namespace mdpcosim

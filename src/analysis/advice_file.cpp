#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "analysis/advice.hpp"
#include "core/error.hpp"
#include "scenario/read.hpp"

namespace mdpcosim {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream from(text);
    for (std::string line; std::getline(from, line);) lines.push_back(line);
    return lines;
}

bool begins_key(const std::string& line, const std::string& key) { return line.starts_with(key + ":"); }

/// The value behind `key` in a line, up to a comment, or in braces to the next `,` or `}`.
bool replace_value(std::string& line, std::size_t from, const std::string& key, const std::string& value,
                   const char* ends) {
    const std::size_t at = line.find(key + ":", from);
    if (at == std::string::npos) return false;
    std::size_t begin = line.find_first_not_of(' ', at + key.size() + 1);
    if (begin == std::string::npos) begin = line.size();
    std::size_t end = line.find_first_of(ends, begin);
    if (end == std::string::npos) end = line.size();
    while (end > begin && line[end - 1] == ' ') --end;
    line.replace(begin, end - begin, (begin == at + key.size() + 1 ? " " : "") + value);
    return true;
}

void put_step(std::vector<std::string>& lines, const std::string& step) {
    for (std::size_t k = 0; k < lines.size(); ++k) {
        if (!begins_key(lines[k], "time")) continue;
        if (replace_value(lines[k], 0, "step", step, ",}")) return;
        for (std::size_t inner = k + 1; inner < lines.size() && lines[inner].starts_with(' '); ++inner)
            if (lines[inner].find_first_not_of(' ') == lines[inner].find("step:") &&
                replace_value(lines[inner], 0, "step", step, "#"))
                return;
    }
}

void put_name(std::vector<std::string>& lines, const std::string& key, const std::string& name) {
    for (std::string& line : lines)
        if (begins_key(line, key)) {
            replace_value(line, 0, key, name, "#");
            return;
        }
    for (std::size_t k = 0; k < lines.size(); ++k) {
        if (!begins_key(lines[k], "time")) continue;
        std::size_t behind = k + 1;
        while (behind < lines.size() && lines[behind].starts_with(' ')) ++behind;
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(behind), key + ": " + name);
        return;
    }
}

}  // namespace

std::string with_advice(const std::string& text, const std::filesystem::path& path, const advice& found) {
    if (!found.recommended) throw user_error(fmt::format("--write: there is nothing to write: {}.", found.reason));
    const advised_choice& best = found.found[*found.recommended];
    const std::string step = fmt::format("{:.4g} s", best.step());
    std::vector<std::string> lines = lines_of(text);
    put_step(lines, step);
    put_name(lines, "method", best.method);
    if (!best.extrapolation.empty()) put_name(lines, "extrapolation", best.extrapolation);
    std::string written =
        fmt::format("# mdpcosim advise: {}{}{}, macro step {}; stable to {:.4g} s. {}.\n", best.method,
                    best.extrapolation.empty() ? "" : " ", best.extrapolation, step, best.stable_step(), found.reason);
    for (const std::string& line : lines) written += line + "\n";
    // What was meant is what a reader sees, or nothing is written.
    std::string problem;
    try {
        const scenario read = read_scenario_text(written, path.string(), path.parent_path());
        const bool same = std::fabs(read.time.step / best.step() - 1) < 1e-3 &&
                          (read.method.value.empty() ? default_method : read.method.value) == best.method &&
                          (best.extrapolation.empty() || read.extrapolation.name.value == best.extrapolation);
        if (!same) problem = "its keys stand where they are not found";
    } catch (const user_error& why) {
        problem = why.what();
    }
    if (!problem.empty())
        throw user_error(
            fmt::format("{}: the advice cannot be put in ({}). Write 'step: {}' in 'time', 'method: {}'{} yourself.",
                        path.string(), problem, step, best.method,
                        best.extrapolation.empty() ? "" : fmt::format(" and 'extrapolation: {}'", best.extrapolation)));
    return written;
}

}  // namespace mdpcosim

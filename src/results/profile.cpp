#include "results/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "core/json.hpp"

namespace mdpcosim {

std::string to_trace_json(std::span<const profile_log> logs, const std::vector<std::string>& subsystems) {
    const auto quoted = [](const std::string& text) { return json(text).dump(); };
    std::vector<std::string> names;
    for (const auto& name : subsystems) names.push_back(quoted(name));
    std::string out = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
    auto at = std::back_inserter(out);
    double zero = std::numeric_limits<double>::infinity();
    for (const auto& log : logs)
        for (const auto& e : log.events()) zero = std::min(zero, e.begin);
    for (std::size_t worker = 0; worker < logs.size(); ++worker)
        fmt::format_to(at,
                       "{{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": {}, \"args\": {{\"name\": "
                       "\"worker {}\"}}}},\n",
                       worker, worker);
    for (const auto& log : logs)
        for (const auto& e : log.events())
            fmt::format_to(at,
                           "{{\"ph\": \"X\", \"name\": {}, \"pid\": 1, \"tid\": {}, \"ts\": {:.3f}, \"dur\": {:.3f}, "
                           "\"args\": {{\"step\": {}}}}},\n",
                           e.subsystem < 0 ? "\"macro step\"" : names[static_cast<std::size_t>(e.subsystem)], e.worker,
                           1e6 * (e.begin - zero), 1e6 * (e.end - e.begin), e.step);
    if (out.ends_with(",\n")) out.resize(out.size() - 2);
    return out + "\n]}\n";
}

}  // namespace mdpcosim

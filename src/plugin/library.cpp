#include "plugin/library.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <stdexcept>

#include "core/foreign_call.hpp"
#include "core/shared_library.hpp"

namespace mdpcosim {

namespace {

constexpr const char* entry_name = "mdpcosim_plugin_entry";

/// Loaded libraries by handle: dlopen() knows by itself whether two paths lead to the same file.
const plugin_model& open(const std::filesystem::path& path) {
    // Never destroyed: who ends with the program may still use them.
    static auto& mutex = *new std::mutex;
    static auto& loaded = *new std::map<void*, plugin_model>;
    const std::scoped_lock lock(mutex);
    void* library = open_shared_library(path);
    if (const auto known = loaded.find(library); known != loaded.end()) return known->second;
    const auto entry = reinterpret_cast<decltype(&mdpcosim_plugin_entry)>(find_symbol(library, entry_name));
    if (entry == nullptr)
        throw std::invalid_argument(
            fmt::format("it has no function '{}'. A plugin exports it as mdpcosim/plugin.h says (in C++ as "
                        "extern \"C\").",
                        entry_name));
    watch_exit();
    plugin_model model = read_plugin_table(entry(MDPCOSIM_PLUGIN_VERSION), path.filename().string());
    return loaded.emplace(library, std::move(model)).first->second;
}

}  // namespace

const plugin_model& load_plugin(const subsystem_spec& spec) {
    const std::filesystem::path path = std::filesystem::absolute(spec.path).lexically_normal();
    const std::string file = path.filename().string();
    const auto fail = [&](const std::string& problem) {
        throw user_error(spec.source.where, fmt::format("subsystem '{}': plugin '{}': {}", spec.name, file, problem));
    };
    const foreign_code code("plugin", spec.name, file);
    const foreign_scope call(code, no_time, "its start (initialisers or mdpcosim_plugin_entry)");
    try {
        return open(path);
    } catch (const std::exception& problem) {
        fail(problem.what());
    } catch (...) {
        fail("an exception of unknown type left its start.");
    }
    throw std::logic_error("not reached");
}

}  // namespace mdpcosim

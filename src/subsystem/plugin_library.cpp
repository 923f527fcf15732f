#include "subsystem/plugin_library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <stdexcept>

#include "subsystem/plugin_guard.hpp"

namespace mdpcosim {

namespace {

constexpr const char* entry_name = "mdpcosim_plugin_entry";

/// What the first bytes of an ELF file say: the same in 32-bit and 64-bit files.
struct elf_start {
    unsigned char ident[EI_NIDENT] = {};
    std::uint16_t type = 0;
    std::uint16_t machine = 0;
};

bool read_start(const std::filesystem::path& path, elf_start& start) {
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(&start), sizeof start);
    return in.gcount() == sizeof start && std::memcmp(start.ident, ELFMAG, SELFMAG) == 0;
}

std::string machine_name(const elf_start& start) {
    static const std::map<int, const char*> names{{EM_386, "x86"},         {EM_X86_64, "x86-64"}, {EM_ARM, "arm"},
                                                  {EM_AARCH64, "aarch64"}, {EM_RISCV, "riscv"},   {EM_PPC64, "ppc64"}};
    const auto known = names.find(start.machine);
    const std::string name = known == names.end() ? fmt::format("machine {}", start.machine) : known->second;
    return fmt::format("{} ({} bits)", name, start.ident[EI_CLASS] == ELFCLASS32 ? 32 : 64);
}

/// The loader's own words for the following are hard to understand ("invalid ELF header", "no such file").
void check_file(const std::filesystem::path& path) {
    std::error_code status;
    if (!std::filesystem::exists(path, status))
        throw std::invalid_argument(fmt::format("the file '{}' does not exist.", path.string()));
    if (!std::filesystem::is_regular_file(path, status))
        throw std::invalid_argument(fmt::format("'{}' is not a file.", path.string()));
    if (!std::ifstream(path, std::ios::binary))
        throw std::invalid_argument(
            fmt::format("the file '{}' cannot be read ({}).", path.string(), std::strerror(errno)));
    elf_start file, own;
    if (!read_start(path, file))
        throw std::invalid_argument(
            fmt::format("'{}' is not a shared library. Build it with -shared -fPIC.", path.string()));
    if (read_start("/proc/self/exe", own) &&
        (file.machine != own.machine || file.ident[EI_CLASS] != own.ident[EI_CLASS] ||
         file.ident[EI_DATA] != own.ident[EI_DATA]))
        throw std::invalid_argument(fmt::format("'{}' is made for {}, but this mdpcosim runs on {}.", path.string(),
                                                machine_name(file), machine_name(own)));
    if (file.type != ET_DYN)
        throw std::invalid_argument(fmt::format(
            "'{}' is an object file or a program, not a shared library. Build it with -shared -fPIC.", path.string()));
}

/// The text of dlerror() without the path it starts with, which our message has already.
std::string loader_error(const std::filesystem::path& path) {
    const char* text = ::dlerror();
    std::string message = text == nullptr ? "unknown reason" : text;
    if (const std::string prefix = path.string() + ": "; message.starts_with(prefix)) message.erase(0, prefix.size());
    return message;
}

/// Loaded libraries by handle: dlopen() knows by itself whether two paths lead to the same file.
const plugin_model& open(const std::filesystem::path& path) {
    static std::mutex mutex;
    static std::map<void*, plugin_model> loaded;
    const std::scoped_lock lock(mutex);
    check_file(path);
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
        throw std::invalid_argument(fmt::format("'{}' cannot be loaded: {}.", path.string(), loader_error(path)));
    if (const auto known = loaded.find(library); known != loaded.end()) return known->second;
    const auto entry = reinterpret_cast<decltype(&mdpcosim_plugin_entry)>(::dlsym(library, entry_name));
    if (entry == nullptr)
        throw std::invalid_argument(
            fmt::format("it has no function '{}'. A plugin exports it as mdpcosim/plugin.h says (in C++ as "
                        "extern \"C\").",
                        entry_name));
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
    const crash_watch watch;
    const plugin_caller caller{spec.name.c_str(), file.c_str()};
    const plugin_call call(caller, "its start (initialisers or mdpcosim_plugin_entry)");
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

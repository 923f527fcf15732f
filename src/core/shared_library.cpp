#include "core/shared_library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mdpcosim {

namespace {

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

/// A library that was cut off loads, and crashes at the first touch of what is missing. For files of this machine.
bool is_complete(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    ElfW(Ehdr) header{};
    if (!in.read(reinterpret_cast<char*>(&header), sizeof header) || header.e_phentsize != sizeof(ElfW(Phdr)))
        return false;
    const std::uintmax_t size = std::filesystem::file_size(path);
    for (int i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) segment{};
        in.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
        if (!in.read(reinterpret_cast<char*>(&segment), sizeof segment)) return false;
        if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset) return false;
    }
    return true;
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
    if (!is_complete(path))
        throw std::invalid_argument(fmt::format("'{}' is damaged: parts of the library are missing.", path.string()));
}

/// The libraries that a file of this machine names as needed.
std::vector<std::string> needed_libraries(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const auto read = [&](std::uint64_t at, auto& into) {
        in.clear();
        in.seekg(static_cast<std::streamoff>(at));
        return static_cast<bool>(in.read(reinterpret_cast<char*>(&into), sizeof into));
    };
    std::vector<ElfW(Phdr)> segments;
    ElfW(Ehdr) header{};
    if (!read(0, header)) return {};
    for (std::size_t i = 0; i < header.e_phnum; ++i)
        if (!read(header.e_phoff + i * sizeof(ElfW(Phdr)), segments.emplace_back())) return {};
    std::vector<std::uint64_t> names;
    std::uint64_t table = 0;
    for (const auto& s : segments) {
        if (s.p_type != PT_DYNAMIC) continue;
        ElfW(Dyn) entry{};
        for (std::uint64_t at = s.p_offset; at + sizeof entry <= s.p_offset + s.p_filesz; at += sizeof entry) {
            if (!read(at, entry) || entry.d_tag == DT_NULL) break;
            if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
            if (entry.d_tag == DT_STRTAB) table = entry.d_un.d_ptr;
        }
    }
    std::vector<std::string> found;
    for (const auto& s : segments) {
        if (s.p_type != PT_LOAD || table < s.p_vaddr || table - s.p_vaddr >= s.p_filesz) continue;
        for (const std::uint64_t name : names) {
            in.clear();
            in.seekg(static_cast<std::streamoff>(s.p_offset + table - s.p_vaddr + name));
            std::getline(in, found.emplace_back(), '\0');
        }
    }
    return found;
}

bool needs_cpp_runtime(const std::filesystem::path& path) {
    std::error_code ignored;
    for (const auto& file : std::filesystem::directory_iterator(path.parent_path(), ignored)) {
        elf_start start;
        if (!file.is_regular_file(ignored) || !read_start(file.path(), start)) continue;
        for (const std::string& name : needed_libraries(file.path()))
            if (name.starts_with("libstdc++") || name.starts_with("libc++")) return true;
    }
    return false;
}

// Sanitizers want to see every call of their functions.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool can_bind_own_first = false;
#else
constexpr bool can_bind_own_first = true;
#endif

/// The text of dlerror() without the path it starts with, which our message has already.
std::string loader_error(const std::filesystem::path& path) {
    const char* text = ::dlerror();
    std::string message = text == nullptr ? "unknown reason" : text;
    if (const std::string prefix = path.string() + ": "; message.starts_with(prefix)) message.erase(0, prefix.size());
    return message;
}

/// For a library that this one needs and the machine does not have: "libgfortran.so.3: cannot open shared object file: ...".
std::string way_out(const std::string& error) {
    const std::size_t end = error.find(": cannot open shared object file");
    if (end == std::string::npos) return "";
    return fmt::format(" It needs {0}: install what brings it, or name the folder that has it in LD_LIBRARY_PATH.",
                       error.substr(0, end));
}

std::function<void()>& first_library() {
    static std::function<void()> prepare;
    return prepare;
}

}  // namespace

void before_first_library(std::function<void()> prepare) { first_library() = std::move(prepare); }

void* open_shared_library(const std::filesystem::path& path, bool own_first) {
    check_file(path);
    const bool deep = own_first && can_bind_own_first && !needs_cpp_runtime(path);
    if (const auto prepare = std::exchange(first_library(), {})) prepare();
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | (deep ? RTLD_DEEPBIND : 0));
    if (library == nullptr) {
        const std::string error = loader_error(path);
        throw std::invalid_argument(fmt::format("'{}' cannot be loaded: {}.{}", path.string(), error, way_out(error)));
    }
    return library;
}

void* find_symbol(void* library, const char* name) { return ::dlsym(library, name); }

std::vector<std::filesystem::path> own_folders() {
    namespace fs = std::filesystem;
    std::error_code problem;
    std::vector<fs::path> folders;
    const auto add = [&](const fs::path& file) {
        if (file.is_absolute() && std::ranges::find(folders, file.parent_path()) == folders.end())
            folders.push_back(file.parent_path());
    };
    add(fs::read_symlink("/proc/self/exe", problem));
    // Where this is no library but the program itself, the name that it was called by would be looked for in the working folder.
    Dl_info here{};
    link_map* library = nullptr;
    if (dladdr1(reinterpret_cast<const void*>(&own_folders), &here, reinterpret_cast<void**>(&library),
                RTLD_DL_LINKMAP) != 0 &&
        library != nullptr && library->l_name != nullptr && *library->l_name != '\0')
        add(fs::canonical(library->l_name, problem));
    return folders;
}

}  // namespace mdpcosim

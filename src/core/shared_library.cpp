#include "core/shared_library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>

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

/// The text of dlerror() without the path it starts with, which our message has already.
std::string loader_error(const std::filesystem::path& path) {
    const char* text = ::dlerror();
    std::string message = text == nullptr ? "unknown reason" : text;
    if (const std::string prefix = path.string() + ": "; message.starts_with(prefix)) message.erase(0, prefix.size());
    return message;
}

}  // namespace

void* open_shared_library(const std::filesystem::path& path) {
    check_file(path);
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
        throw std::invalid_argument(fmt::format("'{}' cannot be loaded: {}.", path.string(), loader_error(path)));
    return library;
}

void* find_symbol(void* library, const char* name) { return ::dlsym(library, name); }

}  // namespace mdpcosim

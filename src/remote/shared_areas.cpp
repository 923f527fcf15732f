#include "remote/shared_areas.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace mdpcosim {

file_handle make_shared_file(const std::string& subsystem) {
    file_handle file(memfd_create("mdpcosim-subsystems", MFD_CLOEXEC));
    if (file.get() < 0)
        throw user_error(fmt::format(
            "subsystem '{}': no memory that a process can share with it: {}. Allow the system call memfd_create "
            "(a container or sandbox may forbid it), or take --transport tcp.",
            subsystem, std::strerror(errno)));
    return file;
}

void* map_areas(const file_handle& file, std::size_t size) {
    void* mapped = MAP_FAILED;
    if (ftruncate(file.get(), static_cast<off_t>(size)) == 0)
        mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (mapped == MAP_FAILED)
        throw run_error(fmt::format("no shared memory of {} bytes: {}", size, std::strerror(errno)));
    return mapped;
}

}  // namespace mdpcosim

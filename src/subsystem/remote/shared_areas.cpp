#include "subsystem/remote/shared_areas.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace mdpcosim {

file_handle make_shared_file() {
    file_handle file(memfd_create("mdpcosim-subsystems", MFD_CLOEXEC));
    if (file.get() < 0) throw run_error(fmt::format("no shared memory: {}", std::strerror(errno)));
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

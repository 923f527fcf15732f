#include "support/allocation_counter.hpp"

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define MDPCOSIM_COUNTS 0
#else
#define MDPCOSIM_COUNTS 1
#endif

namespace {

thread_local std::int64_t allocations = 0;

}  // namespace

#if MDPCOSIM_COUNTS
// A program's own malloc comes before that of the C library, for shared libraries too.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);

void* malloc(std::size_t size) {
    ++allocations;
    return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
    ++allocations;
    return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
    ++allocations;
    return __libc_realloc(old, size);
}
}
#endif

namespace mdpcosim::test {

bool allocations_are_counted() { return MDPCOSIM_COUNTS; }

std::int64_t allocation_counter::total() { return allocations; }

}  // namespace mdpcosim::test

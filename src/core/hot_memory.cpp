#include "core/hot_memory.hpp"

#include <atomic>
#include <cstdint>
#include <new>

namespace mdpcosim {

namespace {

constexpr std::size_t hot_line = 64, hot_block_size = std::size_t{1} << 16;
constexpr std::size_t largest_hot = 1024;  // who is larger has lines enough of its own

/// Begins at a multiple of its size, so that every object in it finds it.
struct hot_block {
    std::atomic<std::size_t> users{1};  ///< objects, and the thread that fills it
    std::size_t used = hot_line;

    void leave() {
        if (users.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
        this->~hot_block();
        ::operator delete (this, std::align_val_t{hot_block_size});
    }
};
static_assert(sizeof(hot_block) <= hot_line);

/// What a thread fills.
struct filled_hot_block {
    hot_block* block = nullptr;
    ~filled_hot_block() {
        if (block != nullptr) block->leave();
    }
};
thread_local filled_hot_block filled_here;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool one_by_one = true;  // objects that lie side by side hide where one is overrun
#else
constexpr bool one_by_one = false;
#endif

bool lies_apart(std::size_t size) { return one_by_one || size > largest_hot; }

}  // namespace

void* in_hot_memory::operator new(std::size_t size) {
    if (lies_apart(size)) return ::operator new (size, std::align_val_t{hot_line});
    const std::size_t whole = (size + hot_line - 1) / hot_line * hot_line;
    if (filled_here.block == nullptr || filled_here.block->used + whole > hot_block_size) {
        hot_block* const fresh = ::new (::operator new (hot_block_size, std::align_val_t{hot_block_size})) hot_block;
        if (filled_here.block != nullptr) filled_here.block->leave();
        filled_here.block = fresh;
    }
    hot_block& here = *filled_here.block;
    here.users.fetch_add(1, std::memory_order_relaxed);
    void* const object = reinterpret_cast<std::byte*>(&here) + here.used;
    here.used += whole;
    return object;
}

void in_hot_memory::operator delete(void* object, std::size_t size) noexcept {
    if (object == nullptr) return;
    if (lies_apart(size)) return ::operator delete (object, std::align_val_t{hot_line});
    reinterpret_cast<hot_block*>(reinterpret_cast<std::uintptr_t>(object) / hot_block_size * hot_block_size)->leave();
}

}  // namespace mdpcosim

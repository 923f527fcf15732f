#pragma once

#include <cstddef>
#include <new>

namespace mdpcosim {

/// Base of objects that a macro step needs from every subsystem: what is made one after the other lies one after the other, in whole lines of
/// the cache, without the names and descriptions that are made between. A large system then needs fewer lines and fewer pages in each step, and
/// the processor sees the next ones coming; and threads never write to the same line. Memory comes back block by block, when all objects of a
/// block are gone. Objects may be deleted by another thread than has made them.
class in_hot_memory {
   public:
    static void* operator new(std::size_t size) { return take(size, 1); }
    static void* operator new(std::size_t size, std::align_val_t alignment) {
        return take(size, static_cast<std::size_t>(alignment));
    }
    static void operator delete(void* object, std::size_t size) noexcept { give_back(object, size, 1); }
    static void operator delete(void* object, std::size_t size, std::align_val_t alignment) noexcept {
        give_back(object, size, static_cast<std::size_t>(alignment));
    }

   private:
    static void* take(std::size_t size, std::size_t alignment);
    static void give_back(void* object, std::size_t size, std::size_t alignment) noexcept;
};

}  // namespace mdpcosim

#pragma once

#include <cstddef>

namespace mdpcosim {

/// Base of objects that a macro step needs from every subsystem: what is made one after the other lies one after the other, in whole lines of
/// the cache, without the names and descriptions that are made between. A large system then needs fewer lines and fewer pages in each step, and
/// the processor sees the next ones coming; and threads never write to the same line. Memory comes back block by block, when all objects of a
/// block are gone. Objects may be deleted by another thread than has made them. All begin at lines of the cache, with alignments up to 64: a delete
/// for alignments would not be called where a constructor throws.
class in_hot_memory {
   public:
    static void* operator new(std::size_t size);
    static void operator delete(void* object, std::size_t size) noexcept;
};

}  // namespace mdpcosim

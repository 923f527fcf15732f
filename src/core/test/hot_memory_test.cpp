#include "core/hot_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

namespace mdpcosim {

namespace {

struct alignas(64) lined : in_hot_memory {
    explicit lined(bool refuse = false) {
        if (refuse) throw std::runtime_error("no");
    }
    virtual ~lined() = default;
    double value = 0;
};

struct small : in_hot_memory {
    virtual ~small() = default;
    double values[3] = {};
};

std::uintptr_t place_of(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

TEST(hot_memory, objects_begin_at_lines_of_the_cache) {
    std::vector<std::unique_ptr<lined>> aligned;
    std::vector<std::unique_ptr<small>> others;
    for (int k = 0; k < 3000; ++k) {
        aligned.push_back(std::make_unique<lined>());
        others.push_back(std::make_unique<small>());
        EXPECT_EQ(place_of(aligned.back().get()) % 64, 0U);
        EXPECT_EQ(place_of(others.back().get()) % 64, 0U);
    }
}

#if !defined(__SANITIZE_ADDRESS__)
/// Where the sanitizer does not keep them apart.
TEST(hot_memory, neighbours_lie_side_by_side) {
    const auto a = std::make_unique<small>(), b = std::make_unique<small>(), c = std::make_unique<small>();
    // One of them may be the first of a block.
    EXPECT_TRUE(place_of(b.get()) - place_of(a.get()) == 64 || place_of(c.get()) - place_of(b.get()) == 64);
}
#endif

TEST(hot_memory, constructors_that_throw_leave_nothing) {
    for (int k = 0; k < 2000; ++k)  // the sanitized run looks for leaks
        EXPECT_THROW(std::make_unique<lined>(true), std::runtime_error);
}

}  // namespace

}  // namespace mdpcosim

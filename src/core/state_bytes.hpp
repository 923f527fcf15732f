#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

/// The state of an object as bytes: written to be put back later, in this process or another one on a machine of the same kind.
///
/// A class with a state has one function that lists it, `void state(state_bytes& bytes) { bytes(x_, history_, count_); }`; it serves both
/// ways. Only what changes from step to step belongs there, not what follows from how the object was built. Written again into the same
/// object nothing allocates.
namespace mdpcosim {

/// The bytes do not belong to what they are put into.
class state_mismatch : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
};

class state_bytes {
   public:
    /// Everything from now on is written, from the beginning.
    void write() {
        bytes_.clear();
        reading_ = false;
    }
    /// Everything from now on is read, from the beginning. In the end finish() makes sure that nothing is left.
    void read() {
        at_ = 0;
        reading_ = true;
    }
    void finish() const {
        if (reading_ && at_ != bytes_.size())
            throw state_mismatch("the saved state is longer than what it is put into");
    }
    bool reading() const { return reading_; }
    /// While reading: how many are left.
    std::size_t left() const { return bytes_.size() - at_; }
    std::vector<std::byte>& bytes() { return bytes_; }
    const std::vector<std::byte>& bytes() const { return bytes_; }

    template <class... Values>
    void operator()(Values&... values) {
        (one(values), ...);
    }
    /// A vector whose length follows from how its owner was built.
    template <class T>
    void fixed(std::vector<T>& values) {
        const std::size_t there = values.size();
        one(values);
        if (values.size() != there) mismatch(values.size(), there);
    }
    /// Plain memory.
    void raw(void* data, std::size_t size) {
        if (size == 0) return;
        if (reading_) {
            if (bytes_.size() - at_ < size) throw state_mismatch("the saved state is shorter than what it is put into");
            std::memcpy(data, bytes_.data() + at_, size);
            at_ += size;
            return;
        }
        const std::size_t before = bytes_.size();
        bytes_.resize(before + size);
        std::memcpy(bytes_.data() + before, data, size);
    }

   private:
    template <class T>
    void one(T& value) {
        if constexpr (requires { value.state(*this); })
            value.state(*this);
        else
            plain(value);
    }
    template <class T>
    void plain(T& value) {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>, "give the class a function state()");
        raw(&value, sizeof value);
    }
    template <class T, std::size_t n>
    void plain(std::array<T, n>& values) {
        for (T& value : values) one(value);
    }
    void plain(std::string& text) { sequence(text); }
    template <class T>
    void plain(std::vector<T>& values) {
        if constexpr (std::is_trivially_copyable_v<T>) {
            sequence(values);
        } else {
            auto count = static_cast<std::uint64_t>(values.size());
            raw(&count, sizeof count);
            if (count != values.size()) mismatch(count, values.size());
            for (T& value : values) one(value);
        }
    }
    template <class T>
    void plain(std::optional<T>& value) {
        bool given = value.has_value();
        raw(&given, sizeof given);
        if (reading_ && given != value.has_value()) {
            if (given)
                value.emplace();
            else
                value.reset();
        }
        if (value) one(*value);
    }
    /// Grows and shrinks with what is read.
    template <class Sequence>
    void sequence(Sequence& values) {
        auto count = static_cast<std::uint64_t>(values.size());
        raw(&count, sizeof count);
        if (reading_) {
            if (count > (bytes_.size() - at_) / sizeof(values[0])) mismatch(count, values.size());
            values.resize(static_cast<std::size_t>(count));
        }
        raw(values.data(), values.size() * sizeof(values[0]));
    }
    [[noreturn]] static void mismatch(std::uint64_t saved, std::uint64_t there) {
        throw state_mismatch("the saved state has " + std::to_string(saved) + " elements where there are " +
                             std::to_string(there));
    }

    std::vector<std::byte> bytes_;
    std::size_t at_ = 0;
    bool reading_ = false;
};

}  // namespace mdpcosim

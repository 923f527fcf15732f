#pragma once

#include <unistd.h>

#include <utility>

namespace mdpcosim {

/// A file descriptor that is closed in the end.
class file_handle {
   public:
    explicit file_handle(int file = -1) : file_(file) {}
    file_handle(file_handle&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    file_handle& operator=(file_handle&& other) noexcept {
        std::swap(file_, other.file_);
        return *this;
    }
    ~file_handle() { close(); }

    int get() const { return file_; }
    void close() {
        if (file_ >= 0) ::close(std::exchange(file_, -1));
    }

   private:
    int file_;
};

}  // namespace mdpcosim

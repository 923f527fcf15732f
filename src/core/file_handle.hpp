#pragma once

#include <fcntl.h>
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

/// The same file under a number above the three that every program has, which a caller may have closed: what a new process gets
/// there would be overwritten by its standard output. None stays none.
inline file_handle above_standard(file_handle file) {
    if (file.get() < 0 || file.get() > STDERR_FILENO) return file;
    return file_handle(fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/// Gives standard input, output and error to the null device where the caller of this program has closed them: the next file that is
/// opened would get such a number, and messages with it.
inline void occupy_standard_files() {
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; ++file)
        if (fcntl(file, F_GETFD) < 0 && open("/dev/null", file == STDIN_FILENO ? O_RDONLY : O_WRONLY) < 0) return;
}

}  // namespace mdpcosim

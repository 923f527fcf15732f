#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <stdexcept>

namespace mdpcosim::test {

/// As long as it lives no file can grow beyond so many bytes: what writes finds a full disk, nearly.
class largest_file {
   public:
    explicit largest_file(rlim_t bytes) : before_(::signal(SIGXFSZ, SIG_IGN)) {
        if (::getrlimit(RLIMIT_FSIZE, &limit_) != 0) throw std::runtime_error("no limit");
        const rlimit now{bytes, limit_.rlim_max};
        if (::setrlimit(RLIMIT_FSIZE, &now) != 0) throw std::runtime_error("no limit");
    }
    largest_file(const largest_file&) = delete;
    largest_file& operator=(const largest_file&) = delete;
    ~largest_file() {
        ::setrlimit(RLIMIT_FSIZE, &limit_);
        ::signal(SIGXFSZ, before_);
    }

   private:
    void (*before_)(int);
    rlimit limit_{};
};

}  // namespace mdpcosim::test

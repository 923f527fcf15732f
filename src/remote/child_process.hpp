#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "core/file_handle.hpp"

namespace mdpcosim {

/// A process that this one starts and that ends with it. What it writes to standard output and error is kept.
class child_process {
   public:
    /// A copy of this process, which should have no other threads yet; it does `live` and ends.
    explicit child_process(const std::function<void()>& live);

    struct program {
        std::vector<std::string> command;      ///< the file and its arguments
        std::vector<std::string> environment;  ///< "NAME=value", before this process's own
        std::string folder;                    ///< where it runs; empty: here
        std::vector<int> files;                ///< descriptors that stay open in it, under the same numbers
    };
    /// Another program, without input, with all that it starts in a process group that ends with it. Throws user_error with the
    /// system's reason where it cannot be started.
    explicit child_process(const program& what);

    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    /// Kills it if it still runs, and waits for its end.
    ~child_process();

    pid_t id() const { return process_; }
    /// How it ended, "was killed by signal 9 (Killed)"; empty while it runs, which is watched for that long.
    std::string ended(double seconds = 0);
    /// The same, however long it takes.
    std::string wait();
    /// It has ended by itself with status 0.
    bool succeeded() const { return succeeded_; }
    void kill() noexcept;
    /// Waits for its end at most that long, then kills it.
    void finish(double seconds) noexcept;
    /// The end of what it wrote, without trailing blanks.
    std::string last_text() const;
    /// That to our standard error, line by line under `name`.
    void show_text(const std::string& name) const;

   private:
    void start(const std::function<void()>& live);
    bool reap(int options);

    file_handle text_;
    pid_t process_ = -1;
    bool leads_group_ = false;
    std::string end_;
    bool succeeded_ = false;
};

}  // namespace mdpcosim

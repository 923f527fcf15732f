#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "core/file_handle.hpp"
#include "core/messages.hpp"
#include "core/process_limits.hpp"
#include "remote/kept_text.hpp"

namespace mdpcosim {

/// Another program that this process starts and that ends with it, also where this one is killed, and with all that it starts itself,
/// unless that leaves its process group. It can be started at any time, by any thread, whichever others there are, and lives on when
/// that thread ends. Of what it writes to standard output and error the begin and the end are kept; who writes more than a pipe holds
/// waits until this process looks after it (ended(), wait(), last_text()).
class child_process {
   public:
    struct program {
        std::vector<std::string> command;           ///< the file and its arguments
        std::vector<std::string> environment = {};  ///< "NAME=value", before this process's own
        std::string folder = {};                    ///< where it runs; empty: here
        /// Descriptors that stay open in it, under the same numbers. Of all others it gets only standard input (nothing to read),
        /// output and error, and one more that tells it of this process's end.
        std::vector<int> files = {};
        std::string title = {};  ///< what it sees as its own name in place of the file; empty: the file
        /// A subsystem's: it cannot gain rights by what it executes, and has these limits. A host applies `compute_only`
        /// itself.
        bool subsystem = false;
        process_limits limits = {};
    };
    /// Without input. Throws user_error with the system's reason where it cannot be started.
    explicit child_process(const program& started);

    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    /// Kills it if it still runs, and waits for its end.
    ~child_process();

    /// What processes that were killed have unpacked into the temporary folder.
    static void remove_left_folders();

    pid_t id() const { return process_; }
    /// How it ended, "was killed by signal 9 (Killed)"; empty while it runs, which is watched for that long.
    std::string ended(double seconds = 0);
    /// The same, however long it takes.
    std::string wait();
    /// It has ended by itself with status 0.
    bool succeeded() const { return succeeded_; }
    void kill() noexcept;
    /// Takes what it has written by now, so that it can go on.
    void collect() const noexcept;
    /// Waits for its end at most that long, then kills it.
    void finish(double seconds) noexcept;
    /// The begin and the end of what it wrote, without trailing blanks.
    std::string last_text() const;
    /// Tells that, line by line under `name`.
    void show_text(const std::string& name) const;

   private:
    bool reap(int options);
    std::string end_of(int status, double cpu_seconds) const;

    file_handle output_;
    mutable kept_text text_;
    process_limits limits_;
    file_handle lifeline_;  ///< closed by the system when this process ends, which ends the other one
    pid_t process_ = -1;
    std::string end_;
    bool succeeded_ = false;
    messages messages_;
};

}  // namespace mdpcosim

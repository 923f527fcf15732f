#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/file_handle.hpp"
#include "subsystem/subsystem.hpp"

/// Subsystems in a process of their own, seen from the process that uses them.
///
/// The new process is a copy of this one, which should have no other threads yet; there the subsystems are made. The two share
/// memory without a name, and the new process ends with this one: nothing is left behind, however either ends.
///
/// Call order: introduce() once, then any number of times post() and wait(). Between the two the subsystems work, and their
/// exchange areas belong to the other process.
namespace mdpcosim {

struct process_options {
    std::string name;  ///< of the subsystem or group, before every line that the process wrote
    double limit = 0;  ///< s of wall time that one request may take; 0: any time
    bool spin = true;  ///< every party has a core of its own
};

enum class process_command { initialise, outputs, advance, make_snapshot, save, restore, statistics, quit };

struct process_request {
    process_command what = process_command::quit;
    int subsystem = -1;  ///< -1: all of the process
    double t0 = 0;       ///< of initialise
    macro_step step{};   ///< of advance
    int snapshot = 0;    ///< number of the snapshot
    bool timed = false;  ///< times() are wanted
};

class subsystem_process {
   public:
    using factory = std::function<std::unique_ptr<subsystem>()>;

    subsystem_process(const process_options& how, std::vector<factory> make);
    subsystem_process(const subsystem_process&) = delete;
    subsystem_process& operator=(const subsystem_process&) = delete;
    ~subsystem_process();

    /// Waits until the subsystems are made. A user_error or run_error of a factory arrives here as what it is.
    void introduce();

    std::size_t size() const { return members_.size(); }
    const subsystem_description& describe(std::size_t i) const { return members_[i].description; }
    const capabilities& offers(std::size_t i) const { return members_[i].offers; }

    std::span<polynomial> polynomials(std::size_t i);  ///< inputs of advance
    std::span<double> inputs(std::size_t i);           ///< input values of outputs
    std::span<double> outputs(std::size_t i);
    const subsystem_statistics& statistics(std::size_t i) const;
    struct time_span {
        double begin = 0, end = 0;  ///< of the steady clock, s
    };
    time_span times(std::size_t i) const;  ///< of the last timed request

    void post(const process_request& request);
    /// Throws run_error when a subsystem fails (which_failed() says which) or the process is gone or hangs: then with the
    /// reason and the end of what it wrote to standard output and error.
    void wait();
    void call(const process_request& request) {
        post(request);
        wait();
    }
    int which_failed() const { return failed_; }
    bool gone() const { return gone_; }

   private:
    struct member {
        subsystem_description description;
        capabilities offers;
        std::size_t polynomials = 0, inputs = 0, outputs = 0;  ///< places in the shared memory
    };
    struct shared;  ///< the head of the shared memory
    class host;

    std::size_t lay_out();
    [[noreturn]] void live(int answer, pid_t parent);
    void map();
    void wait_patiently();
    [[noreturn]] void give_up(const std::string& reason);
    std::string ended();
    std::string last_text() const;
    void end();

    std::string name_;
    double limit_;
    bool spin_;
    std::vector<factory> make_;
    std::vector<member> members_;
    file_handle text_, memory_file_, answer_;
    pid_t process_ = -1;
    shared* memory_ = nullptr;
    std::size_t memory_size_ = 0;
    std::uint32_t round_ = 0;
    process_command asked_ = process_command::quit;
    int failed_ = -1;
    bool gone_ = false;
    std::string why_gone_;
};

}  // namespace mdpcosim

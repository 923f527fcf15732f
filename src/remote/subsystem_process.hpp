#pragma once

#include <memory>
#include <string>
#include <vector>

#include "remote/child_process.hpp"
#include "remote/host_task.hpp"
#include "remote/remote_group.hpp"
#include "remote/shared_areas.hpp"

namespace mdpcosim {

struct process_options {
    std::string name;  ///< of the subsystem or group, before every line that the process wrote
    double limit = 0;  ///< s of wall time that one request may take; 0: any time
    bool spin = true;  ///< every party has a core of its own
};

/// Subsystems in a process of their own, reached through shared memory.
///
/// The new process runs the host program (host_task.hpp); there the subsystems are made. The two share memory without a name, and the
/// new process ends with this one: nothing is left behind, however either ends.
class subsystem_process : public remote_group {
   public:
    subsystem_process(const process_options& options, const std::vector<subsystem_text>& members);
    ~subsystem_process() override;

    void introduce() override;
    pid_t process() const override { return process_->id(); }

   private:
    void send() override;
    bool receive(std::chrono::milliseconds wait) override;
    std::string ended() override;
    std::string end_of_finished() override;
    /// Ends a process that says what cannot be.
    [[noreturn]] void spoilt(const std::string& reason, const std::string& during);
    void stop() noexcept override { process_->kill(); }
    std::string last_text() override { return process_->last_text(); }

    std::string name_;
    bool spin_;
    std::size_t count_;
    shared_areas shared_;
    file_handle answer_;
    std::unique_ptr<child_process> process_;
};

}  // namespace mdpcosim

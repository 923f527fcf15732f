#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/file_handle.hpp"
#include "remote/child_process.hpp"
#include "remote/host.hpp"
#include "remote/remote_group.hpp"

namespace mdpcosim {

/// The other side has gone, or the way to it.
class connection_lost : public run_error {
   public:
    using run_error::run_error;
};

/// One end of a connection that carries whole frames, in order, both ways.
class frame_link {
   public:
    virtual ~frame_link() = default;
    /// Need not wait until all of it has gone: receive() brings the rest on its way.
    virtual void send(std::span<const char> frame) = 0;
    /// The next frame; false when none has come in that time. A frame longer than `most` bytes is a run_error.
    virtual bool receive(std::vector<char>& frame, std::chrono::milliseconds wait, std::size_t most) = 0;
};

/// Over a connected stream socket: each frame after its length in four bytes. `spin`: both sides have a core of their own.
std::unique_ptr<frame_link> make_socket_link(file_handle socket, bool spin = false);

/// A frame of an introduction is at most that long.
inline constexpr std::size_t longest_introduction = std::size_t{256} << 20;

/// Subsystems at the other end of a link.
class linked_group : public remote_group {
   public:
    struct options {
        std::string name;
        std::size_t members = 1;
        double limit = 0;        ///< s of wall time that one request may take; 0: any time
        double start_limit = 0;  ///< of the introduction, where it is longer
    };
    /// `process`: the one at the other end, where this one started it.
    linked_group(options given, std::unique_ptr<frame_link> link, std::unique_ptr<child_process> process = {});
    ~linked_group() override;

    void introduce() override;
    pid_t process() const override { return process_ ? process_->id() : 0; }

   protected:
    void send() override;
    bool receive(std::chrono::milliseconds wait) override;
    std::string ended() override;
    void stop() noexcept override;
    std::string last_text() override { return process_ ? process_->last_text() : std::string(); }
    /// The next frame of an introduction into frame_.
    void receive_introduction();
    /// Asks the other side to end, if it has not, and ends its process.
    void leave() noexcept;
    [[noreturn]] void lost(const run_error& problem, const std::string& during);

    options options_;
    std::unique_ptr<frame_link> link_;
    std::unique_ptr<child_process> process_;
    std::vector<char> frame_;
    wire_writer said_;
};

/// The other side: introduces the host's members, then carries out requests until `quit` or until the link is lost.
void serve(frame_link& link, request_host& host, const wire_writer& introduction);

}  // namespace mdpcosim

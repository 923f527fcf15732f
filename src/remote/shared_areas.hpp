#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include "core/file_handle.hpp"
#include "remote/exchange.hpp"

/// Memory that two processes share for requests and replies. What the other side writes there it can change at any time: the master
/// copies every value once, checks the copy and uses nothing else, as with frames from a network.
namespace mdpcosim {

/// A file without a name, in memory. A system that does not allow it is a user_error, which names the subsystem.
file_handle make_shared_file(const std::string& subsystem);
/// The side of the subsystems: maps the whole file for areas of this size, which both sides ask for. Throws run_error.
void* map_areas(const file_handle& file, std::size_t size);

/// The master's side.
class shared_areas {
   public:
    explicit shared_areas(const std::string& subsystem) : file_(make_shared_file(subsystem)) {}
    shared_areas(shared_areas&& other) noexcept;
    ~shared_areas();

    /// For the other side, which inherits it.
    int file() const { return file_.get(); }
    /// Gives it the size for these members, which nobody can change any more. `fresh`: the other side has put nothing there yet.
    void map(std::span<const remote_member> members, bool fresh);
    bool mapped() const { return memory_ != nullptr; }

    /// The request of `own`, for the other side.
    void post(const exchange& own);
    /// Its reply into `own`, waiting at most that long once it sleeps; false: not yet. Throws run_error for a reply that does not fit.
    bool take(exchange& own, mailbox::look first, std::chrono::milliseconds wait);

   private:
    file_handle file_;
    exchange theirs_;
    void* memory_ = nullptr;
    std::uint32_t round_ = 0;
    waiting_habit habit_;
};

/// What shared_areas carries: a request from the master's own areas to shared ones, a reply from shared ones to the master's own.
void copy_request(const exchange& own, exchange& shared);
void copy_reply(const exchange& shared, exchange& own);

}  // namespace mdpcosim

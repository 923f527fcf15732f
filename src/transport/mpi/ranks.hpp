#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "remote/frame_link.hpp"
#include "transport/mpi/library.hpp"

/// This process as one of the ranks of an MPI run. Rank 0 talks to every other one, the others to rank 0 only.
///
/// A frame travels as one message; a long one after a message with its length, in parts. Who is done says so to the other side
/// (~mpi_ranks), which finds its link lost then, as at the end of a socket.
namespace mdpcosim {

class mpi_ranks {
   public:
    /// Joins the others. `hurry`, once set, makes an end of all waiting for ranks that do not answer within a moment: the
    /// launcher is going to kill this process. Throws user_error where MPI is missing or is not the launcher's.
    mpi_ranks(const mpi_launch_facts& told, const std::atomic<bool>& hurry);
    mpi_ranks(const mpi_ranks&) = delete;
    mpi_ranks& operator=(const mpi_ranks&) = delete;
    /// Leaves in order, or ends the whole run where a rank was lost: the others would wait for ever.
    ~mpi_ranks();

    /// The one of this process, if it has joined: there is one MPI per process.
    static mpi_ranks* joined();

    int rank() const { return rank_; }
    int size() const { return size_; }
    /// "rank 1 on host-b"
    std::string name(int rank) const;
    /// Threads for one rank when the ranks of this machine share its cores.
    int fair_share_of_cores() const;
    /// Each rank works with that many threads: those who wait spin only while everybody has a core.
    void will_work_with(int threads);

    std::unique_ptr<frame_link> link(int other);
    const mdpcosim_mpi& module() const { return mpi_; }

   private:
    friend class mpi_link;
    using clock = std::chrono::steady_clock;
    enum tag { whole_frame, length_of_frame, part_of_frame, closed };
    enum { longest_message = 1 << 16, longest_part = 1 << 30, name_length = 128 };

    struct peer {
        std::vector<char> buffer;
        bool expected = false, has_closed = false;
    };
    struct message {
        int tag = 0, count = 0;
    };

    void check(int status, const char* call) const;
    [[noreturn]] void lose(int other);
    void hurry_up(int other, clock::time_point now);
    template <class Done>
    bool wait_for(const Done& done, int other, clock::duration most);

    void send(int to, tag kind, const void* bytes, int count);
    void send_frame(int to, std::span<const char> frame);
    void expect(int from);
    std::optional<message> receive(int from, clock::duration most);
    bool receive_frame(int from, std::vector<char>& frame, clock::duration most_time, std::size_t most);
    void close(int other);

    const mdpcosim_mpi& mpi_;
    const std::atomic<bool>& hurry_;
    std::optional<clock::time_point> hurried_since_;
    int rank_ = 0, size_ = 0, neighbours_ = 1, cores_ = 1;
    bool spin_ = false, lost_ = false;
    std::vector<char> machines_;
    std::vector<peer> peers_;
};

}  // namespace mdpcosim

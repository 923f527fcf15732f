#include "transport/mpi/ranks.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/arithmetic.hpp"
#include "core/error.hpp"

namespace mdpcosim {

namespace {

mpi_ranks* joined_ranks = nullptr;

// How long a rank that is to end at once waits for another one. Open MPI kills one second after its first signal.
constexpr std::chrono::milliseconds moment_of_master{500}, moment_of_others{2000};
constexpr std::chrono::seconds farewell{10};

}  // namespace

class mpi_link final : public frame_link {
   public:
    mpi_link(mpi_ranks& ranks, int other) : ranks_(ranks), other_(other) {}
    void send(std::span<const char> frame) override { ranks_.send_frame(other_, frame); }
    bool receive(std::vector<char>& frame, std::chrono::milliseconds wait, std::size_t most) override {
        return ranks_.receive_frame(other_, frame, wait, most);
    }

   private:
    mpi_ranks& ranks_;
    int other_;
};

mpi_ranks::mpi_ranks(const mpi_launch_facts& told, const std::atomic<bool>& hurry)
    : mpi_(load_mpi(*told.implementation)), hurry_(hurry) {
    const usual_arithmetic as_usual;  // MPI loads libraries of others
    check(mpi_.join(&rank_, &size_), "MPI does not start");
    if (told.size > 0 && told.size != size_) {
        mpi_.leave();
        throw user_error(fmt::format(
            "transport 'mpi': the launcher has started {} ranks, but {} sees {}: it is the launcher of another MPI. "
            "Choose the right one with MDPCOSIM_MPI=openmpi or MDPCOSIM_MPI=mpich.",
            told.size, mpi_.name, size_));
    }
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    check(mpi_.neighbours(reinterpret_cast<unsigned char*>(&cores), sizeof cores, &neighbours_),
          "the ranks of this machine do not find each other");
    cores_ = std::max(1, CPU_COUNT(&cores));
    machines_.resize(static_cast<std::size_t>(size_) * name_length);
    check(mpi_.machines(machines_.data(), name_length), "the ranks do not find each other");
    peers_.resize(static_cast<std::size_t>(size_));
    will_work_with(1);
    joined_ranks = this;
}

mpi_ranks::~mpi_ranks() {
    joined_ranks = nullptr;
    std::fflush(nullptr);
    try {
        for (int other = 0; other < size_ && !lost_; ++other)
            if (other != rank_ && (rank_ == 0 || other == 0)) close(other);
    } catch (const std::exception&) {
        lost_ = true;
    }
    if (!lost_) {
        mpi_.leave();
    } else if (rank_ == 0) {
        mpi_.abort(1);
    }
}

mpi_ranks* mpi_ranks::joined() { return joined_ranks; }

std::string mpi_ranks::name(int rank) const {
    return fmt::format("rank {} on {}", rank, &machines_[static_cast<std::size_t>(rank) * name_length]);
}

int mpi_ranks::fair_share_of_cores() const { return std::max(1, cores_ / neighbours_); }

void mpi_ranks::will_work_with(int threads) { spin_ = neighbours_ * threads <= cores_; }

std::unique_ptr<frame_link> mpi_ranks::link(int other) { return std::make_unique<mpi_link>(*this, other); }

void mpi_ranks::check(int status, const char* call) const {
    if (status == 0) return;
    char reason[512];
    mpi_.explain(status, reason, sizeof reason);
    throw run_error(fmt::format("{}: {}", call, reason));
}

void mpi_ranks::lose(int other) {
    lost_ = true;
    throw run_error(fmt::format("{} was lost", name(other)));
}

void mpi_ranks::hurry_up(int other, clock::time_point now) {
    if (!hurry_.load(std::memory_order_relaxed)) return;
    if (!hurried_since_) hurried_since_ = now;
    if (now - *hurried_since_ > (rank_ == 0 ? moment_of_master : moment_of_others)) lose(other);
}

/// Asks MPI again and again: there is nothing to sleep on. Some microseconds of spinning, some milliseconds of yielding, then
/// naps: who works needs the core more than who waits.
template <class Done>
bool mpi_ranks::wait_for(const Done& done, int other, clock::duration most) {
    constexpr int spins = 200, yields = 20;
    if (done(spin_ ? spins : 1)) return true;
    constexpr std::chrono::milliseconds long_wait{2};
    constexpr useconds_t nap = 50;
    for (const auto begin = clock::now();;) {
        for (int n = 0; n < yields; ++n) {
            sched_yield();
            if (done(1)) return true;
        }
        const auto now = clock::now();
        hurry_up(other, now);
        if (now - begin > most) return false;
        if (now - begin > long_wait) usleep(nap);
    }
}

void mpi_ranks::send(int to, tag kind, const void* bytes, int count) {
    check(mpi_.send(to, kind, bytes, count), "a message was not sent");
    const auto gone = [&](int) {
        int yes = 0;
        check(mpi_.sent(to, &yes), "a message was not sent");
        return yes != 0;
    };
    while (!wait_for(gone, to, std::chrono::minutes(1))) continue;
}

void mpi_ranks::send_frame(int to, std::span<const char> frame) {
    if (frame.size() <= longest_message) {
        send(to, whole_frame, frame.data(), static_cast<int>(frame.size()));
    } else {
        const std::uint64_t length = frame.size();
        send(to, length_of_frame, &length, sizeof length);
        for (std::size_t done = 0; done < frame.size();) {
            const int part = static_cast<int>(std::min<std::size_t>(frame.size() - done, longest_part));
            send(to, part_of_frame, frame.data() + done, part);
            done += static_cast<std::size_t>(part);
        }
    }
    expect(to);  // while the message is on its way
}

void mpi_ranks::expect(int from) {
    peer& p = peers_[static_cast<std::size_t>(from)];
    if (p.expected || p.has_closed) return;
    if (p.buffer.empty()) p.buffer.resize(longest_message);
    check(mpi_.expect(from, p.buffer.data(), longest_message), "a message cannot be received");
    p.expected = true;
}

std::optional<mpi_ranks::message> mpi_ranks::receive(int from, clock::duration most) {
    message arrived;
    const auto came = [&](int tries) {
        int yes = 0;
        check(mpi_.arrived(from, tries, &yes, &arrived.tag, &arrived.count), "a message was not received");
        return yes != 0;
    };
    if (!wait_for(came, from, most)) return {};
    return arrived;
}

bool mpi_ranks::receive_frame(int from, std::vector<char>& frame, clock::duration most_time, std::size_t most) {
    peer& p = peers_[static_cast<std::size_t>(from)];
    expect(from);
    if (p.has_closed) throw run_error(fmt::format("{} has ended", name(from)));
    const auto first = receive(from, most_time);
    if (!first) return false;
    p.expected = false;
    if (first->tag == closed) p.has_closed = true;
    if (p.has_closed) throw run_error(fmt::format("{} has ended", name(from)));
    std::uint64_t length = static_cast<std::uint64_t>(first->count);
    if (first->tag == length_of_frame) std::memcpy(&length, p.buffer.data(), sizeof length);
    if (length > most) throw run_error(fmt::format("a message of {} bytes came where {} are the most", length, most));
    if (first->tag == whole_frame) {
        frame.assign(p.buffer.begin(), p.buffer.begin() + first->count);
        return true;
    }
    frame.resize(length);
    for (std::size_t done = 0; done < length;) {
        const int part = static_cast<int>(std::min<std::size_t>(length - done, longest_part));
        check(mpi_.expect(from, frame.data() + done, part), "a message cannot be received");
        while (!receive(from, std::chrono::minutes(1))) continue;
        done += static_cast<std::size_t>(part);
    }
    return true;
}

/// Says goodbye and takes what the other side still has to say before its own.
void mpi_ranks::close(int other) {
    peer& p = peers_[static_cast<std::size_t>(other)];
    send(other, closed, nullptr, 0);
    const auto begin = clock::now();
    for (std::vector<char> frame; !p.has_closed;) {
        if (clock::now() - begin > farewell) lose(other);
        try {
            receive_frame(other, frame, std::chrono::milliseconds(100), longest_introduction);
        } catch (const run_error&) {
            if (lost_) throw;
        }
    }
}

}  // namespace mdpcosim

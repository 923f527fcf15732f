// One macro step with one trivial subsystem elsewhere, beside the bare ping-pong of the same medium, in turn in one run: what the
// transport adds; and an external program beside a copy of this process. A medium more is a line in media(). See docs/transports.md
// and docs/programs.md.
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <vector>

#include "core/mailbox.hpp"
#include "subsystem/remote/child_process.hpp"
#include "subsystem/remote/program_group.hpp"
#include "subsystem/remote/tcp.hpp"
#include "transport/affinity.hpp"
#include "transport/tcp.hpp"

namespace {

using namespace mdpcosim;
using clock = std::chrono::steady_clock;

/// One input that counts, one output that repeats it.
class echo final : public subsystem {
   public:
    echo() {
        description_.type = "echo";
        input_variable u;
        u.name = "u";
        description_.inputs.push_back(u);
        output_variable y;
        y.name = "y";
        description_.outputs.push_back(y);
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return {}; }
    void initialise(double) override {}
    void outputs(std::span<const double> u, std::span<double> y) override { y[0] = u[0]; }
    void advance(const macro_step&, std::span<const polynomial> inputs, std::span<double> y) override {
        y[0] = inputs[0].c[0];
    }

   private:
    subsystem_description description_;
};

/// Does so many rounds.
using rounds = std::function<void(int)>;

rounds macro_steps(std::shared_ptr<transport> t) {
    t->initialise(0);
    t->evaluate(subsystem_index(0), std::vector<double>{0});
    return [t, n = std::int64_t{0}](int count) mutable {
        for (int i = 0; i < count; ++i, ++n) {
            t->inputs()[0].degree = 1;
            t->inputs()[0].c = {static_cast<double>(n), 1};
            t->advance({static_cast<double>(n), static_cast<double>(n + 1), n});
            if (t->outputs()[0] != static_cast<double>(n)) std::abort();
        }
    };
}

std::vector<subsystem_recipe> one_echo() {
    return {{"echo", [] { return std::make_unique<echo>(); }}};
}

/// The same as a program that the master starts.
std::vector<subsystem_recipe> one_program() {
    subsystem_spec spec;
    spec.name = "echo";
    spec.kind = subsystem_spec::source_kind::program;
    spec.program = {{ECHO_PROGRAM}, "."};
    subsystem_recipe recipe{"echo", {}};
    recipe.program = std::make_shared<program_launcher>(spec);
    return {recipe};
}

struct two_boxes {
    mailbox there, back;
};

rounds box_ping_pong() {
    void* memory = mmap(nullptr, sizeof(two_boxes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    auto* boxes = new (memory) two_boxes;
    const bool spin = available_cores() > 1;
    auto other = std::make_shared<child_process>([=] {
        for (std::uint32_t n = 1;; ++n) {
            boxes->there.wait_for(n, spin);
            boxes->back.post(n);
        }
    });
    return [=, n = std::uint32_t{0}](int count) mutable {
        static_cast<void>(other);
        for (int i = 0; i < count; ++i) {
            boxes->there.post(++n);
            boxes->back.wait_for(n, spin);
        }
    };
}

/// Whole messages of the size that a macro step of the echo has; `wait` decides how a side waits.
constexpr std::size_t message = 88;

template <class Wait>
bool take(int socket, const Wait& wait) {
    char bytes[message];
    for (std::size_t n = 0; n < message;) {
        const ssize_t more = wait(socket, bytes + n, message - n);
        if (more <= 0) return false;
        n += static_cast<std::size_t>(more);
    }
    return true;
}

ssize_t sleeping(int socket, char* to, std::size_t size) { return recv(socket, to, size, 0); }

/// Sleeps only when it is not this medium's turn.
ssize_t looking(int socket, char* to, std::size_t size) {
    for (int looks = 0; looks < 500; ++looks) {
        const ssize_t n = recv(socket, to, size, MSG_DONTWAIT);
        if (n >= 0 || errno != EAGAIN) return n;
    }
    return sleeping(socket, to, size);
}

template <class Wait>
rounds tcp_ping_pong(const Wait& wait) {
    const mdpcosim::file_handle door = listen_at({"127.0.0.1", "0"});
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    getsockname(door.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    const std::string port = std::to_string(port_of(bound));
    auto other = std::make_shared<child_process>([&] {
        const mdpcosim::file_handle socket = connect_to({"127.0.0.1", port}, 10);
        fcntl(socket.get(), F_SETFL, 0);
        const char bytes[message] = {};
        while (take(socket.get(), wait)) send(socket.get(), bytes, message, MSG_NOSIGNAL);
    });
    pollfd ready{door.get(), POLLIN, 0};
    poll(&ready, 1, 10000);
    auto socket = std::make_shared<mdpcosim::file_handle>(accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC));
    prepare_connection(socket->get());
    return [=](int count) {
        static_cast<void>(other);
        const char bytes[message] = {};
        for (int i = 0; i < count; ++i)
            if (send(socket->get(), bytes, message, MSG_NOSIGNAL) < 0 || !take(socket->get(), wait)) std::abort();
    };
}

struct medium {
    std::string name;
    std::vector<std::pair<std::string, std::function<rounds()>>> bare;  ///< ways to wait
    std::function<std::unique_ptr<transport>()> make;
};

std::vector<medium> media() {
    return {{"processes", {{"mailboxes", box_ping_pong}}, [] { return make_process_transport(one_echo()); }},
            {"tcp",
             {{"looking", [] { return tcp_ping_pong(looking); }}, {"sleeping", [] { return tcp_ping_pong(sleeping); }}},
             [] { return make_tcp_transport(one_echo()); }},
            {"program",
             {{"a copy", [] { return macro_steps(make_process_transport(one_echo())); }}},
             [] { return make_process_transport(one_program()); }},
            {"program/tcp", {{"a copy", [] { return macro_steps(make_tcp_transport(one_echo())); }}}, [] {
                 return make_tcp_transport(one_program());
             }}};
}

double seconds_per_round(const rounds& what, int count) {
    const auto begin = clock::now();
    what(count);
    return std::chrono::duration<double>(clock::now() - begin).count() / count;
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

void measure(const medium& m, const std::string& way, const rounds& bare, const rounds& steps) {
    constexpr double block = 0.02;  // s
    constexpr int blocks = 51;
    const auto fitting = [](const rounds& what) {
        return std::max(10, static_cast<int>(block / seconds_per_round(what, 200)));
    };
    const int bare_count = fitting(bare), step_count = fitting(steps);
    std::vector<double> bare_times, step_times, ratios;
    for (int i = 0; i < blocks; ++i) {
        bare_times.push_back(seconds_per_round(bare, bare_count));
        step_times.push_back(seconds_per_round(steps, step_count));
        ratios.push_back(step_times.back() / bare_times.back());
    }
    fmt::print("{:<12} {:<12} {:>12.2f} {:>12.2f} {:>8.2f}\n", m.name, way, 1e6 * median(bare_times),
               1e6 * median(step_times), median(ratios));
}

}  // namespace

int main() {
    fmt::print("{:<12} {:<12} {:>12} {:>12} {:>8}\n", "transport", "bare waits", "bare [us]", "step [us]", "ratio");
    for (const auto& m : media())
        for (const auto& [way, make] : m.bare) {
            const rounds bare = make();
            const rounds steps = macro_steps(m.make());
            measure(m, way, bare, steps);
        }
}

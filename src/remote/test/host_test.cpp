// Processes of subsystems: started at any time, by any thread; what they get of their master, and what becomes of them without it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/error.hpp"
#include "remote/host.hpp"
#include "remote/host_program.hpp"
#include "remote/isolated_subsystem.hpp"
#include "subsystem/factory.hpp"
#include "support/far_function.hpp"
#include "support/solver_test_models.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

std::unique_ptr<subsystem> far_oscillator() {
    return make_isolated_subsystem({.name = "far"}, far_subsystem([]() -> std::unique_ptr<subsystem> {
                                       return make_native_subsystem(oscillator(), make_solver("rk4"));
                                   }));
}

void expect_life(subsystem& s) {
    std::vector<double> y(2);
    s.initialise(0);
    s.advance({0, 0.1, 0}, std::vector<polynomial>{constant(1)}, y);
    EXPECT_NE(y[0], 0);
}

/// Threads that are hardly ever without a lock of the allocator or of standard output's.
class busy_threads {
   public:
    explicit busy_threads(int count) {
        for (int i = 0; i < count; ++i)
            threads_.emplace_back([this] {
                while (!stop_) {
                    const std::string text(1000, 'x');
                    std::vector<std::string> copies(10, text);
                    std::fflush(stdout);
                }
            });
    }
    ~busy_threads() {
        stop_ = true;
        for (auto& t : threads_) t.join();
    }

   private:
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
};

/// Requests from elsewhere are taken at their word in nothing.
TEST(host, numbers_that_do_not_exist_fail_by_name) {
    wire_writer introduction;
    subsystem_host host(
        {[]() -> std::unique_ptr<subsystem> { return make_native_subsystem(oscillator(), make_solver("rk4")); }},
        introduction);
    exchange areas(host.members());
    areas.place();
    const auto failure = [&](const remote_request& request) {
        areas.top().request = request;
        host.carry_out(areas);
        return areas.top().failed < 0 ? std::string() : std::string(areas.top().message.data());
    };
    EXPECT_EQ(failure({.command = remote_command::initialise}), "");
    EXPECT_EQ(failure({.command = remote_command::make_snapshot, .number = 5}), "");
    EXPECT_EQ(failure({.command = remote_command::save, .number = 5}), "");
    for (const int number : {0, 4, 6, 999999})
        for (const auto command : {remote_command::save, remote_command::restore, remote_command::write_state})
            EXPECT_THAT(failure({.command = command, .number = number}), HasSubstr("no state of that number"));
    EXPECT_THAT(failure({.command = remote_command::tune, .t0 = 1, .number = 999999}),
                HasSubstr("no parameter of that number"));
    state_piece& piece = areas.top().piece;
    for (const auto& [at, total, size] : std::vector<std::array<std::uint64_t, 3>>{
             {0, 1, 0}, {0, ~std::uint64_t{0}, 1}, {5, 10, 1}, {0, 1, 2}, {0, state_piece::most + 1, 1}}) {
        piece.at = at;
        piece.total = total;
        piece.size = static_cast<std::uint32_t>(size);
        EXPECT_THAT(failure({.command = remote_command::read_state, .number = 5}), HasSubstr("does not fit")) << total;
    }
}

TEST(host, is_started_by_a_caller_with_busy_threads) {
    const busy_threads others(8);
    for (int i = 0; i < 10; ++i) expect_life(*far_oscillator());
}

TEST(host, is_started_by_several_threads_at_the_same_time) {
    std::vector<std::thread> starters;
    for (int i = 0; i < 4; ++i)
        starters.emplace_back([] {
            for (int k = 0; k < 5; ++k) {
                const auto one = far_oscillator(), other = far_oscillator();
                expect_life(*one);
                expect_life(*other);
            }
        });
    for (auto& t : starters) t.join();
}

TEST(host, lives_on_when_the_thread_that_started_it_ends) {
    std::unique_ptr<subsystem> s;
    std::thread([&] { s = far_oscillator(); }).join();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    expect_life(*s);
}

TEST(host, starts_soon) {
    std::vector<double> times;
    for (int i = 0; i < 20; ++i) {
        const auto begin = clock::now();
        const auto s = far_oscillator();
        times.push_back(std::chrono::duration<double, std::milli>(clock::now() - begin).count());
    }
    std::ranges::nth_element(times, times.begin() + 10);
    std::printf("start of a process until its subsystem is made, median of %zu: %.1f ms\n", times.size(), times[10]);
    EXPECT_LT(times[10], 1000);
}

/// A subsystem that shows a text as its type.
class teller final : public subsystem {
   public:
    explicit teller(std::string what) { description_.type = std::move(what); }
    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return {}; }
    void initialise(double) override {}
    void outputs(std::span<const double>, std::span<double>) override {}
    void advance(const macro_step&, std::span<const polynomial>, std::span<double>) override {}

   private:
    subsystem_description description_;
};

std::string told_from_there(const far_maker& make, const std::string& text = {}) {
    return make_isolated_subsystem({.name = "far"}, far_subsystem(make, text))->describe().type;
}

/// What open descriptors lead to, each in a line.
std::unique_ptr<subsystem> tell_descriptors(const std::string&) {
    std::string all;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const fs::path target = fs::read_symlink(entry.path(), gone);
        if (!gone && target.string().find("/fd") == std::string::npos)
            all += entry.path().filename().string() + " " + target.string() + "\n";
    }
    return std::make_unique<teller>(all);
}

TEST(host, gets_no_descriptor_but_those_meant_for_it) {
    const temporary_folder folder;
    const std::string name = (folder.path() / "secret").string();
    std::vector<file_handle> careless;
    for (int i = 0; i < 20; ++i) careless.emplace_back(open(name.c_str(), O_RDWR | O_CREAT, 0600));
    const auto beside = far_oscillator();  // whose files are in between
    const std::string seen = told_from_there(tell_descriptors);
    EXPECT_THAT(seen, Not(HasSubstr("secret")));
    EXPECT_THAT(seen, HasSubstr("0 /dev/null"));
    // Input, output, error, the lifeline, the memory, the answer.
    EXPECT_EQ(std::ranges::count(seen, '\n'), 6) << seen;
}

std::unique_ptr<subsystem> tell_signals(const std::string&) {
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, nullptr, &blocked);
    struct sigaction interrupt {
    }, user{};
    sigaction(SIGINT, nullptr, &interrupt);
    sigaction(SIGUSR1, nullptr, &user);
    return std::make_unique<teller>(
        std::string(sigismember(&blocked, SIGTERM) != 0 ? "blocked " : "free ") +
        (interrupt.sa_handler == SIG_DFL && user.sa_handler == SIG_DFL ? "default" : "set") +
        (getpgrp() == getpid() ? " leads its group" : " in another group"));
}

TEST(host, starts_with_signals_at_their_defaults_in_a_group_of_its_own) {
    sigset_t some, before;
    sigemptyset(&some);
    sigaddset(&some, SIGTERM);
    sigprocmask(SIG_BLOCK, &some, &before);
    const auto old_interrupt = signal(SIGINT, SIG_IGN), old_user = signal(SIGUSR1, [](int) {});
    const std::string seen = told_from_there(tell_signals);
    signal(SIGINT, old_interrupt);
    signal(SIGUSR1, old_user);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    EXPECT_EQ(seen, "free default leads its group");
}

TEST(host, gets_texts_of_any_length) {
    const std::string text = std::string(3 << 20, 'a') + std::string(1, '\0') + "\n$b: {";
    EXPECT_EQ(told_from_there(
                  [](const std::string& all) -> std::unique_ptr<subsystem> {
                      return std::make_unique<teller>(std::to_string(all.size()) + all.substr(all.size() - 6));
                  },
                  text),
              std::to_string(text.size()) + "\n$b: {");
}

/// An entry of more than a megabyte, with mistakes told as ever.
TEST(host, gets_entries_of_any_length) {
    subsystem_spec spec;
    spec.name = "long";
    spec.kind = subsystem_spec::source_kind::ode;
    spec.ode.states = {{"x", {}, {{"2", {}}}, false}};
    spec.ode.equations = {{"x", {}, {{"-x", {}}}, false}};
    const std::string sum = "x + 0." + std::string(5000, '1') + "*x";
    for (int i = 0; i < 250; ++i) spec.ode.outputs.push_back({"y" + std::to_string(i), {}, {sum, {}}, {}});
    spec.limit = 60;
    const subsystem_text text = text_of(spec);
    EXPECT_GT(text.text.size(), std::size_t{1} << 20);
    const auto far = make_subsystem(spec);
    EXPECT_GE(far->describe().outputs.size(), spec.ode.outputs.size());
    std::vector<double> y(static_cast<std::size_t>(far->describe().output_count())), same(y.size());
    far->initialise(0);
    far->outputs({}, y);
    spec.limit = 0;
    const auto near = make_subsystem(spec);
    near->initialise(0);
    near->outputs({}, same);
    EXPECT_EQ(y, same);
    spec.limit = 60;
    spec.ode.outputs.back().expression = {"x + nothing", {"f.yaml", 7, 9}};
    try {
        make_subsystem(spec);
        FAIL() << "a mistake was not told";
    } catch (const user_error& problem) {
        EXPECT_THAT(problem.what(), AllOf(HasSubstr("f.yaml:7:"), HasSubstr("nothing")));
    }
}

bool is_alive(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string stat;
    std::getline(file, stat);
    const std::size_t name = stat.rfind(')');
    return name != std::string::npos && stat.size() > name + 2 && stat[name + 2] != 'Z';
}

/// Who is said to be alive is so for that long at least, or until it is not any more.
bool ends_soon(pid_t process) {
    for (int i = 0; i < 500 && is_alive(process); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return !is_alive(process);
}

/// A master with a subsystem that works for ever in a thread's process, and a program that has started another; their numbers go into
/// the pipe.
void be_a_master(wire_reader& words) {
    const file_handle numbers(words.get<int>());
    use_host_program(fs::read_symlink("/proc/self/exe"));
    const auto idle = std::make_unique<subsystem_process>(
        process_options{.name = "idle"},
        std::vector{far_subsystem([]() -> std::unique_ptr<subsystem> { return std::make_unique<teller>("idle"); })});
    idle->introduce();
    std::unique_ptr<subsystem_process> busy;
    std::thread([&] {
        busy = std::make_unique<subsystem_process>(process_options{.name = "busy"},
                                                   std::vector{far_subsystem([]() -> std::unique_ptr<subsystem> {
                                                       for (volatile int turns = 0;;) turns = turns + 1;
                                                   })});
    }).join();
    const child_process program({.command = {"sh", "-c", "sleep 1000 & echo $!; wait"}});
    while (program.last_text().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const pid_t all[] = {idle->process(), busy->process(), program.id(), std::stoi(program.last_text())};
    if (write(numbers.get(), all, sizeof all) == sizeof all) pause();
}

const host_task_registration master_task{{"master", be_a_master}};

TEST(host, nothing_is_left_when_the_master_is_killed) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const file_handle from(ends[0]);
    file_handle to(ends[1]);
    wire_writer words;
    words.put(to.get());
    const auto master = start_host("master", words, {to.get()});
    to.close();
    pid_t all[4] = {};
    ASSERT_EQ(read(from.get(), all, sizeof all), static_cast<ssize_t>(sizeof all)) << master->last_text();
    for (const pid_t process : all) EXPECT_TRUE(is_alive(process)) << process;
    ::kill(master->id(), SIGKILL);  // it alone
    for (const pid_t process : all) EXPECT_TRUE(ends_soon(process)) << process;
}

/// Takes the choice of the test's main() back for a while.
class no_host_chosen {
   public:
    no_host_chosen() { use_host_program({}); }
    ~no_host_chosen() {
        unsetenv(host_variable);
        use_host_program(fs::read_symlink("/proc/self/exe"));
    }
};

std::string refusal() {
    try {
        far_oscillator();
    } catch (const user_error& problem) {
        return problem.what();
    }
    return "no refusal";
}

TEST(host, a_program_that_is_missing_is_told_with_the_places) {
    const no_host_chosen nobody;
    unsetenv(host_variable);
    const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
    if (const std::string seen = refusal(); seen != "no refusal") {  // else one is installed here
        EXPECT_THAT(seen, AllOf(HasSubstr("'" + (here / "mdpcosim-host").string() + "'"),
                                HasSubstr("'" + (here.parent_path() / "libexec/mdpcosim/mdpcosim-host").string() + "'"),
                                HasSubstr("'" + (here.parent_path() / "lib/mdpcosim/mdpcosim-host").string() + "'"),
                                HasSubstr("MDPCOSIM_HOST")));
    }
    setenv(host_variable, "/nowhere/mdpcosim-host", 1);
    EXPECT_THAT(refusal(), AllOf(HasSubstr("MDPCOSIM_HOST is '/nowhere/mdpcosim-host'")));
    setenv(host_variable, fs::read_symlink("/proc/self/exe").c_str(), 1);
    expect_life(*far_oscillator());
}

TEST(host, a_program_that_cannot_be_started_is_told) {
    const temporary_folder folder;
    const fs::path file = folder.path() / "broken";
    std::ofstream(file) << "#!/no/such/interpreter\n";
    fs::permissions(file, fs::perms::owner_all);
    use_host_program(file);
    const std::string seen = refusal();
    use_host_program(fs::read_symlink("/proc/self/exe"));
    EXPECT_THAT(seen, AllOf(HasSubstr(file.string()), HasSubstr("No such file")));
}

}  // namespace
}  // namespace mdpcosim::test

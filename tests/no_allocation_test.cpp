// The macro loop allocates nothing: not through operator new, not through malloc, on no thread. A program of its own,
// since it puts counting functions in the place of the C library's.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <memory>
#include <vector>

#include "fmi/instance.hpp"
#include "results/csv.hpp"
#include "scenario/read.hpp"
#include "scenarios.hpp"
#include "simulation/row_recorder.hpp"
#include "support/temporary_folder.hpp"

static std::atomic<bool> counting{false};
static std::atomic<long> allocations{0};

static void count() {
    if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}

// Sanitizers bring functions of their own, which must stay: this program is not built for them.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {
void* __libc_malloc(std::size_t size) noexcept;
void* __libc_calloc(std::size_t count, std::size_t size) noexcept;
void* __libc_realloc(void* memory, std::size_t size) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;

void* malloc(std::size_t size) noexcept {
    count();
    return __libc_malloc(size);
}
void* calloc(std::size_t n, std::size_t size) noexcept {
    count();
    return __libc_calloc(n, size);
}
void* realloc(void* memory, std::size_t size) noexcept {
    count();
    return __libc_realloc(memory, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
    count();
    return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    count();
    return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
    count();
    *memory = __libc_memalign(alignment, size);
    return *memory == nullptr ? ENOMEM : 0;
}
}
#endif

namespace mdpcosim {
namespace {

/// Else the tests below would prove nothing.
TEST(allocation_counter, sees_every_way_to_the_heap) {
    struct alignas(128) wide {
        char bytes[128];
    };
    const long before = allocations;
    counting = true;
    const auto one = std::make_unique<std::vector<double>>(100);
    const auto two = std::make_unique<wide>();
    void* volatile three = std::calloc(1, 64);
    three = std::realloc(three, 4096);
    counting = false;
    std::free(three);
    EXPECT_EQ(allocations - before, 5);
}

struct measured {
    long allocations;
    std::int64_t steps, parallel_steps, rows;
};

/// From initialise() to the last row in the file.
measured run_counted(const std::string& text, int workers, std::optional<double> every,
                     transport_kind kind = transport_kind::threads) {
    const test::temporary_folder folder;
    scenario s = read_scenario_text(text, "test.yaml");
    s.record.every = every;
    simulation all(s, {.workers = workers, .transport = kind});
    std::vector<std::unique_ptr<result_sink>> sinks;
    sinks.push_back(make_csv_sink(folder / "results.csv", all.parts().columns));
    recorder rows(all.parts().columns, std::move(sinks), {.core_is_free = [] { return true; }});
    row_recorder recorded(rows, time_grid(s.time.start, s.time.end, s.time.step), s.record.every);
    all.add(recorded);
    all.initialise();
    const long before = allocations;
    counting = true;
    all.advance_to(all.end());
    rows.flush();
    counting = false;
    return {allocations - before, all.steps(), all.parts().system.subsystems->parallel_steps(), rows.rows()};
}

/// Trial steps, corrections, answers measured anew, rejected steps.
TEST(no_allocation_in, methods_that_repeat_steps) {
    for (const char* further :
         {"method: semi-implicit\n", "method: {name: iterated, points: 3}\n",
          "method: {name: iterated, solver: newton}\n", "step-control: {rtol: 1e-3, atol: 1e-5}\n",
          "method: semi-implicit\nstep-control: {rtol: 1e-3, atol: 1e-5}\n",
          "method: semi-implicit\nstep-control: {rtol: 1e-3, atol: 1e-5}\nreplicas: 1\n",
          "method: one-pass\nstep-control: {rtol: 1e-3, atol: 1e-5}\n",
          "step-control: {rtol: 1e-3, atol: 1e-5, estimate: jump}\n"})
        for (const int workers : {1, 2}) {
            const measured m = run_counted(test::two_subsystems(1) + further, workers, {});
            EXPECT_EQ(m.allocations, 0) << further << workers << " workers";
            EXPECT_GT(m.steps, 20);
        }
}

/// Steps that flew through a contact are undone.
TEST(no_allocation_in, contacts_within_one_step) {
    for (const char* estimate : {"trial", "jump"}) {
        const measured m = run_counted(
            fmt::format("time: {{end: 3 s, step: 0.12 s}}\nstep-control: {{rtol: 1e-4, atol: 1e-5, estimate: {}}}\n",
                        estimate) +
                R"(subsystems:
  a: {model: mass-spring-damper, set: {stiffness: 44, x0: 0.1}}
  b: {model: mass-spring-damper, set: {mass: 3, stiffness: 170}}
connections:
  c: {law: stop, between: [a.mass, b.mass], stiffness: 900, lower: -0.095}
)",
            1, {});
        EXPECT_EQ(m.allocations, 0) << estimate;
        EXPECT_GT(m.steps, 20);
    }
}

/// Few multipliers, whose system is solved with pivoting, and many, whose system is sparse.
TEST(no_allocation_in, joints) {
    std::string masses = "time: {end: 0.1 s, step: 1 ms}\nsubsystems:\n", joints = "connections:\n";
    for (int k = 0; k < 26; ++k) {
        masses += fmt::format("  m{}: {{model: mass-spring-damper, set: {{stiffness: {} N/m, v0: 1 m/s}}}}\n", k, k);
        if (k > 0) joints += fmt::format("  j{0}: {{joint: rigid, between: [m{1}.mass, m{0}.mass]}}\n", k, k - 1);
    }
    for (const auto& system : {test::double_pendulum(), masses + joints})
        for (const char* further : {"method: index-1\n", "method: {name: index-1, tolerance: 1e-8}\n",
                                    "method: index-1\nstep-control: {rtol: 1e-5, atol: 1e-6}\n"}) {
            const measured m = run_counted(system + further, 1, {});
            EXPECT_EQ(m.allocations, 0) << further;
            EXPECT_GT(m.steps, 3);
        }
}

/// The calls of an FMU's instance, of all types of variables and of both versions.
TEST(no_allocation_in, calls_of_fmus) {
    for (const std::string version : {"2", "3"}) {
        const auto fmu = fmi::make_instance(fmi::open_fmu(MDPCOSIM_BINARY_DIR "/fmus/feedthrough-" + version + ".fmu"),
                                            {.name = "one"});
        std::vector<fmi::value_block> inputs, outputs;
        const auto& variables = fmu->description().variables;
        for (int i = 0; i < static_cast<int>(variables.size()); ++i) {
            if (variables[i].type == fmi::base_type::string) continue;
            if (variables[i].causality == fmi::causality::input) inputs.push_back(fmu->make_block({&i, 1}));
            if (variables[i].causality == fmi::causality::output) outputs.push_back(fmu->make_block({&i, 1}));
        }
        fmu->set_up({});
        fmu->enter_initialisation();
        fmu->exit_initialisation();
        const auto state = fmu->make_state();
        fmu->save(*state);
        double sum = 0;
        const long before = allocations;
        counting = true;
        for (int n = 0; n < 100; ++n) {
            const double value = n % 2;
            double result = 0;
            for (fmi::value_block& block : inputs) fmu->set(block, {&value, 1});
            fmu->do_step(n * 0.1, 0.1, true);
            for (fmi::value_block& block : outputs) fmu->get(block, {&result, 1});
            sum += result;
        }
        counting = false;
        EXPECT_EQ(allocations - before, 0);
        EXPECT_EQ(sum, 50);
        EXPECT_EQ(inputs.size(), version == "2" ? 4u : 12u);
    }
}

class no_allocation : public testing::TestWithParam<int> {};

TEST_P(no_allocation, two_subsystems) {
    const int workers = GetParam();
    for (const int work : {1, 3000}) {
        const measured m = run_counted(test::two_subsystems(work), workers, {});
        EXPECT_EQ(m.allocations, 0);
        EXPECT_EQ(m.steps, 400);
        EXPECT_EQ(m.rows, 401);
        if (work > 1) {
            EXPECT_EQ(m.parallel_steps > 0, workers > 1);
        }
    }
}

/// 100 subsystems, laws with and without rates, signals, feed-through, several blocks of rows.
TEST_P(no_allocation, a_hundred_subsystems) {
    const int workers = GetParam();
    for (const int work : {1, 1000}) {
        const measured m = run_counted(test::mixed(10, work, "{end: 0.5 s, step: 0.9 ms}"), workers, {});
        EXPECT_EQ(m.allocations, 0);
        EXPECT_EQ(m.steps, 556);
        EXPECT_EQ(m.rows, 557);
        if (work > 1) {
            EXPECT_EQ(m.parallel_steps > 0, workers > 1);
        }
    }
}

TEST_P(no_allocation, multirate) {
    for (const char* scheme :
         {"slowest-first", "fastest-first", "fastest-first, smoothing: mean, fit: least-squares"}) {
        const measured m = run_counted(test::multirate(scheme), GetParam(), {});
        EXPECT_EQ(m.allocations, 0) << scheme;
        EXPECT_EQ(m.rows, 21);
    }
}

/// With ports whose sensitivity is evaluated, and tried.
TEST_P(no_allocation, one_pass) {
    const measured m =
        run_counted("method: one-pass\n" + test::mixed(2, 1, "{end: 0.5 s, step: 0.9 ms}"), GetParam(), {});
    EXPECT_EQ(m.allocations, 0);
    EXPECT_EQ(m.steps, 556);
}

/// The same from directional derivatives.
TEST(no_allocation_in, one_pass_with_derivatives) {
    const std::string body = fmt::format(
        "{{fmu: {}/fmus/mover-2.fmu, set: {{x0: 10 mm}}, ports: {{mass: {{kind: translation, position: position, "
        "velocity: velocity, force: force}}}}}}",
        MDPCOSIM_BINARY_DIR);
    const measured m = run_counted(
        fmt::format("mdpcosim: 1\nmethod: one-pass\ntime: {{end: 3 s, step: 10 ms}}\nsubsystems:\n  a: {0}\n  b: {0}\n"
                    "connections:\n  k: {{law: spring, between: [a.mass, b.mass], stiffness: 1e6 N/m}}\n",
                    body),
        1, {});
    EXPECT_EQ(m.allocations, 0);
    EXPECT_EQ(m.steps, 300);
}

TEST_P(no_allocation, with_a_record_grid) {
    const measured m = run_counted(test::mixed(1, 1, "{end: 2 s, step: 1 ms}"), GetParam(), 0.01);
    EXPECT_EQ(m.allocations, 0);
    EXPECT_EQ(m.rows, 201);
}

/// Events in the state and in time, a contact: a ball bounces on the ground and on a mass; a pulse train feeds a lag.
TEST_P(no_allocation, with_events) {
    const measured m = run_counted(R"(mdpcosim: 1
time: {end: 3 s, step: 1 ms}
subsystems:
  ball:
    ode:
      states: {x: 1 m, v: 0 m/s}
      inputs: {F: 0 N}
      equations: {x: v, v: -9.81 + F}
      events:
        - {when: x, direction: falling, set: {v: -0.8*v}}
    ports: {body: {kind: translation, position: x, force: F}}
    solver: rk4
  pulse: {model: source, set: {kind: pulse, duration: 30 ms, period: 100 ms}, solver: rk4}
  lag: {model: lag-1, set: {time-constant: 50 ms}, solver: rk4}
  mass: {model: mass-spring-damper, set: {stiffness: 50 N/m}, solver: rk4}
connections:
  stop: {law: stop, between: [ball.body, mass.mass], stiffness: 200 N/m, lower: 5 mm}
signals:
  - pulse.y -> lag.u
)",
                                   GetParam(), {});
    EXPECT_EQ(m.allocations, 0);
    EXPECT_EQ(m.steps, 3000);
}

/// Bodies that fall, meet, slide and come to rest in the time stepper; the spring pulls at them.
TEST_P(no_allocation, with_contacts) {
    const measured m = run_counted(R"(mdpcosim: 1
time: {end: 1 s, step: 1 ms}
subsystems:
  mass: {model: mass-spring-damper, set: {stiffness: 50 N/m, x0: 0.1 m}, solver: rk4}
  bodies:
    model: contact-bodies
    parts:
      lower: {kind: body, mass: 2 kg, y: 0.2 m}
      upper: {kind: body, mass: 1 kg, y: 0.6 m}
      floor: {kind: contact, of: lower, friction: 0.2, restitution: 0.4}
      joint: {kind: contact, of: upper, on: lower, distance: 0.1 m, friction: 0.4, restitution: 0.5}
connections:
  pull: {law: spring, between: [mass.mass, bodies.lower.x], stiffness: 300 N/m}
)",
                                   GetParam(), {});
    EXPECT_EQ(m.allocations, 0);
    EXPECT_EQ(m.steps, 1000);
}

/// On the master's side; what the subsystems' processes do is the same code.
TEST(no_allocation_in, requests_to_other_processes) {
    for (const auto kind : {transport_kind::processes, transport_kind::tcp}) {
        const measured m = run_counted(test::mixed(1, 1, "{end: 1 s, step: 1 ms}"), 2, 0.01, kind);
        EXPECT_EQ(m.allocations, 0);
        EXPECT_EQ(m.steps, 1000);
    }
}

INSTANTIATE_TEST_SUITE_P(workers, no_allocation, testing::Values(1, 2));

}  // namespace
}  // namespace mdpcosim

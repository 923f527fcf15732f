// The contract of transports, for every transport there is: a new one adds a line to kinds().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <functional>

#include <sys/socket.h>

#include "remote/frame_link.hpp"
#include "transport/groups.hpp"
#include "transport/tcp.hpp"
#include "transport/test/test_subsystem.hpp"
#include "transport/transport_host.hpp"

namespace mdpcosim {
namespace {

using fault = test::test_traits::fault;
using test::test_traits;

struct transport_kind {
    std::string name;
    int workers;  ///< that serve the subsystems, if there are as many subsystems
    std::function<std::unique_ptr<transport>(const std::vector<test_traits>&)> make;
};

/// Those of the numbers, served by threads.
std::unique_ptr<transport> make_chosen(const std::vector<test_traits>& all, const std::vector<int>& numbers,
                                       int workers) {
    auto every = test::make_subsystems(all);
    std::vector<named_subsystem> chosen;
    for (const int i : numbers) chosen.push_back(std::move(every[static_cast<std::size_t>(i)]));
    return make_thread_transport(std::move(chosen), workers);
}

/// Words: the socket, the threads, the numbers of those who live there, and the traits of all.
const host_task_registration group_of_threads{
    {"group of threads", [](wire_reader& words) {
         const auto link = make_socket_link(file_handle(words.get<int>()));
         const int workers = words.get<int>();
         const std::vector<int> numbers = words.get_numbers();
         std::vector<test_traits> all(words.get<std::size_t>());
         for (auto& traits : all) traits = words.get<test_traits>();
         wire_writer introduction;
         transport_host host([&] { return make_chosen(all, numbers, workers); }, introduction);
         serve(*link, host, introduction);
     }}};

std::unique_ptr<child_process> start_group(int socket, const std::vector<test_traits>& all,
                                           const std::vector<int>& numbers, int workers) {
    wire_writer words;
    words.put(socket);
    words.put(workers);
    words.put(numbers);
    words.put(all.size());
    for (const auto& traits : all) words.put(traits);
    return start_host("group of threads", words, {socket});
}

/// Groups as ranks have them: the first here, the others in processes that serve them by threads, at the other end of a link.
std::unique_ptr<transport> make_linked(const std::vector<test_traits>& all, int groups, int workers) {
    std::vector<std::string> names;
    std::vector<served_group> elsewhere;
    local_group here;
    for (std::size_t i = 0; i < all.size(); ++i) names.push_back("s" + std::to_string(i));
    for (int g = 0; g < std::min(groups, static_cast<int>(all.size())); ++g) {
        std::vector<int> numbers;
        for (int i = g; i < static_cast<int>(all.size()); i += groups) numbers.push_back(i);
        if (g == 0) {
            here.members = numbers;
            continue;
        }
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw run_error("no pair of sockets");
        file_handle mine(ends[0]), theirs(ends[1]);
        auto process = start_group(theirs.get(), all, numbers, workers);
        elsewhere.push_back(
            {numbers, std::make_unique<linked_group>(linked_group::options{"group", numbers.size(), 0},
                                                     make_socket_link(std::move(mine)), std::move(process))});
    }
    here.transport = make_chosen(all, here.members, workers);
    return make_group_transport(std::move(names), std::move(elsewhere), std::move(here));
}

/// Some tests have fewer subsystems.
std::vector<std::vector<int>> fitting(std::vector<std::vector<int>> groups, std::size_t subsystems) {
    for (auto& g : groups) std::erase_if(g, [&](int i) { return i >= static_cast<int>(subsystems); });
    std::erase_if(groups, [](const auto& g) { return g.empty(); });
    return groups;
}

std::vector<transport_kind> kinds() {
    const auto threads = [](int workers) {
        return [workers](const std::vector<test_traits>& all) {
            return make_thread_transport(test::make_subsystems(all), workers);
        };
    };
    const auto processes = [](std::vector<std::vector<int>> groups) {
        return [groups](const std::vector<test_traits>& all) {
            return make_process_transport(test::make_recipes(all), fitting(groups, all.size()));
        };
    };
    const auto tcp = [](std::vector<std::vector<int>> groups) {
        return [groups](const std::vector<test_traits>& all) {
            return make_tcp_transport(test::make_recipes(all), fitting(groups, all.size()));
        };
    };
    return {{"threads_1", 1, threads(1)},
            {"threads_2", 2, threads(2)},
            {"threads_4", 4, threads(4)},
            {"processes", 5, processes({})},
            {"processes_in_groups", 3, processes({{3, 0}, {1, 4}})},
            {"tcp", 5, tcp({})},
            {"tcp_in_groups", 3, tcp({{3, 0}, {1, 4}})},
            {"linked_groups_of_threads", 4, [](const auto& all) { return make_linked(all, 3, 2); }},
            {"linked_groups", 2, [](const auto& all) { return make_linked(all, 2, 1); }}};
}

/// Enough work for one advance() to be worth a thread: some ten microseconds.
constexpr int heavy = 20000;

std::vector<test_traits> mixed(int work) {
    return {{.inputs = 1, .outputs = 2, .x0 = 1, .work = work},
            {.inputs = 3, .outputs = 1, .x0 = -2, .work = work},
            {.inputs = 0, .outputs = 4, .x0 = 0.5, .work = work},
            {.inputs = 2, .outputs = 3, .x0 = 3, .work = work},
            {.inputs = 1, .outputs = 1, .x0 = 0, .work = 2 * work}};
}

std::vector<std::uint64_t> bits(std::span<const double> values) {
    std::vector<std::uint64_t> all;
    for (const double v : values) all.push_back(std::bit_cast<std::uint64_t>(v));
    return all;
}

class transport_contract : public testing::TestWithParam<transport_kind> {
   protected:
    static std::unique_ptr<transport> make(const std::vector<test_traits>& all) { return GetParam().make(all); }

    /// initialise and evaluate, as a master does.
    static void start(transport& t, double t0) {
        t.initialise(t0);
        const std::vector<double> u(16, 0.25);
        for (std::size_t i = 0; i < t.size(); ++i)
            t.evaluate(subsystem_index(i),
                       std::span(u).first(static_cast<std::size_t>(t.describe(subsystem_index(i)).input_count())));
    }

    /// Polynomials that differ for every input and every step.
    static void write_inputs(std::span<polynomial> inputs, std::int64_t step) {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            inputs[i].degree = 2;
            inputs[i].c = {0.1 * static_cast<double>(i + 1), 0.01 * static_cast<double>(step % 7), -0.5};
        }
    }

    static macro_step step(std::int64_t n) {
        return {0.1 * static_cast<double>(n), 0.1 * static_cast<double>(n + 1), n};
    }

    static void run(transport& t, std::int64_t from, std::int64_t to) {
        for (std::int64_t n = from; n < to; ++n) {
            write_inputs(t.inputs(), n);
            t.advance(step(n));
        }
    }

    /// The message of the failure that running the steps ends with.
    static std::string failure(transport& t, std::int64_t steps) {
        try {
            run(t, 0, steps);
        } catch (const subsystem_failure& problem) {
            return problem.what();
        }
        return "no failure";
    }
};

TEST_P(transport_contract, lays_inputs_and_outputs_out_subsystem_after_subsystem) {
    const auto t = make(mixed(0));
    ASSERT_EQ(t->size(), 5u);
    EXPECT_EQ(t->inputs().size(), 7u);
    EXPECT_EQ(t->outputs().size(), 11u);
    const std::vector<std::size_t> inputs{0, 1, 4, 4, 6}, outputs{0, 2, 3, 7, 10};
    for (std::size_t i = 0; i < 5; ++i) {
        const subsystem_index s(i);
        EXPECT_EQ(t->input_offset(s), inputs[i]);
        EXPECT_EQ(t->output_offset(s), outputs[i]);
        EXPECT_EQ(t->name(s), "s" + std::to_string(i));
        EXPECT_EQ(t->describe(s).type, "test");
        EXPECT_TRUE(t->offers(s).save_restore);
    }
    EXPECT_EQ(t->workers(), GetParam().workers);
}

TEST_P(transport_contract, never_more_workers_than_subsystems) {
    EXPECT_EQ(make({{}, {}})->workers(), std::min(2, GetParam().workers));
    EXPECT_EQ(make({{}})->workers(), 1);
}

/// The outputs are, bit by bit, those of the same calls made directly, and nobody touches another one's slots.
void expect_equal_to_direct_calls(transport& t, const std::vector<test_traits>& all, std::int64_t steps,
                                  void (*write_inputs)(std::span<polynomial>, std::int64_t),
                                  macro_step (*step)(std::int64_t)) {
    auto direct = test::make_subsystems(all);
    std::vector<double> y(t.outputs().size());
    std::vector<polynomial> inputs(t.inputs().size());
    const std::vector<double> u(16, 0.25);
    const auto output = [&](std::size_t i) {
        return std::span(y).subspan(t.output_offset(subsystem_index(i)),
                                    static_cast<std::size_t>(direct[i].model->describe().output_count()));
    };
    const auto input_count = [&](std::size_t i) {
        return static_cast<std::size_t>(direct[i].model->describe().input_count());
    };
    t.initialise(0);
    for (std::size_t i = 0; i < direct.size(); ++i) direct[i].model->initialise(0);
    for (std::size_t i = 0; i < direct.size(); ++i) {
        t.evaluate(subsystem_index(i), std::span(u).first(input_count(i)));
        direct[i].model->outputs(std::span(u).first(input_count(i)), output(i));
    }
    ASSERT_EQ(bits(t.outputs()), bits(y));
    for (std::int64_t n = 0; n < steps; ++n) {
        write_inputs(t.inputs(), n);
        write_inputs(inputs, n);
        t.advance(step(n));
        for (std::size_t i = 0; i < direct.size(); ++i)
            direct[i].model->advance(
                step(n), std::span(inputs).subspan(t.input_offset(subsystem_index(i)), input_count(i)), output(i));
        ASSERT_EQ(bits(t.outputs()), bits(y)) << "step " << n;
    }
    for (std::size_t i = 0; i < direct.size(); ++i)
        EXPECT_EQ(t.statistics(subsystem_index(i)).micro_steps, steps) << "subsystem " << i;
}

TEST_P(transport_contract, outputs_equal_direct_calls_of_light_subsystems) {
    const auto t = make(mixed(0));
    expect_equal_to_direct_calls(*t, mixed(0), 3000, write_inputs, step);
}

TEST_P(transport_contract, outputs_equal_direct_calls_of_heavy_subsystems) {
    const auto t = make(mixed(heavy));
    expect_equal_to_direct_calls(*t, mixed(heavy), 300, write_inputs, step);
    EXPECT_EQ(t->parallel_steps() > 0, GetParam().workers > 1);
}

/// Subsystem i takes steps of its own length, and not in every round.
TEST_P(transport_contract, steps_of_their_own_equal_direct_calls_and_leave_the_others_alone) {
    for (const int work : {0, heavy}) {
        const auto all = mixed(work);
        const auto t = make(all);
        auto direct = test::make_subsystems(all);
        start(*t, 0);
        for (auto& one : direct) one.model->initialise(0);
        std::vector<std::int64_t> taken(all.size(), 0);
        std::vector<double> y(t->outputs().begin(), t->outputs().end());
        std::vector<polynomial> inputs(t->inputs().size());
        for (std::int64_t n = 0; n < 60; ++n) {
            write_inputs(t->inputs(), n);
            write_inputs(inputs, n);
            std::vector<subsystem_step> some;
            for (std::size_t i = 0; i < all.size(); ++i) {
                if ((n + static_cast<std::int64_t>(i)) % 3 == 1) continue;
                const double h = 0.1 * static_cast<double>(i + 1), begin = h * static_cast<double>(taken[i]);
                some.push_back({subsystem_index(i), {begin, begin + h, taken[i]++}});
                const auto& d = direct[i].model->describe();
                direct[i].model->advance(some.back().step,
                                         std::span(inputs).subspan(t->input_offset(subsystem_index(i)),
                                                                   static_cast<std::size_t>(d.input_count())),
                                         std::span(y).subspan(t->output_offset(subsystem_index(i)),
                                                              static_cast<std::size_t>(d.output_count())));
            }
            t->advance_some(some);
            ASSERT_EQ(bits(t->outputs()), bits(y)) << "round " << n;
        }
        for (std::size_t i = 0; i < all.size(); ++i)
            EXPECT_EQ(t->statistics(subsystem_index(i)).micro_steps, taken[i]) << "subsystem " << i;
        if (work > 0) {
            EXPECT_EQ(t->parallel_steps() > 0, GetParam().workers > 1);
        }
    }
}

/// Between steps other input values may be tried; the state does not move.
TEST_P(transport_contract, evaluate_changes_no_state) {
    const auto t = make(mixed(0)), same = make(mixed(0));
    start(*t, 0);
    start(*same, 0);
    const std::vector<double> other{7, -7, 70};
    for (std::int64_t n = 0; n < 20; ++n) {
        run(*t, n, n + 1);
        run(*same, n, n + 1);
        ASSERT_EQ(bits(t->outputs()), bits(same->outputs()));
        t->evaluate(subsystem_index(1), other);
        EXPECT_NE(bits(t->outputs()), bits(same->outputs()));
    }
}

TEST_P(transport_contract, rate_derivatives_equal_direct_calls_and_change_nothing) {
    const auto t = make(mixed(0));
    auto direct = test::make_subsystems(mixed(0));
    start(*t, 0);
    for (auto& one : direct) one.model->initialise(0);
    const std::vector<double> u{0.3, -0.7, 1.1};
    for (std::int64_t n = 0; n < 3; ++n) {
        const auto before = bits(t->outputs());
        for (std::size_t i = 0; i < direct.size(); ++i) {
            const subsystem_index s(i);
            const auto& d = t->describe(s);
            EXPECT_TRUE(t->offers(s).rate_sensitivities);
            EXPECT_EQ(t->offers(s).why_fixed_step, "test");
            for (const auto& y : d.outputs) EXPECT_EQ(y.rate_sensitivities, y.slot > 0);
            std::vector<double> seen(static_cast<std::size_t>(d.output_count()), -1), expected(seen);
            const auto values = std::span(u).first(static_cast<std::size_t>(d.input_count()));
            for (int input = 0; input < d.input_count(); ++input) {
                t->rate_sensitivities(s, values, input, seen);
                direct[i].model->rate_sensitivities(values, input, expected);
                EXPECT_EQ(bits(seen), bits(expected)) << i << ' ' << input;
            }
        }
        EXPECT_EQ(bits(t->outputs()), before);
        run(*t, n, n + 1);
        std::vector<polynomial> inputs(t->inputs().size());
        write_inputs(inputs, n);
        for (std::size_t i = 0; i < direct.size(); ++i) {
            const auto& d = direct[i].model->describe();
            std::vector<double> y(static_cast<std::size_t>(d.output_count()));
            direct[i].model->advance(step(n),
                                     std::span(inputs).subspan(t->input_offset(subsystem_index(i)),
                                                               static_cast<std::size_t>(d.input_count())),
                                     y);
            EXPECT_EQ(bits(t->outputs().subspan(t->output_offset(subsystem_index(i)), y.size())), bits(y)) << i;
        }
    }
    const auto failing = make({{}, {.kind = fault::exception, .fault_step = -1, .fails_outputs = true}});
    failing->initialise(0.5);
    std::vector<double> by_output(2);
    try {
        failing->rate_sensitivities(subsystem_index(1), std::vector<double>{0}, 0, by_output);
        FAIL() << "no failure";
    } catch (const subsystem_failure& problem) {
        EXPECT_EQ(problem.subsystem_name(), "s1");
        EXPECT_EQ(problem.time(), 0.5);
    }
}

TEST_P(transport_contract, restore_brings_every_state_back_bitwise) {
    for (const int work : {0, heavy}) {
        const auto t = make(mixed(work));
        start(*t, 0);
        run(*t, 0, 40);
        const state_id saved = t->make_state();
        t->save(saved);
        run(*t, 40, 60);
        const auto first = bits(t->outputs());
        for (int again = 0; again < 3; ++again) {
            t->restore(saved);
            run(*t, 40, 60);
            EXPECT_EQ(bits(t->outputs()), first);
        }
        t->save(saved);  // replaces the state saved before
        run(*t, 60, 70);
        const auto second = bits(t->outputs());
        t->restore(saved);
        run(*t, 60, 70);
        EXPECT_EQ(bits(t->outputs()), second);
    }
}

TEST_P(transport_contract, saved_states_do_not_know_of_each_other) {
    const auto t = make(mixed(0));
    start(*t, 0);
    std::vector<state_id> saved;
    std::vector<std::vector<std::uint64_t>> ends;
    for (int n = 0; n < 30; n += 10) {
        saved.push_back(t->make_state());
        t->save(saved.back());
        run(*t, n, n + 10);
        ends.push_back(bits(t->outputs()));
    }
    for (const std::size_t k : {1, 0, 2, 1}) {
        t->restore(saved[k]);
        run(*t, static_cast<int>(10 * k), static_cast<int>(10 * k + 10));
        EXPECT_EQ(bits(t->outputs()), ends[k]) << k;
    }
}

TEST_P(transport_contract, failures_have_one_message_whatever_the_workers) {
    struct expectation {
        fault kind;
        std::string reason;
    };
    for (const auto& [kind, reason] : std::vector<expectation>{{fault::exception, "the test wants it so"},
                                                               {fault::other_exception, "an exception of unknown type"},
                                                               {fault::not_a_number, "output 'y2' is nan"},
                                                               {fault::infinite, "output 'y2' is -inf"}}) {
        for (const int work : {0, heavy}) {
            auto all = mixed(work);
            all[3].kind = kind;
            all[3].fault_step = 30;
            const auto t = make(all);
            start(*t, 0);
            EXPECT_EQ(failure(*t, 60),
                      "subsystem 's3' failed at t = 3 s: " + reason +
                          " (macro step 30 from 3 s to 3.1 s; inputs at its start: u0 = 0.5, u1 = 0.6)");
        }
    }
}

TEST_P(transport_contract, of_several_failures_the_lowest_number_is_told) {
    for (const int work : {0, heavy}) {
        auto all = mixed(work);
        for (const std::size_t i : {1, 2, 4}) {
            all[i].kind = i == 2 ? fault::not_a_number : fault::exception;
            all[i].fault_step = 25;
        }
        all[0].kind = fault::exception;
        all[0].fault_step = 26;  // never reached
        const auto t = make(all);
        start(*t, 0);
        try {
            run(*t, 0, 60);
            FAIL() << "no failure";
        } catch (const subsystem_failure& problem) {
            EXPECT_EQ(problem.subsystem_name(), "s1");
            EXPECT_EQ(problem.time(), 2.5);
            EXPECT_THAT(problem.what(), testing::HasSubstr("u0 = 0.2, u1 = 0.3, u2 = 0.4)"));
        }
        // All subsystems of the step have come to rest: each has done it.
        for (std::size_t i = 0; i < t->size(); ++i)
            EXPECT_EQ(t->statistics(subsystem_index(i)).micro_steps, 26) << "subsystem " << i;
    }
}

TEST_P(transport_contract, a_failure_does_not_stick) {
    auto all = mixed(0);
    all[2].kind = fault::exception;
    all[2].fault_step = 5;
    const auto t = make(all);
    start(*t, 0);
    run(*t, 0, 5);
    const state_id saved = t->make_state();
    t->save(saved);
    write_inputs(t->inputs(), 5);
    EXPECT_THROW(t->advance(step(5)), subsystem_failure);
    t->restore(saved);
    EXPECT_NO_THROW(run(*t, 6, 20));
}

TEST_P(transport_contract, many_inputs_are_shortened) {
    const auto t = make({{.inputs = 7, .kind = fault::exception, .fault_step = 0}, {}});
    start(*t, 0);
    EXPECT_THAT(failure(*t, 1), testing::HasSubstr("u3 = 0.4, u4 = 0.5 and 2 more)"));
}

TEST_P(transport_contract, failures_at_the_start_and_in_outputs) {
    for (const fault kind : {fault::exception, fault::other_exception}) {
        const auto t = make({{}, {.kind = kind, .fails_at_start = true}, {}});
        try {
            t->initialise(0.5);
            FAIL() << "no failure";
        } catch (const subsystem_failure& problem) {
            EXPECT_EQ(problem.subsystem_name(), "s1");
            EXPECT_EQ(problem.time(), 0.5);
        }
    }
    for (const fault kind : {fault::exception, fault::other_exception, fault::not_a_number}) {
        const auto t = make({{}, {.kind = kind, .fault_step = -1, .fails_outputs = true}, {}});
        t->initialise(0.5);
        try {
            t->evaluate(subsystem_index(1), std::vector<double>{0});
            FAIL() << "no failure";
        } catch (const subsystem_failure& problem) {
            EXPECT_EQ(problem.subsystem_name(), "s1");
            EXPECT_EQ(problem.time(), 0.5);
        }
    }
}

/// While inputs are not known yet, outputs that are not finite are no failure; an exception is.
TEST_P(transport_contract, provisional_outputs_may_be_anything) {
    const auto t = make({{.kind = fault::not_a_number, .fault_step = -1, .fails_outputs = true}, {}});
    t->initialise(0);
    EXPECT_NO_THROW(t->evaluate(subsystem_index(0), std::vector<double>{0}, true));
    EXPECT_TRUE(std::isnan(t->outputs()[0]));
    const auto other = make({{.kind = fault::exception, .fault_step = -1, .fails_outputs = true}, {}});
    other->initialise(0);
    EXPECT_THROW(other->evaluate(subsystem_index(0), std::vector<double>{0}, true), subsystem_failure);
}

/// The cost of a subsystem is measured, and a dear one costs more than a cheap one on any machine.
TEST_P(transport_contract, cost_is_sampled) {
    const auto t = make({{.work = 0}, {.work = 50 * heavy}, {.work = heavy}});
    start(*t, 0);
    EXPECT_EQ(t->cost(subsystem_index(0)).seconds_per_step, 0);
    run(*t, 0, 30);
    const auto cost = [&](std::size_t i) { return t->cost(subsystem_index(i)).seconds_per_step; };
    EXPECT_GT(cost(0), 0);
    EXPECT_GT(cost(1), cost(2));
    EXPECT_GT(cost(2), cost(0));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_GE(t->cost(subsystem_index(i)).worker, 0);
        EXPECT_LT(t->cost(subsystem_index(i)).worker, t->workers());
    }
}

/// A step that the machine interrupts looks like a dear one: a few steps in parallel are then tried and found not to pay.
TEST_P(transport_contract, trivial_subsystems_stay_serial) {
    if (!GetParam().name.starts_with("threads")) GTEST_SKIP() << "only threads share memory with the master";
    const auto t = make({{.inputs = 0, .outputs = 1}, {.inputs = 0, .outputs = 1}});
    start(*t, 0);
    run(*t, 0, 20000);
    EXPECT_LT(t->parallel_steps(), 200);
}

INSTANTIATE_TEST_SUITE_P(all, transport_contract, testing::ValuesIn(kinds()),
                         [](const auto& kind) { return kind.param.name; });

/// 0 workers: one for each core this process may use.
TEST(thread_transport, takes_one_worker_per_core) {
    const auto t = make_thread_transport(test::make_subsystems(std::vector<test_traits>(200)), 0);
    EXPECT_GE(t->workers(), 1);
    EXPECT_LE(t->workers(), 200);
}

/// Small enough work for the mode to change now and then, by what the machine does besides.
TEST(thread_transport, changes_of_mode_do_not_change_results) {
    const auto outputs = [](int workers) {
        std::vector<test_traits> all(6, {.work = 5000});
        const auto t = make_thread_transport(test::make_subsystems(all), workers);
        t->initialise(0);
        for (std::size_t i = 0; i < 6; ++i) t->evaluate(subsystem_index(i), std::vector<double>{0});
        std::vector<std::uint64_t> seen;
        for (std::int64_t n = 0; n < 1500; ++n) {
            for (auto& p : t->inputs()) p.c[0] = static_cast<double>(n % 11);
            t->advance({static_cast<double>(n), static_cast<double>(n + 1), n});
            for (const std::uint64_t b : bits(t->outputs())) seen.push_back(b);
        }
        EXPECT_EQ(t->parallel_steps() > 0, workers > 1);
        return seen;
    };
    const auto serial = outputs(1);
    EXPECT_EQ(outputs(2), serial);
    EXPECT_EQ(outputs(3), serial);
    EXPECT_EQ(outputs(6), serial);
}

}  // namespace
}  // namespace mdpcosim

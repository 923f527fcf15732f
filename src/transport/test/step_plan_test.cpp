#include <gtest/gtest.h>

#include <sys/socket.h>

#include <array>
#include <cmath>

#include "remote/frame_link.hpp"
#include "support/far_function.hpp"
#include "transport/groups.hpp"
#include "transport/processes.hpp"
#include "transport/tcp.hpp"
#include "transport/threads.hpp"
#include "transport/transport_host.hpp"

/// Plans carried out item by item: results and failures are those of advance() and the evaluations after it.
namespace mdpcosim {
namespace {

/// The state becomes 10 times itself plus the input, y = state + u; fails in the step with that number, in advance() or in outputs().
class counting final : public subsystem {
   public:
    enum class failure { none, in_advance, in_outputs, not_finite };

    counting(failure how, int step) : how_(how), step_(step) {
        input_variable u;
        u.name = "u";
        output_variable y;
        y.name = "y";
        y.direct = {0};
        description_ = {"counting", {u}, {y}, {}};
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return {}; }
    void initialise(double) override {}
    void outputs(std::span<const double> u, std::span<double> y) override {
        if (fails(failure::in_outputs)) throw run_error("no outputs");
        y[0] = fails(failure::not_finite) ? std::nan("") : state_ + u[0];
    }
    void advance(const macro_step&, std::span<const polynomial> inputs, std::span<double> y) override {
        ++steps_;
        if (fails(failure::in_advance)) throw run_error("no step");
        state_ = 10 * state_ + inputs[0].c[0];
        y[0] = state_ + inputs[0].c[0];
    }

   private:
    bool fails(failure how) const { return how == how_ && steps_ == step_; }

    subsystem_description description_;
    failure how_;
    int step_, steps_ = 0;
    double state_ = 1;
};

/// Subsystem 0 gives to 1, 1 to 2; 2 is evaluated by a law that fails in the step with that number.
class chain final : public step_plan {
   public:
    explicit chain(int fails_in) : fails_in_(fails_in) {
        items = {{subsystem_index(0)},
                 {subsystem_index(1), true, true, true, 0, 1},
                 {subsystem_index(2), true, true, false, 0, 0},
                 {subsystem_index(3)}};
        signals = {{0, 1, 2, 0.5}};
        values = {0, 0, 0, 0};
        sources = {{}, {0}, {1}, {}};
    }
    transport* of = nullptr;

   private:
    void find_values_by_laws(const item&, double) override {
        if (++calls_ == fails_in_) throw run_error("the law has no answer");
        values[2] = of->outputs()[1] / 4;
    }

    int fails_in_, calls_ = 0;
};

using failure = counting::failure;

struct wishes {
    std::array<failure, 4> how{failure::none, failure::none, failure::none, failure::none};
    int law = 0;
};

std::unique_ptr<subsystem> make_counting(const std::string& how) {
    return std::make_unique<counting>(test::from_text<failure>(how), 3);
}

std::vector<named_subsystem> some_of(const wishes& w, const std::vector<int>& numbers) {
    std::vector<named_subsystem> parts;
    for (const int i : numbers)
        parts.push_back({"s" + std::to_string(i), std::make_unique<counting>(w.how[static_cast<std::size_t>(i)], 3)});
    return parts;
}

std::vector<subsystem_recipe> recipes(const wishes& w) {
    std::vector<subsystem_recipe> all;
    for (std::size_t i = 0; i < 4; ++i)
        all.push_back({"s" + std::to_string(i), test::far_subsystem(make_counting, test::as_text(w.how[i]))});
    return all;
}

/// Words: the socket, wishes, and the numbers of those who live there.
const host_task_registration rank_task{
    {"rank of a plan", [](wire_reader& words) {
         const auto link = make_socket_link(file_handle(words.get<int>()));
         const auto w = words.get<wishes>();
         const std::vector<int> numbers = words.get_numbers();
         wire_writer introduction;
         transport_host host([&] { return make_thread_transport(some_of(w, numbers), 1); }, introduction);
         serve(*link, host, introduction);
     }}};

/// As ranks have them: some here, the others behind a link, where a transport serves them.
std::unique_ptr<transport> make_ranks(const wishes& w, const std::vector<int>& here, const std::vector<int>& there) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw run_error("no pair of sockets");
    file_handle mine(ends[0]), theirs(ends[1]);
    wire_writer words;
    words.put(theirs.get());
    words.put(w);
    words.put(there);
    auto process = start_host("rank of a plan", words, {theirs.get()});
    std::vector<served_group> elsewhere;
    elsewhere.push_back({there, std::make_unique<linked_group>(linked_group::options{"rank", there.size(), 0},
                                                               make_socket_link(std::move(mine)), std::move(process))});
    return make_group_transport({"s0", "s1", "s2", "s3"}, std::move(elsewhere),
                                {here, make_thread_transport(some_of(w, here), 1)});
}

enum class way {
    call_by_call,
    item_by_item,
    one_process,
    two_processes,
    to_and_fro,
    one_each,
    tcp,
    ranks,
    ranks_to_and_fro
};
constexpr way others[] = {way::item_by_item, way::one_process, way::two_processes, way::to_and_fro,
                          way::one_each,     way::tcp,         way::ranks,         way::ranks_to_and_fro};

std::unique_ptr<transport> make(const wishes& w, way how) {
    switch (how) {
        case way::one_process:
            return make_process_transport(recipes(w), {{0, 1, 2, 3}});
        case way::two_processes:
            return make_process_transport(recipes(w), {{0, 1}, {2, 3}});
        case way::to_and_fro:
            return make_process_transport(recipes(w), {{0, 2}, {1, 3}});
        case way::one_each:
            return make_process_transport(recipes(w));
        case way::tcp:
            return make_tcp_transport(recipes(w), {{0, 1}, {2, 3}});
        case way::ranks:
            return make_ranks(w, {0, 1}, {2, 3});
        case way::ranks_to_and_fro:
            return make_ranks(w, {1, 3}, {0, 2});
        case way::call_by_call:
        case way::item_by_item:
            break;
    }
    return make_thread_transport(some_of(w, {0, 1, 2, 3}), 1, false);
}

/// Outputs after every step, then what failed in step 3.
struct told {
    std::vector<double> outputs;
    std::string failure;
    bool operator==(const told&) const = default;
};

told carry_out(const wishes& w, bool follow, way how) {
    const auto t = make(w, how);
    chain plan(w.law);
    plan.of = t.get();
    t->prepare(plan, false);
    if (follow)
        for (const std::size_t i : {1, 2}) t->expect(subsystem_index(i), {.outputs_follow = true});
    t->initialise(0);
    told result;
    try {
        for (std::int64_t n = 0; n < 5; ++n) {
            for (std::size_t i = 0; i < 4; ++i)
                t->inputs()[i].c[0] = static_cast<double>(n) + 0.25 * static_cast<double>(i);
            const macro_step step{static_cast<double>(n), static_cast<double>(n + 1), n};
            how == way::call_by_call ? t->transport::carry_out(step, plan) : t->carry_out(step, plan);
            result.outputs.insert(result.outputs.end(), t->outputs().begin(), t->outputs().end());
        }
    } catch (const std::exception& problem) {
        result.failure = problem.what();
    }
    return result;
}

TEST(step_plan, results_are_those_of_the_step_and_its_evaluations) {
    for (const bool follow : {false, true}) {
        const told result = carry_out({}, follow, way::call_by_call);
        for (const way how : others) EXPECT_EQ(result, carry_out({}, follow, how)) << static_cast<int>(how);
        EXPECT_EQ(result.failure, "");
        ASSERT_EQ(result.outputs.size(), 20u);
        // Step 0: state 10 + 0.25 i; y0 is extrapolated, y1 = state + y0, y2 = state + y1/4.
        EXPECT_EQ(result.outputs[0], 10);
        EXPECT_EQ(result.outputs[1], 10.25 + 10);
        EXPECT_EQ(result.outputs[2], 10.5 + 20.25 / 4);
    }
}

TEST(step_plan, failures_are_the_same_and_those_of_steps_come_first) {
    using enum counting::failure;
    const auto message = [](const wishes& w, bool follow) {
        const told result = carry_out(w, follow, way::call_by_call);
        for (const way how : others) {
            const told same = carry_out(w, follow, how);
            EXPECT_EQ(result.outputs, same.outputs) << static_cast<int>(how);
            EXPECT_EQ(result.failure, same.failure) << static_cast<int>(how);
        }
        EXPECT_EQ(result.outputs.size(), 8u);
        return result.failure;
    };
    for (const bool follow : {false, true}) {
        EXPECT_NE(message({{none, in_outputs, none, none}}, follow).find("'s1' failed"), std::string::npos);
        EXPECT_NE(message({{none, not_finite, none, none}}, follow).find("'y' is nan"), std::string::npos);
        EXPECT_NE(message({{none, in_advance, none, none}}, follow).find("'s1' failed"), std::string::npos);
        EXPECT_NE(message({{none, in_outputs, none, in_advance}}, follow).find("'s3' failed"), std::string::npos);
        EXPECT_NE(message({{none, none, in_outputs, in_advance}}, follow).find("'s3' failed"), std::string::npos);
        EXPECT_NE(message({{none, none, in_advance, none}, 3}, follow).find("'s2' failed"), std::string::npos);
        EXPECT_EQ(message({{none, none, none, none}, 3}, follow), "the law has no answer");
    }
}

/// In two processes the one that stands later in the plan has its values first.
TEST(step_plan, of_failures_in_two_processes_the_first_in_the_plan_is_told) {
    wishes w;
    w.how = {failure::none, failure::in_outputs, failure::in_outputs, failure::none};
    const auto failure_of = [&](auto&& made) {
        // 3 gives to 1 in the other process, then 0 to 2 in its own.
        struct crossed final : step_plan {
            crossed() {
                items = {{subsystem_index(0)},
                         {subsystem_index(3)},
                         {subsystem_index(1), true, true, true, 0, 1},
                         {subsystem_index(2), true, true, true, 1, 2}};
                signals = {{3, 1, 1, 1}, {0, 2, 1, 1}};
                values = {0, 0, 0, 0};
                sources = {{}, {}, {3}, {0}};
            }
            void find_values_by_laws(const item&, double) override {}
        } plan;
        made->prepare(plan, false);
        made->initialise(0);
        try {
            for (std::int64_t n = 0; n < 5; ++n)
                made->carry_out({static_cast<double>(n), static_cast<double>(n + 1), n}, plan);
        } catch (const run_error& problem) {
            return std::string(problem.what());
        }
        return std::string();
    };
    const std::string expected = failure_of(make_thread_transport(some_of(w, {0, 1, 2, 3}), 1, false));
    EXPECT_NE(expected.find("'s1' failed"), std::string::npos);
    EXPECT_EQ(failure_of(make_process_transport(recipes(w), {{0, 2}, {1}, {3}})), expected);
}

/// All outputs with one request per group, as one by one.
TEST(step_plan, evaluations_of_all_are_those_one_by_one) {
    for (const way how : {way::item_by_item, way::to_and_fro, way::ranks}) {
        const auto t = make({}, how);
        t->initialise(0);
        t->evaluate_all(std::vector<double>{1, 2, 3, 4}, false);
        EXPECT_EQ(std::vector<double>(t->outputs().begin(), t->outputs().end()), (std::vector<double>{2, 3, 4, 5}));
        EXPECT_THROW(t->evaluate_all(std::vector<double>{1, std::nan(""), 3, 4}, false), subsystem_failure);
        t->evaluate_all(std::vector<double>{1, std::nan(""), 3, 4}, true);
        EXPECT_TRUE(std::isnan(t->outputs()[1]));
    }
}

}  // namespace
}  // namespace mdpcosim

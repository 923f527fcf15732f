#include "assembly/feed_through.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coupling/extrapolation.hpp"
#include "transport/threads.hpp"

namespace mdpcosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// y = u at once, or after a state.
class passing final : public subsystem {
   public:
    explicit passing(bool at_once) {
        input_variable u;
        u.name = "u";
        output_variable y;
        y.name = "y";
        if (at_once) y.direct = {0};
        description_ = {"passing", {u}, {y}, {}};
    }
    const subsystem_description& describe() const noexcept override { return description_; }
    capabilities offers() const override { return {}; }
    void initialise(double) override {}
    void outputs(std::span<const double> u, std::span<double> y) override { y[0] = u[0]; }
    void advance(const macro_step&, std::span<const polynomial>, std::span<double>) override {}

   private:
    subsystem_description description_;
};

/// Subsystems s0, s1 ... that pass on at once or not, and signals from one to another.
struct system_of_signals {
    system_of_signals(const std::vector<bool>& at_once,
                      const std::vector<std::pair<std::size_t, std::size_t>>& signals) {
        std::vector<named_subsystem> parts;
        for (const bool pass : at_once)
            parts.push_back({"s" + std::to_string(parts.size()), std::make_unique<passing>(pass)});
        system.subsystems = make_thread_transport(std::move(parts), 1);
        graph.input_channels.resize(at_once.size());
        for (const auto& [from, to] : signals) {
            const auto channel = system.coupling.add_channel("signal", nullptr, {{output_slot(from), {}, 1}},
                                                             make_extrapolation("poly-1"));
            system.coupling.add_delivery(input_slot(to), max_degree, {channel, 1});
            graph.channel_sources.push_back({output_slot(from)});
            graph.input_channels[to].push_back(channel);
            graph.delayed.push_back(0);
            graph.channel_names.push_back("signal 's" + std::to_string(from) + ".y -> s" + std::to_string(to) + ".u'");
            graph.channel_places.emplace_back();
        }
        system.coupling.finish(std::vector<double>(at_once.size(), 0.0));
        silent.assign(at_once.size(), false);
    }
    std::vector<subsystem_index> find(const std::optional<fixed_point_options>& iteration = {}) {
        return find_evaluation_order(*system.subsystems, address_book(*system.subsystems), graph, silent, iteration,
                                     system);
    }
    std::vector<std::size_t> order() const {
        std::vector<std::size_t> found;
        for (const auto& e : system.at_each_step) found.push_back(e.subsystem.value());
        return found;
    }

    coupled_system system;
    coupling_graph graph;
    std::vector<bool> silent;
};

TEST(feed_through, every_cause_comes_before_its_effect) {
    system_of_signals s({true, true, true, false}, {{3, 2}, {2, 0}, {0, 1}});  // s3 -> s2 -> s0 -> s1
    EXPECT_THAT(s.find(), IsEmpty());
    const auto order = s.order();
    const auto at = [&](std::size_t i) { return std::ranges::find(order, i) - order.begin(); };
    EXPECT_LT(at(2), at(0));
    EXPECT_EQ(std::ranges::count(order, 3u), 0) << "what follows from a state need not be asked again";
    EXPECT_TRUE(s.system.loops.empty());
}

TEST(feed_through, states_break_a_circle) {
    system_of_signals s({true, false, true}, {{0, 1}, {1, 2}, {2, 0}});
    s.find();
    EXPECT_TRUE(s.system.loops.empty());
}

TEST(feed_through, a_circle_is_named_port_by_port) {
    system_of_signals s({true, true, true}, {{0, 1}, {1, 2}, {2, 0}});
    try {
        s.find();
        FAIL() << "it was accepted";
    } catch (const user_error& problem) {
        for (const char* name : {"s0", "s1", "s2"}) EXPECT_THAT(problem.what(), HasSubstr(name));
    }
    system_of_signals solved({true, true, true}, {{0, 1}, {1, 2}, {2, 0}});
    solved.find(fixed_point_options{});
    EXPECT_EQ(solved.system.loops.size(), 1u);
}

TEST(feed_through, what_is_delayed_closes_no_circle) {
    system_of_signals s({true, true}, {{0, 1}, {1, 0}});
    s.graph.delayed[1] = 1;
    s.find();
    EXPECT_TRUE(s.system.loops.empty());
}

/// Of a silent output the worst is assumed, unless that alone makes a circle.
TEST(feed_through, silent_outputs_give_way) {
    system_of_signals s({false, true}, {{0, 1}, {1, 0}});
    s.silent[0] = true;
    EXPECT_THAT(s.find(), ElementsAre(subsystem_index(0)));
    EXPECT_TRUE(s.system.loops.empty());
    system_of_signals chain({false, true}, {{0, 1}});
    chain.silent[0] = true;
    EXPECT_THAT(chain.find(), IsEmpty());
}

}  // namespace
}  // namespace mdpcosim

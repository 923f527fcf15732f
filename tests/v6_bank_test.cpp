// examples/v6-bank: what its README says of agreement, of the splits and of the controllers, over the first milliseconds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "monolithic_fixture.hpp"

namespace mdpcosim {
namespace {

class v6_bank : public test::monolithic {
   protected:
    run_summary run_bank(const char* file, const char* end, bool as_one, test::settings list = {}) {
        list.emplace_back("time.end", end);
        const run_summary done =
            run_into(file, read_scenario(test::examples / "v6-bank" / file, overrides(list)), as_one);
        EXPECT_EQ(done.status, "done") << done.message;
        return done;
    }
    result_table read(const char* file) const {
        return read_results(folder / file, [](std::string_view) { return true; });
    }
};

TEST_F(v6_bank, splits_against_one_system) {
    run_bank("six.yaml", "8 ms", true);
    const result_table exact = read("six.yaml");
    const run_summary six = run_bank("six.yaml", "8 ms", false);
    ASSERT_EQ(six.subsystems.size(), 6u);
    const result_table parts = read("six.yaml");
    const run_summary two = run_bank("two.yaml", "8 ms", false);
    ASSERT_EQ(two.subsystems.size(), 2u);
    const result_table joined = read("two.yaml");
    for (const char* name :
         {"exhaust-phaser.phaser.theta", "exhaust-phaser.b.pressure", "intake-train.valve-1.lift",
          "exhaust-train.rocker-1.cam-force", "tensioner.chamber.pressure", "intake-train.shaft.speed"}) {
        EXPECT_LT(test::shown(name, test::difference(parts, name, exact, name)), 0.02);
        EXPECT_LT(test::shown("  in two", test::difference(joined, std::string("rest.") + name, exact, name)), 0.02);
    }
    for (const char* name : {"chain.exhaust.shaft.speed", "rail.u", "gallery.u", "exhaust-flange.u"}) {
        EXPECT_LT(test::shown(name, test::difference(parts, name, exact, name)), 0.02);
        const std::string within =
            std::ranges::find(joined.names, name) != joined.names.end() ? name : std::string("rest.") + name;
        EXPECT_LT(test::shown("  in two", test::difference(joined, within, exact, name)), 0.02);
    }
    // The tensioner never leaves the rail, and no oil pressure falls to that of its vapour.
    const std::size_t contact = test::column(parts, "rail.u"), oil = test::column(parts, "feed.u");
    for (std::size_t row = 0; row < parts.rows(); ++row) {
        EXPECT_GT(parts.value(row, contact), 50);
        EXPECT_GT(parts.value(row, oil), 1e5);
    }
    // As one system all but the chain takes the steps of its stiffest part, whose evaluations cost what all of it costs.
    double apart = 0;
    for (std::size_t i = 1; i < six.subsystems.size(); ++i) apart += static_cast<double>(six.subsystems[i].evaluations);
    const auto joint = 5 * static_cast<double>(two.subsystems.at(1).evaluations);
    fmt::print("evaluations of parts: {} of five apart, {} of five as one\n", apart, joint);
    EXPECT_GT(joint, 1.2 * apart);
}

// Seven subsystems, thirteen connections: five springs, two nodes, six signals; the phaser follows its set value once it rises, after 5 ms.
TEST_F(v6_bank, controllers_turn_the_phasers) {
    const run_summary seven = run_bank("scenario.yaml", "16 ms", false);
    ASSERT_EQ(seven.subsystems.size(), 7u);
    const scenario written = read_scenario(test::examples / "v6-bank/scenario.yaml");
    EXPECT_EQ(written.connections.size(), 7u);
    EXPECT_EQ(written.signals.size(), 6u + 1);  // what pressed the rail while the chain was laid is taken back
    const result_table r = read("scenario.yaml");
    const std::size_t exhaust = test::column(r, "exhaust-phaser.phaser.theta"),
                      intake = test::column(r, "intake-phaser.phaser.theta"),
                      spool = test::column(r, "controller.exhaust_spool");
    const std::size_t last = r.rows() - 1, before = last * 5 / 16;
    EXPECT_GT(r.value(last, exhaust), r.value(before, exhaust) + 5e-4);
    EXPECT_NEAR(r.value(last, intake), r.value(before, intake), 3e-4);
    EXPECT_GT(r.value(last, spool), 0.52);
}

}  // namespace
}  // namespace mdpcosim

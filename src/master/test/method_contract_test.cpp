#include <gtest/gtest.h>

#include "coupling/joint.hpp"
#include "master/method.hpp"
#include "master/multirate_order.hpp"
#include "master/test/small_systems.hpp"

/// What method.hpp promises of every method: an attempt that is rolled back never was, one that is repeated gives the same bits, and a
/// state that is put back goes on as it went on before.
namespace mdpcosim {
namespace {

using test::oscillator;
using test::with_rk4;

/// Fails in one of its advances, once.
class failing final : public subsystem {
   public:
    explicit failing(std::unique_ptr<subsystem> model) : model_(std::move(model)) {}
    const subsystem_description& describe() const noexcept override { return model_->describe(); }
    capabilities offers() const override { return model_->offers(); }
    void initialise(double t0) override { model_->initialise(t0); }
    void outputs(std::span<const double> u, std::span<double> y) override { model_->outputs(u, y); }
    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        if (--until_failure == 0) {
            model_->advance({step.begin, (step.begin + step.end) / 2, step.counter}, inputs, y);
            throw run_error("the test wants it so");
        }
        model_->advance(step, inputs, y);
    }
    std::unique_ptr<snapshot> make_snapshot() const override { return model_->make_snapshot(); }
    void save(snapshot& into) override { model_->save(into); }
    void restore(const snapshot& from) override { model_->restore(from); }

    int until_failure = 0;  ///< advances; 0: it never fails

   private:
    std::unique_ptr<subsystem> model_;
};

struct method_case {
    std::string name;
    std::vector<std::pair<std::string, double>> options = {};
    std::string test_name() const {
        std::string text = name;
        for (const auto& [option, value] : options)
            text += "_" + option + "_" + std::to_string(static_cast<int>(value));
        for (char& c : text)
            if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
        return text;
    }
};
void PrintTo(const method_case& c, std::ostream* out) { *out << c.test_name(); }

/// Two oscillators, a spring or, where the method holds joints, a rigid joint between them; a third that a signal drives.
struct running {
    static constexpr double H = 0.02;

    explicit running(const method_case& c) {
        const method_info* info = method_registry::instance().find(c.name);
        parameter_values options(info->options);
        for (const auto& [option, value] : c.options) options.set(option, {value});
        chosen = info->make_with(options);
        std::vector<named_subsystem> parts;
        for (const char* name : {"A", "B", "C"}) {
            const bool moves = !info->traits.holds_joints && *name == 'A';
            auto model = std::make_unique<failing>(
                with_rk4(std::make_unique<oscillator>(1 + 0.1 * (*name - 'A'), 1,
                                                      [moves](double) {
                                                          return std::array{moves ? 1.0 : 0.0, 0.1};
                                                      }),
                         H / 8));
            models.push_back(model.get());
            parts.push_back({name, std::move(model)});
        }
        system.subsystems = make_thread_transport(std::move(parts), 1);
        network& net = system.coupling;
        if (info->traits.holds_joints)
            add_joint();
        else {
            const auto spring = net.add_channel(
                "spring", test::spring(4), {{output_slot(0), output_slot(1), 1}, {output_slot(3), output_slot(4), -1}},
                make_extrapolation(own_rule("lin-2-3-opt")));
            net.add_delivery(input_slot(0), max_degree, {spring, -1});
            net.add_delivery(input_slot(1), max_degree, {spring, 1});
            for (const std::size_t body : {0, 1}) system.at_start.push_back({subsystem_index(body), {spring}});
        }
        const auto signal =
            net.add_channel("signal", nullptr, {{output_slot(3), {}, 0.5}}, make_extrapolation(own_rule("poly-2")));
        net.add_delivery(input_slot(2), max_degree, {signal, 1});
        net.finish(std::vector<double>(3, 0.0));
        hand_over(*chosen, multirate_plan{0, 100 * H, H, {H, H / 2, H}, {}, std::vector<double>(net.channels(), 0.0)});
        system.finish();
        chosen->check(system);
        system.initialise(0);
        chosen->prepare(system);
        chosen->keep(system);  // makes room, once
        system.forget_begin();
    }

    std::string own_rule(const char* otherwise) const {
        const std::string own = chosen->own_extrapolation();
        return own.empty() ? otherwise : own;
    }

    void add_joint() {
        network& net = system.coupling;
        const joint_info& rigid = *joint_registry::instance().find("rigid");
        joint_connection j;
        j.name = "joint";
        j.joint = rigid.make(parameter_values(rigid.parameters), port_kind::translation);
        j.multipliers = {net.add_imposed("joint")};
        for (std::size_t e = 0; e < 2; ++e) {
            auto& end = j.ends[e];
            end.subsystem = subsystem_index(e);
            for (std::size_t k = 0; k < 3; ++k) end.motion.emplace_back(3 * e + k);
            end.input = {input_slot(e)};
            end.load = {net.add_imposed("joint")};
            net.add_delivery(end.input[0], max_degree, {end.load[0], 1});
        }
        system.joints.push_back(std::move(j));
    }

    macro_step next(double length = H) const { return {t, t + length, n}; }
    void step(double length = H) {
        const macro_step s = next(length);
        chosen->step(system, s);
        t = s.end;
        ++n;
    }
    std::vector<double> values() const {
        std::vector<double> all(system.outputs().begin(), system.outputs().end());
        all.insert(all.end(), system.u.begin(), system.u.end());
        return all;
    }

    std::vector<failing*> models;
    coupled_system system;
    std::unique_ptr<method> chosen;
    double t = 0;
    std::int64_t n = 0;
};

class method_contract : public testing::TestWithParam<method_case> {};

TEST_P(method_contract, a_step_that_is_repeated_gives_the_same_bits) {
    running r(GetParam());
    for (int n = 0; n < 8; ++n) {
        r.chosen->keep(r.system);
        r.chosen->attempt(r.system, r.next());
        const auto first = r.values();
        r.chosen->rollback(r.system);
        r.chosen->attempt(r.system, r.next());
        EXPECT_EQ(r.values(), first) << "step " << n;
        r.chosen->rollback(r.system);
        r.step();
        EXPECT_EQ(r.values(), first) << "step " << n;
    }
}

TEST_P(method_contract, a_rejected_attempt_leaves_no_trace) {
    running plain(GetParam()), other(GetParam());
    const bool own_steps = plain.chosen->traits().own_steps;
    for (int n = 0; n < 20; ++n) {
        if (n % 3 == 0) {
            other.chosen->keep(other.system);
            const double length = own_steps ? running::H : running::H * (n % 2 == 0 ? 2 : 0.7);
            other.chosen->attempt(other.system, other.next(length));
            other.chosen->rollback(other.system);
        }
        plain.step();
        other.step();
        ASSERT_EQ(other.values(), plain.values()) << "step " << n;
    }
}

TEST_P(method_contract, a_failure_in_the_middle_of_an_attempt_can_be_rolled_back) {
    for (const int advances : {1, 2, 3}) {
        running plain(GetParam()), other(GetParam());
        for (int n = 0; n < 12; ++n) {
            plain.step();
            if (n == 5) {
                other.chosen->keep(other.system);
                other.models[1]->until_failure = advances;
                try {
                    other.chosen->attempt(other.system, other.next());
                } catch (const run_error&) {
                }
                other.models[1]->until_failure = 0;
                other.chosen->rollback(other.system);
            }
            other.step();
            ASSERT_EQ(other.values(), plain.values()) << "failure in advance " << advances << ", step " << n;
        }
    }
}

TEST_P(method_contract, a_state_that_is_put_back_goes_on_as_before) {
    running r(GetParam());
    for (int n = 0; n < 7; ++n) r.step();
    const state_id saved = r.system.subsystems->make_state();
    r.system.subsystems->save(saved);
    state_bytes bytes;
    bytes.write();
    bytes(r.system, *r.chosen);
    const double t = r.t;
    const std::int64_t n = r.n;
    std::vector<std::vector<double>> first;
    for (int k = 0; k < 10; ++k) r.step(), first.push_back(r.values());
    for (int again = 0; again < 2; ++again) {
        r.system.subsystems->restore(saved);
        bytes.read();
        bytes(r.system, *r.chosen);
        bytes.finish();
        r.t = t;
        r.n = n;
        for (int k = 0; k < 10; ++k) {
            r.step();
            ASSERT_EQ(r.values(), first[static_cast<std::size_t>(k)]) << "step " << k;
        }
    }
}

TEST_P(method_contract, saving_changes_nothing) {
    running plain(GetParam()), saved(GetParam());
    const state_id id = saved.system.subsystems->make_state();
    state_bytes bytes;
    for (int n = 0; n < 15; ++n) {
        saved.system.subsystems->save(id);
        bytes.write();
        bytes(saved.system, *saved.chosen);
        plain.step();
        saved.step();
        ASSERT_EQ(saved.values(), plain.values()) << "step " << n;
    }
}

TEST_P(method_contract, unequal_steps_come_to_the_same_end) {
    running equal(GetParam()), unequal(GetParam());
    if (equal.chosen->traits().own_steps) GTEST_SKIP() << "its steps lie on grids";
    for (int n = 0; n < 20; ++n) equal.step();
    for (int n = 0; n < 20; ++n) unequal.step(running::H * (n % 2 == 0 ? 0.6 : 1.4));
    EXPECT_NEAR(unequal.t, equal.t, 1e-12);
    const auto a = equal.values(), b = unequal.values();
    for (std::size_t i = 0; i < equal.system.outputs().size(); ++i) EXPECT_NEAR(b[i], a[i], 0.02) << "output " << i;
}

INSTANTIATE_TEST_SUITE_P(all, method_contract,
                         testing::Values(method_case{"explicit"}, method_case{"semi-implicit"}, method_case{"one-pass"},
                                         method_case{"iterated"}, method_case{"iterated", {{"solver", 0}}},
                                         method_case{"iterated", {{"points", 1}}}, method_case{"multirate"},
                                         method_case{"multirate", {{"scheme", 1}, {"slow-order", 3}}},
                                         method_case{"index-1"}, method_case{"index-1", {{"degree", 0}}},
                                         method_case{"index-1", {{"tolerance", 1e-9}}}),
                         [](const auto& with) { return with.param.test_name(); });

/// No method is forgotten above.
TEST(method_contract, has_every_method) {
    EXPECT_EQ(method_registry::instance().names(),
              (std::vector<std::string>{"explicit", "index-1", "iterated", "multirate", "one-pass", "semi-implicit"}));
}

}  // namespace
}  // namespace mdpcosim

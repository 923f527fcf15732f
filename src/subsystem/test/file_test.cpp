#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "subsystem/file_subsystem.hpp"

namespace mdpcosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

text written(std::string value, int line, int column) { return {std::move(value), {"s.yaml", line, column}}; }

setting entry(const std::string& name, const std::string& value, int line) {
    return {name, {"s.yaml", line, 3}, {written(value, line, 10)}, false};
}

class file : public testing::Test {
   protected:
    file() { std::filesystem::create_directories(folder_); }
    ~file() override { std::filesystem::remove_all(folder_); }

    subsystem_spec csv(const std::string& content) const {
        std::ofstream(folder_ / "run.csv", std::ios::binary) << content;
        subsystem_spec spec;
        spec.name = "cycle";
        spec.where = {"s.yaml", 5, 3};
        spec.kind = subsystem_spec::source_kind::file;
        spec.source = written("run.csv", 6, 9);
        spec.file.path = folder_ / "run.csv";
        return spec;
    }

    static std::vector<double> at(subsystem& s, double t) {
        std::vector<double> y(static_cast<std::size_t>(s.describe().output_count()));
        s.advance({t, t, 0}, {}, y);
        return y;
    }

    static void expect_error(const subsystem_spec& spec, const std::vector<std::string>& parts) {
        try {
            make_file_subsystem(spec);
            ADD_FAILURE() << "no error; expected " << parts.front();
        } catch (const user_error& error) {
            EXPECT_THAT(error.what(), HasSubstr("subsystem 'cycle'"));
            for (const auto& part : parts) EXPECT_THAT(error.what(), HasSubstr(part));
        }
    }

    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("file_test_" + std::to_string(::getpid()) + "_" +
                                                  testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(file, description) {
    const auto s = make_file_subsystem(csv("time,demand [kN.m],n [rpm],x\n0,1,60,5\n1,2,120,6\n"));
    const auto& d = s->describe();
    EXPECT_EQ(d.type, "file run.csv");
    EXPECT_TRUE(d.inputs.empty());
    EXPECT_TRUE(s->offers().save_restore);
    std::vector<std::string> names, units;
    for (const auto& o : d.outputs) {
        names.push_back(o.name);
        units.push_back(o.unit);
        EXPECT_FALSE(o.rate_needs_input);
    }
    EXPECT_THAT(names, ElementsAre("demand", "n", "x", "der(demand)", "der(n)", "der(x)"));
    EXPECT_THAT(units, ElementsAre("N.m", "rad/s", "", "N.m/s", "rad/s2", ""));
    EXPECT_EQ(d.outputs[1].rate_slot, 4);
    s->initialise(0);
    std::vector<double> y(6);
    s->outputs({}, y);
    EXPECT_DOUBLE_EQ(y[0], 1000);
    EXPECT_DOUBLE_EQ(y[1], 2 * std::numbers::pi);
    EXPECT_DOUBLE_EQ(y[3], 1000);
}

TEST_F(file, forms_of_csv) {
    for (const auto* content : {
             "time,a,b\n0,1,2\n1,3,4\n",
             "\xEF\xBB\xBF# a comment\r\n\r\n time ; a ; b \r\n0;1;2\r\n  # another\r\n   \r\n 1 ; +3 ;4",
             "time\ta\tb\n0\t1\t2\n1\t3\t4\n\n",
             "\"time\",\"a\",\"b\"\n0,1.0,2e0\n1,3,4\n",
             "a,b,time\n1,2,0\n3,4,1\n",
             "a,time [ms],b\n1,0,2\n3,1e3,4\n",
         }) {
        const auto s = make_file_subsystem(csv(content));
        EXPECT_EQ(s->describe().outputs[0].name, "a") << content;
        EXPECT_EQ(s->describe().outputs[1].name, "b") << content;
        EXPECT_THAT(at(*s, 0.5), ElementsAre(2, 3, 2, 2)) << content;
    }
}

TEST_F(file, header_names_and_units) {
    const auto s = make_file_subsystem(csv("time;\"a; \"\"b\"\" [mm]\";f[1];r [1];q [-]\n0;1;2;3;4\n"));
    std::vector<std::string> names, units;
    for (int i = 0; i < 4; ++i) {
        names.push_back(s->describe().outputs[static_cast<std::size_t>(i)].name);
        units.push_back(s->describe().outputs[static_cast<std::size_t>(i)].unit);
    }
    EXPECT_THAT(names, ElementsAre("a; \"b\"", "f[1]", "r", "q"));
    EXPECT_THAT(units, ElementsAre("m", "", "1", "1"));
    EXPECT_DOUBLE_EQ(at(*s, 3)[0], 1e-3);
}

TEST_F(file, units_of_the_scenario_override) {
    auto spec = csv("time,p [bar],T\n0,100,20\n2,300,30\n");
    spec.file.units = {entry("p", "kPa", 8), entry("T", "degC", 9), entry("time", "min", 10)};
    const auto s = make_file_subsystem(spec);
    const auto y = at(*s, 60);
    EXPECT_DOUBLE_EQ(y[0], 200e3);
    EXPECT_DOUBLE_EQ(y[1], 298.15);
    EXPECT_DOUBLE_EQ(y[2], 200e3 / 120);
    EXPECT_NEAR(y[3], 10.0 / 120, 1e-15);
    EXPECT_EQ(s->describe().outputs[1].unit, "K");
}

TEST_F(file, converted_values_are_the_nearest_numbers) {
    const auto s = make_file_subsystem(csv("time [us],a [mm]\n20,9\n"));
    EXPECT_EQ(at(*s, 20e-6)[0], 9e-3);
}

TEST_F(file, linear_takes_the_right_side_at_corners) {
    const auto s = make_file_subsystem(csv("time,a\n1,10\n2,20\n4,0\n"));
    EXPECT_THAT(at(*s, 0.5), ElementsAre(10, 0));
    EXPECT_THAT(at(*s, 1), ElementsAre(10, 10));
    EXPECT_THAT(at(*s, 1.75), ElementsAre(17.5, 10));
    EXPECT_THAT(at(*s, 2), ElementsAre(20, -10));
    EXPECT_THAT(at(*s, 4), ElementsAre(0, 0));
    EXPECT_THAT(at(*s, 100), ElementsAre(0, 0));
    EXPECT_THAT(at(*s, 3), ElementsAre(10, -10)) << "going back";
    EXPECT_THAT(at(*s, 1.5), ElementsAre(15, 10));
}

TEST_F(file, hold) {
    auto spec = csv("time,a\n1,10\n2,20\n4,0\n");
    spec.file.interpolation = written("hold", 7, 3);
    const auto s = make_file_subsystem(spec);
    EXPECT_THAT(at(*s, 0), ElementsAre(10, 0));
    EXPECT_THAT(at(*s, 1.99), ElementsAre(10, 0));
    EXPECT_THAT(at(*s, 2), ElementsAre(20, 0));
    EXPECT_THAT(at(*s, 9), ElementsAre(0, 0));
}

TEST_F(file, grid_times_meet_rows_in_spite_of_rounding) {
    std::string content = "time,a\n";
    for (int i = 0; i <= 1000; ++i)
        content += std::to_string(i / 10) + "." + std::to_string(i % 10) + "," + std::to_string(i) + "\n";
    auto spec = csv(content);
    spec.file.interpolation = written("hold", 7, 3);
    const auto s = make_file_subsystem(spec);
    for (int i = 0; i <= 1000; ++i) {
        EXPECT_EQ(at(*s, i * 0.1)[0], i);
        EXPECT_EQ(at(*s, std::nextafter(i * 0.1, 0))[0], i);
    }
    spec.file.outside = written("repeat", 8, 3);
    const auto periodic = make_file_subsystem(spec);
    for (int i = 0; i <= 5000; ++i) EXPECT_EQ(at(*periodic, i * 0.1)[0], i % 1000) << i;
}

TEST_F(file, jumps) {
    for (const auto* kind : {"linear", "cubic"}) {
        auto spec = csv("time,a\n0,0\n1,1\n1,5\n2,7\n");
        spec.file.interpolation = written(kind, 7, 3);
        const auto s = make_file_subsystem(spec);
        EXPECT_THAT(at(*s, 0.5), ElementsAre(0.5, 1)) << kind;
        EXPECT_NEAR(at(*s, 1 - 1e-9)[0], 1, 1e-8) << kind;
        EXPECT_THAT(at(*s, 1), ElementsAre(5, 2)) << kind;
        EXPECT_THAT(at(*s, 1.5), ElementsAre(6, 2)) << kind;
    }
}

TEST_F(file, repeat) {
    auto spec = csv("time,a\n1,0\n2,10\n4,0\n");
    spec.file.outside = written("repeat", 8, 3);
    const auto s = make_file_subsystem(spec);
    for (const double period : {-3.0, 0.0, 3.0, 300.0}) {
        EXPECT_THAT(at(*s, 1 + period), ElementsAre(0, 10));
        EXPECT_THAT(at(*s, 1.5 + period), ElementsAre(5, 10));
        EXPECT_THAT(at(*s, 2 + period), ElementsAre(10, -5));
        EXPECT_THAT(at(*s, 3.5 + period), ElementsAre(2.5, -5));
    }
}

TEST_F(file, cubic_keeps_lines_smooth_and_data_monotone) {
    auto spec = csv("time,line,step\n0,1,0\n1,3,0\n3,7,0\n4,9,1\n6,13,1\n7,15,1\n");
    spec.file.interpolation = written("cubic", 7, 3);
    const auto s = make_file_subsystem(spec);
    double before = 0;
    for (int i = 0; i < 700; ++i) {
        const double t = i * 0.01;
        const auto y = at(*s, t);
        EXPECT_NEAR(y[0], 1 + 2 * t, 1e-13);
        EXPECT_NEAR(y[2], 2, 1e-13);
        EXPECT_GE(y[1], before) << "no overshoot at " << t;
        EXPECT_LE(y[1], 1);
        before = y[1];
        // The rate is that of the curve and has no jumps.
        const double h = 1e-6;
        EXPECT_NEAR(y[3], (at(*s, t + h)[1] - y[1]) / h, 1e-5) << t;
        EXPECT_NEAR(y[3], at(*s, t + h)[3], 2e-5) << t;
    }
}

TEST_F(file, cubic_converges) {
    const auto error = [this](int rows) {
        std::string content = "time,a\n";
        for (int i = 0; i <= rows; ++i) {
            const double t = static_cast<double>(i) / rows;
            content += std::to_string(t) + "," + std::to_string(std::exp(std::stod(std::to_string(t)))) + "\n";
        }
        auto spec = csv(content);
        spec.file.interpolation = written("cubic", 7, 3);
        const auto s = make_file_subsystem(spec);
        double worst = 0;
        for (double t = 0.3; t < 0.7; t += 0.001) worst = std::max(worst, std::abs(at(*s, t)[0] - std::exp(t)));
        return worst;
    };
    EXPECT_LT(error(20), 3e-5);
    EXPECT_GT(error(5) / error(10), 6) << "third order on an even grid";
}

TEST_F(file, cubic_repeats_smoothly) {
    std::string content = "time,a\n";
    for (int i = 0; i <= 24; ++i)
        content += std::to_string(i) + "," + std::to_string(std::sin(2 * std::numbers::pi * (i % 24) / 24)) + "\n";
    auto spec = csv(content);
    spec.file.interpolation = written("cubic", 7, 3);
    spec.file.outside = written("repeat", 8, 3);
    const auto s = make_file_subsystem(spec);
    EXPECT_NEAR(at(*s, 24 - 1e-9)[1], at(*s, 24)[1], 1e-6);
    EXPECT_NEAR(at(*s, 24)[1], 2 * std::numbers::pi / 24, 0.01);
}

TEST_F(file, save_and_restore) {
    const auto s = make_file_subsystem(csv("time,a\n0,0\n1,10\n2,0\n"));
    s->initialise(0.25);
    std::vector<double> first(2), again(2);
    const auto saved = s->make_snapshot();
    s->save(*saved);
    s->advance({0.25, 1.5, 0}, {}, first);
    s->restore(*saved);
    s->outputs({}, again);
    EXPECT_THAT(again, ElementsAre(2.5, 10));
    s->advance({0.25, 1.5, 0}, {}, again);
    EXPECT_EQ(first, again);
}

TEST_F(file, one_row_is_a_constant) {
    const auto s = make_file_subsystem(csv("time,a\n3,7\n"));
    for (const double t : {0.0, 3.0, 5.0}) EXPECT_THAT(at(*s, t), ElementsAre(7, 0));
}

TEST_F(file, a_million_rows) {
    std::string content = "time,a,b\n";
    for (int i = 0; i < 1000000; ++i) {
        content += std::to_string(i);
        content += "e-3,0.123456789,-1.5e3\n";
    }
    const auto spec = csv(content);
    const auto begin = std::chrono::steady_clock::now();
    const auto s = make_file_subsystem(spec);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    RecordProperty("read_seconds", std::to_string(took.count()));
    EXPECT_LT(took.count(), 20) << "about 0.3 s are usual; slow machines and sanitizers take longer";
    EXPECT_EQ(at(*s, 999.999)[1], -1500);
    EXPECT_EQ(at(*s, 0.5)[0], 0.123456789);
}

TEST_F(file, mistakes_in_rows) {
    const std::string path = (folder_ / "run.csv").string();
    expect_error(csv("time,a\n0,1\n# no row\n1,abc\n"),
                 {path + ":4:3: ", "column 'a' (column 2)", "'abc' is not a finite number"});
    expect_error(csv("time;a\n0;1,5\n"), {path + ":2:3: ", "column 'a' (column 2)", "'1,5'", "decimals with a point"});
    expect_error(csv("time,a\n0,\n"), {path + ":2:3: ", "column 'a' (column 2)", "''"});
    expect_error(csv("time,a\n0,nan\n"), {path + ":2:3: ", "'nan' is not a finite number"});
    expect_error(csv("time,a\n0,1 2\n"), {path + ":2:3: ", "'1 2'"});
    expect_error(csv("time,a,b\n0,1,2\n1,2\n"), {path + ":3:1: ", "2 fields, but the header has 3"});
    expect_error(csv("time,a\n0,1\n1,2,3\n"), {path + ":3:1: ", "3 fields, but the header has 2"});
    expect_error(csv("a,time\n0,1\n5,0.5\n"), {path + ":3:3: ", "column 'time' (column 2)", "from 1 s to 0.5 s"});
    expect_error(csv("time,a\n0,1\n0,2\n0,3\n"), {path + ":4:1: ", "three rows have the time 0 s"});
    expect_error(csv("time,a\n"), {path + ":1:1: ", "no data after its header"});
    expect_error(csv(""), {path + ":1:1: ", "no data"});
    expect_error(csv("# only\n\n"), {path + ":1:1: ", "no data"});
}

TEST_F(file, mistakes_in_the_header) {
    const std::string path = (folder_ / "run.csv").string();
    expect_error(csv("tim,a\n0,1\n"), {path + ":1:1: ", "no column 'time'", "tim, a", "Did you mean 'tim'?"});
    expect_error(csv("time\n0\n"), {path + ":1:1: ", "no column besides 'time'"});
    expect_error(csv("time,a,a\n0,1,2\n"), {path + ":1:8: ", "column 'a' is there twice: columns 2 and 3"});
    expect_error(csv("time,,a\n0,1,2\n"), {path + ":1:6: ", "column 2 has no name"});
    expect_error(csv("time,a [parsnip]\n0,1\n"), {path + ":1:6: ", "column 'a'", "unit 'parsnip' is not known"});
    expect_error(csv("time [m],a\n0,1\n"), {path + ":1:1: ", "column 'time'", "unit 'm' does not fit 's'"});
    expect_error(csv("time,\"a\n0,1\n"), {path + ":1:1: ", "quote without its end"});
    expect_error(csv("time,a,der(a)\n0,1,2\n"), {"s.yaml:6:9: ", "column 'der(a)'", "rate of column 'a'"});
}

TEST_F(file, mistakes_in_the_scenario) {
    const std::string good = "time,demand\n0,1\n1,2\n";
    auto spec = csv(good);
    spec.file.units = {entry("demnd", "N", 8)};
    expect_error(spec, {"s.yaml:8:3: ", "column 'demnd' does not exist", "time, demand", "Did you mean 'demand'?"});
    spec.file.units = {entry("demand", "parsnip", 8)};
    expect_error(spec, {"s.yaml:8:10: ", "column 'demand'", "'parsnip' is not known"});
    spec.file.units = {{"demand", {"s.yaml", 8, 3}, {}, true}};
    expect_error(spec, {"s.yaml:8:3: ", "column 'demand'", "one unit"});
    spec = csv(good);
    spec.file.path = folder_ / "rum.csv";
    expect_error(spec, {"s.yaml:6:9: ", "rum.csv' cannot be read", "No such file", "Did you mean 'run.csv'?"});
    spec.file.path = folder_;
    expect_error(spec, {"s.yaml:6:9: ", "cannot be read", "folder"});
    spec = csv(good);
    spec.file.interpolation = written("cubik", 9, 5);
    expect_error(spec, {"s.yaml:9:5: ", "interpolation 'cubik'", "linear, hold, cubic", "Did you mean 'cubic'?"});
    spec = csv(good);
    spec.file.outside = written("loop", 9, 5);
    expect_error(spec, {"s.yaml:9:5: ", "outside 'loop'", "hold, repeat"});
    spec = csv("time,a\n0,1\n0,2\n");
    spec.file.outside = written("repeat", 9, 5);
    expect_error(spec, {"s.yaml:9:5: ", "'outside: repeat'", "two different times", "run.csv"});
}

TEST_F(file, keys_that_a_file_does_not_take) {
    const std::string good = "time,demand\n0,1\n1,2\n";
    auto spec = csv(good);
    spec.set = {entry("gain", "2", 11)};
    expect_error(spec, {"s.yaml:11:3: ", "'set' of 'gain'"});
    spec = csv(good);
    spec.solver.name = written("rk4", 12, 5);
    expect_error(spec, {"s.yaml:12:5: ", "'solver' 'rk4'"});
    spec = csv(good);
    spec.solver.options = {entry("rtol", "1e-3", 13)};
    expect_error(spec, {"s.yaml:13:3: ", "'solver'"});
    spec = csv(good);
    spec.ports = {{"shaft", {"s.yaml", 14, 3}, {}, {}, {}}};
    expect_error(spec, {"s.yaml:14:3: ", "port 'shaft'"});
    spec = csv(good);
    spec.input_degree = 1;
    expect_error(spec, {"s.yaml:5:3: ", "input degree"});
}

}  // namespace
}  // namespace mdpcosim

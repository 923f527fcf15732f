#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "core/error.hpp"
#include "hostile_texts.hpp"
#include "support/archives.hpp"
#include "support/temporary_folder.hpp"

/// The real program with inputs that were made to hurt it: options, scenarios, parts of models, systems of SSP, tables, run folders and FMUs
/// damaged at random, and files that are none. Whatever they are, it ends by itself and in time, with bounded memory, and tells in a short message which of them was wrong.
namespace mdpcosim::test {

namespace fs = std::filesystem;

class hostile_campaign {
   public:
    explicit hostile_campaign(std::uint64_t seed) : random_(seed) {
        write_file(folder_ / "input.csv", table_);
        write_file(folder_ / "part.yaml", part_);
        write_file(folder_ / "good.yaml", scenario_);
        undamaged({"run", "good.yaml", "--out", "good.out"});
        for (const auto& entry : fs::directory_iterator(MDPCOSIM_BINARY_DIR "/fmus"))
            if (entry.path().extension() == ".fmu" && entry.file_size() < 200'000) fmus_.push_back(entry.path());
        std::sort(fmus_.begin(), fmus_.end());
        const fs::path examples = MDPCOSIM_SOURCE_DIR "/examples";
        for (const char* name :
             {"dragged-blocks", "hydraulic-tensioner", "chain-drive", "valve-train", "flat-engine", "robot-arm"})
            if (std::string_view(name) != "robot-arm" || fs::exists(MDPCOSIM_BINARY_DIR "/mdpcosim-multibody.so"))
                of_parts_.push_back(content(examples / name / "scenario.yaml"));
        of_parts_.push_back(hostile_blocks);
        for (const char* name : {"valve-train", "flat-engine"})
            fs::copy(examples / name / "parts", folder_ / "parts", fs::copy_options::recursive);
        fs::copy_file(MDPCOSIM_BINARY_DIR "/fmus/oscillator-2.fmu", folder_ / "Oscillator.fmu");
        system_.replace(system_.find("@FMU@"), 5, "Oscillator.fmu");
        system_.replace(system_.find("@FMU@"), 5, "Oscillator.fmu");
        for (const std::string& text : of_parts_) {
            write_file(folder_ / "parts.yaml", text);
            undamaged({"check", "parts.yaml"});
        }
        write_file(folder_ / "system.ssd", system_);
        write_file(folder_ / "values.ssv", hostile_values);
        undamaged({"run", "system.ssd", "--out", "system.out"});
    }

    /// Tries so many inputs, all kinds in turn; failed expectations name the input, which stays in a folder.
    void run(int count) {
        using kind = void (hostile_campaign::*)();
        constexpr kind kinds[] = {
            &hostile_campaign::options,   &hostile_campaign::scenarios, &hostile_campaign::scenarios,
            &hostile_campaign::runs,      &hostile_campaign::tables,    &hostile_campaign::folders,
            &hostile_campaign::not_files, &hostile_campaign::fmus,      &hostile_campaign::outputs,
            &hostile_campaign::parts,     &hostile_campaign::systems};
        for (int i = 0; i < count; ++i) {
            (this->*kinds[static_cast<std::size_t>(i) % std::size(kinds)])();
            if (testing::Test::HasFailure()) return keep();
        }
    }

    std::string figures() const {
        std::string text;
        int all = 0;
        for (const auto& [kind, counts] : counts_) {
            int sum = 0;
            std::string each;
            for (const auto& [status, n] : counts) sum += n, each += fmt::format("  status {}: {}", status, n);
            const worst& w = worst_.at(kind);
            text += fmt::format("{:<10} {:5}  {:5.2f} s  {:4} MB  {:4} characters{}\n", kind, sum, w.seconds,
                                w.memory / 1000, w.message, each);
            all += sum;
        }
        return text +
               fmt::format("{} inputs; most memory {} MB, most CPU time {:.1f} s, longest message {} characters\n", all,
                           most_memory_ / 1000, most_seconds_, longest_message_);
    }

   private:
    struct attempt {
        std::string kind;
        std::vector<std::string> arguments;
        std::vector<std::string> names;  ///< one of them stands in the message
        int status = -1, signal = 0;
        std::string out = {}, err = {};
        double seconds = 0;  ///< of CPU time
        long memory = 0;     ///< kB
        bool in_time = true;
    };

    // ---- inputs

    void options() {
        static const std::vector<std::vector<std::string>> commands{
            {"run", "good.yaml", "--out"},
            {"run", "good.yaml", "--transport"},
            {"run", "good.yaml", "--workers"},
            {"run", "good.yaml", "--set"},
            {"run", "good.yaml", "--end"},
            {"run", "good.yaml", "--start"},
            {"run", "good.yaml", "--step"},
            {"run", "good.yaml", "--method"},
            {"run", "good.yaml", "--extrapolation"},
            {"run", "good.yaml", "--hosts"},
            {"run", "good.yaml", "--listen"},
            {"run", "good.yaml", "--input"},
            {"run", "good.yaml", "--remote"},
            {"run", "good.yaml", "--wait"},
            {"run"},
            {"check", "good.yaml", "--set"},
            {"check"},
            {"list"},
            {"compare", "good.out", "--only"},
            {"compare", "good.out"},
            {"report"},
            {"report", "good.out", "--with"},
            {"stability", "--F"},
            {"stability", "--V"},
            {"stability", "--extrapolation"},
            {"stability", "--points"},
            {"stability", "--table"},
            {"stability", "--variant"},
            {"stability", "--method"},
            {"stability", "--input-degree"},
            {"order", "--extrapolation"},
            {"order", "--F"},
            {"longtime", "--periods"},
            {"longtime", "--step"},
            {"longtime", "--damping"},
            {"fmu", "info"},
            {"fmu", "validate"},
            {"fmu"},
            {"serve", "good.yaml", "a", "--connect"},
            {"serve", "good.yaml", "a", "--connect", "127.0.0.1:1", "--wait"},
            {"bench", "transport", "--runs"},
            {"bench", "multirate", "--frequency-ratio"},
            {"bench", "joints", "--joints"},
            {"bench", "methods", "--scenario"},
            {"bench", "trust", "--kind"},
            {"bench", "largest-step", "good.yaml", "--seconds", "1", "--error"},
            {"export"},
            {"export", "ssp"},
            {"export", "ssp", "good.yaml", "--set"},
            {"export", "fmu"},
            {"export", "fmu", "good.yaml", "--fmi"},
            {}};
        attempt a{"options", pick(commands), {}};
        const bool option = !a.arguments.empty() && a.arguments.back().starts_with("--");
        const std::string value = hostile_value();
        if (option) a.names.push_back(a.arguments.back());
        a.arguments.push_back(value);
        if (a.arguments.size() > 1 && a.arguments[1] == "good.out" && a.arguments[0] == "compare" && option)
            a.arguments.insert(a.arguments.begin() + 2, "good.out");
        a.names.push_back(escaped(value.substr(0, 20)));
        a.names.insert(a.names.end(), {a.arguments.front(), "subcommand", "--token-file", "good.yaml:"});
        if (a.arguments.front() == "run") a.names.insert(a.names.end(), {"--start", "--end", "--step"});
        if (a.arguments.front() == "run") {  // however the value is taken, the run stays short
            if (!option || a.arguments[2] != "--end") a.arguments.insert(a.arguments.end(), {"--end", "10 ms"});
            if (!option || a.arguments[2] != "--step") a.arguments.insert(a.arguments.end(), {"--step", "1 ms"});
        }
        if (a.arguments.size() > 2 &&
            (a.arguments[2] == "--end" || a.arguments[2] == "--step" || a.arguments[2] == "--start"))
            a.arguments[0] = "check";
        judge(a);
    }

    void scenarios() {
        write_file(folder_ / "hostile.yaml", damaged(below(5) == 0 ? part_ : scenario_, yaml_words()));
        judge({"scenarios", {"check", "hostile.yaml"}, {"hostile.yaml", "part.yaml", "input.csv"}});
    }

    void runs() {
        std::string text = scenario_;
        replace_value(text, pick(yaml_words()));
        write_file(folder_ / "hostile.yaml", text);
        judge({"runs",
               {"run", "hostile.yaml", "--out", "hostile.out", "--end", "10 ms", "--step", "1 ms", "--set",
                "record.every=1 ms"},
               {"hostile.yaml", "--end", "--step", "--set", "part.yaml", "input.csv", "subsystem '", "connection '"}});
        fs::remove_all(folder_ / "hostile.out");
    }

    /// Systems inside one subsystem, which its model puts together itself.
    void parts() {
        std::string text = pick(of_parts_);
        for (std::size_t n = 1 + below(3); n > 0; --n)
            below(3) == 0 ? replace_value(text, pick(yaml_words())) : replace_number(text);
        if (below(8) == 0) text = damaged(text, yaml_words());
        write_file(folder_ / "hostile.yaml", text);
        const std::vector<std::string> names{"hostile.yaml", "parts/", "subsystem '",
                                             "connection '", "--end",  "--step"};
        if (below(2) == 0) return judge({"parts", {"check", "hostile.yaml"}, names});
        judge({"parts", {"run", "hostile.yaml", "--out", "hostile.out", "--end", "100 us", "--step", "10 us"}, names});
        fs::remove_all(folder_ / "hostile.out");
    }

    /// As a file beside its values, or in an archive, which may be damaged itself.
    void systems() {
        const bool packed = below(2) == 0, values = below(4) == 0;
        const std::string system = values ? system_ : damaged(system_, hostile_xml_words),
                          set = values ? damaged(hostile_values, hostile_xml_words) : hostile_values;
        if (packed) {
            const std::string archive = fmi::zip_bytes({{"SystemStructure.ssd", system},
                                                        {"values.ssv", set},
                                                        {"Oscillator.fmu", content(folder_ / "Oscillator.fmu")}});
            write_file(folder_ / "hostile.ssp",
                       below(4) == 0 ? damaged(archive, {"PK\1\2", "PK\5\6", "../"}) : archive);
        } else {
            write_file(folder_ / "hostile.ssd", system);
            write_file(folder_ / "values.ssv", set);
        }
        const std::string name = packed ? "hostile.ssp" : "hostile.ssd";
        attempt a{"systems", {"check", name}, {name, "values.ssv", "subsystem '", "Oscillator.fmu"}};
        const std::size_t what = below(3);
        if (what == 0) a.arguments = {"run", name, "--out", "hostile.out", "--end", "10 ms", "--step", "1 ms"};
        if (what == 1) a.arguments = {"export", "ssp", name, "--annotated", "--out", "out.ssp"};
        a.names.insert(a.names.end(), {"--end", "--step", "out.ssp"});
        judge(a);
        fs::remove_all(folder_ / "hostile.out");
        fs::remove(folder_ / "out.ssp");
        write_file(folder_ / "values.ssv", hostile_values);
    }

    void tables() {
        write_file(folder_ / "hostile.csv",
                   damaged(table_, {"time", ",", ";", "\n", "\"", "1e999", "nan", "-1", "[m]", "[1]", "#"}));
        if (below(2) == 0)
            return judge({"tables", {"compare", "hostile.csv", "input.csv"}, {"hostile.csv", "input.csv"}});
        std::string text = scenario_;
        text.replace(text.find("input.csv"), 9, "hostile.csv");
        write_file(folder_ / "tables.yaml", text);
        judge({"tables", {"check", "tables.yaml"}, {"hostile.csv", "tables.yaml"}});
    }

    void folders() {
        fs::remove_all(folder_ / "damaged.out");
        fs::copy(folder_ / "good.out", folder_ / "damaged.out");
        const std::string name = pick(std::vector<std::string>{"results.csv", "summary.json", "system.json",
                                                               "coupling.json", "profile.json", "scenario.yaml"});
        const fs::path file = folder_ / ("damaged.out/" + name);
        const std::string before = content(file);
        write_file(file, damaged(before, {"{", "}", "[", "]", "\"", ":", ",", "null", "1e999", "-1", "true", "\"name\"",
                                          "{}", "[]"}));
        if (below(3) == 0) return judge({"folders", {"compare", "damaged.out", "good.out"}, {"damaged.out"}});
        judge({"folders", {"report", "damaged.out"}, {"damaged.out"}});
    }

    void not_files() {
        static const std::vector<std::vector<std::string>> places{
            {"run", "@"},
            {"check", "@"},
            {"compare", "@", "input.csv"},
            {"compare", "good.out", "@"},
            {"report", "@"},
            {"report", "good.out", "--with", "@"},
            {"fmu", "info", "@"},
            {"fmu", "validate", "@"},
            {"run", "@.fmu"},
            {"check", "s.yaml"},
            {"serve", "good.yaml", "a", "--connect", "127.0.0.1:1", "--wait", "0", "--token-file", "@"}};
        const fs::path odd = not_a_file();
        attempt a{"not files", pick(places), {odd.string(), odd.filename().string()}};
        for (auto& word : a.arguments)
            if (word.starts_with('@')) word.replace(0, 1, odd.string());
        if (a.arguments[1] == "s.yaml") {
            const std::vector<std::string> keys{"file", "plugin", "fmu"};
            write_file(folder_ / "s.yaml",
                       below(4) == 0 ? fmt::format("include: {}\n", odd.string()) + scenario_
                                     : fmt::format("time: {{end: 1 s, step: 1 ms}}\nsubsystems:\n  a: {{{}: '{}'}}\n",
                                                   pick(keys), odd.string()));
            a.names.emplace_back("s.yaml");
        }
        judge(a);
    }

    void fmus() {
        const fs::path& from = pick(fmus_);
        write_file(folder_ / "hostile.fmu",
                   damaged(content(from), {"PK\1\2", "PK\3\4", "PK\5\6", "../", "modelDescription.xml", "<", "\""}));
        if (below(2) == 0) return judge({"FMUs", {"check", "hostile.fmu"}, {"hostile.fmu"}});
        judge({"FMUs", {"fmu", "info", "hostile.fmu"}, {"hostile.fmu"}});
    }

    void outputs() {
        static const std::vector<std::vector<std::string>> places{
            {"run", "good.yaml", "--end", "10 ms", "--out", "@"},
            {"stability", "--F", "1", "--extrapolation", "lin-2-3-opt", "--svg", "@"},
            {"report", "good.out", "--out", "@"},
            {"order", "--extrapolation", "lin-2-3-opt", "--svg", "@"},
            {"export", "ssp", "good.yaml", "--annotated", "--out", "@"},
            {"export", "fmu", "good.yaml", "--out", "@"}};
        static const std::vector<std::string> odd{".",
                                                  "good.yaml",
                                                  "/dev/full",
                                                  "/proc/none",
                                                  "input.csv/below",
                                                  "/dev/null/x",
                                                  "good.out/results.csv",
                                                  "\x1b[2J",
                                                  "no/such/folder/x.svg",
                                                  "..",
                                                  "/"};
        attempt a{"outputs", pick(places), {}};
        const std::string where = pick(odd);
        a.names = {where, "--out", "--svg", "/dev/full", "\\x1b[2J"};
        for (auto& word : a.arguments)
            if (word == "@") word = where;
        const std::map<std::string, std::string> before = inputs();
        judge(a);
        EXPECT_EQ(inputs(), before) << command(a);
    }

    /// What the user would miss.
    std::map<std::string, std::string> inputs() const {
        std::map<std::string, std::string> all;
        for (const char* name : {"good.yaml", "input.csv", "part.yaml", "good.out/results.csv"})
            all[name] = content(folder_ / name);
        return all;
    }

    fs::path not_a_file() {
        const fs::path place = folder_ / "odd";
        fs::remove_all(place);
        switch (below(8)) {
            case 0:
                return "/dev/zero";
            case 1:
                return "/dev/full";
            case 2:
                return "/dev/null";
            case 3:
                return "/proc/self/mem";
            case 4:
                ::mkfifo(place.c_str(), 0600);
                return place;
            case 5: {
                const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
                sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
                place.string().copy(address.sun_path, sizeof address.sun_path - 1);
                ::bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address);
                ::close(file);
                return place;
            }
            case 6:
                fs::create_directory(place);
                return place;
            default:
                write_file(place, "");
                fs::resize_file(place, std::uintmax_t{1} << 40);  // a terabyte of nothing
                return place;
        }
    }

    // ---- damage

    std::string hostile_value() {
        static const std::vector<std::string> values{"",
                                                     " ",
                                                     "nan",
                                                     "-nan",
                                                     "inf",
                                                     "-inf",
                                                     "0",
                                                     "-0",
                                                     "-1",
                                                     "1e30",
                                                     "1e308",
                                                     "-1e308",
                                                     "1e-320",
                                                     "1e999",
                                                     "99999999999999999999",
                                                     "0x10",
                                                     "1,5",
                                                     "1 parsec",
                                                     "1e3 s s",
                                                     "\x1b[31mred\x1b[0m",
                                                     "\xff\xfe",
                                                     "a\nb",
                                                     "%s%n%d",
                                                     "../../../etc/passwd",
                                                     "/dev/zero",
                                                     "/",
                                                     ".",
                                                     "$(id)",
                                                     "=",
                                                     "a=",
                                                     "=b",
                                                     "a.b.c.d=1",
                                                     "a.mass=nan",
                                                     "a.mass=",
                                                     "time.step=0",
                                                     "k.stiffness=1e400",
                                                     "[1, 2",
                                                     "{a: 1}",
                                                     "*x",
                                                     "&x 1",
                                                     "--",
                                                     "-",
                                                     "\u03bc\u03bc\u03bc",
                                                     std::string(100'000, 'x'),
                                                     std::string(3000, '['),
                                                     "good.yaml"};
        if (below(4) != 0) return pick(values);
        std::string text;
        for (std::size_t n = below(40); n > 0; --n) text += static_cast<char>(1 + below(255));
        return text;
    }

    static std::vector<std::string> yaml_words() {
        return {"7",  // what is allowed somewhere gets deeper
                "1e6",
                "-3e5",
                "1e-9",
                "2 s",
                "1e-7 s",
                "1e12 N/m",
                "a",
                "b",
                "k",
                "rk4",
                "euler",
                "ida",
                "poly-6",
                "iterated",
                "semi-implicit",
                "one-pass",
                "damper",
                "stop",
                "d.u",
                "e.demand",
                "nan",
                "inf",
                "1e30",
                "-1",
                "0",
                "1e308",
                "1e-320",
                "1000000000",
                "99999999999999999999",
                "null",
                "true",
                "[]",
                "{}",
                "''",
                "\t",
                "$c",
                "$none",
                "*a",
                "&a ",
                "!!int ",
                "---\n",
                "include: hostile.yaml\n",
                "include: part.yaml\n",
                "replicas: 1000000000",
                "solver: {name: euler, step: 1e-300 s}",
                "solver: {name: cvode-bdf, max-steps: 1e30}",
                "model: chain, set: {n: 1e9}",
                "plugin: ''",
                "fmu: ''",
                "program: ''",
                "file: ''",
                "a.position",
                "b.mass",
                "1 kg",
                "2 parsec",
                "\x1b[31m",
                "\xff",
                std::string(5000, 'x'),
                std::string(2000, '['),
                std::string(2000, '{'),
                "? ",
                "| \n",
                "'",
                "\"",
                "#",
                ": ",
                "- "};
    }

    std::string damaged(std::string text, const std::vector<std::string>& words) {
        for (std::size_t n = 1 + below(2) * below(4); n > 0; --n) {
            const std::size_t at = below(text.size() + 1),
                              length = below(std::min<std::size_t>(text.size() - at, 40) + 1);
            switch (below(8)) {
                case 0:
                    if (at < text.size()) text[at] = static_cast<char>(random_());
                    break;
                case 1:
                    text.erase(at, length);
                    break;
                case 2:
                    text.insert(below(text.size() + 1), text.substr(at, length));
                    break;
                case 3:
                    text.insert(at, pick(words));
                    break;
                case 4:
                    text.resize(at);
                    break;
                default:
                    replace_value(text, pick(words));
            }
        }
        return text;
    }

    /// One word of the text, so that its form stays.
    void replace_value(std::string& text, const std::string& word) {
        const std::string ends = " ,:{}[]\n\"";
        const std::size_t at = text.find_first_not_of(ends, below(text.size() + 1));
        if (at == std::string::npos) return;
        const std::size_t end = std::min(text.find_first_of(ends, at), text.size());
        text.replace(at, end - at, word);
    }

    /// Another number with the same unit goes deeper than words that do not fit.
    void replace_number(std::string& text) {
        const std::string digits = "0123456789";
        std::size_t at = text.find_first_of(digits, below(text.size()));
        if (at == std::string::npos) return;
        while (at > 0 && (digits + ".-").find(text[at - 1]) != std::string::npos) --at;
        if (at >= 6 && text.compare(at - 6, 6, "step: ") == 0) return;  // any amount of work may be asked for
        const std::size_t end = std::min(text.find_first_not_of(digits + ".-e", at), text.size());
        static const std::vector<std::string> numbers{"0",      "-1",    "1",      "2",    "1e-3", "1e3",
                                                      "1e-9",   "1e6",   "1e9",    "1e15", "1e30", "-1e150",
                                                      "1e-300", "1e308", "100000", "0.5"};
        text.replace(at, end - at, pick(numbers));
    }

    // ---- the program

    void undamaged(std::vector<std::string> arguments) {
        attempt made{"undamaged", std::move(arguments), {}};
        run(made);
        if (made.status != 0) throw std::runtime_error(command(made) + " fails, undamaged: " + made.err);
    }

    void judge(attempt a) {
        run(a);
        SCOPED_TRACE(command(a) + "\n" + escaped_text(a.err.substr(0, 3000)));
        EXPECT_TRUE(a.in_time) << "it did not end within a minute";
        EXPECT_EQ(a.signal, 0) << "it crashed";
        EXPECT_THAT(a.status, testing::AnyOf(0, 1, 2, 3));
        EXPECT_LT(a.memory, 1'000'000) << "kB of memory";
        EXPECT_LT(a.seconds, 10) << "of CPU time";
        EXPECT_EQ(a.err.find_first_of(std::string("\x1b\x7f\x07\b\r\0", 6)), std::string::npos) << "control characters";
        std::istringstream lines(a.err);
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LT(line.size(), 2000u) << "a message is too long";
            longest_message_ = std::max(longest_message_, line.size());
            worst_[a.kind].message = std::max(worst_[a.kind].message, line.size());
        }
        if (a.status == 1 || a.status == 2) {
            EXPECT_THAT(a.err, testing::StartsWith("mdpcosim: "));
            const bool named = a.names.empty() || std::ranges::any_of(a.names, [&](const std::string& name) {
                                   return !name.empty() && a.err.find(name) != std::string::npos;
                               });
            EXPECT_TRUE(named) << "nobody is told what is wrong";
        }
        if (std::getenv("MDPCOSIM_HOSTILE_TOLD") != nullptr)
            std::cout << a.kind << ": " << escaped_text(a.err.substr(0, 300)) << "\n";
        ++counts_[a.kind][a.status];
        worst& w = worst_[a.kind];
        w.memory = std::max(w.memory, a.memory);
        w.seconds = std::max(w.seconds, a.seconds);
        most_memory_ = std::max(most_memory_, a.memory);
        most_seconds_ = std::max(most_seconds_, a.seconds);
    }

    void run(attempt& a) {
        std::vector<std::string> words{MDPCOSIM_PROGRAM};
        for (auto word : a.arguments) words.push_back(word.substr(0, word.find('\0')));
        std::vector<char*> arguments;
        for (auto& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        const std::string out = folder_ / ".out", err = folder_ / ".err", place = folder_.path();
        const pid_t child = ::fork();
        if (child < 0) throw std::runtime_error("no child process");
        if (child == 0) {
            ::setpgid(0, 0);
            const int flags = O_WRONLY | O_CREAT | O_TRUNC;
            const int in = ::open("/dev/null", O_RDONLY), to = ::open(out.c_str(), flags, 0600),
                      told = ::open(err.c_str(), flags, 0600);
            ::dup2(in, 0);
            ::dup2(to, 1);
            ::dup2(told, 2);
            if (::chdir(place.c_str()) != 0) ::_exit(126);
            ::execv(arguments[0], arguments.data());
            ::_exit(127);
        }
        const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        int status = 0;
        rusage used{};
        while (::wait4(child, &status, WNOHANG, &used) == 0) {
            if (std::chrono::steady_clock::now() > limit) {
                a.in_time = false;
                ::kill(-child, SIGKILL);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        a.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        a.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        a.memory = used.ru_maxrss;
        a.seconds = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                    1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
        a.out = content(out);
        a.err = content(err);
    }

    static std::string escaped_text(const std::string& text) {
        std::string shown;
        for (const char c : text.substr(0, 3000))
            shown += c >= ' ' && c < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        return shown;
    }
    static std::string command(const attempt& a) {
        std::string text = "mdpcosim";
        for (const auto& word : a.arguments) text += " '" + escaped_text(word.substr(0, 200)) + "'";
        return text;
    }

    /// For a look at what broke it.
    void keep() const {
        fs::remove_all("hostile-input");
        // A pipe or a socket has no copy, and that of a terabyte of nothing would fill the disk.
        if (!fs::is_regular_file(folder_ / "odd") || fs::file_size(folder_ / "odd") > 1'000'000)
            fs::remove_all(folder_ / "odd");
        fs::copy(folder_.path(), "hostile-input", fs::copy_options::recursive | fs::copy_options::skip_symlinks);
    }

    std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
    template <class List>
    const typename List::value_type& pick(const List& list) {
        return list[below(list.size())];
    }

    std::mt19937_64 random_;
    temporary_folder folder_;
    std::vector<fs::path> fmus_;
    std::vector<std::string> of_parts_;
    std::string system_ = hostile_system;
    std::map<std::string, std::map<int, int>> counts_;
    struct worst {
        double seconds = 0;
        long memory = 0;
        std::size_t message = 0;
    };
    std::map<std::string, worst> worst_;
    long most_memory_ = 0;
    double most_seconds_ = 0;
    std::size_t longest_message_ = 0;

    const std::string table_ = "time,demand [N]\n0,0\n0.1,1\n0.2,-1\n10,2\n";
    const std::string part_ =
        "let: {m: 2 kg}\nsubsystems:\n  c: {model: mass-spring-damper, set: {mass: $m}, solver: rk4}\n";
    const std::string scenario_ = R"(include: part.yaml
let: {c: 1 kN/m}
time: {end: 20 ms, step: 1 ms}
method: explicit
subsystems:
  a: {model: mass-spring-damper, set: {mass: 1 kg, x0: 1 mm}, solver: {name: rk4, step: 0.5 ms}}
  b: {model: mass-spring-damper, solver: {name: cvode-bdf, rtol: 1e-6}, replicas: 1}
  d:
    ode:
      parameters: {k: 3 1/s}
      states: {x: 1}
      inputs: {u: 0}
      equations: {x: "-k*x + u"}
      outputs: {y: "2*x"}
  e: {file: input.csv, interpolation: linear}
connections:
  k: {law: spring, between: [a.mass, b.mass], stiffness: $c}
  l: {law: spring, between: [b.mass, c.mass], stiffness: 500 N/m, extrapolation: lin-2-3-opt}
signals:
  - e.demand -> d.u
record: {every: 1 ms, only: ["*"]}
monitor: {divergence: stop}
expect:
  - {variable: d.y, min: -100, max: 100}
)";
};

}  // namespace mdpcosim::test

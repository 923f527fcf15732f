#include <gtest/gtest.h>

#include <iostream>

#include "core/error.hpp"
#include "report/run_report.hpp"
#include "results/compare.hpp"
#include "support/fuzz.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

/// Files of a run's folder, one damaged at a time: a report, or a message that names the folder.
class damaged_folder {
   public:
    damaged_folder() {
        for (const auto& [name, text] : files_) test::write_file(folder_ / name, text);
        test::write_file(whole_ / "results.csv", files_.at("results.csv"));
    }

    std::string attempt(const std::string& name, const std::string& text) {
        test::write_file(folder_ / name, text);
        const std::string outcome = name + ": " + tried([&] {
                                        run_report_json({folder_.path(), {}});
                                    }) +
                                    "\n" + tried([&] { compare_results(folder_.path(), whole_.path()); });
        test::write_file(folder_ / name, files_.at(name));
        return outcome;
    }

    const std::map<std::string, std::string>& files() const { return files_; }

   private:
    template <class Use>
    std::string tried(const Use& use) const {
        try {
            use();
            return "taken";
        } catch (const user_error& problem) {
            const std::string message = problem.what();
            EXPECT_LT(message.size(), 2000u);
            EXPECT_NE(message.find(folder_.path().string()), std::string::npos) << message;
            return message;
        }
    }

    test::temporary_folder folder_, whole_;
    const std::map<std::string, std::string> files_{
        {"results.csv", "time,a.x,\"k,1.u\"\n0,0,1\n0.1,0.5,-2e-3\n0.2,1,3\n"},
        {"summary.json",
         R"({"status": "done", "method": "explicit", "rows": 3, "connections": [{"name": "k", "u_max": 1}]})"},
        {"system.json",
         R"({"columns": [{"name": "a.x", "unit": "m"}], "scenes": [{"subsystem": "a", "row": 0, "constants": {"l": 1.5}, "shapes":
 [{"kind": "ball", "ports": [], "points": [["x*l", "0"]], "size": ["0.1"], "rotation": []}]}], "subsystems": []})"},
        {"coupling.json",
         R"({"time": [0, 1], "H_min": [1, 1], "H_max": [1, 1], "rejected": [], "H_rejected": [], "error": [], "connections": [{"name": "k", "jump": [1, null], "residual": [], "energy_error": [0]}]})"},
        {"profile.json",
         R"({"traceEvents": [{"ph": "X", "name": "a", "tid": 1, "ts": 0.5, "dur": 2, "args": {"step": 3}}, {"ph": "M"}]})"},
        {"scenario.yaml", "time: {end: 1 s, step: 1 ms}\n"}};
};

TEST(fuzz, run_folders) {
    damaged_folder folder;
    std::vector<std::string> names, texts;
    for (const auto& [name, text] : folder.files()) {
        names.push_back(name);
        texts.push_back(name + "\n" + text);  // the first line says which file it is
    }
    test::fuzzer fuzz("run-folder", texts,
                      {"{",
                       "}",
                       "[",
                       "]",
                       "\"",
                       ":",
                       ",",
                       "null",
                       "true",
                       "-1",
                       "1e308",
                       "1e999",
                       "18446744073709551615",
                       "\"name\"",
                       "{}",
                       "[]",
                       "\n",
                       "nan",
                       "time",
                       "\\u0000",
                       "\xff",
                       "x+",
                       "(((((((("});
    const long count = fuzz.run([&](const std::string& input) -> std::string {
        const std::size_t end = std::min(input.find('\n'), input.size());
        const auto name = std::ranges::find(names, input.substr(0, end));
        if (name == names.end()) return "another file";
        return folder.attempt(*name, input.substr(std::min(end + 1, input.size())));
    });
    std::cout << count << " folders, " << fuzz.outcomes() << " kinds of outcome\n";
    EXPECT_GT(count, 1000);
    EXPECT_GT(fuzz.outcomes(), 10u);
}

}  // namespace
}  // namespace mdpcosim

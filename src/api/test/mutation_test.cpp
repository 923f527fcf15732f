// Damaged scenarios: whatever a slip of the hand makes of an example, check() accepts it or says what is wrong.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>

#include "api/mdpcosim.hpp"
#include "subsystem/solver.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;

struct example {
    fs::path path;
    std::string text;
};

/// The example's text; a solver that this build lacks becomes rk4.
std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    std::string result = text.str();
    const auto& solvers = solver_registry::instance();
    for (const char* name : {"erk-5", "erk-8"})
        if (solvers.find(name) == nullptr)
            result = std::regex_replace(result, std::regex(std::string("solver: \\{name: ") + name + "[^}]*\\}"),
                                        "solver: rk4");
    if (solvers.find(default_solver) == nullptr)
        result = std::regex_replace(result, std::regex("(\\{model: inertia), set"), "$1, solver: rk4, set");
    return result;
}

std::vector<example> examples() {
    std::vector<example> all;
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(MDPCOSIM_SOURCE_DIR) / "examples"))
        if (entry.path().extension() == ".yaml") {
            example one{entry.path(), text_of(entry.path())};
            // Others are included, and those in a folder fmus/ need FMUs that their README makes.
            if (one.text.find("subsystems:") != std::string::npos && entry.path().parent_path().filename() != "fmus")
                all.push_back(std::move(one));
        }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return all;
}

class mutator {
   public:
    explicit mutator(unsigned seed) : random_(seed) {}

    std::string operator()(std::string text) {
        const std::size_t times = 1 + below(3);
        for (std::size_t i = 0; i < times; ++i) text = once(std::move(text));
        return text;
    }

   private:
    std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

    std::pair<std::size_t, std::size_t> some_line(const std::string& text) {
        const std::size_t at = below(text.size());
        const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
        const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
        return {begin, end - begin};
    }

    std::string once(std::string text) {
        static const std::string pieces[] = {":",
                                             ": ",
                                             "{",
                                             "}",
                                             "[",
                                             "]",
                                             ",",
                                             "-",
                                             "- ",
                                             "$",
                                             "*",
                                             "&x ",
                                             "!",
                                             "#",
                                             "'",
                                             "\"",
                                             "\n",
                                             "\t",
                                             " ",
                                             ".",
                                             "0",
                                             "9",
                                             "e9",
                                             "-1",
                                             "nan",
                                             "1e999",
                                             "~",
                                             "null",
                                             "%",
                                             "@",
                                             "|",
                                             ">",
                                             "?",
                                             "\\",
                                             "\xC3",
                                             "\xFF",
                                             std::string(1, '\0'),
                                             "->",
                                             " + ",
                                             "...\n",
                                             "---\n",
                                             "<<: *x",
                                             "km",
                                             "(",
                                             ")",
                                             "/"};
        if (text.empty()) return "x";
        const std::size_t at = below(text.size());
        switch (below(9)) {
            case 0: {
                const auto [begin, length] = some_line(text);
                return text.erase(begin, length);
            }
            case 1: {
                const auto [begin, length] = some_line(text);
                return text.insert(begin, text.substr(begin, length));
            }
            case 2:
                std::swap(text[at], text[below(text.size())]);
                return text;
            case 3:
                return text.substr(0, at);
            case 4:
                return text.erase(at, 1 + below(4));
            case 5:
                return text.insert(at, pieces[below(std::size(pieces))]);
            case 6:
                return text.replace(at, 1, pieces[below(std::size(pieces))]);
            case 7:
                return text.insert(at, text.substr(below(text.size()), below(30)));
            default:
                text[at] = static_cast<char>(random_());
                return text;
        }
    }

    std::mt19937 random_;
};

TEST(mutation, the_examples_themselves_are_accepted) {
    const auto all = examples();
    ASSERT_GE(all.size(), 5U);
    for (const auto& e : all)
        EXPECT_NO_THROW(check(read_scenario_text(e.text, "s.yaml", e.path.parent_path()))) << e.path;
}

TEST(mutation, damaged_examples_are_accepted_or_refused_with_a_message) {
    constexpr int most = 5000;
    const auto all = examples();
    mutator mutate(2011);
    int accepted = 0, refused = 0;
    for (int i = 0; i < most; ++i) {
        const example& e = all[static_cast<std::size_t>(i) % all.size()];
        const std::string text = mutate(e.text);
        try {
            const scenario s = read_scenario_text(text, "s.yaml", e.path.parent_path());
            check(s);
            ++accepted;
            const std::string written = write_scenario(s);
            ASSERT_EQ(write_scenario(read_scenario_text(written, "s.yaml")), written) << text;
        } catch (const user_error& problem) {
            ++refused;
            const std::string message = problem.what();
            ASSERT_TRUE(message.ends_with('.') || message.ends_with('?')) << message;
        } catch (const std::exception& problem) {
            FAIL() << "mutation " << i << " of " << e.path << ": " << problem.what() << "\n" << text;
        }
    }
    EXPECT_GT(accepted, 0);
    EXPECT_GT(refused, 10 * std::min(accepted, 10));
}

}  // namespace
}  // namespace mdpcosim

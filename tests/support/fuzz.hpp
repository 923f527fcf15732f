#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

/// A fuzzer, and the inputs it starts from.
namespace mdpcosim::test {

/// The files below src/ in `folder` of a room's test folder.
inline std::vector<std::string> corpus(const std::string& folder) {
    std::set<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(MDPCOSIM_SOURCE_DIR "/src/" + folder))
        paths.insert(entry.path());
    std::vector<std::string> texts;
    for (const std::filesystem::path& path : paths) {
        std::ostringstream text;
        text << std::ifstream(path, std::ios::binary).rdbuf();
        texts.push_back(text.str());
    }
    return texts;
}

/// Changes inputs at random, the same way for the same seed. An input whose outcome has a line that is new (names and numbers
/// apart) joins the pool that is changed further. The input that is tried stands in the file fuzz-<kind>.input behind eight bytes of its length, so that one that breaks a
/// promise or crashes the program is kept.
class fuzzer {
   public:
    fuzzer(const std::string& kind, std::vector<std::string> corpus, std::vector<std::string> dictionary)
        : pool_(std::move(corpus)), dictionary_(std::move(dictionary)), file_("fuzz-" + kind + ".input") {
        if (const char* seed = std::getenv("MDPCOSIM_FUZZ_SEED")) random_.seed(std::strtoull(seed, nullptr, 10));
        std::ofstream(file_, std::ios::binary) << std::string(sizeof(std::size_t) + longest, '\0');
        FILE* file = std::fopen(file_.c_str(), "r+b");
        kept_ = static_cast<char*>(
            ::mmap(nullptr, sizeof(std::size_t) + longest, PROT_READ | PROT_WRITE, MAP_SHARED, ::fileno(file), 0));
        std::fclose(file);
    }
    fuzzer(const fuzzer&) = delete;
    fuzzer& operator=(const fuzzer&) = delete;
    ~fuzzer() {
        ::munmap(kept_, sizeof(std::size_t) + longest);
        if (!testing::Test::HasFailure()) std::filesystem::remove(file_);
    }

    /// MDPCOSIM_FUZZ_SECONDS, ten minutes unless it says otherwise. Gives the number of inputs tried.
    long run(const std::function<std::string(const std::string&)>& attempt) {
        const char* text = std::getenv("MDPCOSIM_FUZZ_SECONDS");
        const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(text ? std::atof(text) : 600);
        long count = 0;
        for (; std::chrono::steady_clock::now() < end && !testing::Test::HasFailure(); ++count) {
            const std::string input = changed();
            const std::size_t size = input.size();
            std::memcpy(kept_, &size, sizeof size);
            std::memcpy(kept_ + sizeof size, input.data(), size);
            bool is_new = false;
            std::istringstream lines(shape(attempt(input)));
            for (std::string line; std::getline(lines, line);) is_new = outcomes_.insert(line).second || is_new;
            if (is_new && pool_.size() < most_kept) pool_.push_back(input);
        }
        return count;
    }
    std::size_t outcomes() const { return outcomes_.size(); }

   private:
    static constexpr std::size_t longest = 1 << 16, most_kept = 20'000;

    std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

    /// Without the names and numbers in it.
    static std::string shape(const std::string& outcome) {
        std::string result;
        bool quoted = false;
        for (const char c : outcome) {
            if (c == '\'' || c == '"') quoted = !quoted;
            if (c == '\n') quoted = false;
            if (!quoted && !(c >= '0' && c <= '9')) result += c;
        }
        return result;
    }

    std::string changed() {
        std::string text = pool_[below(pool_.size())];
        for (std::size_t n = 1 + below(6); n > 0; --n) change(text);
        if (text.size() > longest) text.resize(longest);
        return text;
    }

    void change(std::string& text) {
        const std::size_t at = below(text.size() + 1), length = below(std::min<std::size_t>(text.size() - at, 64) + 1);
        switch (below(9)) {
            case 0:
                if (at < text.size()) text[at] = static_cast<char>(text[at] ^ 1 << below(8));
                break;
            case 1:
                if (at < text.size()) text[at] = static_cast<char>(random_());
                break;
            case 2:
                text.erase(at, length);
                break;
            case 3:
                text.insert(below(text.size() + 1), text.substr(at, length));
                break;
            case 4:
                text.insert(at, dictionary_[below(dictionary_.size())]);
                break;
            case 5:
                text.replace(at, length, dictionary_[below(dictionary_.size())]);
                break;
            case 6:
                swap_values(text);
                break;
            case 7: {
                const std::string& other = pool_[below(pool_.size())];
                text = text.substr(0, at) + other.substr(std::min(at, other.size()));
                break;
            }
            default:
                for (std::size_t i = 0; i < 4 && at + i < text.size(); ++i)
                    text[at + i] = static_cast<char>(interesting[below(std::size(interesting))] >> 8 * i);
        }
    }

    /// One quoted value in the place of another: the text stays well formed.
    void swap_values(std::string& text) {
        const auto value = [&]() -> std::pair<std::size_t, std::size_t> {
            const std::size_t start = text.find("=\"", below(text.size()));
            const std::size_t end = start == std::string::npos ? start : text.find('"', start + 2);
            return end == std::string::npos ? std::pair{std::size_t{0}, std::size_t{0}} : std::pair{start + 2, end};
        };
        const auto [a, a_end] = value();
        const auto [b, b_end] = value();
        const std::string other = below(2) == 0 ? dictionary_[below(dictionary_.size())] : text.substr(b, b_end - b);
        if (a_end > 0) text.replace(a, a_end - a, other);
    }

    static constexpr std::uint32_t interesting[] = {0,          1,          0xff,    0xffff, 0x7fffffff,
                                                    0x80000000, 0xffffffff, 0x10000, 100,    8};

    std::vector<std::string> pool_;
    std::vector<std::string> dictionary_;
    std::set<std::string> outcomes_;
    std::mt19937_64 random_{1};
    std::string file_;
    char* kept_ = nullptr;
};

}  // namespace mdpcosim::test

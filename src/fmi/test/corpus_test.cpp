#include <gtest/gtest.h>

#include "fmi/test/descriptions.hpp"
#include "fmi/test/promises.hpp"
#include "support/fuzz.hpp"

/// The inputs that the fuzzers start from; one that ever broke something joins them.
namespace mdpcosim::fmi {
namespace {

TEST(corpus, descriptions_keep_the_promises) {
    const std::vector<std::string> texts = test::corpus("fmi/test/corpus/description");
    EXPECT_GE(texts.size(), 5u);
    for (const std::string& text : texts) try_description(text, good_3);
}

TEST(corpus, descriptions_of_1_keep_the_promises) {
    const std::vector<std::string> texts = test::corpus("fmi/test/corpus/description-1");
    EXPECT_GE(texts.size(), 5u);
    for (const std::string& text : texts) try_description(text, good_3);
}

TEST(corpus, archives_keep_the_promises) {
    const test_folder folder;
    const std::vector<std::string> archives = test::corpus("fmi/test/corpus/archive");
    EXPECT_GE(archives.size(), 5u);
    int opened = 0;
    for (const std::string& bytes : archives) opened += try_archive(bytes, folder) == "opened";
    EXPECT_GE(opened, 1);
    EXPECT_LT(opened, static_cast<int>(archives.size()));
}

}  // namespace
}  // namespace mdpcosim::fmi

#include "fmi/archive.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <zip.h>

#include <cstdlib>
#include <thread>

#include "archive/work_folder.hpp"
#include "core/error.hpp"
#include "fmi/test/descriptions.hpp"
#include "support/archives.hpp"

namespace mdpcosim::fmi {
namespace {

using testing::HasSubstr;

const test_entry description_entry{"modelDescription.xml", good_2};

/// Points TMPDIR at a folder of the test's own.
class fmu_archive : public testing::Test {
   protected:
    fmu_archive() { ::setenv("TMPDIR", work_.path().c_str(), 1); }
    ~fmu_archive() override { ::unsetenv("TMPDIR"); }

    std::string refusal(const std::vector<test_entry>& entries, const archive_limits& limits = {}) {
        return refusal_of(zip_bytes(entries), limits);
    }
    std::string refusal_of(const std::string& bytes, const archive_limits& limits = {}) {
        const std::filesystem::path path = files_.write("x.fmu", bytes);
        std::string message = "opened";
        try {
            open_fmu(path, limits);
        } catch (const user_error& error) {
            message = error.what();
        }
        EXPECT_TRUE(std::filesystem::is_empty(work_.path())) << "something was left behind";
        return message;
    }

    test_folder files_, work_;
};

/// A deflated run of zeros, from libzip, as an entry of our own.
test_entry deflated_zeros(const std::string& name, std::size_t size) {
    const test_folder folder;
    const std::string path = (folder.path() / "z.zip").string();
    const std::string zeros(size, '\0');
    zip_t* zip = ::zip_open(path.c_str(), ZIP_CREATE, nullptr);
    ::zip_file_add(zip, "z", ::zip_source_buffer(zip, zeros.data(), zeros.size(), 0), 0);
    ::zip_close(zip);
    zip = ::zip_open(path.c_str(), ZIP_RDONLY, nullptr);
    zip_stat_t about;
    ::zip_stat_index(zip, 0, 0, &about);
    test_entry entry{name, std::string(about.comp_size, '\0'), 0100644, 8, static_cast<std::int64_t>(size), about.crc};
    zip_file_t* file = ::zip_fopen_index(zip, 0, ZIP_FL_COMPRESSED);
    EXPECT_EQ(::zip_fread(file, entry.data.data(), entry.data.size()), static_cast<zip_int64_t>(entry.data.size()));
    ::zip_fclose(file);
    ::zip_discard(zip);
    return entry;
}

TEST_F(fmu_archive, is_unpacked_and_removed) {
    const std::filesystem::path path =
        files_.write("p.fmu", zip_bytes({description_entry,
                                         {"resources/", "", 040755},
                                         {"resources/table.txt", "1 2 3"},
                                         {"resources/tool", "#!", 0100755},
                                         deflated_zeros("resources/deep/er/zeros", 1000000)}));
    std::filesystem::path folder;
    {
        const std::shared_ptr<const fmu_files> fmu = open_fmu(path);
        folder = fmu->folder();
        EXPECT_EQ(fmu->description().model_name, "Pendulum");
        EXPECT_EQ(std::filesystem::file_size(folder / "resources/table.txt"), 5u);
        EXPECT_EQ(std::filesystem::file_size(folder / "resources/deep/er/zeros"), 1000000u);
        const auto rights = [&](const char* name) { return std::filesystem::status(folder / name).permissions(); };
        EXPECT_EQ(rights("resources/tool"), std::filesystem::perms::owner_all);
        EXPECT_EQ(rights("resources/table.txt"),
                  std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        EXPECT_EQ(fmu->resource_location(), "file://" + (folder / "resources").string());
    }
    EXPECT_FALSE(std::filesystem::exists(folder));
    EXPECT_TRUE(std::filesystem::is_empty(work_.path()));
}

TEST_F(fmu_archive, is_unpacked_once) {
    const std::filesystem::path path = files_.write("p.fmu", zip_bytes({description_entry}));
    std::vector<std::shared_ptr<const fmu_files>> opened(8);
    std::vector<std::thread> threads;
    for (auto& fmu : opened) threads.emplace_back([&] { fmu = open_fmu(path); });
    for (std::thread& t : threads) t.join();
    for (const auto& fmu : opened) EXPECT_EQ(fmu, opened[0]);
    EXPECT_EQ(open_fmu(files_.path() / "." / "p.fmu"), opened[0]);
    // A new export under the same name is another FMU.
    files_.write("p.fmu", zip_bytes({{"modelDescription.xml", good_3}}));
    EXPECT_EQ(open_fmu(path)->description().model_name, "Rows");
}

TEST_F(fmu_archive, resource_locations_of_both_versions) {
    ::setenv("TMPDIR", (work_.path() / "a b").c_str(), 1);
    std::filesystem::create_directory(work_.path() / "a b");
    const auto old_one = open_fmu(files_.write("2.fmu", zip_bytes({description_entry})));
    EXPECT_THAT(old_one->resource_location(), HasSubstr("/a%20b/"));
    EXPECT_TRUE(std::filesystem::is_directory(old_one->folder() / "resources"));
    const auto new_one = open_fmu(files_.write("3.fmu", zip_bytes({{"modelDescription.xml", good_3}})));
    EXPECT_EQ(new_one->resource_location(), (new_one->folder() / "resources/").string());
}

TEST_F(fmu_archive, the_folder_itself_may_be_named) {
    const auto opened = open_fmu(files_.write(
        "dot.fmu",
        zip_bytes({{"./", ""}, {"./modelDescription.xml", description_entry.data}, {"./resources/a", "x"}})));
    EXPECT_TRUE(std::filesystem::is_regular_file(opened->folder() / "resources/a"));
}

TEST_F(fmu_archive, names_that_leave_the_folder) {
    for (const char* name : {"../evil", "resources/../../evil", "a/..", "..", "././a", "./../a", "a/./b"})
        EXPECT_THAT(refusal({description_entry, {name, "x"}}), HasSubstr("leaves the folder")) << name;
    for (const char* name : {"/etc/evil", "C:/evil", "c:evil"})
        EXPECT_THAT(refusal({description_entry, {name, "x"}}), HasSubstr("absolute path")) << name;
    EXPECT_THAT(refusal({description_entry, {"..\\evil", "x"}}), HasSubstr("backslash"));
    EXPECT_THAT(refusal({description_entry, {"a//b", "x"}}), HasSubstr("empty part"));
    EXPECT_THAT(refusal({description_entry, {"a\nb", "x"}}), HasSubstr("'a?b' has control characters"));
    EXPECT_THAT(refusal({description_entry, {std::string(300, 'a'), "x"}}), HasSubstr("too long"));
    EXPECT_THAT(refusal({description_entry, {"", "x"}}), HasSubstr("no name"));
    EXPECT_THAT(refusal({description_entry, {"/", ""}}), HasSubstr("absolute path"));
}

TEST_F(fmu_archive, links_and_special_files) {
    EXPECT_THAT(refusal({description_entry, {"resources/l", "/etc/passwd", 0120777}}),
                HasSubstr("'resources/l' is a link"));
    EXPECT_THAT(refusal({description_entry, {"pipe", "", 0010644}}), HasSubstr("special file"));
    EXPECT_THAT(refusal({description_entry, {"device", "", 0060644}}), HasSubstr("special file"));
}

TEST_F(fmu_archive, twins) {
    EXPECT_EQ(refusal({{"modelDescription.xml", "no XML"}, description_entry}), "opened") << "the last one counts";
    EXPECT_THAT(refusal({description_entry, {"modelDescription.xml", "no XML"}}), HasSubstr("not well-formed"));
    EXPECT_THAT(refusal({description_entry, {"a", "x"}, {"a/b", "x"}}), HasSubstr("'a' is a file and a folder"));
    EXPECT_THAT(refusal({description_entry, {"a", "x"}, {"a/", "", 040755}}), HasSubstr("'a' is a file and a folder"));
    EXPECT_THAT(refusal({description_entry, {"ModelDescription.xml", good_3}}), HasSubstr("should be spelled"));
    EXPECT_EQ(refusal({description_entry, {"resources/a", "x"}, {"resources/A", "x"}}), "opened");
    EXPECT_EQ(refusal({description_entry, {"a/", "", 040755}, {"a/", "", 040755}}), "opened");
}

TEST_F(fmu_archive, bombs) {
    const test_entry bomb = deflated_zeros("resources/bomb", 1 << 24);
    EXPECT_THAT(refusal({description_entry, bomb}), HasSubstr("would grow from"));
    archive_limits limits;
    limits.ratio = 2000;
    EXPECT_EQ(refusal({description_entry, bomb}, limits), "opened");
    limits.bytes = 1 << 20;
    EXPECT_THAT(refusal({description_entry, bomb}, limits), HasSubstr("more than the 1048576 bytes"));
    limits = {};
    limits.entries = 10;
    std::vector<test_entry> many{description_entry};
    for (int i = 0; i < 10; ++i) many.push_back({"e" + std::to_string(i), ""});
    EXPECT_THAT(refusal(many, limits), HasSubstr("has 11 entries; at most 10"));
    limits = {};
    limits.description = 100;
    EXPECT_THAT(refusal({description_entry}, limits), HasSubstr("modelDescription.xml has"));
    // The sum of sizes that each look harmless, and sizes that overflow a sum.
    limits = {};
    limits.bytes = 1000000;
    EXPECT_THAT(refusal({description_entry, {"a", std::string(600000, 'a')}, {"b", std::string(600000, 'b')}}, limits),
                HasSubstr("more than the 1000000 bytes"));
}

TEST_F(fmu_archive, headers_that_lie) {
    test_entry bomb = deflated_zeros("resources/bomb", 1 << 22);
    bomb.size = 1000;
    EXPECT_THAT(refusal({description_entry, bomb}), HasSubstr("holds more than the 1000 bytes it declares"));
    bomb.size = (1 << 22) + 1;
    archive_limits limits;
    limits.ratio = 10000;
    EXPECT_THAT(refusal({description_entry, bomb}, limits), HasSubstr("damaged"));
    test_entry wrong = description_entry;
    wrong.method = 8;
    EXPECT_THAT(refusal({wrong}), HasSubstr("damaged"));
    wrong.method = 77;
    EXPECT_THAT(refusal({wrong}), HasSubstr("cannot be read"));
    test_entry secret{"resources/secret", "abcdefghijklmnop"};
    secret.flags = 1;
    EXPECT_THAT(refusal({description_entry, secret}), HasSubstr("encrypted"));
}

TEST_F(fmu_archive, what_is_no_fmu) {
    EXPECT_THAT(refusal({{"readme.txt", "hello"}}), HasSubstr("no modelDescription.xml"));
    EXPECT_THAT(refusal({{"model/modelDescription.xml", good_2}}), HasSubstr("no modelDescription.xml at its top"));
    EXPECT_THAT(refusal_of("this is text"), HasSubstr("cannot be opened as a zip archive"));
    EXPECT_THAT(refusal_of(""), HasSubstr("cannot be opened as a zip archive"));
    EXPECT_THAT(refusal({{"modelDescription.xml", "<a>"}}), HasSubstr("not well-formed"));
    const std::string good = zip_bytes({description_entry, {"resources/a", std::string(1000, 'a')}});
    for (const std::size_t size : {good.size() - 1, good.size() - 30, good.size() / 2, std::size_t{10}})
        EXPECT_NE(refusal_of(good.substr(0, size)), "opened") << size;
    EXPECT_THROW(open_fmu(files_.path() / "none.fmu"), user_error);
    EXPECT_THROW(open_fmu(files_.path()), user_error);
}

TEST_F(fmu_archive, platforms) {
    const auto message = [&](const std::vector<test_entry>& more) {
        std::vector<test_entry> entries{description_entry};
        entries.insert(entries.end(), more.begin(), more.end());
        const auto fmu = open_fmu(files_.write("p.fmu", zip_bytes(entries)));
        try {
            return fmu->library("pendulum").string();
        } catch (const user_error& error) {
            return std::string(error.what());
        }
    };
    EXPECT_THAT(message({}), HasSubstr("has no binaries."));
    EXPECT_THAT(message({{"sources/a.c", ""}}), HasSubstr("has no binaries, only sources."));
    EXPECT_THAT(message({{"binaries/win64/pendulum.dll", ""}, {"binaries/darwin64/pendulum.dylib", ""}}),
                HasSubstr("linux64. It has: darwin64, win64."));
    EXPECT_THAT(message({{"binaries/linux64/other.so", ""}, {"binaries/linux64/Pendulum.so", ""}}),
                HasSubstr("no library 'pendulum.so'. It has: Pendulum.so, other.so."));
    EXPECT_THAT(message({{"binaries/linux64/readme", ""}}), HasSubstr("no library 'pendulum.so'. It has: readme."));
    EXPECT_THAT(message({{"binaries/linux64/other.so", ""}}), testing::EndsWith("/binaries/linux64/other.so"));
    EXPECT_THAT(message({{"binaries/linux64/pendulum.so", ""}}), testing::EndsWith("/binaries/linux64/pendulum.so"));
    const auto fmu = open_fmu(files_.write("q.fmu", zip_bytes({description_entry})));
    EXPECT_THROW(fmu->library("../../evil"), user_error);
}

TEST_F(fmu_archive, texts_are_read_without_unpacking) {
    const fmu_texts texts =
        read_fmu_texts(files_.write("p.fmu", zip_bytes({description_entry,
                                                        {"terminalsAndIcons/terminalsAndIcons.xml", good_terminals},
                                                        {"d/", "", 040755}})));
    EXPECT_EQ(texts.description, good_2);
    EXPECT_EQ(texts.terminals, good_terminals);
    EXPECT_EQ(texts.entries,
              (std::vector<std::string>{"modelDescription.xml", "terminalsAndIcons/terminalsAndIcons.xml"}));
    EXPECT_TRUE(std::filesystem::is_empty(work_.path()));
}

TEST_F(fmu_archive, folders_of_dead_processes_are_removed) {
    const std::filesystem::path path = files_.write("p.fmu", zip_bytes({description_entry}));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const auto fmu = open_fmu(path);
        ::_exit(std::filesystem::exists(fmu->folder()) ? 0 : 1);  // as a crash does: nothing is cleaned up
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    ASSERT_FALSE(std::filesystem::is_empty(work_.path()));
    // What must stay: another program's folder, a file, and what a link of our name leads to.
    std::filesystem::create_directory(work_.path() / "other");
    std::filesystem::create_directory(files_.path() / "precious");
    files_.write("precious/data", "x");
    std::filesystem::create_directory_symlink(files_.path() / "precious", work_.path() / "mdpcosim-fmu-1-abcdef");
    const archive::work_folder alive;
    EXPECT_EQ(archive::remove_stale_folders(work_.path()), 1);
    EXPECT_TRUE(std::filesystem::exists(alive.path()));
    EXPECT_TRUE(std::filesystem::exists(work_.path() / "other"));
    EXPECT_TRUE(std::filesystem::exists(files_.path() / "precious/data"));
}

TEST_F(fmu_archive, a_forked_child_leaves_the_folder_alone) {
    auto fmu = open_fmu(files_.write("p.fmu", zip_bytes({description_entry})));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        fmu.reset();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(std::filesystem::exists(fmu->folder() / "modelDescription.xml"));
}

TEST_F(fmu_archive, a_place_that_does_not_exist) {
    ::setenv("TMPDIR", (work_.path() / "none").c_str(), 1);
    EXPECT_THAT(refusal({description_entry}), HasSubstr("TMPDIR chooses another place"));
}

}  // namespace
}  // namespace mdpcosim::fmi

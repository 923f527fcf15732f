// The host program of subsystems' processes, as it is found by the real program.
#include <gmock/gmock.h>

#include <cstdlib>

#include "process.hpp"
#include "scenarios.hpp"
#include "support/temporary_folder.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using test::process;
using testing::AllOf;
using testing::HasSubstr;

class host_program : public testing::Test {
   protected:
    host_program() { test::write_file(folder_ / "s.yaml", test::two_subsystems(1)); }
    ~host_program() override { ::unsetenv("MDPCOSIM_HOST"); }

    process::outcome run(const fs::path& program, const char* transport) const {
        return process({program.string(), "run", (folder_ / "s.yaml").string(), "--quiet", "--transport", transport,
                        "--out", (folder_ / "out").string()},
                       {})
            .wait();
    }

    /// The program alone, as if it were installed in this test's folder.
    fs::path install_program() const {
        fs::create_directories(folder_ / "bin");
        fs::copy_file(MDPCOSIM_PROGRAM, folder_ / "bin/mdpcosim");
        return folder_ / "bin/mdpcosim";
    }

    const test::temporary_folder folder_;
    const fs::path host_ = fs::path(MDPCOSIM_PROGRAM).parent_path() / "mdpcosim-host";
};

TEST_F(host_program, a_wrong_wish_is_refused) {
    ::setenv("MDPCOSIM_HOST", "/nowhere/host", 1);
    for (const char* transport : {"processes", "tcp"}) {
        const auto done = run(MDPCOSIM_PROGRAM, transport);
        EXPECT_EQ(done.exit_status, 2) << transport;
        EXPECT_THAT(done.err, HasSubstr("MDPCOSIM_HOST is '/nowhere/host', which is no program")) << transport;
    }
    EXPECT_EQ(run(MDPCOSIM_PROGRAM, "threads").exit_status, 0);
}

TEST_F(host_program, is_found_where_it_is_installed) {
    const fs::path program = install_program();
    for (const char* place : {"bin", "libexec/mdpcosim", "lib/mdpcosim"}) {
        fs::create_directories(folder_ / place);
        const fs::path installed = folder_ / place / "mdpcosim-host";
        fs::copy_file(host_, installed);
        const auto done = run(program, "processes");
        EXPECT_EQ(done.exit_status, 0) << place << done.err;
        fs::remove(installed);
    }
    ::setenv("MDPCOSIM_HOST", host_.c_str(), 1);
    EXPECT_EQ(run(program, "processes").exit_status, 0);
}

TEST_F(host_program, says_where_it_was_looked_for) {
    const auto done = run(install_program(), "processes");
    if (done.exit_status == 0) GTEST_SKIP() << "one is installed here";
    EXPECT_EQ(done.exit_status, 2);
    EXPECT_THAT(done.err, AllOf(HasSubstr((folder_ / "bin/mdpcosim-host").string()),
                                HasSubstr((folder_ / "libexec/mdpcosim/mdpcosim-host").string()),
                                HasSubstr((folder_ / "lib/mdpcosim/mdpcosim-host").string())));
}

/// A program that the shell finds is called by its name alone, which means nothing in the folder that it works in.
TEST_F(host_program, is_not_taken_from_the_working_folder) {
    const fs::path work = folder_ / "work";
    fs::create_directories(work);
    test::write_file(work / "mdpcosim", "not the program\n");
    for (const char* name : {"mdpcosim-host", "mdpcosim-multibody.so"}) {
        test::write_file(work / name, "#!/bin/sh\ntouch '" + (folder_ / "taken").string() + "'\n");
        fs::permissions(work / name, fs::perms::owner_all);
    }
    test::write_file(
        folder_ / "m.yaml",
        "time: {end: 1, step: 0.1}\nsubsystems: {a: {model: multibody, parts: {b: {kind: body, mass: 1, inertia: 1}, "
        "j: {kind: free, child: b}}}}\n");
    const std::string shell =
        "cd '" + work.string() + "' && PATH='" + install_program().parent_path().string() + "' mdpcosim ";
    EXPECT_EQ(process({"/bin/bash", "-c", shell + "run ../s.yaml --quiet --transport processes --out ../out"}, {})
                  .wait()
                  .exit_status,
              2);
    EXPECT_FALSE(fs::exists(folder_ / "taken"));
    const auto multibody = process({"/bin/bash", "-c", shell + "check ../m.yaml"}, {}).wait();
    EXPECT_EQ(multibody.exit_status, 2);
    EXPECT_THAT(multibody.err, HasSubstr("built without Simbody"));
}

TEST_F(host_program, says_what_it_is_for) {
    const auto done = process({host_.string()}, {}).wait();
    EXPECT_EQ(done.exit_status, 2);
    EXPECT_THAT(done.err, HasSubstr("is started by mdpcosim"));
}

}  // namespace
}  // namespace mdpcosim

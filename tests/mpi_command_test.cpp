// `--transport mpi` on the command line: ranks that the program starts by itself, and what it says when it cannot.
#include "mpi_fixture.hpp"

namespace mdpcosim {
namespace {

namespace fs = std::filesystem;
using namespace test;
using testing::HasSubstr;

class mpi_command : public testing::Test {
   protected:
    mpi_command() { test::write_file(folder_ / "s.yaml", four); }

    process::outcome run(const std::string& program, const words& before, const words& more) const {
        words all{"/usr/bin/env"};
        all.insert(all.end(), before.begin(), before.end());
        all.insert(all.end(), {program, "run", (folder_ / "s.yaml").string(), "--out", (folder_ / "out").string()});
        all.insert(all.end(), more.begin(), more.end());
        return process(all, {}).wait();
    }
    void expect_refused(const process::outcome& seen, const std::string& text) const {
        EXPECT_EQ(seen.exit_status, 2);
        EXPECT_EQ(seen.out, "");
        EXPECT_THAT(seen.err, testing::StartsWith("mdpcosim: "));
        EXPECT_THAT(seen.err, HasSubstr(text));
        EXPECT_FALSE(fs::exists(folder_ / "out"));
    }
    static bool any_module() {
        return fs::exists(build_folder + "/mdpcosim-mpi-openmpi.so") ||
               fs::exists(build_folder + "/mdpcosim-mpi-mpich.so");
    }

    temporary_folder folder_;
};

/// Without --hosts: one rank per core of this machine, never more than subsystems.
TEST_F(mpi_command, starts_ranks_by_itself) {
    if (!any_module())
        GTEST_SKIP() << "mdpcosim was built without MPI: libopenmpi-dev or libmpich-dev is not installed";
    ASSERT_EQ(run(MDPCOSIM_PROGRAM, {}, {"--quiet"}).exit_status, 0);
    const std::string csv = content(folder_ / "out/results.csv");
    const auto seen = run(MDPCOSIM_PROGRAM, {}, {"--quiet", "--transport", "mpi"});
    EXPECT_EQ(seen.exit_status, 0) << seen.err;
    EXPECT_TRUE(content(folder_ / "out/results.csv") == csv);
    EXPECT_EQ(json::parse(content(folder_ / "out/summary.json"))["transport"], "mpi");
}

TEST_F(mpi_command, the_reference_needs_no_ranks) {
    EXPECT_EQ(run(MDPCOSIM_PROGRAM, {"PATH=/nowhere"}, {"--quiet", "--transport", "mpi", "--monolithic"}).exit_status,
              0);
    EXPECT_TRUE(fs::exists(folder_ / "out/results.csv"));
}

TEST_F(mpi_command, wrong_hosts) {
    for (const std::string hosts : {"a,,b", "a:0", "a:x", "a:1x", ":2", "a b", "-x", ","})
        expect_refused(
            run(MDPCOSIM_PROGRAM, {}, {"--transport", "mpi", "--hosts=" + hosts}),
            "write the machines with commas, each with its number of ranks if it is not one: node1:4,node2.");
    expect_refused(run(MDPCOSIM_PROGRAM, {}, {"--hosts", "a"}), "--hosts: only ranks of MPI run on other hosts.");
}

TEST_F(mpi_command, a_host_that_does_not_answer) {
    if (!any_module())
        GTEST_SKIP() << "mdpcosim was built without MPI: libopenmpi-dev or libmpich-dev is not installed";
    // This machine under a number where nobody listens, if an ssh is there to find that out.
    expect_refused(run(MDPCOSIM_PROGRAM, {}, {"--transport", "mpi", "--hosts", "localhost,127.9.9.9"}), "127.9.9.9");
}

TEST_F(mpi_command, says_what_to_install) {
    expect_refused(run(MDPCOSIM_PROGRAM, {"MDPCOSIM_MPI=lam"}, {"--transport", "mpi"}), "openmpi, mpich");
    if (any_module())
        expect_refused(run(MDPCOSIM_PROGRAM, {"PATH=/nowhere"}, {"--transport", "mpi"}),
                       "there is no mpiexec in PATH. Install libopenmpi-dev and openmpi-bin");
    // A program without modules at its side.
    const std::string bare = (folder_ / "bare").string();
    fs::create_directories(bare);
    fs::copy_file(MDPCOSIM_PROGRAM, bare + "/mdpcosim");
    expect_refused(
        run(bare + "/mdpcosim", {}, {"--transport", "mpi"}),
        "this mdpcosim was built without MPI. Install libopenmpi-dev and openmpi-bin, or libmpich-dev and mpich, "
        "and build mdpcosim again.");
    expect_refused(run(bare + "/mdpcosim", {"PMI_RANK=0", "PMI_SIZE=2"}, {"--transport", "mpi"}),
                   "this mdpcosim was built without MPICH: there is no 'mdpcosim-mpi-mpich.so' beside the program.");
    test::write_file(folder_ / "bare/mdpcosim-mpi-mpich.so", "not a library");
    expect_refused(run(bare + "/mdpcosim", {"PMI_RANK=0", "PMI_SIZE=2"}, {"--transport", "mpi"}),
                   "is not a shared library. Build it with -shared -fPIC. Install libmpich-dev and mpich");
}

}  // namespace
}  // namespace mdpcosim

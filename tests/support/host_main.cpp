// main() of test programs that start processes for subsystems: they are their own hosts, so that these can be made by functions of the test.
#include <gmock/gmock.h>

#include <filesystem>

#include "remote/host_program.hpp"
#include "remote/host_task.hpp"

int main(int count, char** arguments) {
    mdpcosim::live_as_host(count, arguments);
    mdpcosim::use_host_program(std::filesystem::read_symlink("/proc/self/exe"));
    testing::InitGoogleMock(&count, arguments);
    return RUN_ALL_TESTS();
}

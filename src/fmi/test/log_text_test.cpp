#include "fmi/log_text.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "fmi/test/descriptions.hpp"

namespace mdpcosim::fmi {
namespace {

/// Not checked by the compiler: the formats are wrong on purpose.
std::string logged(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    std::string text = format_log(format, arguments);
    va_end(arguments);
    return text;
}

TEST(log_text, formats_as_printf) {
    EXPECT_EQ(logged("plain"), "plain");
    EXPECT_EQ(logged("t = %g s, %d of %5d|%-5d|%05d", 0.25, 3, 42, 42, 42), "t = 0.25 s, 3 of    42|42   |00042");
    EXPECT_EQ(logged("%s: %10.3f|%e|%+g", "name", 3.14159, 1e-7, 2.5), "name:      3.142|1.000000e-07|+2.5");
    EXPECT_EQ(logged("%ld %lld %zu %hhd %u %x %#X %c %%", -5L, -6LL, std::size_t{7}, 8, 9u, 255u, 255u, 'c'),
              "-5 -6 7 8 9 ff 0XFF c %");
    EXPECT_EQ(logged("%*d|%-*d|%.*f|%.3s|%10s|", 4, 1, 4, 2, 2, 1.5, "abcdef", "abc"),
              "   1|2   |1.50|abc|       abc|");
    EXPECT_EQ(logged("%Lg %g %g %g %g %g %g %g %g %g", 1.5L, 1., 2., 3., 4., 5., 6., 7., 8., 9.),
              "1.5 1 2 3 4 5 6 7 8 9");
    EXPECT_EQ(logged("%d %d %d %d %d %d %d %s", 1, 2, 3, 4, 5, 6, 7, "many"), "1 2 3 4 5 6 7 many");
}

TEST(log_text, hostile_formats_are_printed_as_they_stand) {
    int written = 77;
    EXPECT_EQ(logged("%n", &written), "%n");
    EXPECT_EQ(written, 77);
    for (const char* format : {"%", "100 %", "%y", "%1$d", "%lld%n", "%1000000000d", "%.1000000000f", "%ls", "%lc",
                               "%hs", "%hlld", "%S", "%-+ #0-+ #0d"})
        EXPECT_EQ(logged(format, 1, 2, 3), format);
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "%d";
    EXPECT_EQ(logged(many.c_str()), many);
}

TEST(log_text, wild_pointers_do_no_harm) {
    EXPECT_EQ(logged(nullptr), "(null)");
    EXPECT_EQ(logged("%s", static_cast<const char*>(nullptr)), "(null)");
    EXPECT_EQ(logged("%s", reinterpret_cast<const char*>(16)), "(unreadable text)");
    EXPECT_EQ(logged("<%s>", reinterpret_cast<const char*>(0x5555555555555555)), "<(unreadable text)>");
    // Arguments that nobody gave: whatever stands there, it ends.
    EXPECT_FALSE(logged("%s %s %s %s %s %s %s %s %s %s").empty());
    EXPECT_FALSE(logged("100% sure").empty());
    EXPECT_LE(logged("%*d", 2000000000, 1).size(), 9000u);
    EXPECT_LE(logged("%*d", -2147483647 - 1, 1).size(), 9000u);
}

TEST(log_text, text_that_ends_with_its_page) {
    const long page = ::sysconf(_SC_PAGESIZE);
    char* memory =
        static_cast<char*>(::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_EQ(::mprotect(memory + page, page, PROT_NONE), 0);
    std::memset(memory, 'x', page);
    memory[page - 1] = '\0';
    EXPECT_EQ(read_text(memory), std::string(page - 1, 'x'));
    memory[page - 1] = 'x';  // runs into the page that cannot be read
    EXPECT_EQ(read_text(memory + page - 5), "xxxxx(unreadable text)");
    EXPECT_EQ(logged("%.5s", memory + page - 5), "xxxxx");
    ::munmap(memory, 2 * page);
    const std::string endless(100000, 'y');
    EXPECT_EQ(read_text(endless.c_str()).size(), 16384u);
}

TEST(log_text, references_become_names) {
    const description d = read_description(good_2, "", "p.fmu");
    EXPECT_EQ(name_references("#r3# is too large, #b0# and #i1#, #s0#", d), "torque is too large, on and count, file");
    EXPECT_EQ(name_references("##, #r99#, #x1#, #r, a#b, #", d), "#, #r99#, #x1#, #r, a#b, #");
    EXPECT_EQ(name_references("#r0#r1#", d), "phir1#");
}

}  // namespace
}  // namespace mdpcosim::fmi

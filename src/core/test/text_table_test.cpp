#include "core/text_table.hpp"

#include <gtest/gtest.h>

namespace mdpcosim {
namespace {

TEST(text_table, columns_are_as_wide_as_their_widest_cell) {
    text_table table({"rule", "\xCF\x89 H", "order"});
    table.add({"lin-2-3-opt", "0.6910", "3"});
    table.add({"poly-2", "none"});
    EXPECT_EQ(table.text(),
              "  rule            \xCF\x89 H  order\n"
              "  lin-2-3-opt  0.6910      3\n"
              "  poly-2         none\n");
}

}  // namespace
}  // namespace mdpcosim

#pragma once

#include <string>
#include <vector>

namespace mdpcosim {

/// Columns of text for the command line: the first flush left, the others flush right, each as wide as its widest cell.
class text_table {
   public:
    explicit text_table(std::vector<std::string> head) : rows_{std::move(head)} {}

    /// Missing cells stay empty.
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
    /// Every line indented by two blanks and ended.
    std::string text() const;

   private:
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace mdpcosim

#pragma once

#include <array>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "expression/expression.hpp"

namespace mdpcosim {

/// Numbers that tell whether expressions are the same formula: equal subtrees get equal numbers, wherever they stand.
/// Numbers count from zero and operands come before what uses them.
class value_numbering {
   public:
    struct entry {
        operation op = operation::constant;
        std::array<int, 3> operands{};  ///< numbers; unused ones are 0
        double value = 0;               ///< of a constant
        variable_id variable;
    };

    int number_of(const expression& e);
    const std::vector<entry>& entries() const { return entries_; }

   private:
    using key = std::tuple<operation, std::array<int, 3>, unsigned long long, variable_id>;

    std::vector<entry> entries_;
    std::map<key, int> numbers_;
    // By node, so that a shared part is visited once; the expression is kept, so that no node's place is used again.
    std::unordered_map<const expression::node*, std::pair<expression, int>> seen_;
};

/// Where a program puts the value of an expression.
struct assignment {
    expression value;
    int target = 0;  ///< index in the result array
};

/// Expressions compiled into straight-line code on registers; common parts are evaluated once. Evaluation allocates
/// nothing and uses the program's own registers: one thread at a time.
class program {
   public:
    static constexpr int bank_count = 3;

    program() = default;
    explicit program(std::span<const assignment> assignments);

    /// Reads variable {bank, index} from banks[bank][index] and writes result[target] of all assignments. The results
    /// may overlay the banks: all is computed before anything is written.
    void evaluate(const std::array<const double*, bank_count>& banks, double* result) const;

    std::size_t operation_count() const { return code_.size(); }
    bool empty() const { return stores_.empty(); }

   private:
    struct load {
        variable_id from;
        int to;
    };
    struct instruction {
        operation op;
        int to, a, b, c;
    };
    struct store {
        int from, to;
    };

    std::vector<load> loads_;
    std::vector<instruction> code_;
    std::vector<store> stores_;
    mutable std::vector<double> registers_;  // constants stand in theirs from the start
};

}  // namespace mdpcosim

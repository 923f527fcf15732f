#include "expression/program.hpp"

#include <bit>

#include "expression/apply.hpp"

namespace mdpcosim {

int value_numbering::number_of(const expression& e) {
    if (const auto known = seen_.find(e.identity()); known != seen_.end()) return known->second.second;
    entry made;
    made.op = e.op();
    if (e.op() == operation::constant) made.value = e.value();
    if (e.op() == operation::variable) made.variable = e.variable();
    for (std::size_t i = 0; i < e.operands().size(); ++i) made.operands[i] = number_of(e.operands()[i]);
    const bool commutes = made.op == operation::add || made.op == operation::multiply;
    if (commutes && made.operands[0] > made.operands[1]) std::swap(made.operands[0], made.operands[1]);
    const key identity{made.op, made.operands, std::bit_cast<unsigned long long>(made.value), made.variable};
    const auto [place, is_new] = numbers_.emplace(identity, static_cast<int>(entries_.size()));
    if (is_new) entries_.push_back(made);
    seen_.emplace(e.identity(), std::pair(e, place->second));
    return place->second;
}

program::program(std::span<const assignment> assignments) {
    value_numbering numbering;
    for (const auto& a : assignments) stores_.push_back({numbering.number_of(a.value), a.target});
    registers_.resize(numbering.entries().size());
    for (int r = 0; const auto& e : numbering.entries()) {
        if (e.op == operation::constant) {
            registers_[static_cast<std::size_t>(r)] = e.value;
        } else if (e.op == operation::variable) {
            loads_.push_back({e.variable, r});
        } else {
            code_.push_back({e.op, r, e.operands[0], e.operands[1], e.operands[2]});
        }
        ++r;
    }
}

void program::evaluate(const std::array<const double*, bank_count>& banks, double* result) const {
    double* r = registers_.data();
    for (const auto& l : loads_) r[l.to] = banks[l.from.bank][l.from.index];
    for (const auto& i : code_) r[i.to] = apply(i.op, r[i.a], r[i.b], r[i.c]);
    for (const auto& s : stores_) result[s.to] = r[s.from];
}

}  // namespace mdpcosim

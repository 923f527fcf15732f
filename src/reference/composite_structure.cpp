// What depends on what in the whole system: states on states of the same subsystem, outputs on states, channels on outputs, inputs on
// channels, and states and outputs with feed-through on inputs.
#include <algorithm>
#include <array>
#include <utility>

#include "reference/composite.hpp"

namespace mdpcosim {

namespace {

std::size_t number(int i) { return static_cast<std::size_t>(i); }

/// Each number once, in the order in which they came.
class once {
   public:
    explicit once(std::size_t size) : seen_(size) {}
    void add(std::size_t i) {
        if (!std::exchange(seen_[i], char(1))) all.push_back(i);
    }
    void clear() {
        for (const std::size_t i : all) seen_[i] = 0;
        all.clear();
    }
    std::vector<std::size_t> all;

   private:
    std::vector<char> seen_;
};

/// The rows of a column, or all of them.
template <class Call>
void for_rows(const sparsity* s, std::size_t column, std::size_t rows, const Call& call) {
    if (s == nullptr) {
        for (std::size_t i = 0; i < rows; ++i) call(i);
        return;
    }
    for (auto k = static_cast<std::size_t>(s->start[column]); k < static_cast<std::size_t>(s->start[column + 1]); ++k)
        call(static_cast<std::size_t>(s->rows[k]));
}

/// Outputs that a channel's u or, of a law with a state, its rate is made of.
std::vector<output_slot> read_by(const network& coupling, channel_index c) {
    std::vector<output_slot> slots;
    for (const channel_term& term : coupling.terms(c)) {
        if (term.value.valid()) slots.push_back(term.value);
        if (coupling.law_of(c) != nullptr && term.rate.valid()) slots.push_back(term.rate);
    }
    return slots;
}

}  // namespace

/// Who is read by ports alone, without feed-through, need not evaluate more while the system is integrated.
void composite_equations::find_readers() {
    if (!joints_.empty()) return;
    std::vector<bool> read(y_.size());
    for (std::size_t c = 0; c < coupling_.channels(); ++c)
        for (const output_slot slot : read_by(coupling_, channel_index(c))) read[slot.value()] = true;
    for (const output_slot slot : rates_) read[slot.value()] = true;
    for (place& p : places_) {
        if (!p.model) continue;
        std::vector<bool> given(number(p.describe().output_count()));
        for (const port& one : p.describe().ports) {
            const bool motion = one.causality == causality::takes_load;
            for (const int slot :
                 motion ? std::array{one.motion[0], one.motion[1]} : std::array{one.load, one.load_integral})
                if (slot >= 0) given[number(slot)] = true;
        }
        for (const output_variable& v : p.describe().outputs)
            if (!v.direct.empty()) std::fill_n(given.begin() + v.slot, v.size, false);
        p.by_ports = true;
        for (std::size_t i = 0; i < given.size(); ++i)
            if (read[p.output + i] && !given[i]) p.by_ports = false;
    }
}

const sparsity* composite_equations::structure() const {
    if (!joints_.empty()) return nullptr;
    if (!structure_) structure_ = find_structure();
    return &*structure_;
}

sparsity composite_equations::find_structure() const {
    const std::size_t law_states = states_ + rates_.size();
    std::vector<std::vector<std::size_t>> channels_of(y_.size()), inputs_of(u_.size()), integrals_of(y_.size()),
        rates_of(u_.size());
    for (std::size_t c = 0; c < u_.size(); ++c)
        for (const output_slot slot : read_by(coupling_, channel_index(c))) channels_of[slot.value()].push_back(c);
    for (std::size_t k = 0; k < rates_.size(); ++k) integrals_of[rates_[k].value()].push_back(states_ + k);
    for (std::size_t k = 0; k < law_states_.size(); ++k) {
        channels_of[first_integral_ + rates_.size() + k].push_back(law_states_[k].value());
        rates_of[law_states_[k].value()].push_back(law_states + k);
    }
    for (const auto& d : coupling_.deliveries()) inputs_of[d.delivered.channel.value()].push_back(d.input.value());
    std::vector<const place*> owner(start_inputs_.size());
    for (const place& p : places_) std::fill_n(owner.begin() + static_cast<std::ptrdiff_t>(p.input), p.inputs, &p);

    once rows(x0_.size()), outputs(y_.size()), inputs(start_inputs_.size());
    const auto follow_input = [&](std::size_t input) {
        const place& p = *owner[input];
        const auto local = static_cast<int>(input - p.input);
        if (p.model)
            for_rows(p.model->input_structure(), number(local), p.states,
                     [&](std::size_t i) { rows.add(p.state + i); });
        for (const output_variable& v : p.describe().outputs)
            if (std::ranges::find(v.direct, local) != v.direct.end())
                for (int i = 0; i < v.size; ++i) outputs.add(p.output + number(v.slot + i));
    };
    const auto follow_output = [&](std::size_t output) {
        for (const std::size_t row : integrals_of[output]) rows.add(row);
        for (const std::size_t c : channels_of[output]) {
            for (const std::size_t row : rates_of[c]) rows.add(row);
            for (const std::size_t input : inputs_of[c]) inputs.add(input);
        }
    };
    sparsity found;
    found.start.push_back(0);
    const auto end_column = [&] {
        for (std::size_t o = 0, i = 0; o < outputs.all.size() || i < inputs.all.size();)
            o < outputs.all.size() ? follow_output(outputs.all[o++]) : follow_input(inputs.all[i++]);
        std::ranges::sort(rows.all);
        for (const std::size_t row : rows.all) found.rows.push_back(static_cast<int>(row));
        found.start.push_back(static_cast<int>(found.rows.size()));
        rows.clear();
        outputs.clear();
        inputs.clear();
    };
    for (const place& p : places_)
        for (std::size_t j = 0; j < p.states; ++j) {
            for_rows(p.model->structure(), j, p.states, [&](std::size_t i) { rows.add(p.state + i); });
            for_rows(p.model->output_structure(), j, number(p.describe().output_count()),
                     [&](std::size_t i) { outputs.add(p.output + i); });
            end_column();
        }
    for (std::size_t k = 0; k < integral_count(); ++k) {
        outputs.add(first_integral_ + k);
        end_column();
    }
    return found;
}

}  // namespace mdpcosim

#include "simulation/row_recorder.hpp"

#include <utility>

namespace mdpcosim {

row_recorder::row_recorder(recorder& rows, const time_grid& grid, std::optional<double> every)
    : rows_(rows), grid_(grid, every), last_(grid.start()) {}

void row_recorder::started(const simulation& of) {
    make_room(of);
    grid_.begin_again();
    grid_.due(of.time());
    add(of);
}

void row_recorder::make_room(const simulation& of) {
    if (of.jumps().empty()) none_.assign(of.coupling_variables().size(), 0.0);
    counted_.clear();
    for (const auto& column : rows_.columns())
        if (column.from == recorded_column::source::micro_steps)
            counted_.push_back({column.index, of.micro_steps(subsystem_index(column.index))});
    if (!counted_.empty()) micro_steps_.assign(of.parts().system.subsystems->size(), 0.0);
}

void row_recorder::committed(const simulation& of, const macro_step& step) {
    rows_.reached(step.end);
    if (grid_.due(step.end) || of.done()) add(of);
}

void row_recorder::close(const simulation& of) {
    if (any_ && last_ != of.time()) add(of);
}

void row_recorder::add(const simulation& of) {
    last_ = of.time();
    any_ = true;
    for (auto& [subsystem, before] : counted_) {
        const std::int64_t now = of.micro_steps(subsystem_index(subsystem));
        micro_steps_[subsystem] = static_cast<double>(now - std::exchange(before, now));
    }
    if (none_.empty())
        rows_.row(last_, of.outputs(), of.coupling_variables(), of.jumps(), of.energy_errors(), micro_steps_);
    else
        rows_.row(last_, of.outputs(), of.coupling_variables(), none_, none_, micro_steps_);
}

}  // namespace mdpcosim

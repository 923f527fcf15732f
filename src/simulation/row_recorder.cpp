#include "simulation/row_recorder.hpp"

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
    if (none_.empty())
        rows_.row(last_, of.outputs(), of.coupling_variables(), of.jumps(), of.energy_errors());
    else
        rows_.row(last_, of.outputs(), of.coupling_variables(), none_, none_);
}

}  // namespace mdpcosim

#include "api/kept_rows.hpp"

namespace mdpcosim {

void kept_rows::column_sink::write(std::span<const double> values, std::size_t row_length) {
    for (std::size_t first = 0; first < values.size(); first += row_length)
        for (std::size_t c = 0; c < row_length; ++c) columns[c].push_back(values[first + c]);
}

kept_rows::kept_rows(simulation& of)
    : values_(1 + of.parts().columns.size()),
      recorder_(of.parts().columns, std::make_unique<column_sink>(values_)),
      rows_(recorder_, time_grid(of.resolved().time.start, of.resolved().time.end, of.resolved().time.step),
            of.resolved().record.every) {
    of.add(rows_);
}

const std::string& kept_rows::name(std::size_t column) const {
    static const std::string time = "time";
    return column == 0 ? time : recorder_.columns()[column - 1].name;
}

const std::string& kept_rows::unit(std::size_t column) const {
    static const std::string second = "s";
    return column == 0 ? second : recorder_.columns()[column - 1].unit_in_files();
}

const double* kept_rows::column(std::size_t column) {
    recorder_.flush();
    return values_[column].data();
}

void kept_rows::forget() {
    recorder_.flush();
    forgotten_ = static_cast<std::size_t>(recorder_.rows());
    for (auto& column : values_) column.clear();
}

}  // namespace mdpcosim

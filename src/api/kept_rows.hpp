#pragma once

#include <vector>

#include "simulation/row_recorder.hpp"

namespace mdpcosim {

/// The rows that a scenario records, in memory, column after column; the first is the time.
class kept_rows {
   public:
    /// Looks on from now on; to be made before `of` is initialised, and to outlive its last step.
    explicit kept_rows(simulation& of);
    kept_rows(const kept_rows&) = delete;
    kept_rows& operator=(const kept_rows&) = delete;

    std::size_t columns() const { return 1 + recorder_.columns().size(); }
    std::size_t rows() const { return static_cast<std::size_t>(recorder_.rows()) - forgotten_; }
    const std::string& name(std::size_t column) const;
    const std::string& unit(std::size_t column) const;
    /// rows() numbers, which stay there until the next step.
    const double* column(std::size_t column);
    /// Before the simulation begins anew.
    void forget();

   private:
    struct column_sink final : result_sink {
        explicit column_sink(std::vector<std::vector<double>>& into) : columns(into) {}
        void write(std::span<const double> values, std::size_t row_length) override;
        void flush() override {}
        std::vector<std::vector<double>>& columns;
    };
    std::vector<std::vector<double>> values_;
    recorder recorder_;
    row_recorder rows_;
    std::size_t forgotten_ = 0;
};

}  // namespace mdpcosim

#include "subsystem/file_subsystem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/suggest.hpp"
#include "core/units.hpp"
#include "subsystem/file_csv.hpp"
#include "subsystem/file_curves.hpp"

namespace mdpcosim {

namespace {

struct file_snapshot final : snapshot {
    double time = 0;
    void state(state_bytes& bytes) override { bytes(time); }
};

const std::string& text_at(const sampled_curves& curves, int column, double t) {
    const csv_table& table = curves.table();
    return table.texts[curves.row(t) * table.text_columns.size() + static_cast<std::size_t>(column)];
}

class file_subsystem final : public subsystem {
   public:
    file_subsystem(subsystem_description description, sampled_curves curves)
        : description_(std::move(description)), curves_(std::move(curves)) {}

    const subsystem_description& describe() const noexcept override { return description_; }

    capabilities offers() const override {
        capabilities offered;
        offered.save_restore = offered.starts_again = true;
        return offered;
    }

    void initialise(double t0) override { time_ = t0; }
    void reset() override {}

    void outputs(std::span<const double>, std::span<double> y) override {
        curves_.evaluate(time_, y.data(), y.data() + curves_.count());
    }

    void advance(const macro_step& step, std::span<const polynomial>, std::span<double> y) override {
        time_ = step.end;
        outputs({}, y);
        if (const double t = curves_.break_between(step.begin, step.end); t <= step.end) [[unlikely]]
            tell_event(t);
    }

    void get_text(int output, std::string& into) override { into = text_at(curves_, output, time_); }

    std::unique_ptr<snapshot> make_snapshot() const override { return std::make_unique<file_snapshot>(); }
    void save(snapshot& into) override { static_cast<file_snapshot&>(into).time = time_; }
    void restore(const snapshot& from) override { time_ = static_cast<const file_snapshot&>(from).time; }

   private:
    subsystem_description description_;
    sampled_curves curves_;
    double time_ = 0;
};

class file_equations final : public equations {
   public:
    file_equations(subsystem_description description, sampled_curves curves)
        : description_(std::move(description)), curves_(std::move(curves)) {}

    const subsystem_description& describe() const noexcept override { return description_; }
    int state_count() const override { return 0; }
    void initial_state(double, double*) const override {}
    void derivatives(double, const double*, const double*, double*) const override {}
    void outputs(double t, const double*, const double*, double* y) const override {
        curves_.evaluate(t, y, y + curves_.count());
    }
    void get_text(int output, double t, std::string& into) const override { into = text_at(curves_, output, t); }
    double next_time_event(double t) const override { return curves_.next_break(t); }

   private:
    subsystem_description description_;
    sampled_curves curves_;
};

class file_builder {
   public:
    explicit file_builder(const subsystem_spec& spec) : spec_(spec) {}

    template <class Result>
    std::unique_ptr<Result> build() const {
        refuse_foreign_keys();
        const auto between = static_cast<sampled_curves::interpolation>(
            choose("interpolation", spec_.file.interpolation, {"linear", "hold", "cubic"}));
        const auto beyond =
            static_cast<sampled_curves::outside>(choose("outside", spec_.file.outside, {"hold", "repeat"}));
        csv_table table = read_csv(spec_);
        if (beyond == sampled_curves::outside::repeat && table.time.front() == table.time.back())
            fail(spec_.file.outside.where,
                 fmt::format("'outside: repeat' needs a file with at least two different times, but "
                             "'{}' has one.",
                             spec_.source.value));
        subsystem_description description = describe(table);
        return std::make_unique<Result>(std::move(description), sampled_curves(std::move(table), between, beyond));
    }

   private:
    [[noreturn]] void fail(const location& where, const std::string& message) const {
        throw user_error(where, fmt::format("subsystem '{}': {}", spec_.name, message));
    }

    void refuse_foreign_keys() const {
        if (!spec_.set.empty())
            fail(spec_.set.front().where,
                 fmt::format("'set' of '{}' is not allowed: a file has no parameters.", spec_.set.front().name));
        if (!spec_.solver.name.empty())
            fail(spec_.solver.name.where,
                 fmt::format("'solver' '{}' is not allowed: a file has no equations.", spec_.solver.name.value));
        if (!spec_.solver.options.empty())
            fail(spec_.solver.options.front().where, "'solver' is not allowed: a file has no equations.");
        if (!spec_.ports.empty())
            fail(spec_.ports.front().where,
                 fmt::format("port '{}' is not allowed: the columns of a file are outputs for signals.",
                             spec_.ports.front().name));
        if (spec_.input_degree) fail(spec_.where, "an input degree is not allowed: a file has no inputs.");
    }

    std::size_t choose(std::string_view key, const text& given, const std::vector<std::string>& allowed) const {
        if (given.empty()) return 0;
        const auto found = std::find(allowed.begin(), allowed.end(), given.value);
        if (found == allowed.end())
            fail(given.where, fmt::format("{} '{}' is not allowed. Allowed: {}.{}", key, given.value,
                                          name_list(allowed), did_you_mean(given.value, allowed)));
        return static_cast<std::size_t>(found - allowed.begin());
    }

    /// The columns in the order of the file, then their rates.
    subsystem_description describe(const csv_table& table) const {
        subsystem_description d;
        d.type = "file " + (spec_.source.empty() ? spec_.file.path.filename().string() : spec_.source.value);
        const auto columns = static_cast<int>(table.columns());
        for (int i = 0; i < columns; ++i) {
            output_variable column;
            column.name = table.names[static_cast<std::size_t>(i)];
            column.unit = table.units[static_cast<std::size_t>(i)];
            column.description = fmt::format("column {}", column.name);
            column.type = table.types[static_cast<std::size_t>(i)];
            column.sampled = table.held[static_cast<std::size_t>(i)];
            column.slot = i;
            column.rate_slot = columns + i;
            d.outputs.push_back(std::move(column));
        }
        for (int i = 0; i < columns; ++i) {
            output_variable rate;
            const output_variable& column = d.outputs[static_cast<std::size_t>(i)];
            rate.name = fmt::format("der({})", column.name);
            if (std::find(table.names.begin(), table.names.end(), rate.name) != table.names.end())
                fail(spec_.source.where,
                     fmt::format("column '{}' of '{}' has the name of the rate of column '{}'. Rename it.", rate.name,
                                 spec_.source.value, column.name));
            rate.unit = rate_unit(column.unit);
            rate.description = fmt::format("rate of {}", column.name);
            rate.slot = columns + i;
            d.outputs.push_back(std::move(rate));
        }
        d.text_outputs = table.text_columns;
        return d;
    }

    const subsystem_spec& spec_;
};

}  // namespace

std::unique_ptr<subsystem> make_file_subsystem(const subsystem_spec& spec) {
    return file_builder(spec).build<file_subsystem>();
}

std::unique_ptr<equations> make_file_equations(const subsystem_spec& spec) {
    return file_builder(spec).build<file_equations>();
}

}  // namespace mdpcosim

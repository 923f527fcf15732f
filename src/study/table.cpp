#include "study/table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "hdf5/table.hpp"

namespace mdpcosim {

namespace {

std::string cell(double x) { return std::isnan(x) ? std::string() : fmt::format("{}", x); }

std::string quoted(const std::string& s) {
    if (s.find_first_of(",\"\n") == std::string::npos) return s;
    std::string q = "\"";
    for (const char c : s) q += c == '"' ? "\"\"" : std::string(1, c);
    return q + "\"";
}

}  // namespace

const char* verdict_of(const study_row& row) {
    static constexpr const char* names[] = {"good", "doubtful", "wrong"};
    return row.verdict >= 0 && row.verdict < 3 ? names[row.verdict] : "";
}

std::string study_csv(const variant_plan& plan, const std::vector<measure_spec>& measures, const study_rows& rows) {
    std::string csv = "variant";
    for (const auto& p : plan.parameters()) csv += "," + quoted(p.address);
    for (const auto& m : measures) csv += "," + m.name;
    csv += ",verdict,status,macro-steps,integrations,seconds,reason\n";
    for (const auto& [number, row] : rows.rows) {
        csv += fmt::format("{}", number);
        for (std::size_t k = 0; k < plan.parameters().size(); ++k) {
            const double x = k < row.parameters.size() ? row.parameters[k] : std::nan("");
            csv += "," + (plan.parameters()[k].words.empty() || std::isnan(x) ? cell(x) : quoted(plan.text(k, x)));
        }
        for (std::size_t k = 0; k < measures.size(); ++k)
            csv += "," + (k < row.values.size() ? cell(row.values[k]) : "");
        csv += fmt::format(",{},{},{},{},{},{}\n", verdict_of(row), row.done ? "done" : "failed", row.macro_steps,
                           row.integrations, row.seconds, quoted(row.reason));
    }
    return csv;
}

void write_study_hdf5(const std::filesystem::path& path, const variant_plan& plan,
                      const std::vector<measure_spec>& measures, const std::vector<std::string>& units,
                      const study_rows& rows) {
    std::vector<table_column> columns;
    const auto numbers = [&](const std::string& name, const std::string& unit, const auto& value) {
        table_column c{.name = name, .unit = unit};
        for (const auto& [number, row] : rows.rows) c.numbers.push_back(value(row));
        columns.push_back(std::move(c));
    };
    const auto texts = [&](const std::string& name, const auto& value) {
        table_column c{.name = name, .is_text = true};
        for (const auto& [number, row] : rows.rows) c.texts.push_back(value(row));
        columns.push_back(std::move(c));
    };
    numbers("variant", "", [](const study_row& r) { return static_cast<double>(r.variant); });
    for (std::size_t k = 0; k < plan.parameters().size(); ++k) {
        const study_parameter& p = plan.parameters()[k];
        const auto value = [k](const study_row& r) { return k < r.parameters.size() ? r.parameters[k] : std::nan(""); };
        if (p.words.empty())
            numbers(p.address, p.unit, value);
        else
            texts(p.address,
                  [&](const study_row& r) { return std::isnan(value(r)) ? std::string() : plan.text(k, value(r)); });
    }
    for (std::size_t k = 0; k < measures.size(); ++k)
        numbers(measures[k].name, units[k],
                [k](const study_row& r) { return k < r.values.size() ? r.values[k] : std::nan(""); });
    texts("verdict", [](const study_row& r) { return std::string(verdict_of(r)); });
    texts("status", [](const study_row& r) { return std::string(r.done ? "done" : "failed"); });
    numbers("macro-steps", "", [](const study_row& r) { return static_cast<double>(r.macro_steps); });
    numbers("integrations", "", [](const study_row& r) { return static_cast<double>(r.integrations); });
    numbers("seconds", "s", [](const study_row& r) { return r.seconds; });
    texts("reason", [](const study_row& r) { return r.reason; });
    write_hdf5_table(path, columns);
}

}  // namespace mdpcosim

#include "benchmark/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include "benchmark/trust_systems.hpp"
#include "core/error.hpp"
#include "core/json.hpp"
#include "results/compare.hpp"
#include "results/verification.hpp"
#include "scenario/read.hpp"
#include "simulation/simulation.hpp"
#include "simulation/trust.hpp"
#include "simulation/verify.hpp"

namespace mdpcosim {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Rows in memory.
class table_recorder final : public observer {
   public:
    explicit table_recorder(const std::vector<recorded_column>& columns) : columns_(columns) {
        for (const auto& column : columns) table.names.push_back(column.name);
    }
    void started(const simulation& of) override { add(of); }
    void committed(const simulation& of, const macro_step&) override { add(of); }

    result_table table;

   private:
    void add(const simulation& of) {
        table.time.push_back(of.time());
        for (const auto& column : columns_) {
            const bool output = column.from == recorded_column::source::output;
            table.values.push_back((output ? of.outputs() : of.coupling_variables())[column.index]);
        }
    }

    std::vector<recorded_column> columns_;
};

struct recorded_run {
    result_table table;
    std::vector<std::string> coupled;
    verdict judged;
    bool done = true;
    std::string message;
};

recorded_run record(const scenario& s, bool monolithic = false) {
    recorded_run out;
    simulation all(s, {.workers = 1, .monolithic = monolithic, .writable = false});
    if (!monolithic) out.coupled = coupled_columns(all.parts());
    table_recorder rows(all.parts().columns);
    all.add(rows);
    try {
        all.initialise();
        while (!all.done()) all.step();
    } catch (const run_error& problem) {
        out.done = false;
        out.message = problem.what();
    }
    const run_summary summary = all.finish();
    if (summary.judged) out.judged = *summary.judged;
    out.table = std::move(rows.table);
    return out;
}

scenario read(const std::string& text, const std::string& rtol) {
    std::vector<scenario_override> changes;
    if (!rtol.empty()) {
        changes.push_back({"reference.solver.name", "erk-6", "bench"});
        changes.push_back({"reference.solver.rtol", rtol, "bench"});
        changes.push_back({"reference.solver.atol", "1e-13", "bench"});
    }
    return read_scenario_text(text, "system", {}, changes);
}

/// Chaotic systems end where references at two tolerances part.
double end_of_agreement(const result_table& a, const result_table& b) {
    constexpr double parted = 1e-3;
    std::size_t row = a.rows();
    for (std::size_t c = 0; c < a.columns(); ++c) {
        double low = infinite, high = -infinite;
        for (std::size_t r = 0; r < a.rows(); ++r) {
            low = std::min(low, a.value(r, c));
            high = std::max(high, a.value(r, c));
        }
        for (std::size_t r = 0; r < row; ++r)
            if (!(std::abs(a.value(r, c) - b.value(r, c)) <= parted * (high - low))) row = r;
    }
    return a.time[std::min(row, a.rows() - 1)];
}

double true_error(const recorded_run& run, const result_table& reference) {
    if (!run.done) return infinite;
    const std::set<std::string> counts(run.coupled.begin(), run.coupled.end());
    double worst = 0;
    for (const auto& e : compare_tables(run.table, reference).errors)
        if (counts.contains(e.name)) worst = std::max(worst, e.relative);
    return worst;
}

trust_result judge_system(const trust_system& system, bool verified) {
    trust_result out;
    out.kind = system.kind;
    out.about = system.about;
    recorded_run truth = record(read(system.reference, "1e-11"), true);
    result_table& reference = truth.table;
    double known = system.end;
    if (system.chaotic) known = end_of_agreement(reference, record(read(system.reference, "1e-9"), true).table);
    if (!truth.done) known = 0.8 * reference.time.back();  // a ball that comes to rest: there is no truth beyond
    std::string end;
    const double steps = std::max(20.0, std::floor(known / system.step));
    if (steps * system.step < system.end * (1 - 1e-9)) end = fmt::format("{} s", steps * system.step);
    scenario s = read(system.scenario, "");
    if (!end.empty()) {
        s = read_scenario_text(system.scenario, "system", {}, {{"time.end", end, "bench"}});
        while (reference.time.back() > s.time.end * (1 + 1e-9)) reference.time.pop_back();
        reference.values.resize(reference.rows() * reference.columns());
    }
    const recorded_run run = record(s);
    out.error = true_error(run, reference);
    out.stopped = !run.done;
    out.message = run.message;
    out.level = run.done ? run.judged.level : trust::wrong;
    out.verified = out.level;
    if (!verified || !run.done) return out;
    const recorded_run half = record(with_steps(s, 0.5));
    result_table coarse;
    if (s.time.end > 8 * s.time.step) {
        try {
            recorded_run twice = record(with_steps(s, 2));
            if (twice.done) coarse = std::move(twice.table);
        } catch (const user_error&) {  // such a step is not possible
        }
    }
    verification v;
    if (half.done) v = verify(run.table, half.table, coarse, run.coupled);
    v.half = half.done ? "done" : half.message;
    verdict judged = run.judged;
    judge(v, judged);
    out.verified = judged.level;
    if (v.worst() != nullptr) out.estimate = v.worst()->relative;
    return out;
}

trust level_of(const trust_result& r, bool verified) { return verified ? r.verified : r.level; }

std::string share(int part, int whole) {
    return whole == 0 ? "-" : fmt::format("{} of {} ({:.0f} %)", part, whole, 100.0 * part / whole);
}

std::string line(const std::string& name, const std::vector<trust_result>& some, bool verified) {
    const trust_counts c = count(some, verified);
    return fmt::format("{:<22} {:>8} {:>14} {:>18} {:>18} {:>18} {:>18}\n", name, c.systems, c.good_above_5,
                       share(c.wrong_below_1, c.below_1), share(c.good_below_1, c.below_1),
                       share(c.caught_above_50, c.above_50), share(c.diverged_passed, c.diverged));
}

}  // namespace

std::vector<trust_result> bench_trust(const trust_request& request,
                                      const std::function<void(const std::string&)>& told) {
    std::vector<trust_result> results;
    if (!request.write.empty()) std::filesystem::create_directories(request.write);
    for (const auto& kind : request.kinds.empty() ? trust_kinds() : request.kinds) {
        if (kind == "fmus" && request.fmus.empty()) continue;
        told(fmt::format("{} {}", request.each, kind));
        for (int i = 0; i < request.each; ++i) {
            const trust_system system =
                make_trust_system(kind, request.seed * 1000 + static_cast<unsigned>(i), request.fmus);
            if (!request.write.empty())
                std::ofstream(request.write / fmt::format("{}-{}.yaml", kind, system.number)) << system.scenario;
            try {
                results.push_back(judge_system(system, request.verify));
            } catch (const std::exception& problem) {
                throw run_error(fmt::format("{}: {}\n{}", system.about, problem.what(), system.scenario));
            }
        }
    }
    return results;
}

trust_counts count(const std::vector<trust_result>& results, bool verified) {
    trust_counts c;
    for (const auto& r : results) {
        const trust level = level_of(r, verified);
        ++c.systems;
        if (level == trust::good && r.error > 0.05) ++c.good_above_5;
        if (r.error < 0.01) {
            ++c.below_1;
            c.good_below_1 += level == trust::good ? 1 : 0;
            c.wrong_below_1 += level == trust::wrong ? 1 : 0;
        }
        if (r.error > 0.5) {
            ++c.above_50;
            c.caught_above_50 += level == trust::wrong ? 1 : 0;
        }
        if (r.error > 10) {
            ++c.diverged;
            c.diverged_passed += level != trust::wrong ? 1 : 0;
        }
    }
    return c;
}

std::string to_table(const std::vector<trust_result>& results, bool verified) {
    std::string out =
        fmt::format("{}\n{:<22} {:>8} {:>14} {:>18} {:>18} {:>18} {:>18}\n",
                    verified ? "with half and twice the macro step" : "one run alone", "kind", "systems",
                    "good above 5 %", "wrong below 1 %", "good below 1 %", "wrong above 50 %", "diverged, status 0");
    std::vector<trust_result> drawn, others;
    for (const auto& kind : trust_kinds()) {
        std::vector<trust_result> some;
        std::ranges::copy_if(results, std::back_inserter(some), [&](const auto& r) { return r.kind == kind; });
        if (some.empty()) continue;
        out += line(held_out(kind) ? kind + " (held out)" : kind, some, verified);
        auto& sum = held_out(kind) ? others : drawn;
        sum.insert(sum.end(), some.begin(), some.end());
    }
    out += line("all but held out", drawn, verified);
    out += line("held out", others, verified);
    out += line("all", results, verified);
    for (const auto& r : results) {
        const trust level = level_of(r, verified);
        if ((level == trust::good && r.error > 0.05) || (level == trust::wrong && r.error < 0.01) ||
            (level != trust::wrong && r.error > 0.5))
            out += fmt::format("  {} with {:.2g} % error: {}\n", r.stopped ? "stopped" : name_of(level), 100 * r.error,
                               r.about);
    }
    return out;
}

std::string to_json(const std::vector<trust_result>& results) {
    json list = json::array();
    for (const auto& r : results)
        list.push_back({{"kind", r.kind},
                        {"about", r.about},
                        {"error", r.error},
                        {"verdict", name_of(r.level)},
                        {"stopped", r.stopped},
                        {"verified", name_of(r.verified)},
                        {"estimate", r.estimate},
                        {"message", r.message}});
    return list.dump(2) + "\n";
}

}  // namespace mdpcosim

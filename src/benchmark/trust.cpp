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
#include "simulation/verify.hpp"

namespace mdpcosim {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

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

double true_error(const kept_run& run, const result_table& reference) {
    if (!run.done) return infinite;
    const std::set<std::string> counts(run.coupled.begin(), run.coupled.end());
    double worst = 0;
    const comparison all = compare_tables(run.table, reference);
    const std::vector<double> relative = errors_among_their_kind(all);
    for (std::size_t i = 0; i < relative.size(); ++i)
        if (counts.contains(all.errors[i].name)) worst = std::max(worst, relative[i]);
    return worst;
}

trust_result judge_system(const trust_system& system, bool verified) {
    trust_result out;
    out.kind = system.kind;
    out.about = system.about;
    kept_run truth = run_in_memory(read(system.reference, "1e-11"), true);
    result_table& reference = truth.table;
    double known = system.end;
    if (system.chaotic) known = end_of_agreement(reference, run_in_memory(read(system.reference, "1e-9"), true).table);
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
    const kept_run run = run_in_memory(s);
    out.error = true_error(run, reference);
    out.stopped = !run.done;
    out.message = run.message;
    out.level = run.done ? run.judged.level : trust::wrong;
    out.verified = out.level;
    if (!verified || !run.done) return out;
    const verification v = verify_in_memory(s, run.table, run.coupled);
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
    std::error_code status;
    if (!request.write.empty()) std::filesystem::create_directories(request.write, status);
    if (status)
        throw user_error(
            fmt::format("--write {}: the folder cannot be made ({}).", request.write.string(), status.message()));
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

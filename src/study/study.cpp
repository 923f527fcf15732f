#include "study/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/json.hpp"
#include "study/folder.hpp"
#include "study/launch.hpp"
#include "study/rows.hpp"
#include "study/runner.hpp"
#include "study/search.hpp"
#include "study/study_report.hpp"
#include "study/table.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::int64_t most_unasked = 1'000'000, most_ever = std::int64_t{1} << 40;
constexpr int most_attempts = 2;  ///< of a variant whose process ends suddenly

std::filesystem::path default_study_folder(const study_spec& study) {
    std::string name = study.path.stem().string();
    const std::string parent = std::filesystem::absolute(study.path).parent_path().filename().string();
    if (name == "study" && !parent.empty()) name = parent;
    return name + ".study";
}

class study_conductor {
   public:
    study_conductor(const study_spec& study, const study_options& options)
        : study_(study),
          options_(options),
          plan_(study, options.many ? most_ever : most_unasked),
          measures_(measures_of(study)) {
        if (study.goal.given) target_.emplace(study);
        try_first();
    }

    study_summary run() {
        const clock::time_point begin = clock::now();
        const std::filesystem::path out = options_.out.empty() ? default_study_folder(study_) : options_.out;
        study_folder folder(out, study_, options_.resume);
        row_reader reader(folder.parts(), plan_.parameters().size(), measures_.size());
        reader.read();
        reader.forget_begun();
        summary_.folder = out;
        summary_.before = static_cast<std::int64_t>(reader.all().rows.size());
        summary_.variants = target_ ? study_.goal.evaluations : plan_.size();
        progress shown(options_.shown, 0, static_cast<double>(summary_.variants), options_.show,
                       target_ ? "evaluations at most" : "variants");
        while (!interrupted()) {
            const auto pending = open_work(reader.all());
            if (pending.empty()) break;
            pass(folder, reader, pending, shown);
        }
        shown.finish();
        if (interrupted()) summary_.status = "interrupted";
        summary_.seconds = std::chrono::duration<double>(clock::now() - begin).count();
        describe(reader.all());
        folder.write("table.csv", study_csv(plan_, measures_, reader.all()));
        write_study_hdf5(folder.file("table.h5"), plan_, measures_, units_, reader.all());
        folder.write("summary.json", to_json(summary_));
        folder.write("report.html", study_page(study_, plan_, measures_, units_, reader.all(), summary_));
        if (summary_.status == "done") folder.close();
        return summary_;
    }

   private:
    bool interrupted() const { return options_.interrupt != nullptr && options_.interrupt->load(); }

    /// What no variant could mend is told before anything is done.
    void try_first() {
        std::vector<double> parameters;
        for (std::size_t k = 0; k < plan_.parameters().size(); ++k)
            parameters.push_back(target_ ? plan_.parameters()[k].start : plan_.value(0, k));
        variant_runner first(study_, plan_, options_.interrupt);
        try {
            first.try_first(parameters);
        } catch (const run_error&) {
            // This one fails; others may not.
        }
        units_ = first.measures().units();
        summary_.resets = first.resets();
    }

    std::vector<std::int64_t> open_work(const study_rows& known) const {
        std::vector<std::int64_t> open;
        if (target_) {
            if (!known.closed.contains(0)) open.push_back(0);
            return open;
        }
        for (std::int64_t v = 0; v < plan_.size(); ++v)
            if (!known.rows.contains(v)) open.push_back(v);
        return open;
    }

    /// Workers until all is taken, or nobody is left.
    void pass(const study_folder& folder, row_reader& reader, const std::vector<std::int64_t>& pending,
              progress& shown) {
        work_queue::make(folder.parts(), pending);
        const std::size_t rows_before = reader.all().rows.size(), closed_before = reader.all().closed.size();
        const auto workers = launch_study_workers(options_, folder.path(), static_cast<std::int64_t>(pending.size()));
        summary_.workers = workers->count();
        for (auto pause = std::chrono::milliseconds(1);;) {
            reader.read();
            const bool more = reader.all().rows.size() < rows_before + pending.size() && !target_;
            if (!workers->at_work(more)) break;
            shown.update(static_cast<double>(reader.all().rows.size()));
            if (interrupted()) {
                workers->stop();
                break;
            }
            std::this_thread::sleep_for(pause);
            pause = std::min(pause * 2, std::chrono::milliseconds(50));
        }
        reader.read();
        if (interrupted()) return;
        const bool crashed = settle_crashes(folder, reader, *workers);
        if (reader.all().rows.size() > rows_before || reader.all().closed.size() > closed_before || crashed) return;
        const std::string words = workers->last_words();
        throw run_error(fmt::format("the workers of the study end without doing anything{}{}. What was done is in {}.",
                                    words.empty() ? "" : ": ", words, folder.path().string()));
    }

    /// Variants that took their process along are tried once more; then they have failed.
    bool settle_crashes(const study_folder& folder, row_reader& reader, const study_workers& workers) {
        const auto begun = reader.all().begun;
        reader.forget_begun();
        if (begun.empty()) return false;
        const row_file own(folder.parts() / "conductor.rows");
        for (const auto& [variant, worker] : begun) {
            if (++crashes_[variant] < most_attempts) continue;
            const std::string end = workers.end_of(worker);
            study_row row{.variant = variant};
            for (std::size_t k = 0; k < plan_.parameters().size() && !target_; ++k)
                row.parameters.push_back(plan_.value(variant, k));
            row.parameters.resize(plan_.parameters().size(), std::nan(""));
            row.values.assign(measures_.size(), std::nan(""));
            row.reason =
                fmt::format("the process that ran it {}", end.empty() ? "ended suddenly, twice" : end + ", twice");
            own.add(row);
        }
        reader.read();
        return true;
    }

    void describe(const study_rows& known) {
        const study_row* best = nullptr;
        for (const auto& [number, row] : known.rows) {
            row.done ? ++summary_.done : ++summary_.failed;
            summary_.run_seconds += row.seconds;
            if (row.verdict == 0) ++summary_.good;
            if (row.verdict == 1) ++summary_.doubtful;
            if (row.verdict == 2) ++summary_.wrong;
            if (!row.done && summary_.first_failure.empty())
                summary_.first_failure = fmt::format("variant {}: {}", number, row.reason);
            if (target_ && target_->feasible(row) &&
                (best == nullptr || target_->objective(row) < target_->objective(*best)))
                best = &row;
        }
        if (best == nullptr) return;
        summary_.best = best->variant;
        for (std::size_t k = 0; k < plan_.parameters().size(); ++k)
            summary_.best_values.emplace_back(plan_.parameters()[k].address, plan_.text(k, best->parameters[k]));
        for (std::size_t k = 0; k < measures_.size(); ++k)
            summary_.best_values.emplace_back(measures_[k].name, fmt::format("{:.8g} {}", best->values[k], units_[k]));
    }

    const study_spec& study_;
    const study_options& options_;
    variant_plan plan_;
    std::vector<measure_spec> measures_;
    std::vector<std::string> units_;
    std::optional<study_target> target_;
    std::map<std::int64_t, int> crashes_;
    study_summary summary_;
};

}  // namespace

study_summary run_study(const study_spec& study, const study_options& options) {
    return study_conductor(study, options).run();
}

std::string to_json(const study_summary& s) {
    json best = json::object();
    for (const auto& [name, value] : s.best_values) best[name] = value;
    json all{{"folder", s.folder.string()},
             {"status", s.status},
             {"variants", s.variants},
             {"done", s.done},
             {"failed", s.failed},
             {"already-there", s.before},
             {"verdicts", json{{"good", s.good}, {"doubtful", s.doubtful}, {"wrong", s.wrong}}},
             {"seconds", s.seconds},
             {"seconds-of-runs", s.run_seconds},
             {"workers", s.workers},
             {"one-simulation", s.resets}};
    if (s.best >= 0) all["best"] = json{{"variant", s.best}, {"values", best}};
    if (!s.first_failure.empty()) all["first-failure"] = s.first_failure;
    return all.dump(2) + "\n";
}

std::string to_table(const study_summary& s) {
    std::string text = fmt::format("{}: {} of {} {} in {}, {} worker{}{}\n", s.status, s.done + s.failed, s.variants,
                                   s.best >= 0 ? "evaluations at most" : "variants", progress::duration(s.seconds),
                                   s.workers, s.workers == 1 ? "" : "s",
                                   s.before > 0 ? fmt::format("; {} were there already", s.before) : std::string());
    text +=
        fmt::format("  verdicts: {} good, {} doubtful, {} wrong; {} failed\n", s.good, s.doubtful, s.wrong, s.failed);
    if (!s.first_failure.empty()) text += "  first failure: " + s.first_failure + "\n";
    if (s.best >= 0) {
        text += fmt::format("  best: variant {}\n", s.best);
        for (const auto& [name, value] : s.best_values) text += fmt::format("    {:<30} {}\n", name, value);
    }
    return text + fmt::format("results in {}: table.csv and table.h5, report.html, summary.json\n", s.folder.string());
}

}  // namespace mdpcosim

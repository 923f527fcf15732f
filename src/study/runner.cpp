#include "study/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "assembly/address_book.hpp"
#include "assembly/fmu_scenario.hpp"
#include "simulation/run.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

/// A variant that took longer than it may.
class out_of_time {};

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

}  // namespace

std::vector<measure_spec> measures_of(const study_spec& s) {
    std::vector<measure_spec> all = s.measures;
    if (s.how == study_spec::way::fit) {
        measure_spec residual{.name = residual_name, .where = s.goal.where};
        residual.what = measure_spec::kind::value;
        residual.of = {"0", s.goal.where};
        all.push_back(residual);
    }
    return all;
}

variant_runner::variant_runner(const study_spec& study, const variant_plan& plan, const std::atomic<bool>* interrupt)
    : study_(study), plan_(plan), interrupt_(interrupt), measures_(measures_of(study), plan.parameters()) {
    if (study.how == study_spec::way::fit) fit_.emplace(study);
}

scenario variant_runner::scenario_of(const std::vector<double>& parameters) const {
    std::vector<scenario_override> settings = study_.set;
    for (auto& one : plan_.settings(parameters)) settings.push_back(std::move(one));
    return load_scenario(study_.scenario, settings);
}

/// FMUs, plugins and programs may keep something of a run before: each variant has instances of its own.
bool variant_runner::may_reset() const {
    const auto& entries = simulation_->resolved().subsystems;
    if (!std::ranges::all_of(entries, &subsystem_spec::built_in)) return false;
    const transport& subsystems = *simulation_->parts().system.subsystems;
    for (std::size_t i = 0; i < subsystems.size(); ++i)
        if (!subsystems.offers(subsystem_index(i)).starts_again) return false;
    const address_book book(subsystems);
    for (const study_parameter& p : plan_.parameters()) {
        if (!p.words.empty()) return false;
        try {
            book.find_parameter({p.address, {}}, "study");
        } catch (const user_error&) {
            return false;
        }
    }
    return true;
}

void variant_runner::build(const std::vector<double>& parameters) {
    simulation_.reset();
    simulation_ = std::make_unique<simulation>(scenario_of(parameters),
                                               simulation_options{.workers = 1, .interrupt = interrupt_});
    resets_ = may_reset();
    measures_.find_in(*simulation_);
    simulation_->add(measures_);
    if (fit_) {
        fit_->find_in(*simulation_);
        simulation_->add(*fit_);
    }
}

simulation& variant_runner::built(const std::vector<double>& parameters) {
    if (simulation_ != nullptr && resets_) {
        changes_.clear();
        for (std::size_t k = 0; k < parameters.size(); ++k)
            changes_.emplace_back(plan_.parameters()[k].address, parameters[k]);
        try {
            simulation_->reset(changes_);
            return *simulation_;
        } catch (const user_error&) {
            // Whoever builds it says what is wrong as `run` does.
        }
    }
    build(parameters);
    return *simulation_;
}

bool variant_runner::go(simulation& of) {
    const clock::time_point started = clock::now();
    of.initialise();
    std::int64_t n = 0;
    while (!of.done()) {
        of.step();
        if (interrupt_ != nullptr && interrupt_->load(std::memory_order_relaxed)) return false;
        constexpr std::int64_t often = 16;
        if (study_.limit > 0 && ++n % often == 0 && seconds_since(started) > study_.limit) throw out_of_time();
    }
    return true;
}

void variant_runner::try_first(const std::vector<double>& parameters) {
    simulation& all = built(parameters);
    all.initialise();
}

void variant_runner::keep(const std::vector<double>& parameters, const std::filesystem::path& folder) const {
    std::error_code there;
    std::filesystem::create_directories(folder.parent_path(), there);
    mdpcosim::run(scenario_of(parameters), {.out = folder, .workers = 1, .interrupt = interrupt_, .pin = false});
}

std::optional<study_row> variant_runner::run(std::int64_t variant, const std::vector<double>& parameters) {
    study_row row{.variant = variant};
    row.parameters = parameters;
    const clock::time_point begin = clock::now();
    try {
        simulation& all = built(parameters);
        if (!go(all)) return {};
        row.done = true;
    } catch (const out_of_time&) {
        row.reason = fmt::format("took longer than the limit of {:.6g} s; it had reached t = {:.6g} s", study_.limit,
                                 simulation_->time());
    } catch (const std::exception& problem) {
        if (interrupt_ != nullptr && interrupt_->load()) return {};
        row.reason = problem.what();
    }
    row.values.assign(measures_.specs().size(), std::numeric_limits<double>::quiet_NaN());
    if (simulation_ != nullptr && row.done) {
        const run_summary summary = simulation_->finish();
        row.macro_steps = summary.steps;
        row.integrations = summary.integrations;
        row.values = measures_.values(summary, parameters);
        if (fit_) row.values.back() = fit_->residual();
        if (summary.judged) {
            row.verdict = static_cast<int>(summary.judged->level);
            if (!summary.judged->reasons.empty()) row.reason = summary.judged->reasons.front().text;
        }
    }
    if (!row.done) simulation_.reset();
    row.seconds = seconds_since(begin);
    return row;
}

}  // namespace mdpcosim

#include "simulation/isolation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "core/messages.hpp"
#include "fmu/component.hpp"
#include "fmu/fmu_subsystem.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

constexpr double call_limit = 5;      ///< s, wall time of one call of a trial
constexpr double trial_time = 0.03;   ///< s of steps
constexpr int most_trial_steps = 50;  ///< beyond the first, which may have to do what later ones need not
constexpr int round_trips = 5;
constexpr double worth = 0.05;                 ///< share of a step from which on a process of its own costs too much
constexpr std::size_t most_parameters = 1000;  ///< that are read back

double seconds_since(clock::time_point begin) { return std::chrono::duration<double>(clock::now() - begin).count(); }

/// "3.2 us"
std::string time_text(double seconds) {
    if (seconds < 1e-3) return fmt::format("{:.2g} us", 1e6 * seconds);
    return seconds < 1 ? fmt::format("{:.2g} ms", 1e3 * seconds) : fmt::format("{:.2g} s", seconds);
}

struct choice {
    bool apart = true;
    std::string because;
    std::vector<other_parameter> others = {};
};

class trial {
   public:
    trial(subsystem_spec spec, const time_spec& time, bool goes_back)
        : time_(time), goes_back_(goes_back), own_step_(spec.step.value.value_or(time.step)) {
        parameters_ = declared_parameters(spec, most_parameters);
        for (const declared_parameter& p : parameters_) spec.fmu.outputs.push_back({p.name, {}});
        model_ = make_subsystem(spec);
    }

    choice run() {
        const subsystem_description& d = model_->describe();
        u_.resize(static_cast<std::size_t>(d.input_count()));
        y_.resize(static_cast<std::size_t>(d.output_count()));
        for (const auto& input : d.inputs) std::fill_n(u_.begin() + input.slot, input.size, input.start);
        inputs_.resize(u_.size());
        for (std::size_t i = 0; i < u_.size(); ++i) inputs_[i].c[0] = u_[i];
        model_->expect({.goes_back = goes_back_, .end = time_.end, .step = own_step_});
        model_->initialise(time_.start);
        model_->outputs(u_, y_);
        if (goes_back_ && model_->offers().save_restore) {
            const auto before = model_->make_snapshot();
            model_->save(*before);
            step(0);
            model_->restore(*before);
        }
        step(0);
        const double own = mean_step(), apart = round_trip();
        model_->end();  // its last calls are tried, too
        const std::string times =
            fmt::format("a step takes {}, the way to another process and back {}", time_text(own), time_text(apart));
        return {apart < worth * own, times, other_parameters(parameters_, model_->describe(), y_)};
    }

   private:
    void step(int n) {
        const double begin = time_.start + n * own_step_, end = std::min(time_.end, begin + own_step_);
        model_->advance({begin, end, n}, inputs_, y_);
    }

    double mean_step() {
        const auto begin = clock::now();
        int done = 0;
        while (done < most_trial_steps && seconds_since(begin) < trial_time &&
               time_.start + (done + 2) * own_step_ <= time_.end)
            step(++done);
        return done > 0 ? seconds_since(begin) / done : 0;
    }

    /// Both sides asleep before, as they are where others work in between.
    double round_trip() {
        std::vector<double> times;
        for (int n = 0; n < round_trips; ++n) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            const auto begin = clock::now();
            static_cast<void>(model_->statistics());
            times.push_back(seconds_since(begin));
        }
        std::ranges::sort(times);
        return times[times.size() / 2];
    }

    time_spec time_;
    bool goes_back_;
    double own_step_;
    std::vector<declared_parameter> parameters_;
    std::unique_ptr<subsystem> model_;
    std::vector<double> u_, y_;
    std::vector<polynomial> inputs_;
};

choice choose(subsystem_spec spec, const time_spec& time, bool goes_back) {
    const message_scope silence({});  // the run itself will tell
    spec.fmu.isolate = true;
    spec.fmu.trace.clear();
    spec.limit = call_limit;
    try {
        choice made = trial(spec, time, goes_back).run();
        if (!made.others.empty())
            made.others = waiting_parameters(spec, time.start, spec.step.value.value_or(time.step), made.others);
        return made;
    } catch (const run_error& problem) {
        return {true, fmt::format("in a trial {}", problem.what())};
    } catch (const user_error&) {
        return {false, {}};  // the run will say it, with its place
    }
}

bool is_fmu_here(const subsystem_spec& entry) {
    return entry.kind == subsystem_spec::source_kind::fmu && !lives_apart(entry);
}

/// One instance per process, and several entries; empty: as many as one likes.
std::string why_not_together(const scenario& s, const subsystem_spec& entry) {
    const auto here = std::ranges::count_if(
        s.subsystems, [&](const subsystem_spec& other) { return is_fmu_here(other) && other.path == entry.path; });
    if (here < 2) return {};
    try {
        const fmi::description& fmu = open_fmu_of(entry)->description();
        const bool co_simulation = fmu_interface(entry) == fmi::kind::co_simulation;
        if (!(co_simulation ? fmu.co_simulation : fmu.model_exchange)->once_per_process) return {};
    } catch (const user_error&) {
        return {};  // the run will say it, with its place
    }
    return fmt::format(
        "the FMU allows one instance per process (canBeInstantiatedOnlyOncePerProcess), and {} entries name it", here);
}

/// An FMU that waits for its importer to send what its description already says runs with other values, and nobody sees it.
void tell_other_parameters(const subsystem_spec& entry, const std::vector<other_parameter>& others) {
    constexpr std::size_t most_named = 5;
    std::string values, set;
    std::size_t n = 0;
    for (const other_parameter& p : others) {
        if (std::ranges::find(entry.set, p.name, &setting::name) != entry.set.end() || ++n > most_named) continue;
        values += fmt::format("{}'{}' is {:.6g} and not {:.6g}", n == 1 ? "" : ", ", p.name, p.is, p.said);
        set += fmt::format("{}\"{}\": {}", n == 1 ? "" : ", ", p.name, p.said);  // every digit: it is copied
    }
    if (n == 0) return;
    messages().send(
        fmt::format("warning: subsystem '{}': fmu '{}' does not have the values that its description says: {}{}. It "
                    "waits until it is given them: set: {{{}}}.",
                    entry.name, entry.source.value, values,
                    n > most_named ? fmt::format(" and {} more", n - most_named) : "", set));
}

}  // namespace

void choose_isolation(scenario& s, bool goes_back) {
    std::map<std::pair<std::filesystem::path, std::string>, choice> made;
    for (subsystem_spec& entry : s.subsystems) {
        if (!is_fmu_here(entry) || entry.fmu.isolate_decided) continue;
        const auto [found, added] = made.try_emplace({entry.path, entry.fmu.interface.value});
        if (added) {
            const std::string why = why_not_together(s, entry);
            found->second = why.empty() ? choose(entry, s.time, goes_back) : choice{true, why};
        }
        tell_other_parameters(entry, found->second.others);
        entry.fmu.isolate = found->second.apart;
        entry.fmu.isolate_because.value = found->second.because;
        entry.fmu.isolate_decided = !found->second.because.empty();
    }
}

}  // namespace mdpcosim

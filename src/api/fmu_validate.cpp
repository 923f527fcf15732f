#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/fmu.hpp"
#include "assembly/fmu_scenario.hpp"
#include "core/json.hpp"
#include "fmi/archive.hpp"
#include "fmi/description_reader.hpp"
#include "fmu/fmu_subsystem.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

namespace {

constexpr int trial_steps = 10;
constexpr double trial_limit = 60;             ///< s of wall time for one call
constexpr std::size_t most_parameters = 1000;  ///< that are read back

/// The message of a user error without the name of the FMU in front, which everything here is about.
std::string without_name(std::string text, const std::filesystem::path& fmu) {
    for (const std::string& start : {fmt::format("subsystem 'trial': "), fmt::format("FMU '{}': ", fmu.string())})
        if (text.starts_with(start)) text.erase(0, start.size());
    return text;
}

class validation {
   public:
    explicit validation(const std::filesystem::path& fmu) : path_(fmu) { verdict_.fmu = fmu.string(); }

    fmu_verdict run() {
        fmi::fmu_texts texts;
        try {
            texts = fmi::read_fmu_texts(path_);
            passed(fmt::format("archive: {} entries", texts.entries.size()));
        } catch (const fmi::no_archive&) {
            throw;
        } catch (const user_error& problem) {
            violation("archive", without_name(problem.what(), path_));
            return std::move(verdict_);
        }
        if (!check_description(std::move(texts.description), std::move(texts.terminals))) return std::move(verdict_);
        check_entries(texts.entries);
        try_interface("co-simulation", fmi::kind::co_simulation, description_.co_simulation);
        try_interface("model-exchange", fmi::kind::model_exchange, description_.model_exchange);
        return std::move(verdict_);
    }

   private:
    void violation(std::string place, std::string message, const char* level = "error") {
        verdict_.violations.push_back({std::move(place), std::move(message), level});
    }
    void passed(std::string check) { verdict_.passed.push_back(std::move(check)); }
    void skipped(std::string check) { verdict_.skipped.push_back(std::move(check)); }

    /// False: the description has no meaning.
    bool check_description(std::string description, std::string terminals) {
        std::vector<fmi::violation> found;
        bool usable = true;
        try {
            description_ =
                fmi::consume_description(std::move(description), std::move(terminals), path_.string(), &found);
        } catch (const user_error& problem) {
            violation("modelDescription.xml", without_name(problem.what(), path_));
            usable = false;
        }
        for (const auto& v : found) {
            violation(v.line > 0 ? fmt::format("{}:{}", v.file, v.line) : v.file, v.message, archive::name(v.level));
            usable = usable && !v.fatal;
        }
        if (found.empty() && usable)
            passed(fmt::format("description: FMI {}, {} variables", description_.version_text,
                               description_.variables.size()));
        return usable;
    }

    /// What the archive must hold beside the description.
    void check_entries(const std::vector<std::string>& entries) {
        const auto has = [&](const std::string& start) {
            return std::any_of(entries.begin(), entries.end(), [&](const auto& e) { return e.starts_with(start); });
        };
        const std::string platform = fmi::platform_name(description_.version);
        runnable_ = has("binaries/" + platform + "/");
        if (!has("binaries/") && !has("sources/"))
            violation("archive", "it has neither binaries nor sources.");
        else if (!runnable_)
            skipped(fmt::format("it has no binary for this machine ({}), so nothing of it was run.", platform));
    }

    void try_interface(const char* interface, fmi::kind kind,
                       const std::optional<fmi::interface_description>& offered) {
        if (!offered || !runnable_) return;
        subsystem_spec spec;
        spec.name = "trial";
        spec.kind = subsystem_spec::source_kind::fmu;
        spec.path = path_;
        spec.source.value = path_.filename().string();
        spec.fmu.interface.value = interface;
        spec.fmu.isolate = true;
        spec.limit = trial_limit;
        const subsystem_spec plain = spec;
        const auto parameters = declared_parameters(spec, most_parameters);
        for (const declared_parameter& p : parameters) spec.fmu.outputs.push_back({p.name, {}});
        try {
            const std::unique_ptr<subsystem> trial = make_subsystem(spec);
            passed(fmt::format("{}: the library loads and gives an instance", interface));
            const span_of_trial span(description_, kind);
            tell_parameters(interface, plain, span, run_briefly(*trial, span, interface, parameters));
        } catch (const user_error& problem) {
            violation(interface, without_name(problem.what(), path_));
        } catch (const run_error& problem) {
            violation(interface, without_name(problem.what(), path_));
        }
    }

    /// The FMU's own experiment.
    struct span_of_trial {
        double start, length, step;
        span_of_trial(const fmi::description& fmu, fmi::kind kind)
            : start(fmu.experiment.start.value_or(0)),
              length(fmu.experiment.stop && *fmu.experiment.stop > start ? *fmu.experiment.stop - start : 1),
              step(fmu_macro_step(fmu, kind, length)) {}
    };

    /// Parameters that are not as the description says.
    std::vector<other_parameter> run_briefly(subsystem& trial, const span_of_trial& span, const char* interface,
                                             const std::vector<declared_parameter>& parameters) {
        const double t0 = span.start, H = span.step;
        const subsystem_description& d = trial.describe();
        std::vector<double> u(static_cast<std::size_t>(d.input_count())), y(static_cast<std::size_t>(d.output_count()));
        for (const auto& input : d.inputs) std::fill_n(u.begin() + input.slot, input.size, input.start);
        std::vector<polynomial> inputs(u.size());
        for (std::size_t i = 0; i < u.size(); ++i) inputs[i].c[0] = u[i];
        trial.expect({.step = H});
        trial.initialise(t0);
        trial.outputs(u, y);
        const auto step = [&](int n) {
            trial.advance({t0 + n * H, t0 + (n + 1) * H, n}, inputs, y);
            for (const auto& output : d.outputs)
                if (!std::isfinite(y[static_cast<std::size_t>(output.slot)]))
                    throw run_error(fmt::format("at t = {} s its output '{}' is {}", t0 + (n + 1) * H, output.name,
                                                y[static_cast<std::size_t>(output.slot)]));
        };
        const auto steps =
            static_cast<int>(std::clamp(std::floor(span.length / H * (1 + 1e-9)), 1.0, double(trial_steps)));
        for (int n = 0; n < steps - 1; ++n) step(n);
        std::vector<other_parameter> others = other_parameters(parameters, d, y);
        if (!trial.offers().save_restore) {
            step(steps - 1);
            passed(fmt::format("{}: {} steps of {} s", interface, steps, H));
            return others;
        }
        const auto before = trial.make_snapshot();
        trial.save(*before);
        step(steps - 1);
        const std::vector<double> first = y;
        trial.restore(*before);
        step(steps - 1);
        for (const auto& output : d.outputs) {
            const auto i = static_cast<std::size_t>(output.slot);
            if (first[i] != y[i])
                throw run_error(
                    fmt::format("the step from t = {} s, repeated from the saved FMU state, gives {} for output '{}' "
                                "instead of {}",
                                t0 + (steps - 1) * H, y[i], output.name, first[i]));
        }
        passed(fmt::format("{}: {} steps of {} s, the last one repeated from a saved state", interface, steps, H));
        return others;
    }

    void tell_parameters(const char* interface, const subsystem_spec& spec, const span_of_trial& span,
                         const std::vector<other_parameter>& others) {
        if (others.empty()) return;
        const auto waiting = waiting_parameters(spec, span.start, span.step, others);
        for (const other_parameter& p : others) {
            const bool waits = std::ranges::find(waiting, p.name, &other_parameter::name) != waiting.end();
            violation(
                interface,
                fmt::format("its parameter '{}' is {:.6g} (SI) and not {:.6g}, as its description says{}.", p.name,
                            p.is, p.said, waits ? ", until it is given that value" : "; given that value, it stays so"),
                waits ? "error" : "warning");
        }
    }

    std::filesystem::path path_;
    fmi::description description_;
    bool runnable_ = false;
    fmu_verdict verdict_;
};

}  // namespace

fmu_verdict fmu_validate(const std::filesystem::path& fmu) { return validation(fmu).run(); }

std::string to_text(const fmu_verdict& verdict) {
    std::string out;
    for (const auto& text : verdict.passed) out += fmt::format("ok: {}\n", text);
    for (const auto& text : verdict.skipped) out += fmt::format("not checked: {}\n", text);
    for (const auto& v : verdict.violations) out += fmt::format("{}: {}: {}\n", v.level, v.place, v.message);
    std::string counts;
    for (const std::string level : {"error", "warning", "note"})
        if (const std::size_t n = verdict.count(level); n > 0)
            counts += fmt::format("{}{} {}{}", counts.empty() ? "" : ", ", n, level, n == 1 ? "" : "s");
    if (verdict.valid()) counts = "valid" + (counts.empty() ? "" : ", " + counts);
    return out + fmt::format("{}: {}\n", verdict.fmu, counts);
}

std::string to_json(const fmu_verdict& verdict) {
    json out{{"fmu", verdict.fmu},
             {"valid", verdict.valid()},
             {"passed", verdict.passed},
             {"not_checked", verdict.skipped},
             {"violations", json::array()}};
    for (const auto& v : verdict.violations)
        out["violations"].push_back({{"level", v.level}, {"place", v.place}, {"what", v.message}});
    return out.dump(2) + "\n";
}

}  // namespace mdpcosim

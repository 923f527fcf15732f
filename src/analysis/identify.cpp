#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>

#include "analysis/stand_in.hpp"
#include "core/error.hpp"
#include "coupling/eigenvalues.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

namespace {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;

constexpr int survey_steps = 200;
constexpr double survey_seconds = 2, quick_survey_seconds = 0.1;
constexpr int trial_count = 100, confirming_count = 60;
constexpr double trial_part = 0.15;        // of 1/lambda
constexpr double longer = 5;               // the confirming window's steps
constexpr int most_own_eigenvalues = 400;  // states
constexpr double slopes_differ = 0.01;

using law_slopes = std::map<std::string, law_slope>;

double steeper(double a, double b) { return std::fabs(b) > std::fabs(a) ? b : a; }

/// A run of the scenario as it is: where it begins, how far inputs go, how steep laws become.
class survey {
   public:
    survey(const scenario& s, bool quick)
        : run_(s, {.workers = 1, .writable = false}), seconds_(quick ? quick_survey_seconds : survey_seconds) {
        run_.initialise();
    }

    const assembly& parts() const { return run_.parts(); }

    operating_point point() const {
        operating_point at{
            run_.time(), std::vector<double>(inputs().size()), {run_.outputs().begin(), run_.outputs().end()}};
        for (std::size_t k = 0; k < at.inputs.size(); ++k)
            at.inputs[k] =
                network_().is_driven(input_slot(k)) ? run_.parts().system.input_value(input_slot(k)) : inputs()[k].c[0];
        return at;
    }

    law_slopes slopes(std::vector<std::string>* kinks) const {
        law_slopes found;
        for_laws([&](const std::string& name, const network::linearised& now, const law& acting) {
            found[name] = now.slope;
            if (kinks == nullptr) return;
            const double dq = 1e-9 + 1e-6 * std::fabs(now.q), dv = 1e-9 + 1e-6 * std::fabs(now.v);
            const law_slope up = acting.slope(now.q + dq, now.v + dv), down = acting.slope(now.q - dq, now.v - dv);
            const double c = std::max(std::fabs(up.c), std::fabs(down.c)),
                         d = std::max(std::fabs(up.d), std::fabs(down.d));
            if (std::fabs(up.c - down.c) > slopes_differ * c || std::fabs(up.d - down.d) > slopes_differ * d)
                kinks->push_back(fmt::format(
                    "connection '{}' stands in a kink: slopes {:.4g} and {:.4g}, of velocities {:.4g} and {:.4g}", name,
                    down.c, up.c, down.d, up.d));
            found[name] = {steeper(up.c, down.c), steeper(up.d, down.d)};
        });
        return found;
    }

    /// False: the coupling diverged, or something failed.
    bool go(law_slopes& steepest, std::vector<double>& moved) {
        using clock = std::chrono::steady_clock;
        const auto begin = clock::now();
        std::vector<double> low, high;
        try {
            for (int n = 0; n < survey_steps && !run_.done(); ++n) {
                run_.step();
                if (run_.diverged()) return false;
                for_laws([&](const std::string& name, const network::linearised& now, const law&) {
                    law_slope& most = steepest[name];
                    most = {steeper(most.c, now.slope.c), steeper(most.d, now.slope.d)};
                });
                if (low.empty()) low.assign(inputs().size(), HUGE_VAL), high.assign(inputs().size(), -HUGE_VAL);
                for (std::size_t k = 0; k < low.size(); ++k) {
                    low[k] = std::min(low[k], inputs()[k].c[0]);
                    high[k] = std::max(high[k], inputs()[k].c[0]);
                    moved[k] = high[k] - low[k];
                }
                until_ = run_.time();
                if (std::chrono::duration<double>(clock::now() - begin).count() > seconds_) break;
            }
        } catch (const run_error&) {
            return false;
        }
        return true;
    }
    double until() const { return until_; }

   private:
    const network& network_() const { return run_.parts().system.coupling; }
    std::span<const polynomial> inputs() const { return run_.parts().system.subsystems->inputs(); }
    template <class Each>
    void for_laws(const Each& each) const {
        for (std::size_t c = 0; c < network_().channels(); ++c)
            if (const law* acting = network_().law_of(channel_index(c)))
                if (acting->physical())
                    each(network_().name(channel_index(c)),
                         network_().linearise(run_.time(), channel_index(c), run_.outputs()), *acting);
    }

    simulation run_;
    double seconds_;
    double until_ = 0;
};

/// The fastest motion of the coupled system that these subsystems take part in.
double fastest_of(const MatrixXd& M, const std::vector<bool>& takes_part) {
    if (M.rows() == 0) return 0;
    const Eigen::EigenSolver<MatrixXd> modes(M);
    const MatrixXcd V = modes.eigenvectors(), W = V.fullPivLu().inverse();
    double fastest = 0;
    for (Index k = 0; k < M.rows(); ++k) {
        double part = 0, all = 0;
        for (Index i = 0; i < M.rows(); ++i) {
            const double p = std::abs(V(i, k) * W(k, i));
            all += p;
            if (takes_part[static_cast<std::size_t>(i)]) part += p;
        }
        if (part > 0.1 * all) fastest = std::max(fastest, std::abs(modes.eigenvalues()[k]));
    }
    return std::isfinite(fastest) ? fastest : 0;
}

class trial_stage {
   public:
    trial_stage(const scenario& s, const assembly& parts, identified_system& all) : s_(s), parts_(parts), all_(all) {}

    void add(std::size_t subsystem, coupled_slots slots) {
        numbers_.push_back(subsystem);
        trials_.push_back(std::make_unique<trial_runs>(s_, all_.at, std::move(slots), all_.subsystems[subsystem]));
    }

    void carry_out(const std::function<void(const std::string&)>& told) {
        if (trials_.empty()) return;
        const double H = s_.time.step;
        double dt = H / 10;
        each([&](trial_runs& t) { t.look_once(free_step(t, dt, H)); });
        for (int n = 0; n < 3; ++n) {
            const double lambda = fastest();
            if (!(lambda > 0)) break;
            const bool coarse = lambda * dt > 0.5;
            dt = trial_part / lambda;
            if (!coarse) break;
            each([&](trial_runs& t) { t.look_once(free_step(t, dt, H)); });
        }
        if (told) told(fmt::format("trials of {} subsystems with steps of {:.4g} s", numbers_.size(), dt));
        each([&](trial_runs& t) { t.identify(free_step(t, dt, H), trial_count); });
        each([&](trial_runs& t) {
            if (free_step(t, dt, H) == dt) t.confirm(longer * dt, confirming_count);
        });
    }

   private:
    /// Those that take steps of one length get the scenario's.
    double free_step(const trial_runs& of, double dt, double H) const {
        for (std::size_t k = 0; k < trials_.size(); ++k)
            if (trials_[k].get() == &of && !all_.subsystems[numbers_[k]].offers.why_fixed_step.empty()) return H;
        return dt;
    }

    template <class Work>
    void each(const Work& work) {
        for (std::size_t k = 0; k < trials_.size(); ++k) {
            identified_subsystem& one = all_.subsystems[numbers_[k]];
            if (!one.why.empty()) continue;
            try {
                work(*trials_[k]);
            } catch (const std::exception& problem) {
                one.how = identified_subsystem::way::excluded;
                one.why = fmt::format("its trials failed: {}", problem.what());
            }
        }
    }

    double fastest() const {
        std::vector<bool> takes_part;
        for (const auto& one : all_.subsystems)
            if (one.how == identified_subsystem::way::equations || one.how == identified_subsystem::way::trials)
                takes_part.insert(takes_part.end(), static_cast<std::size_t>(one.states()),
                                  one.how == identified_subsystem::way::trials);
        const MatrixXd M = coupled_matrix(parts_, all_.subsystems, all_.steepest);
        takes_part.resize(static_cast<std::size_t>(M.rows()), false);
        return fastest_of(M, takes_part);
    }

    const scenario& s_;
    const assembly& parts_;
    identified_system& all_;
    std::vector<std::size_t> numbers_;
    std::vector<std::unique_ptr<trial_runs>> trials_;
};

/// With shorter steps where the coupling diverges.
void look_around(scenario s, identified_system& all, survey& first, std::vector<double>& moved, bool quick) {
    all.steepest = all.slopes;
    if (first.go(all.steepest, moved)) {
        all.seen_until = first.until();
    } else {
        for (int n = 0; n < 2; ++n) {
            s.time.step /= 16;
            all.steepest = all.slopes;
            std::ranges::fill(moved, 0.0);
            try {
                survey again(s, quick);
                const bool well = again.go(all.steepest, moved);
                all.seen_until = again.until();
                if (well) break;
            } catch (const std::exception&) {
                break;
            }
        }
    }
    for (const auto& [name, slope] : all.slopes) {
        const law_slope& most = all.steepest.at(name);
        all.moving_slopes |= std::fabs(most.c) > (1 + slopes_differ) * std::fabs(slope.c) ||
                             std::fabs(most.d) > (1 + slopes_differ) * std::fabs(slope.d);
    }
}

}  // namespace

identified_system identify(const scenario& given, const std::function<void(const std::string&)>& told, bool quick) {
    scenario s = given;
    s.step_control = {};
    survey real(s, quick);
    const assembly& parts = real.parts();
    identified_system all;
    all.at = real.point();
    all.slopes = real.slopes(&all.kinks);
    const auto slots = find_coupled_slots(parts);
    const transport& subsystems = *parts.system.subsystems;
    std::vector<double> moved(all.at.inputs.size(), 0.0);
    look_around(s, all, real, moved, quick);
    all.subsystems.resize(subsystems.size());
    trial_stage trials(s, parts, all);
    for (std::size_t i = 0; i < subsystems.size(); ++i) {
        identified_subsystem& one = all.subsystems[i];
        const subsystem_spec& spec = s.subsystems[i];
        const subsystem_index index(i);
        one.name = spec.name;
        one.description = subsystems.describe(index);
        one.offers = subsystems.offers(index);
        const auto from = [&](const std::vector<double>& of, std::size_t offset, int count) {
            return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(of.data() + offset, count));
        };
        one.u0 = from(all.at.inputs, subsystems.input_offset(index), one.description.input_count());
        one.moved = from(moved, subsystems.input_offset(index), one.description.input_count());
        one.y0 = from(all.at.outputs, subsystems.output_offset(index), one.description.output_count());
        if (slots[i].inputs.empty())
            one.how = identified_subsystem::way::source;
        else if (is_sampled(spec) && spec.built_in())
            one.how = identified_subsystem::way::itself;
        else if (spec.sample)
            one.why = "it is sampled by code of others; a sampled model of this program takes part as it is";
        else if (slots[i].outputs.empty())
            one.how = identified_subsystem::way::source;  // it only listens
        else if (!identify_by_equations(s, i, all.at, one)) {
            if (quick)
                one.why = "it takes trials, which take time";
            else
                trials.add(i, slots[i]);
        }
    }
    trials.carry_out(told);
    for (identified_subsystem& one : all.subsystems) {
        if (one.eq.A.rows() == 0 || one.eq.A.rows() > most_own_eigenvalues) continue;
        const Eigen::EigenSolver<MatrixXd> own(one.eq.A, false);
        one.own.assign(own.eigenvalues().begin(), own.eigenvalues().end());
    }
    return all;
}

}  // namespace mdpcosim

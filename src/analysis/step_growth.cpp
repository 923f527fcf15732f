#include "analysis/step_growth.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <random>

#include "analysis/balance.hpp"
#include "coupling/eigenvalues.hpp"

namespace mdpcosim {

namespace {

using Eigen::Index;
using Eigen::MatrixXcd;
using Eigen::MatrixXd;

constexpr std::size_t most_dense = 160;
constexpr int runs_steps =
    1600;  // of two runs that part; a quarter of them is enough where they part or come together quickly
constexpr double clear_growth = 4 * allowed_growth;
constexpr double enough_growth = 1e60;  // growth that needs no more steps
constexpr int steps_to_see_rest = 5;
constexpr int learning_steps = 40;
constexpr double perturbation = 1e-3;
constexpr double grid_fine = 1.1, grid_coarse = 1.2;
constexpr std::size_t fine_unknowns = 60;
constexpr double limit_precision = 2e-3;
constexpr double named_part = 0.02;  // of a subsystem in a mode, to be named

/// What the next macro step depends on: states of subsystems, the network's memory, the method's.
class memory_of {
   public:
    explicit memory_of(linear_system& system) : system_(system) {
        for (auto* part : system.parts) states_ += part->state().size();
        network_ = system.system.coupling.memory_size();
        size_ = states_ + network_ + system.chosen->memory_size(system.system);
        zeros_.resize(system.system.subsystems->inputs().size());
    }
    std::size_t size() const { return size_; }

    void set(double H, std::span<const double> r) {
        coupled_system& system = system_.system;
        auto from = r.begin();
        for (std::size_t i = 0; i < system_.parts.size(); ++i) {
            const auto x = system_.parts[i]->state();
            std::copy_n(from, x.size(), x.begin());
            from += static_cast<std::ptrdiff_t>(x.size());
            const auto inputs = static_cast<std::size_t>(system_.parts[i]->describe().input_count());
            system.subsystems->evaluate(subsystem_index(i), std::span<const double>(zeros_).first(inputs));
        }
        const auto own = from + static_cast<std::ptrdiff_t>(network_);
        system.coupling.set_memory(0, H, {from, own});
        system_.chosen->set_memory(H, {own, r.end()});
        system.evaluate(0, system.at_each_step);
    }
    void get(double t, std::span<double> r) const {
        auto to = r.begin();
        for (auto* part : system_.parts) to = std::copy(part->state().begin(), part->state().end(), to);
        const auto own = to + static_cast<std::ptrdiff_t>(network_);
        system_.system.coupling.memory(t, {to, own});
        system_.chosen->memory({own, r.end()});
    }

   private:
    linear_system& system_;
    std::size_t states_ = 0, network_ = 0, size_ = 0;
    std::vector<double> zeros_;
};

/// States of all subsystems after each of so many steps, from a random state or from zero.
class parting_runs {
   public:
    parting_runs(linear_system& system, bool perturbed) : system_(system) {
        std::mt19937 engine(1);
        for (auto* part : system.parts)
            for (double& x : part->state())
                x = perturbed ? perturbation *
                                    (static_cast<double>(engine()) / static_cast<double>(std::mt19937::max()) - 0.5)
                              : 0;
        coupled_system& all = system.system;
        for (std::size_t i = 0; i < all.subsystems->size(); ++i) {
            const std::vector<double> zeros(
                static_cast<std::size_t>(all.subsystems->describe(subsystem_index(i)).input_count()), 0.0);
            all.subsystems->evaluate(subsystem_index(i), zeros, true);
        }
        all.coupling.start(0, all.subsystems->outputs());
        all.evaluate(0, all.at_each_step);
    }
    void step(double H, int n) { system_.chosen->step(system_.system, {n * H, (n + 1) * H, n}); }
    void steps(double H, int count) {
        for (int n = 0; n < count; ++n) step(H, n);
    }
    void states(std::vector<double>& x) const {
        x.clear();
        for (auto* part : system_.parts) x.insert(x.end(), part->state().begin(), part->state().end());
    }

   private:
    linear_system& system_;
};

}  // namespace

struct step_growth::impl {
    scenario s;
    const identified_system& known;
    std::map<std::string, law_slope> slopes;
    linear_system system;
    std::optional<memory_of> memory;
    bool dense = false;
    std::vector<std::size_t> owner;  ///< by state: its subsystem
    MatrixXd P;
    double known_step = 0;
    bool all_linear = true;  ///< no subsystem takes part as it is, whose samples may come later

    linear_system make(double H) const {
        scenario with_step = s;
        with_step.time.end = with_step.time.start + 1e6 * H;
        with_step.time.step = H;
        // Iterations that end early are no linear map; what they leave does not grow where what they converge to does not.
        if (with_step.method.value == "iterated" &&
            std::ranges::find(with_step.method_options, "tolerance", &setting::name) == with_step.method_options.end())
            with_step.method_options.push_back({"tolerance", {}, {{"1e-12", {}}}});
        return make_linear_system(with_step, known, slopes);
    }

    /// Methods that learn from the steps before have to know this length.
    void come_to_know(double H) {
        if (s.method.value.empty() || s.method.value == default_method || H == known_step) return;
        memory.reset();
        system = make(H);
        memory.emplace(system);
        parting_runs(system, true).steps(H, learning_steps);
        known_step = H;
    }

    const MatrixXd& matrix(double H) {
        come_to_know(H);
        const auto n = static_cast<Index>(memory->size());
        P.resize(n, n);
        std::vector<double> r(memory->size()), rest(memory->size());
        const auto step = [&](std::span<double> into) {
            memory->set(H, r);
            system.chosen->step(system.system, {0, H, 0});
            memory->get(H, into);
        };
        step(rest);
        const Eigen::Map<const Eigen::VectorXd> from_rest(rest.data(), n);
        for (Index column = 0; column < n; ++column) {
            std::ranges::fill(r, 0.0);
            r[static_cast<std::size_t>(column)] = 1;
            step({P.col(column).data(), r.size()});
            P.col(column) -= from_rest;
        }
        return P;
    }

    double measured(double H) const {
        const double quickly = parting(H, runs_steps / 4);
        return std::fabs(quickly - 1) > clear_growth ? quickly : parting(H, runs_steps);
    }

    double parting(double H, int count) const {
        linear_system moved_system = make(H), resting_system = make(H);
        parting_runs moved(moved_system, true), resting(resting_system, false);
        std::vector<double> x, rest, scale, quarter(4, 0.0);
        bool rests = true;  // nothing moves without a reason: only the other run has to be done
        for (int n = 0; n < count; ++n) {
            moved.step(H, n);
            if (n < steps_to_see_rest || !rests) {
                resting.step(H, n);
                resting.states(rest);
                rests = std::ranges::all_of(rest, [](double v) { return v == 0; }) && all_linear;
            }
            moved.states(x);
            scale.resize(x.size(), 0.0);
            double norm = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double off = std::fabs(x[i] - rest[i]);
                if (n < count / 10) scale[i] = std::max(scale[i], off);
                if (scale[i] > 0) norm = std::max(norm, off / scale[i]);
            }
            if (!(norm < enough_growth))
                return 1 + 10 * allowed_growth * (norm > 0 ? std::log(enough_growth) / n / allowed_growth : 1);
            if (n < count / 10 && !scale.empty() && *std::ranges::max_element(scale) > 1e20 * perturbation)
                return 1 + 1.0 / (n + 1);
            double& most = quarter[static_cast<std::size_t>(4 * n / count)];
            most = std::max(most, norm);
        }
        return quarter[1] > 0 ? std::exp(std::log(quarter[3] / quarter[1]) / (count / 2.0)) : 0;
    }
};

step_growth::step_growth(scenario s, const identified_system& known, std::map<std::string, law_slope> slopes)
    : self_(new impl{std::move(s), known, std::move(slopes), {}, {}, false, {}, {}, 0, true}) {
    impl& self = *self_;
    self.system = self.make(self.s.time.step);
    self.memory.emplace(self.system);
    const bool itself = std::ranges::any_of(
        known.subsystems, [](const auto& one) { return one.how == identified_subsystem::way::itself; });
    self.all_linear = !itself;
    self.dense = !itself && self.memory->size() <= most_dense;
    for (std::size_t i = 0, part = 0; i < known.subsystems.size(); ++i)
        if (known.subsystems[i].how != identified_subsystem::way::itself)
            self.owner.insert(self.owner.end(), self.system.parts[part++]->state().size(), i);
}

step_growth::~step_growth() = default;

bool step_growth::by_matrix() const { return self_->dense; }
std::size_t step_growth::unknowns() const { return self_->memory->size(); }

double step_growth::radius(double H) {
    if (!self_->dense) return self_->measured(H);
    if (self_->memory->size() == 0) return 0;
    MatrixXd P = self_->matrix(H);
    if (!P.allFinite()) return HUGE_VAL;
    balance(P);
    return Eigen::EigenSolver<MatrixXd>(P, false).eigenvalues().cwiseAbs().maxCoeff();
}

std::optional<limiting_mode> step_growth::mode(double H) {
    if (!self_->dense || self_->memory->size() == 0) return {};
    MatrixXd P = self_->matrix(H);
    if (!P.allFinite()) return {};
    balance(P);
    const Eigen::EigenSolver<MatrixXd> modes(P);
    Index k = 0;
    modes.eigenvalues().cwiseAbs().maxCoeff(&k);
    const MatrixXcd V = modes.eigenvectors(), W = V.fullPivLu().inverse();
    const std::complex<double> z = modes.eigenvalues()[k];
    limiting_mode found;
    const double angle = std::fabs(std::arg(z));
    found.frequency = angle / (2 * M_PI * H);
    found.alternates = angle > 0.99 * M_PI;
    std::vector<double> part(self_->known.subsystems.size(), 0.0);
    double all = 0;
    for (std::size_t i = 0; i < self_->owner.size(); ++i) {
        const double p = std::abs(V(static_cast<Index>(i), k) * W(k, static_cast<Index>(i)));
        part[self_->owner[i]] += p;
        all += p;
    }
    for (std::size_t i = 0; i < part.size(); ++i)
        if (part[i] > named_part * all) found.subsystems.emplace_back(self_->known.subsystems[i].name, part[i] / all);
    std::ranges::sort(found.subsystems, std::ranges::greater{}, &std::pair<std::string, double>::second);
    return found;
}

double step_growth::integrations(double H) {
    linear_system counted = self_->make(H);
    parting_runs runs(counted, true);
    constexpr int steps = 20;
    const std::int64_t before = counted.system.integrations;
    for (int n = 0; n < steps; ++n) runs.step(H, n);
    return static_cast<double>(counted.system.integrations - before) / steps;
}

step_limit find_step_limit(step_growth& growth, double sigma, double from, double to, double sample) {
    const auto stable = [&](double H) {
        try {
            return growth.radius(H) <= (1 + allowed_growth) * std::exp(sigma * H);
        } catch (const std::runtime_error&) {
            return false;  // a method that finds no solution
        }
    };
    const double factor = growth.by_matrix() && growth.unknowns() <= fine_unknowns ? grid_fine : grid_coarse;
    const auto whole_part = [&](double H) {
        return sample > 0 ? sample / std::max(1.0, std::ceil(sample / H * (1 - 1e-9))) : H;
    };
    step_limit found;
    double last = 0;
    if (sample > 0) to = std::min(to, sample);
    for (double H = from; H <= to; H = H < to ? std::min(to, H * factor) : HUGE_VAL) {
        const double next = whole_part(H);
        if (next <= last) continue;
        if (stable(next)) {
            last = next;
            continue;
        }
        if (last == 0) return {step_limit::kind::none, next};
        double above = next;
        while (above / last > 1 + limit_precision) {
            const double middle = whole_part(std::sqrt(above * last));
            if (middle <= last * (1 + 1e-9) || middle >= above * (1 - 1e-9)) break;
            (stable(middle) ? last : above) = middle;
        }
        found.largest = last;
        return found;
    }
    return {step_limit::kind::unbounded, last};
}

}  // namespace mdpcosim

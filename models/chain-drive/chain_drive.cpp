#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "drive.hpp"
#include "forces.hpp"
#include "subsystem/model.hpp"
#include "team.hpp"
#include "time_stepping.hpp"
#include "variables.hpp"

// Chain drives: links, sprockets, guides, rails (forces.hpp) with compliant contacts, x = (q, v):   q' = v,   M v' = f(t, q, v) + loads.

namespace mdpcosim {

namespace {

using namespace drive;

class chain_drive final : public equations {
   public:
    chain_drive(drive_data d, int threads)
        : d_(std::move(d)), n_(static_cast<std::size_t>(d_.coordinates)), forces_(d_), variables_(d_, false), f_(n_) {
        double left = d_.q[0], right = d_.q[0];
        for (int i = 0; i < 2 * d_.pins; ++i) {
            left = std::min(left, d_.q[static_cast<std::size_t>(i)]);
            right = std::max(right, d_.q[static_cast<std::size_t>(i)]);
        }
        size_ = std::max(right - left, 1e-6);
        if (threads == 1) return;
        shares_ = forces_.shares(threads);
        team_ = std::make_unique<team>(threads, [this](int member) {
            for (const auto& part : shares_[static_cast<std::size_t>(member)]) forces_.work(part, at_.t, at_.q, at_.v);
        });
    }

    const subsystem_description& describe() const noexcept override { return variables_.description(); }
    int state_count() const override { return 2 * d_.coordinates; }
    void expect(const usage& used) override { variables_.expect(used); }

    void initial_state(double t0, double* x) const override {
        std::ranges::copy(d_.q, x);
        std::ranges::copy(d_.v, x + n_);
        for (const support& s : d_.supports)
            if (s.prescribed) x[n_ + static_cast<std::size_t>(s.rotation)] = prescribed(s, t0).speed;
    }

    void derivatives(double t, const double* x, const double* u, double* dx) const override {
        const double* v = x + n_;
        find_forces(t, x, u, dx + n_);
        std::copy_n(v, n_, dx);
        for (const support& s : d_.supports)
            if (s.prescribed) dx[s.rotation] = prescribed(s, t).speed;
        for (std::size_t i = 0; i < n_; ++i) dx[n_ + i] *= d_.inverse_mass[i];
    }

    void outputs(double t, const double* x, const double* u, double* y) const override {
        variables_.motion(t, x, x + n_, y);
        if (!variables_.forces_are_read()) return;
        find_forces(t, x, u, f_.data());
        variables_.forces(t, x, x + n_, f_.data(), forces_, true, y);
    }
    void port_outputs(double t, const double* x, const double* /*u*/, double* y) const override {
        variables_.motion(t, x, x + n_, y);
    }

    double nominal(int state) const override {
        const bool is_speed = state >= d_.coordinates;
        const int i = is_speed ? state - d_.coordinates : state;
        if (is_speed) return std::max(1.0, std::fabs(d_.v[static_cast<std::size_t>(i)]));
        if (i < 2 * d_.pins) return size_;
        for (const support& s : d_.supports)
            if (s.rotation == i) return 1;
        return 1e-2 * size_;
    }

   private:
    void find_forces(double t, const double* x, const double* u, double* f) const {
        if (team_)
            find_forces_timed(t, x, f);
        else
            forces_.all(t, x, x + n_, f);
        variables_.add_loads(u, f);
    }

    void find_forces_timed(double t, const double* x, double* f) const {
        // From one evaluation to the next: what the solver does in between waits for what the other core had, too.
        using clock = std::chrono::steady_clock;
        if (timed_) {
            const auto now = clock::now();
            benefit_.took(std::chrono::duration<double>(now - begin_).count());
            begin_ = now;
        } else {
            benefit_.took(0);
            if (benefit_.is_timed()) begin_ = clock::now();
        }
        timed_ = benefit_.is_timed();
        if (benefit_.together()) {
            at_ = {t, x, x + n_};
            team_->work_together();
            forces_.finish(t, x, x + n_, f);
        } else {
            forces_.all(t, x, x + n_, f);
        }
    }

    drive_data d_;
    std::size_t n_;
    double size_;
    mutable drive_forces forces_;
    drive_variables variables_;
    mutable std::vector<double> f_;
    std::vector<std::vector<drive_forces::part_of_work>> shares_;  ///< by thread
    struct instant {
        double t;
        const double *q, *v;
    };
    mutable instant at_{};
    mutable benefit benefit_;
    mutable bool timed_ = false;
    mutable std::chrono::steady_clock::time_point begin_{};
    std::unique_ptr<team> team_;  ///< last: its threads use all of it
};

drive_data ready(const std::vector<part>& parts) {
    drive_data d = read_drive(parts);
    lay(d);
    relax(d);
    return d;
}

using range = parameter_info::range;

const model_registration registered{{
    .name = "chain-drive",
    .summary = "roller chains in a plane, over sprockets, guides and rails; laid and brought to rest by itself",
    .parameters =
        {{"contacts",
          "",
          "springs and dampers, or rigid with friction and impacts, which the model integrates itself",
          0,
          range::any,
          false,
          false,
          {"compliant", "rigid"}},
         {"threads",
          "1",
          "threads that work on compliant links and contacts at the same time; the results have the same bits",
          1,
          range::whole,
          false,
          false,
          {},
          {},
          64},
         {"step", "s", "micro step of rigid contacts", 2e-6, range::positive},
         {"tolerance", "1", "of rigid contacts' velocities, relative to the largest", 1e-8, range::positive},
         {"max-sweeps", "1", "most sweeps over rigid contacts in a micro step", 2000, range::whole},
         {"correction", "1", "part of an overlap of rigid contacts that a micro step takes out", 0.02,
          range::not_negative}},
    .parts = part_kinds(),
    .make_of_parts = [](const parameter_values& p, const std::vector<part>& parts) -> std::unique_ptr<equations> {
        if (p["contacts"] == 1)
            throw std::invalid_argument(
                "rigid contacts have no equations and cannot be part of one system of equations (--monolithic). For "
                "one stepper over several drives list "
                "all their parts in one subsystem, with parts of kind 'shaft' between wheels instead of connections; "
                "or take 'contacts: compliant'");
        return std::make_unique<chain_drive>(ready(parts), static_cast<int>(p["threads"]));
    },
    .make_with_solver = [](const parameter_values& p,
                           const std::vector<part>& parts) { return make_rigid_drive(p, ready(parts)); },
    .integrates_itself = [](const parameter_values& p) { return p["contacts"] == 1; },
    .scene_of_parts = [](const parameter_values&, const std::vector<part>& parts) { return draw(ready(parts)); },
}};

}  // namespace

}  // namespace mdpcosim

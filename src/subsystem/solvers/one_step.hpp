#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <span>

#include "subsystem/solver.hpp"
#include "subsystem/solvers/event_monitor.hpp"
#include "subsystem/solvers/interval.hpp"

/// The frame of all one-step solvers, with steps of fixed size (fixed_step.hpp) and of their own choice (erk.cpp).
///
/// A solver without anything to watch integrates on its own; otherwise the frame goes from micro step to micro step. Each is
/// searched for changes of side; the time of the first is found by bracketing, taking the micro step again with other lengths, so that
/// the state at an event is as good as at the end of a micro step.
namespace mdpcosim {

/// What a method works on.
struct micro_step {
    equations* model = nullptr;
    std::span<const polynomial> inputs;
    double begin = 0;  ///< of the macro step
    double* x = nullptr;
    double* u = nullptr;
    double* work = nullptr;
    std::size_t n = 0;
    std::int64_t evaluations = 0;
    std::int64_t newton_iterations = 0, factorisations = 0;  ///< of implicit methods

    /// f at begin + s.
    void derivatives(double s, const double* state, double* dx) {
        input_values(inputs, s, u);
        model->derivatives(begin + s, state, u, dx);
        ++evaluations;
    }
};

/// Storage and bracketing for models with events, in its own allocation so that others stay small.
struct one_step_events {
    one_step_events(equations& model, std::size_t n, const char* name);

    event_monitor monitor;
    std::vector<double> x0, x1;  ///< state at the micro step's start and end
    std::vector<double> z0, z1;  ///< indicators at its start and end
    std::vector<double> before;  ///< indicators just before the last events
    std::vector<double> dx;
    /// The side was taken from the motion after an event, which went on or turned back, while the indicator was not there yet.
    enum class guess : char { none, on, back };
    std::vector<guess> guessed;
    std::vector<double> left;  ///< indicators with such a side at the end of the macro step
};

class one_step_solver : public solver {
   public:
    explicit one_step_solver(const char* name) : name_(name) {}

    void initialise(equations& model, double t0, std::span<double> x) override;
    void reset(double, std::span<const double>) override;

    std::size_t memory_size() const override { return events_ ? 2 * events_->monitor.count() : 0; }
    void memory(std::span<double> into) const override;
    void set_memory(std::span<const double> from) override;

    subsystem_statistics statistics() const override {
        return {.micro_steps = micro_steps_,
                .evaluations = now_.evaluations,
                .events = time_events_ + (events_ ? events_->monitor.events() : 0),
                .newton_iterations = now_.newton_iterations,
                .factorisations = now_.factorisations};
    }

   protected:
    /// m.x from begin + s on by one micro step that ends at begin + `end` at the latest: how long it is.
    virtual double micro(double s, double end) = 0;
    /// The last micro step again, with another length.
    virtual void again(double s, double h) = 0;
    /// From begin + s to begin + `end`, without time events: with cover() where there is something to watch. How far it came: less
    /// when `interrupted_`.
    virtual double run(double s, double end) = 0;
    /// The state or f has jumped: nothing that is known of f holds.
    virtual void forget_derivative() {}

    /// Input values and what the method needs. Where they are few they stand on the stack while the solver works, which is in the caches
    /// whatever subsystem had it before; memory of its own would not be. `kept`: what the method needs stays from step to step.
    static constexpr std::size_t few_inputs = 4, few_work = 12;
    struct few_numbers {
        double u[few_inputs], work[few_work];
    };
    void reserve(std::size_t inputs, std::size_t work, bool kept) {
        few_inputs_ = inputs <= few_inputs;
        few_work_ = !kept && work <= few_work;
        const std::size_t many = few_inputs_ ? 0 : inputs;
        work_ = std::make_unique<double[]>(many + (few_work_ ? 0 : work));
        now_.u = work_.get();
        now_.work = work_.get() + many;
    }
    /// Lends them while it lives.
    class lending {
       public:
        lending(one_step_solver& to, few_numbers& numbers) : to_(to) {
            if (to.few_inputs_) to.now_.u = numbers.u;
            if (to.few_work_) to.now_.work = numbers.work;
        }
        lending(const lending&) = delete;
        lending& operator=(const lending&) = delete;
        ~lending() {
            if (to_.few_inputs_) to_.now_.u = nullptr;
            if (to_.few_work_) to_.now_.work = nullptr;
        }

       private:
        one_step_solver& to_;
    };
    void start(double begin, std::span<const polynomial> inputs, std::span<double> x) {
        now_.inputs = inputs;
        now_.begin = begin;
        now_.x = x.data();
    }
    /// The macro step of a model that watches() or has events in it.
    void integrate_watched(double end);
    double cover(double s, double end);

    /// Nothing to look at: no event before or at `end`, nobody watches.
    bool undisturbed(double end) const { return end < next_event_ && !watched_; }
    bool has_to_cover() const { return events_ || watches_steps_; }

    const char* name_;
    micro_step now_;
    std::int64_t micro_steps_ = 0;
    /// An event has brought the next time event into the piece being integrated.
    bool interrupted_ = false;

   private:
    bool few_inputs_ = false, few_work_ = false;  ///< on the stack

    void jump(double s);
    void end_interval(double end);
    void split(double begin, double end);
    bool update(moment m, double s);
    double first_change(double s, double h);
    double on_its_side(std::size_t i, double s, double h);
    double locate(std::size_t i, double s, double a, double h);
    double indicator(std::size_t i, double s, double tau);
    void step_to(double s, double tau);
    void apply_events(double s, double tau, double rest);
    void guess_sides(double s, double rest, double ahead);

    std::unique_ptr<double[]> work_;
    std::int64_t time_events_ = 0;
    double stop_ = 0;                                               ///< of the present piece between time events
    double next_event_ = std::numeric_limits<double>::quiet_NaN();  ///< cached; NaN: ask the model
    bool watches_intervals_ = false, watches_steps_ = false, watched_ = false;
    std::unique_ptr<one_step_events> events_;
};

}  // namespace mdpcosim

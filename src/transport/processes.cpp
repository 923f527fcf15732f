#include "transport/processes.hpp"

#include <algorithm>
#include <chrono>

#include "transport/failure.hpp"
#include "transport/worker_pool.hpp"

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

double seconds(clock::time_point t) { return std::chrono::duration<double>(t.time_since_epoch()).count(); }

class process_transport final : public transport {
   public:
    process_transport(std::vector<subsystem_recipe> recipes, const std::vector<std::vector<int>>& groups) {
        std::vector<std::vector<int>> all = groups;
        std::vector<char> grouped(recipes.size(), false);
        for (const auto& g : groups)
            for (const int i : g) grouped[static_cast<std::size_t>(i)] = true;
        for (std::size_t i = 0; i < recipes.size(); ++i)
            if (!grouped[i]) all.push_back({static_cast<int>(i)});
        for (auto& g : all) std::ranges::sort(g);
        std::ranges::sort(all);

        const bool spin = static_cast<int>(all.size()) < available_cores();
        places_.resize(recipes.size());
        for (std::size_t p = 0; p < all.size(); ++p) start(p, all[p], recipes, spin);
        // All start at once; then each says what it made.
        for (auto& p : processes_) p->introduce();
        std::size_t input = 0, output = 0;
        for (std::size_t i = 0; i < places_.size(); ++i) {
            place& at = places_[i];
            at.name = recipes[i].name;
            at.input = input, at.output = output;
            input += static_cast<std::size_t>(at.process->describe(at.member).input_count());
            output += static_cast<std::size_t>(at.process->describe(at.member).output_count());
        }
        inputs_.resize(input);
        outputs_.resize(output);
        for (std::size_t p = 0; p < processes_.size(); ++p) profile_.emplace_back(most_events / processes_.size());
    }

    std::size_t size() const override { return places_.size(); }
    const std::string& name(subsystem_index i) const override { return places_[i.value()].name; }
    const subsystem_description& describe(subsystem_index i) const override {
        return places_[i.value()].process->describe(places_[i.value()].member);
    }
    capabilities offers(subsystem_index i) const override {
        return places_[i.value()].process->offers(places_[i.value()].member);
    }
    std::size_t input_offset(subsystem_index i) const override { return places_[i.value()].input; }
    std::size_t output_offset(subsystem_index i) const override { return places_[i.value()].output; }
    std::span<polynomial> inputs() override { return inputs_; }
    std::span<const double> outputs() const override { return outputs_; }

    void initialise(double t0) override {
        time_ = t0;
        all([&](subsystem_process& p) { p.post({.what = process_command::initialise, .t0 = t0}); });
        report_failures();
    }

    void evaluate(subsystem_index i, std::span<const double> u, bool provisional) override {
        place& at = places_[i.value()];
        std::ranges::copy(u, at.process->inputs(at.member).begin());
        try {
            at.process->call({.what = process_command::outputs, .subsystem = static_cast<int>(at.member)});
        } catch (const run_error& problem) {
            throw subsystem_failure(at.name, time_, problem.what());
        }
        fetch(at);
        const int bad = provisional ? -1 : first_not_finite(output_of(at));
        if (bad >= 0) throw subsystem_failure(at.name, time_, not_finite_reason(describe(i), output_of(at), bad));
    }

    void advance(const macro_step& step) override {
        const bool timed = calls_ == next_sample_;
        const auto begin = timed ? clock::now() : clock::time_point{};
        for (place& at : places_) std::ranges::copy(input_of(at), at.process->polynomials(at.member).begin());
        all([&](subsystem_process& p) { p.post({.what = process_command::advance, .step = step, .timed = timed}); });
        for (place& at : places_) fetch(at);
        if (timed) learn(step, begin);
        ++calls_;
        report_failures(step);
        time_ = step.end;
    }

    void save() override {
        if (!saved_) all([](subsystem_process& p) { p.post({.what = process_command::make_snapshot}); });
        saved_ = true;
        all([](subsystem_process& p) { p.post({.what = process_command::save}); });
        report_failures();
        saved_time_ = time_;
    }

    void restore() override {
        all([](subsystem_process& p) { p.post({.what = process_command::restore}); });
        report_failures();
        time_ = saved_time_;
    }

    subsystem_statistics statistics(subsystem_index i) const override {
        const place& at = places_[i.value()];
        if (!at.process->gone())
            at.process->call({.what = process_command::statistics, .subsystem = static_cast<int>(at.member)});
        return at.process->statistics(at.member);
    }
    subsystem_cost cost(subsystem_index i) const override {
        const place& at = places_[i.value()];
        return {at.samples > 0 ? at.seconds / static_cast<double>(at.samples) : 0, at.worker};
    }
    int workers() const override { return static_cast<int>(processes_.size()); }
    std::int64_t parallel_steps() const override { return processes_.size() > 1 ? calls_ : 0; }
    std::span<const profile_log> profile() const override { return profile_; }

   private:
    struct place {
        std::string name;
        subsystem_process* process = nullptr;
        std::size_t member = 0;
        int worker = 0;
        std::size_t input = 0, output = 0;
        double seconds = 0;  ///< of all timed steps
        std::int64_t samples = 0;
    };

    struct failure {
        std::size_t subsystem = 0;
        std::string reason;
    };

    static constexpr std::size_t most_events = 20000;

    void start(std::size_t p, const std::vector<int>& members, std::vector<subsystem_recipe>& recipes, bool spin) {
        std::vector<subsystem_process::factory> make;
        process_options how;
        how.spin = spin;
        for (const int i : members) {
            subsystem_recipe& r = recipes[static_cast<std::size_t>(i)];
            how.name += (how.name.empty() ? "" : ", ") + r.name;
            // One limit for the group: all of its members may take theirs, one after the other.
            how.limit = how.limit < 0 || r.limit == 0 ? -1 : how.limit + r.limit;
            make.push_back(std::move(r.make));
        }
        how.limit = std::max(how.limit, 0.0);
        processes_.push_back(std::make_unique<subsystem_process>(how, std::move(make)));
        members_.push_back(members);
        for (std::size_t k = 0; k < members.size(); ++k) {
            place& at = places_[static_cast<std::size_t>(members[k])];
            at.process = processes_.back().get();
            at.member = k;
            at.worker = static_cast<int>(p);
        }
    }

    /// Posts to all processes, then waits for all, whatever becomes of one.
    template <class Post>
    void all(const Post& post) {
        for (auto& p : processes_) post(*p);
        for (std::size_t k = 0; k < processes_.size(); ++k) {
            try {
                processes_[k]->wait();
            } catch (const run_error& problem) {
                const int member = std::max(0, processes_[k]->which_failed());
                failures_.push_back(
                    {static_cast<std::size_t>(members_[k][static_cast<std::size_t>(member)]), problem.what()});
            }
        }
    }

    std::span<double> output_of(const place& at) {
        return std::span(outputs_).subspan(at.output, at.process->outputs(at.member).size());
    }
    std::span<const polynomial> input_of(const place& at) {
        return std::span(inputs_).subspan(at.input, at.process->polynomials(at.member).size());
    }
    void fetch(const place& at) { std::ranges::copy(at.process->outputs(at.member), output_of(at).begin()); }

    /// The failure of the lowest subsystem number.
    void report_failures() {
        if (failures_.empty()) return;
        const failure first = first_failure();
        throw subsystem_failure(places_[first.subsystem].name, time_, first.reason);
    }
    void report_failures(const macro_step& step) {
        for (std::size_t i = 0; i < places_.size(); ++i)
            if (const int bad = first_not_finite(output_of(places_[i])); bad >= 0) {
                failures_.push_back({i, not_finite_reason(describe(subsystem_index(i)), output_of(places_[i]), bad)});
                break;
            }
        if (failures_.empty()) return;
        const failure first = first_failure();
        const place& at = places_[first.subsystem];
        throw failure_in_step(at.name, first.reason, step, at.process->describe(at.member), input_of(at));
    }
    failure first_failure() {
        failure first = *std::min_element(failures_.begin(), failures_.end(),
                                          [](const failure& a, const failure& b) { return a.subsystem < b.subsystem; });
        failures_.clear();
        return first;
    }

    /// Costs and the profile, from steps that are timed ever more rarely: clock reads cost as much as a small step.
    void learn(const macro_step& step, clock::time_point begin) {
        const double wall_end = seconds(clock::now());
        next_sample_ = calls_ + std::clamp<std::int64_t>(calls_ / 8, 1, 1000);
        if (std::any_of(profile_.begin(), profile_.end(), [](const profile_log& l) { return l.full(); })) {
            stride_ *= 2;
            for (auto& l : profile_) l.thin_out(stride_);
        }
        const bool logged = samples_ % stride_ == 0;
        const double zero = seconds(made_);
        for (std::size_t i = 0; i < places_.size(); ++i) {
            place& at = places_[i];
            const auto t = at.process->times(at.member);
            at.seconds += t.end - t.begin;
            ++at.samples;
            if (logged)
                profile_[static_cast<std::size_t>(at.worker)].add(
                    {t.begin - zero, t.end - zero, static_cast<std::int32_t>(i), at.worker, step.counter, samples_});
        }
        if (logged) profile_[0].add({seconds(begin) - zero, wall_end - zero, -1, 0, step.counter, samples_});
        ++samples_;
    }

    std::vector<place> places_;
    std::vector<std::unique_ptr<subsystem_process>> processes_;
    std::vector<std::vector<int>> members_;  ///< by process
    std::vector<polynomial> inputs_;
    std::vector<double> outputs_;
    std::vector<failure> failures_;
    std::vector<profile_log> profile_;
    const clock::time_point made_ = clock::now();
    std::int64_t calls_ = 0, next_sample_ = 0, samples_ = 0, stride_ = 1;
    double time_ = 0, saved_time_ = 0;
    bool saved_ = false;
};

}  // namespace

std::unique_ptr<transport> make_process_transport(std::vector<subsystem_recipe> subsystems,
                                                  const std::vector<std::vector<int>>& groups) {
    return std::make_unique<process_transport>(std::move(subsystems), groups);
}

}  // namespace mdpcosim

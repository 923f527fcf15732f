#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/error.hpp"
#include "exported/model.hpp"
#include "scenario/read.hpp"
#include "simulation/simulation.hpp"

namespace mdpcosim {

namespace {

/// A scenario as one FMU: a simulation that is led by the host's steps.
class scenario_model final : public exported_model {
   public:
    scenario_model(exported_contents contents, const std::filesystem::path& resources, const message_sink& sink)
        : exported_model(std::move(contents)),
          scenario_(read_scenario(resources / exported_scenario_file)),
          sink_(sink) {}

   private:
    void make() override {
        scenario s = scenario_;
        const double span = s.time.end - s.time.start;
        s.time.start = start();
        s.time.end = stop().value_or(s.step_control.given() ? start() + span : start());
        // Threads of its own would come on top of the host's.
        simulation_.emplace(s, simulation_options{.workers = 1, .led = true, .messages = sink_});
        places_.resize(variables().size());
        for (std::size_t i = 0; i < variables().size(); ++i)
            if (!variable(i).is_parameter())
                places_[i] = variable(i).settable() ? simulation_->find_free_input(variable(i).address)
                                                    : simulation_->find(variable(i).address);
        give_values();
    }
    bool make_again() override {
        if (made_from_ != std::pair(start(), stop())) return false;
        try {
            simulation_->reset();
        } catch (const user_error&) {  // not all subsystems can
            return false;
        }
        give_values();
        return true;
    }
    void give_values() {
        made_from_ = {start(), stop()};
        for (std::size_t i = 0; i < variables().size(); ++i)
            if (given(i) || was_given(i)) simulation_->set(variable(i).address, value(i));
        given_before_.assign(variables().size(), 0);
        for (std::size_t i = 0; i < variables().size(); ++i) given_before_[i] = given(i);
        simulation_->initialise();
    }
    /// A simulation that begins anew keeps what it was given.
    bool was_given(std::size_t i) const { return i < given_before_.size() && given_before_[i] != 0; }

    double output(std::size_t i) override {
        simulation_->follow();
        const double y = simulation_->value(places_[i]);
        return y;
    }
    void write(std::size_t i, double value) override {
        if (variable(i).is_parameter())
            simulation_->set(variable(i).address, value);
        else
            simulation_->set(places_[i], value);
    }
    double now() const override { return simulation_->time(); }
    bool go_on(double h) override {
        simulation_->advance_over(h);
        return simulation_->early_end().empty();
    }

    std::string saved() override {
        std::ostringstream to;
        simulation_->save(to);
        return std::move(to).str();
    }
    void restore(const std::string& state) override {
        std::istringstream from(state);
        simulation_->load(from);
    }
    void forget() override {
        simulation_.reset();
        given_before_.clear();
    }
    bool failed() const override { return simulation_->failed(); }

    scenario scenario_;
    message_sink sink_;
    std::optional<simulation> simulation_;
    std::vector<simulation::place> places_;
    std::pair<double, std::optional<double>> made_from_;
    std::vector<char> given_before_;
};

}  // namespace

std::unique_ptr<exported_model> make_exported_scenario(exported_contents contents,
                                                       const std::filesystem::path& resources,
                                                       const message_sink& sink) {
    return std::make_unique<scenario_model>(std::move(contents), resources, sink);
}

}  // namespace mdpcosim

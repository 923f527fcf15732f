#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/messages.hpp"
#include "exported/exchange.hpp"
#include "exported/variables.hpp"

/// What an exported FMU does, whatever version of FMI its host speaks: one instance.
///
/// Call order, as FMI has it: set() start values; begin(); set() and get() as often as the host's own initialisation wants; initialise(); then
/// advance(), and between steps set(), get(). reset() leads back to before begin(), with the start values of the FMU.
/// Failures leave as user_error (the host's mistake: nothing has changed) or run_error (a subsystem failed, a coupling diverged: only reset() and
/// load() help).
namespace mdpcosim {

class exported_model {
   public:
    explicit exported_model(exported_contents contents);
    exported_model(const exported_model&) = delete;
    exported_model& operator=(const exported_model&) = delete;
    virtual ~exported_model() = default;

    const std::vector<exported_variable>& variables() const { return contents_.variables; }

    /// The host gives no `stop`: it goes on as long as it likes.
    void begin(double start, std::optional<double> stop);
    double get(std::size_t variable);
    void set(std::size_t variable, double value);
    void initialise();
    /// Over a step of the host's, from its time t on. False: a subsystem asked to end the simulation.
    bool advance(double t, double h);
    void reset();

    /// The derivative of an input for the next step, by time, `order` times.
    void set_derivative(std::size_t input, int order, double value);
    /// How `unknowns` change with a change `seed` of `knowns`, at the present time with the states as they are.
    void directional_derivative(std::span<const std::size_t> unknowns, std::span<const std::size_t> knowns,
                                std::span<const double> seed, std::span<double> sensitivity);

    /// Of an instance for model exchange, which does not advance(); nullptr: it is for co-simulation.
    virtual exported_exchange* exchange() { return nullptr; }

    /// Everything, start values and settings included, at any time but after a failure.
    std::string save();
    void load(const std::string& state);

    double time() const { return reached_ == stage::running ? now() : start_; }

   protected:
    enum class stage : unsigned char { set_up, initialising, running };

    /// A new one with given() values at start(); its outputs are known afterwards.
    virtual void make() = 0;
    /// The same with one that is there, where that is possible; false: it is not.
    virtual bool make_again() = 0;
    virtual double output(std::size_t variable) = 0;
    virtual void write(std::size_t variable, double value) = 0;
    virtual double now() const = 0;
    virtual bool go_on(double h) = 0;
    virtual std::string saved() = 0;
    virtual void restore(const std::string& state) = 0;
    virtual void forget() = 0;
    virtual bool failed() const = 0;
    virtual void started() {}  ///< the initialisation is over
    virtual void slope(std::size_t input, int order, double value);
    virtual void differentiate(std::span<const std::size_t> unknowns, std::span<const std::size_t> knowns,
                               std::span<const double> seed, std::span<double> sensitivity);

    /// An input is elsewhere than it was set to.
    void moved(std::size_t input, double value) { values_[input] = value; }
    bool is_running() const { return reached_ == stage::running; }

    const std::string& name() const { return contents_.subsystem; }
    const exported_variable& variable(std::size_t i) const { return contents_.variables[i]; }
    bool given(std::size_t i) const { return given_[i]; }
    double value(std::size_t i) const { return values_[i]; }
    double start() const { return start_; }
    /// What an initialisation starts from besides inputs.
    std::vector<double> settings() const;
    std::optional<double> stop() const { return has_stop_ ? std::optional(stop_) : std::nullopt; }

   private:
    void use_start_values();
    void bring_up_to_date();

    exported_contents contents_;
    std::vector<double> values_;  ///< of inputs and parameters
    std::vector<char> given_;     ///< by the host
    stage reached_ = stage::set_up;
    bool made_ = false, stale_ = true;  ///< a model is there; something was set that it has not seen
    double start_ = 0, stop_ = 0;
    bool has_stop_ = false;
};

/// From the resources of the FMU. A user_error for those of another FMU than the token is of, and for whatever is wrong with them. What the model tells
/// goes to `sink`.
std::unique_ptr<exported_model> make_exported_model(const std::filesystem::path& resources, const std::string& token,
                                                    bool exchange, const message_sink& sink);

/// A whole scenario.
std::unique_ptr<exported_model> make_exported_scenario(exported_contents contents,
                                                       const std::filesystem::path& resources,
                                                       const message_sink& sink);
/// One subsystem, with its solver.
std::unique_ptr<exported_model> make_exported_subsystem(exported_contents contents,
                                                        const std::filesystem::path& resources);
/// Its equations, for the solver of the host.
std::unique_ptr<exported_model> make_exported_equations(exported_contents contents,
                                                        const std::filesystem::path& resources);

}  // namespace mdpcosim

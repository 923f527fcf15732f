#include <cstdlib>
#include <stdexcept>

#include "fmi/instance_scalars.hpp"
#include "fmi/instance_versions.hpp"
#include "fmi/log_text.hpp"

/// Calls of FMI 1.0. It has no modes: values are set before the initialisation, which is one call, and read after it
/// (interface_description::initialisation_mode).
namespace mdpcosim::fmi {

namespace {

/// The FMU's logger gets the FMU's own component: whose it is.
struct components_1 {
    struct entry {
        void* component;
        std::string name;
        void* owner;
    };
    std::mutex mutex;
    std::vector<entry> all;

    void* owner_of(const void* component, const char* name) {
        const std::string called = name == nullptr ? "" : read_text(name);
        const std::scoped_lock lock(mutex);
        void* found = nullptr;
        for (const entry& e : all) {
            if (e.component == component && e.name == called) return e.owner;
            if (e.component == component || (found == nullptr && e.name == called)) found = e.owner;
        }
        return found;
    }
    void add(void* component, const std::string& name, void* owner) {
        const std::scoped_lock lock(mutex);
        all.push_back({component, name, owner});
    }
    void remove(const void* owner) {
        const std::scoped_lock lock(mutex);
        std::erase_if(all, [&](const entry& e) { return e.owner == owner; });
    }
};
components_1& known_components() {
    static auto* components = new components_1;  // FMUs' threads may log until the very end
    return *components;
}

thread_local void* in_the_making = nullptr;  ///< the instance whose FMU has no component yet

extern "C" void log_of_1(fmi1Component component, fmi1String name, fmi1Status status, fmi1String category,
                         fmi1String message, ...) {
    std::va_list arguments;
    va_start(arguments, message);
    try {
        void* const owner = in_the_making != nullptr ? in_the_making : known_components().owner_of(component, name);
        instance_base::receive_log(owner, status, category, format_log(message, arguments));
    } catch (...) {  // no memory: nothing to be told
    }
    va_end(arguments);
}

struct types_1 {
    using functions = functions_1;
    using boolean = fmi1Boolean;
    using integer = fmi1Integer;
    using string = fmi1String;
    static constexpr fmi1StatusKind last_successful_time = fmi1LastSuccessfulTime;
};

constexpr fmi1EventInfo nothing_new{fmi1True, fmi1False, fmi1False, fmi1False, fmi1False, 0};

/// Some FMUs leave it as it is when they are initialised: they have said nothing about events.
constexpr fmi1Boolean unsaid = 2;

class instance_1 final : public scalar_instance<types_1> {
   public:
    instance_1(const std::shared_ptr<fmu_library>& library, const instance_options& options)
        : scalar_instance(library, options, library->v1),
          steps_(options_.kind == kind::co_simulation),
          uri_(library_->fmu->resource_location()) {
        make();
    }
    instance_1(const instance_1&) = delete;
    instance_1& operator=(const instance_1&) = delete;
    ~instance_1() override {
        finish();
        known_components().remove(this);
    }

    void set_up(const experiment_setup& of) override { setup_ = of; }
    void enter_initialisation() override {
        if (!steps_) set_time(setup_.start);
    }
    void exit_initialisation() override {
        if (steps_) {
            call(
                f_.InitializeSlave, discard::refused,
                [&] { return fmt::format("start {}, stop {}", setup_.start, setup_.stop.value_or(0)); }, setup_.start,
                static_cast<fmi1Boolean>(setup_.stop ? fmi1True : fmi1False), setup_.stop.value_or(0));
        } else {
            fmi1EventInfo info = nothing_new;
            info.iterationConverged = unsaid;
            call(
                f_.Initialize, discard::refused,
                [&] { return fmt::format("tolerance {}{}", setup_.tolerance.value_or(0), info_text(info)); },
                static_cast<fmi1Boolean>(setup_.tolerance ? fmi1True : fmi1False), setup_.tolerance.value_or(0), &info);
            if (info.iterationConverged != unsaid) at_start_ = info;
        }
        phase_ = phase::running;
    }
    void terminate() override {
        phase_ = phase::terminated;
        steps_ ? call(f_.TerminateSlave, discard::refused, no_arguments)
               : call(f_.Terminate, discard::refused, no_arguments);
    }
    /// Made anew: fmiResetSlave is missing or broken in many FMUs, and model exchange has nothing like it.
    void reset() override {
        if (phase_ == phase::running) terminate();
        known_components().remove(this);
        free_component();
        component_ = nullptr;
        make();
        phase_ = phase::instantiated;
        discarded_ = false;
        states_.clear();
    }

    value_block make_block(std::span<const int> variables) const override {
        value_block block = instance_base::make_block(variables);
        for (std::size_t i = 0; i < variables.size(); ++i)
            if (description().variables[variables[i]].negated) block.negated.push_back(i);
        if (!block.negated.empty() && turned_.size() < block.elements) turned_.resize(block.elements);
        return block;
    }

    status get(value_block& block, std::span<double> values) override {
        const status result = scalar_instance::get(block, values);
        turn_sign(block, values);
        return result;
    }
    status set(value_block& block, std::span<const double> values) override {
        return scalar_instance::set(block, as_the_fmu_has_it(block, values));
    }

    step_result do_step(double t, double H, bool) override {
        const bool again = discarded_ && t == step_begin_;  // the FMU has not been told that the step is accepted
        step_result result;
        result.status = call(
            f_.DoStep, discard::returned, [t, H] { return fmt::format("t {}, H {}", t, H); }, t, H,
            static_cast<fmi1Boolean>(again ? fmi1False : fmi1True));
        discarded_ = result.status == status::discard;
        step_begin_ = t;
        result.reached = t + H;
        return discarded_ ? after_discard(t) : result;
    }

    void set_input_derivatives(const value_block& block, int order, std::span<const double> values) override {
        scalar_instance::set_input_derivatives(block, order, as_the_fmu_has_it(block, values));
    }
    void get_output_derivatives(const value_block& block, int order, std::span<double> values) override {
        scalar_instance::get_output_derivatives(block, order, values);
        turn_sign(block, values);
    }

    // There are no modes: events are handled by one call, whenever they are there.
    void enter_event_mode() override {}
    void enter_continuous_mode() override {}
    discrete_update update_discrete_states() override {
        fmi1EventInfo info = nothing_new;
        if (at_start_) {
            info = *at_start_;
            at_start_.reset();
        } else {
            call(
                f_.EventUpdate, discard::refused, [&] { return info_text(info); }, static_cast<fmi1Boolean>(fmi1False),
                &info);
        }
        discrete_update update;
        update.again = info.iterationConverged == fmi1False;
        update.terminate = info.terminateSimulation != fmi1False;
        update.states_changed = info.stateValuesChanged != fmi1False || info.stateValueReferencesChanged != fmi1False;
        update.nominals_changed = info.stateValueReferencesChanged != fmi1False;
        if (update.nominals_changed) states_.clear();
        if (info.upcomingTimeEvent != fmi1False) update.next_event = info.nextEventTime;
        return update;
    }

    std::size_t state_count() const override { return description().unlisted_states; }
    void get_nominals(std::span<double> nominal) override {
        std::fill(nominal.begin(), nominal.end(), 1.0);
        if (f_.GetNominalContinuousStates.address != nullptr) vector_call(f_.GetNominalContinuousStates, nominal);
    }
    int state_variable(std::size_t state) override {
        if (states_.empty()) find_states();
        return state < states_.size() ? states_[state] : -1;
    }
    bool completed_step(bool, bool& wants_end) override {
        wants_end = false;
        fmi1Boolean event = fmi1False;
        call(
            f_.CompletedIntegratorStep, discard::refused,
            [&] { return fmt::format(") gives (event {}", static_cast<int>(event)); }, &event);
        return event != fmi1False;
    }

    void save(saved_state&) override { not_there(); }
    void restore(const saved_state&) override { not_there(); }
    void write(const saved_state&, std::vector<std::byte>&) override { not_there(); }
    void read(saved_state&, const std::vector<std::byte>&) override { not_there(); }
    void directional_derivative(const value_block&, const value_block&, std::span<const double>,
                                std::span<double>) override {
        not_there();
    }

   private:
    [[noreturn]] static void not_there() { throw std::logic_error("fmi: FMI 1.0 has no such function"); }

    void make() {
        struct making {
            explicit making(void* owner) { in_the_making = owner; }
            making(const making&) = delete;
            making& operator=(const making&) = delete;
            ~making() { in_the_making = nullptr; }
        } const now(this);
        const char* name = options_.name.c_str();
        const char* guid = description().token.c_str();
        const fmi1Boolean logging = options_.logging ? fmi1True : fmi1False;
        if (steps_)
            instantiate(f_.InstantiateSlave.name, [&] {
                return f_.InstantiateSlave.address(name, guid, uri_.c_str(), fmi1SharedLibrary, 0.0, fmi1False,
                                                   fmi1False, {log_of_1, std::calloc, std::free, nullptr}, logging);
            });
        else
            instantiate(f_.InstantiateModel.name, [&] {
                return f_.InstantiateModel.address(name, guid, {log_of_1, std::calloc, std::free}, logging);
            });
        known_components().add(component_, options_.name, this);
    }

    static void turn_sign(const value_block& block, std::span<double> values) {
        for (const std::size_t i : block.negated)
            values[i] = (block.type == base_type::boolean ? 1 : 0) - values[i];  // no -0
    }
    std::span<const double> as_the_fmu_has_it(const value_block& block, std::span<const double> values) {
        if (block.negated.empty()) return values;
        std::copy(values.begin(), values.end(), turned_.begin());
        turn_sign(block, turned_);
        return std::span<const double>(turned_).first(values.size());
    }

    void find_states() {
        std::vector<fmi1ValueReference> references(state_count(), fmi1UndefinedValueReference);
        states_.assign(references.size(), -1);
        if (f_.GetStateValueReferences.address == nullptr || references.empty()) return;
        call(
            f_.GetStateValueReferences, discard::returned,
            [&] { return list_text(references.data(), references.size()); }, references.data(), references.size());
        const auto& variables = description().variables;
        for (std::size_t i = 0; i < references.size(); ++i)
            for (std::size_t k = 0; k < variables.size() && states_[i] < 0; ++k)
                if (variables[k].type == base_type::float64 && variables[k].reference == references[i] &&
                    !variables[k].negated)
                    states_[i] = static_cast<int>(k);
    }

    static std::string info_text(const fmi1EventInfo& info) {
        if (info.iterationConverged == unsaid) return ") gives (nothing";
        return fmt::format(") gives (converged {}, terminate {}, next event {}",
                           static_cast<int>(info.iterationConverged), static_cast<int>(info.terminateSimulation),
                           info.upcomingTimeEvent != fmi1False ? info.nextEventTime : INFINITY);
    }

    void free_component() override {
        const auto& name = steps_ ? f_.FreeSlaveInstance.name : f_.FreeModelInstance.name;
        if (options_.trace) options_.trace(name);
        note_call(name);
        steps_ ? f_.FreeSlaveInstance.address(component_) : f_.FreeModelInstance.address(component_);
    }
    void free_state(void*&) override {}

    const bool steps_;  ///< co-simulation
    const std::string uri_;
    experiment_setup setup_;
    std::optional<fmi1EventInfo> at_start_;  ///< what the initialisation of model exchange has said about events
    bool discarded_ = false;                 ///< the last step, which began at
    double step_begin_ = 0;
    std::vector<int> states_;             ///< variables
    mutable std::vector<double> turned_;  ///< values with the FMU's sign: room for the largest block
};

}  // namespace

std::unique_ptr<instance> make_instance_1(std::shared_ptr<fmu_library> library, const instance_options& options) {
    return std::make_unique<instance_1>(std::move(library), options);
}

}  // namespace mdpcosim::fmi

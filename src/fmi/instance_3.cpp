#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "core/arithmetic.hpp"
#include "fmi/instance_base.hpp"
#include "fmi/instance_versions.hpp"
#include "fmi/log_text.hpp"

/// Calls of FMI 3.0.
namespace mdpcosim::fmi {

namespace {

extern "C" void log_of_3(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                         fmi3String message) {
    try {
        instance_base::receive_log(environment, status, category, read_text(message));
    } catch (...) {  // no memory: nothing to be told
    }
}

extern "C" void intermediate_update(fmi3InstanceEnvironment, fmi3Float64 time, fmi3Boolean set_requested, fmi3Boolean,
                                    fmi3Boolean, fmi3Boolean, fmi3Boolean* early_return_requested, fmi3Float64*);

class instance_3 final : public instance_base {
   public:
    instance_3(std::shared_ptr<fmu_library> library, const instance_options& options)
        : instance_base(std::move(library), options), f_(library_->v3) {
        for (const variable& x : description().variables)
            if (x.causality == causality::structural_parameter && x.alias_of < 0 && x.start.size() == 1)
                sizes_.emplace_back(x.reference, std::strtoull(x.start[0].c_str(), nullptr, 10));
        count_states();
        if (options.kind == kind::co_simulation)
            instantiate_co_simulation();
        else
            instantiate_model_exchange();
        if (!traced_)
            direct_ = {.component = component_, .get_3 = f_.GetFloat64.address, .set_3 = f_.SetFloat64.address};
    }
    ~instance_3() override { finish(); }

    void enter_configuration() override {
        call(f_.EnterConfigurationMode, discard::refused, no_arguments);
        phase_ = phase::configuration;
    }
    void exit_configuration() override {
        call(f_.ExitConfigurationMode, discard::refused, no_arguments);
        phase_ = phase::instantiated;
        count_states();
    }
    void set_up(const experiment_setup& of) override { setup_ = of; }
    void enter_initialisation() override {
        call(
            f_.EnterInitializationMode, discard::refused, [&] { return setup_text(setup_); },
            setup_.tolerance.has_value(), setup_.tolerance.value_or(0), setup_.start, setup_.stop.has_value(),
            setup_.stop.value_or(0));
    }
    void exit_initialisation() override {
        call(f_.ExitInitializationMode, discard::refused, no_arguments);
        phase_ = phase::running;
    }
    void terminate() override {
        phase_ = phase::terminated;
        call(f_.Terminate, discard::refused, no_arguments);
    }
    void reset() override {
        call(f_.Reset, discard::refused, no_arguments);
        phase_ = phase::instantiated;
    }

    status get(value_block& block, std::span<double> values) override {
        const std::size_t n = block.references.size(), count = block.elements;
        const fmi3ValueReference* vr = block.references.data();
        const auto access = [&](const auto& function, auto* to) {
            return call(
                function, discard_in_access_,
                [&] { return fmt::format("{}) gives ({}", list_text(vr, n), list_text(to, count)); }, vr, n, to, count);
        };
        const auto converted = [&]<class Value>(const auto& function, Value) {
            return get_as<Value>(block, values, [&](Value* raw) { return access(function, raw); });
        };
        switch (block.type) {
            case base_type::float64:
                return access(f_.GetFloat64, values.data());
            case base_type::float32:
                return converted(f_.GetFloat32, fmi3Float32{});
            case base_type::int8:
                return converted(f_.GetInt8, fmi3Int8{});
            case base_type::uint8:
                return converted(f_.GetUInt8, fmi3UInt8{});
            case base_type::int16:
                return converted(f_.GetInt16, fmi3Int16{});
            case base_type::uint16:
                return converted(f_.GetUInt16, fmi3UInt16{});
            case base_type::int32:
                return converted(f_.GetInt32, fmi3Int32{});
            case base_type::uint32:
                return converted(f_.GetUInt32, fmi3UInt32{});
            case base_type::int64:
            case base_type::enumeration:
                return converted(f_.GetInt64, fmi3Int64{});
            case base_type::uint64:
                return converted(f_.GetUInt64, fmi3UInt64{});
            case base_type::boolean:
                // A library may write other bytes than 0 and 1, which no bool may hold.
                return get_as<unsigned char>(block, values, [&](unsigned char* raw) {
                    const status result = call(
                        f_.GetBoolean, discard_in_access_,
                        [&] { return fmt::format("{}) gives ({}", list_text(vr, n), list_text(raw, count)); }, vr, n,
                        reinterpret_cast<fmi3Boolean*>(raw), count);
                    for (std::size_t i = 0; i < count; ++i) raw[i] = raw[i] != 0;
                    return result;
                });
            default:
                throw std::logic_error("fmi: not a number");
        }
    }

    status set(value_block& block, std::span<const double> values) override {
        const std::size_t n = block.references.size(), count = block.elements;
        const fmi3ValueReference* vr = block.references.data();
        const auto access = [&](const auto& function, const auto* from) {
            return call(
                function, discard_in_access_,
                [&] { return fmt::format("{}, {}", list_text(vr, n), list_text(from, count)); }, vr, n, from, count);
        };
        const auto converted = [&]<class Value>(const auto& function, Value) {
            return set_as<Value>(block, values, [&](const Value* raw) { return access(function, raw); });
        };
        if (phase_ == phase::configuration) note_sizes(block, values);
        switch (block.type) {
            case base_type::float64:
                return access(f_.SetFloat64, values.data());
            case base_type::float32:
                return converted(f_.SetFloat32, fmi3Float32{});
            case base_type::int8:
                return converted(f_.SetInt8, fmi3Int8{});
            case base_type::uint8:
                return converted(f_.SetUInt8, fmi3UInt8{});
            case base_type::int16:
                return converted(f_.SetInt16, fmi3Int16{});
            case base_type::uint16:
                return converted(f_.SetUInt16, fmi3UInt16{});
            case base_type::int32:
                return converted(f_.SetInt32, fmi3Int32{});
            case base_type::uint32:
                return converted(f_.SetUInt32, fmi3UInt32{});
            case base_type::int64:
            case base_type::enumeration:
                return converted(f_.SetInt64, fmi3Int64{});
            case base_type::uint64:
                return converted(f_.SetUInt64, fmi3UInt64{});
            case base_type::boolean:
                return converted(f_.SetBoolean, fmi3Boolean{});
            default:
                throw std::logic_error("fmi: not a number");
        }
    }

    std::vector<std::string> get_texts(int index) override {
        const variable& x = description().variables[index];
        if (x.type == base_type::int64) return get_digits(f_.GetInt64, x, fmi3Int64{});
        if (x.type == base_type::uint64) return get_digits(f_.GetUInt64, x, fmi3UInt64{});
        std::vector<std::string> result;
        if (x.type == base_type::binary) {
            std::vector<std::size_t> sizes(elements_of(x));
            std::vector<fmi3Binary> bytes(sizes.size());
            call(
                f_.GetBinary, discard::refused,
                [&] {
                    return fmt::format("[{}]) gives sizes ({}", x.reference, list_text(sizes.data(), sizes.size()));
                },
                &x.reference, std::size_t{1}, sizes.data(), bytes.data(), bytes.size());
            for (std::size_t k = 0; k < sizes.size(); ++k) {
                if (sizes[k] > longest_string)
                    fail(fmt::format("fmi3GetBinary: '{}' has {} bytes", x.name, sizes[k]), false);
                const bool none = bytes[k] == nullptr || sizes[k] == 0;
                result.push_back(none ? "" : std::string(reinterpret_cast<const char*>(bytes[k]), sizes[k]));
            }
            return result;
        }
        std::vector<fmi3String> texts(elements_of(x));
        call(
            f_.GetString, discard::refused, [&] { return fmt::format("[{}]", x.reference); }, &x.reference,
            std::size_t{1}, texts.data(), texts.size());
        for (const fmi3String text : texts) result.push_back(text == nullptr ? "" : read_text(text, longest_string));
        return result;
    }
    void set_texts(int index, std::span<const std::string> values) override {
        const variable& x = description().variables[index];
        if (x.type == base_type::int64) return set_digits(f_.SetInt64, x, values, fmi3Int64{});
        if (x.type == base_type::uint64) return set_digits(f_.SetUInt64, x, values, fmi3UInt64{});
        if (x.type == base_type::binary) {
            std::vector<std::size_t> sizes;
            std::vector<fmi3Binary> bytes;
            for (const std::string& value : values) {
                sizes.push_back(value.size());
                bytes.push_back(reinterpret_cast<fmi3Binary>(value.data()));
            }
            call(
                f_.SetBinary, discard::refused,
                [&] { return fmt::format("[{}], sizes {}", x.reference, list_text(sizes.data(), sizes.size())); },
                &x.reference, std::size_t{1}, sizes.data(), bytes.data(), bytes.size());
            return;
        }
        std::vector<fmi3String> texts;
        for (const std::string& value : values) texts.push_back(value.c_str());
        call(
            f_.SetString, discard::refused,
            [&] { return fmt::format("[{}], {}", x.reference, list_text(texts.data(), texts.size())); }, &x.reference,
            std::size_t{1}, texts.data(), texts.size());
    }

    step_result do_step(double t, double H, bool keep_state_before) override {
        fmi3Boolean event = false, end = false, early = false;
        double reached = not_said;
        instance_3* const outer = std::exchange(stepping, this);
        step_result result;
        try {
            result.status = call(
                f_.DoStep, discard::returned,
                [&] {
                    return fmt::format("t {}, H {}) gives (event {}, terminate {}, early {}, reached {}", t, H, event,
                                       end, early, reached);
                },
                t, H, !keep_state_before, &event, &end, &early, &reached);
        } catch (...) {
            stepping = outer;
            if (update_failure_) std::rethrow_exception(std::exchange(update_failure_, nullptr));
            throw;
        }
        stepping = outer;
        if (update_failure_) std::rethrow_exception(std::exchange(update_failure_, nullptr));
        result.event = event;
        result.terminate = end;
        result.early = early;
        result.reached = reached_by(t, H, reached, result);
        return result;
    }

    /// Inside do_step, from the FMU; true: the step shall end here, because the caller failed.
    bool update(double t) noexcept {
        const usual_arithmetic as_usual;
        try {
            if (!update_failure_) options_.intermediate(*this, t);
            note_call(f_.DoStep.name);  // where it goes on
        } catch (...) {
            update_failure_ = std::current_exception();
        }
        return update_failure_ != nullptr;
    }

    void set_input_derivatives(const value_block&, int, std::span<const double>) override {
        throw std::logic_error("fmi: FMI 3.0 has no input derivatives");
    }
    void get_output_derivatives(const value_block& block, int order, std::span<double> values) override {
        const std::size_t n = block.references.size();
        std::fill_n(orders_.begin(), n, order);
        call(
            f_.GetOutputDerivatives, discard::refused,
            [&] {
                return fmt::format("{}, order {}) gives ({}", list_text(block.references.data(), n), order,
                                   list_text(values.data(), block.elements));
            },
            block.references.data(), n, orders_.data(), values.data(), block.elements);
    }
    void enter_step_mode() override { call(f_.EnterStepMode, discard::refused, no_arguments); }

    void enter_event_mode() override { call(f_.EnterEventMode, discard::refused, no_arguments); }
    discrete_update update_discrete_states() override {
        fmi3Boolean again = false, end = false, nominals = false, values = false, defined = false;
        double next = 0;
        call(
            f_.UpdateDiscreteStates, discard::refused,
            [&] {
                return fmt::format(") gives (again {}, terminate {}, next event {}", again, end,
                                   defined ? next : INFINITY);
            },
            &again, &end, &nominals, &values, &defined, &next);
        discrete_update result;
        result.again = again;
        result.terminate = end;
        result.states_changed = values;
        result.nominals_changed = nominals;
        if (defined) result.next_event = next;
        return result;
    }

    void set_clock(value_reference clock) override {
        const fmi3Clock on = fmi3ClockActive;
        call(
            f_.SetClock, discard::refused, [&] { return fmt::format("[{}], active", clock); }, &clock, std::size_t{1},
            &on);
    }
    bool get_clock(value_reference clock) override {
        unsigned char tick = 0;  // a library may write other bytes than 0 and 1, which no bool may hold
        call(
            f_.GetClock, discard::refused, [&] { return fmt::format("[{}]) gives ({}", clock, tick); }, &clock,
            std::size_t{1}, reinterpret_cast<fmi3Clock*>(&tick));
        return tick != 0;
    }
    interval_is get_interval(value_reference clock, double& interval) override {
        fmi3IntervalQualifier qualifier = fmi3IntervalNotYetKnown;
        double said = 0;
        call(
            f_.GetIntervalDecimal, discard::refused,
            [&] { return fmt::format("[{}]) gives ({}, {}", clock, said, static_cast<int>(qualifier)); }, &clock,
            std::size_t{1}, &said, &qualifier);
        if (qualifier == fmi3IntervalNotYetKnown) return interval_is::unknown;
        interval = said;
        return qualifier == fmi3IntervalChanged ? interval_is::changed : interval_is::unchanged;
    }
    double get_shift(value_reference clock) override {
        double shift = 0;
        call(
            f_.GetShiftDecimal, discard::refused, [&] { return fmt::format("[{}]) gives ({}", clock, shift); }, &clock,
            std::size_t{1}, &shift);
        return shift;
    }

    void enter_continuous_mode() override { call(f_.EnterContinuousTimeMode, discard::refused, no_arguments); }
    void set_time(double t) override {
        call(
            f_.SetTime, discard::refused, [&] { return fmt::format("{}", t); }, t);
    }
    std::size_t state_count() const override { return states_; }
    std::size_t indicator_count() const override { return indicators_; }
    status set_states(std::span<const double> x) override { return vector_call(f_.SetContinuousStates, x); }
    status get_states(std::span<double> x) override { return vector_call(f_.GetContinuousStates, x); }
    status get_derivatives(std::span<double> dx) override { return vector_call(f_.GetContinuousStateDerivatives, dx); }
    status get_indicators(std::span<double> z) override { return vector_call(f_.GetEventIndicators, z); }
    void get_nominals(std::span<double> nominal) override {
        declared_nominals(nominal);
        if (f_.GetNominalsOfContinuousStates.address != nullptr) vector_call(f_.GetNominalsOfContinuousStates, nominal);
    }
    bool completed_step(bool keep_state_before, bool& wants_end) override {
        fmi3Boolean event = false, end = false;
        if (offers_.completed_step)
            call(
                f_.CompletedIntegratorStep, discard::refused,
                [&] { return fmt::format(") gives (event {}, terminate {}", event, end); }, !keep_state_before, &event,
                &end);
        wants_end = end;
        return event;
    }

    void save(saved_state& into) override { call(f_.GetFMUState, discard::refused, no_arguments, &handle(into)); }
    void restore(const saved_state& from) override {
        call(f_.SetFMUState, discard::refused, no_arguments, handle(from));
    }
    void write(const saved_state& state, std::vector<std::byte>& bytes) override {
        std::size_t size = 0;
        call(f_.SerializedFMUStateSize, discard::refused, no_arguments, handle(state), &size);
        bytes.resize(size);
        call(f_.SerializeFMUState, discard::refused, no_arguments, handle(state),
             reinterpret_cast<fmi3Byte*>(bytes.data()), size);
    }
    void read(saved_state& state, const std::vector<std::byte>& bytes) override {
        call(f_.DeserializeFMUState, discard::refused, no_arguments, reinterpret_cast<const fmi3Byte*>(bytes.data()),
             bytes.size(), &handle(state));
    }
    void directional_derivative(const value_block& unknowns, const value_block& knowns, std::span<const double> seed,
                                std::span<double> sensitivity) override {
        const std::size_t n = unknowns.references.size(), m = knowns.references.size();
        call(
            f_.GetDirectionalDerivative, discard::refused,
            [&] {
                return fmt::format("{}, {}, {}) gives ({}", list_text(unknowns.references.data(), n),
                                   list_text(knowns.references.data(), m), list_text(seed.data(), seed.size()),
                                   list_text(sensitivity.data(), sensitivity.size()));
            },
            unknowns.references.data(), n, knowns.references.data(), m, seed.data(), seed.size(), sensitivity.data(),
            sensitivity.size());
    }

    static thread_local instance_3* stepping;  ///< the one whose do_step this thread is in

   private:
    template <class Function, class Integer>
    std::vector<std::string> get_digits(const Function& function, const variable& x, Integer) {
        std::vector<Integer> numbers(elements_of(x));
        call(
            function, discard::refused,
            [&] { return fmt::format("[{}]) gives ({}", x.reference, list_text(numbers.data(), numbers.size())); },
            &x.reference, std::size_t{1}, numbers.data(), numbers.size());
        std::vector<std::string> result;
        for (const Integer n : numbers) result.push_back(fmt::format("{}", n));
        return result;
    }
    template <class Function, class Integer>
    void set_digits(const Function& function, const variable& x, std::span<const std::string> values, Integer) {
        std::vector<Integer> numbers;
        for (const std::string& value : values) {
            const auto [end, status] =
                std::from_chars(value.data(), value.data() + value.size(), numbers.emplace_back());
            if (status != std::errc{} || end != value.data() + value.size())
                fail(fmt::format("{}: '{}' is no {} for '{}'", function.name, value, name(x.type), x.name), false);
        }
        call(
            function, discard::refused,
            [&] { return fmt::format("[{}], {}", x.reference, list_text(numbers.data(), numbers.size())); },
            &x.reference, std::size_t{1}, numbers.data(), numbers.size());
    }

    static constexpr double not_said = std::numeric_limits<double>::quiet_NaN();

    /// A step that was thrown away at a time that the FMU does not say, or not inside the step, did nothing.
    double reached_by(double t, double H, double said, const step_result& result) {
        if (result.status == status::discard) return said > t && said < t + H ? said : t;
        if (result.terminate) return std::isnan(said) ? t : said;
        if (!result.early) return t + H;
        if (std::isnan(said)) fail("fmi3DoStep returned early and did not say where it is", false);
        const double slack = 1e-9 * H;
        if (said < t - slack || said > t + H + slack)
            fail(fmt::format(
                     "fmi3DoStep returned early from the step from {} s to {} s and says that it has reached {} s, "
                     "which is not in it",
                     t, t + H, said),
                 false);
        return said;
    }

    void instantiate_co_simulation() {
        const std::string resources = library_->fmu->resource_location();
        std::vector<fmi3ValueReference> inputs;
        if (options_.intermediate)
            for (const variable& x : description().variables)
                if (x.causality == causality::input && x.intermediate_update && x.alias_of < 0)
                    inputs.push_back(x.reference);
        instantiate(f_.InstantiateCoSimulation.name, [&] {
            return f_.InstantiateCoSimulation.address(
                options_.name.c_str(), description().token.c_str(), resources.c_str(), false, options_.logging,
                options_.event_mode, options_.early_return, inputs.empty() ? nullptr : inputs.data(), inputs.size(),
                this, log_of_3, options_.intermediate ? intermediate_update : nullptr);
        });
    }

    void instantiate_model_exchange() {
        const std::string resources = library_->fmu->resource_location();
        instantiate(f_.InstantiateModelExchange.name, [&] {
            return f_.InstantiateModelExchange.address(options_.name.c_str(), description().token.c_str(),
                                                       resources.c_str(), false, options_.logging, this, log_of_3);
        });
    }

    std::size_t elements_of(const variable& x) const override {
        std::size_t n = 1;
        for (const dimension& d : x.dimensions) {
            const auto size = std::find_if(sizes_.begin(), sizes_.end(), [&](const auto& known) {
                return d.parameter && known.first == *d.parameter;
            });
            n *= size == sizes_.end() ? d.size : size->second;
        }
        return n;
    }

    /// Structural parameters are being set: arrays get new sizes.
    void note_sizes(const value_block& block, std::span<const double> values) {
        if (block.elements != block.references.size()) return;
        for (std::size_t i = 0; i < block.references.size(); ++i)
            for (auto& [reference, size] : sizes_)
                if (reference == block.references[i] && values[i] >= 0 && values[i] < 1e9)
                    size = static_cast<std::uint64_t>(values[i]);
    }

    void count_states() {
        const auto elements = [&](const std::vector<unknown>& unknowns) {
            std::size_t n = 0;
            for (const unknown& u : unknowns) n += elements_of(description().variables[u.variable]);
            return n;
        };
        states_ = elements(description().derivatives);
        indicators_ = elements(description().event_indicators);
    }

    step_result after_discard(double) override {
        throw std::logic_error("fmi: steps of FMI 3.0 are not called directly");
    }
    const char* name_of(direct_call which) const override {
        return which == direct_call::get ? f_.GetFloat64.name : f_.SetFloat64.name;
    }

    void free_component() override {
        if (options_.trace) options_.trace(f_.FreeInstance.name);
        note_call(f_.FreeInstance.name);
        f_.FreeInstance.address(component_);
    }
    void free_state(void*& state) override { call(f_.FreeFMUState, discard::refused, no_arguments, &state); }

    const functions_3& f_;
    std::vector<std::pair<value_reference, std::uint64_t>> sizes_;  ///< structural parameters
    experiment_setup setup_;
    std::size_t states_ = 0, indicators_ = 0;
    std::exception_ptr update_failure_;
};

thread_local instance_3* instance_3::stepping = nullptr;

extern "C" void intermediate_update(fmi3InstanceEnvironment, fmi3Float64 time, fmi3Boolean set_requested, fmi3Boolean,
                                    fmi3Boolean, fmi3Boolean can_return_early, fmi3Boolean* early_return_requested,
                                    fmi3Float64* early_return_time) {
    const bool failed = set_requested && instance_3::stepping != nullptr && instance_3::stepping->update(time);
    if (early_return_requested != nullptr) *early_return_requested = failed && can_return_early;
    if (early_return_time != nullptr) *early_return_time = time;
}

}  // namespace

std::unique_ptr<instance> make_instance_3(std::shared_ptr<fmu_library> library, const instance_options& options) {
    return std::make_unique<instance_3>(std::move(library), options);
}

}  // namespace mdpcosim::fmi

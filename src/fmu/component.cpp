#include "fmu/component.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>

namespace mdpcosim {

namespace {

constexpr int most_updates = 1000;
constexpr int most_messages = 200;

/// Runs what may find fault with the FMU itself, and adds the place and the entry.
template <class Function>
auto about_the_fmu(const subsystem_spec& spec, const Function& function) {
    try {
        return function();
    } catch (const user_error& problem) {
        throw user_error(spec.source.where, fmt::format("subsystem '{}': {}", spec.name, problem.what()));
    }
}

std::shared_ptr<const fmi::fmu_files> open(const subsystem_spec& spec) {
    return about_the_fmu(spec, [&] { return fmi::open_fmu(spec.path); });
}

fmi::kind choose_interface(const subsystem_spec& spec, const fmi::description& fmu) {
    const text& wanted = spec.fmu.interface;
    const bool exchange = wanted.empty() ? !fmu.co_simulation : wanted.value == "model-exchange";
    if (exchange ? !fmu.model_exchange : !fmu.co_simulation)
        throw user_error(
            wanted.empty() ? spec.source.where : wanted.where,
            wanted.empty()
                ? fmt::format("subsystem '{}': fmu '{}' offers neither co-simulation nor model exchange.", spec.name,
                              spec.source.value)
                : fmt::format("subsystem '{}': interface: fmu '{}' does not offer {}. It offers: {}.", spec.name,
                              spec.source.value, wanted.value, exchange ? "co-simulation" : "model-exchange"));
    return exchange ? fmi::kind::model_exchange : fmi::kind::co_simulation;
}

/// The FMU with the sizes that structural parameters give to its arrays.
class resized_files final : public fmi::fmu_files {
   public:
    resized_files(std::shared_ptr<const fmi::fmu_files> original, const std::vector<fmu_start>& starts)
        : original_(std::move(original)) {
        path_ = original_->path();
        folder_ = original_->folder();
        description_ = original_->description();
        for (auto& v : description_.variables)
            for (auto& d : v.dimensions)
                for (const auto& s : starts)
                    if (d.parameter == description_.variables[static_cast<std::size_t>(s.variable)].reference)
                        d.size = static_cast<std::uint64_t>(s.numbers.front());
    }

   private:
    std::shared_ptr<const fmi::fmu_files> original_;  ///< keeps the folder
};

bool is_structural(const fmi::description& fmu, const std::string& name) {
    const fmi::variable* v = fmu.find(name);
    return v != nullptr && v->causality == fmi::causality::structural_parameter;
}

/// Sizes come first: they decide how many values other settings need.
std::shared_ptr<const fmi::fmu_files> with_sizes(std::shared_ptr<const fmi::fmu_files> files,
                                                 const subsystem_spec& spec) {
    subsystem_spec sizes = spec;
    std::erase_if(sizes.set, [&](const setting& s) { return !is_structural(files->description(), s.name); });
    if (sizes.set.empty()) return files;
    const auto starts = read_fmu_settings(files->description(), sizes);
    return std::make_shared<resized_files>(std::move(files), starts);
}

/// Hands on messages of the FMU: warnings and worse, and the categories asked for.
std::function<void(const fmi::log_message&)> make_log(const subsystem_spec& spec, const std::string& file) {
    std::vector<std::string> categories;
    for (const auto& c : spec.fmu.log) categories.push_back(c.value);
    auto count = std::make_shared<std::atomic<int>>(0);
    return [categories, count, name = spec.name, file, out = messages()](const fmi::log_message& message) {
        const bool asked = std::any_of(categories.begin(), categories.end(),
                                       [&](const auto& c) { return c == "all" || c == message.category; });
        if (!asked && message.status == 0) return;
        const int n = ++*count;
        if (n > most_messages) return;
        out.send(fmt::format("subsystem '{}' (fmu {}): {}: {}", name, file, message.category, message.text));
        if (n == most_messages)
            out.send(fmt::format("subsystem '{}' (fmu {}): further messages are left out.", name, file));
    };
}

/// The end of a file that others, also in other processes, write to at the same time: one write per line, which an FMU that
/// crashes later cannot take back.
class call_log {
   public:
    explicit call_log(const std::filesystem::path& path)
        : file_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644)) {
        if (file_ < 0)
            throw user_error(
                fmt::format("--fmi-log: '{}' cannot be written ({}).", path.string(), std::strerror(errno)));
    }
    call_log(const call_log&) = delete;
    call_log& operator=(const call_log&) = delete;
    ~call_log() { ::close(file_); }

    void operator()(const std::string& line) const {
        if (::write(file_, line.data(), line.size()) < 0) return;  // a full disk spoils the log, not the run
    }

   private:
    int file_;
};

}  // namespace

fmi::kind fmu_interface(const subsystem_spec& spec) { return choose_interface(spec, open(spec)->description()); }

std::shared_ptr<const fmi::fmu_files> open_fmu_of(const subsystem_spec& spec) { return with_sizes(open(spec), spec); }

fmu_model read_fmu(const subsystem_spec& spec) {
    fmu_model model;
    model.files = open(spec);
    model.kind = choose_interface(spec, model.description());
    model.files = with_sizes(model.files, spec);
    model.starts = read_fmu_settings(model.description(), spec);
    model.layout = lay_out_fmu(model.description(), model.kind, spec, model.starts);
    return model;
}

void fmu_model::give_starts(std::span<double> y) const {
    for (std::size_t i = 0; i < layout.outputs.size(); ++i) {
        const fmu_use& use = layout.outputs[i];
        const fmi::variable& v = description().variables[static_cast<std::size_t>(use.variable)];
        y[i] = use.derivative ? 0 : use.unit.to_si(start_value(v, use.element, use.unit.from_si(0)));
    }
}

std::string fmu_model::why_not_saved() const {
    if (offers().state) return {};
    if (description().version == fmi::version::v1)
        return fmt::format("fmu {} is of FMI 1.0, which has no way to get and set its state", file());
    return fmt::format("fmu {} does not offer to get and set its state (canGetAndSetFMUState)", file());
}

std::string fmu_model::why_fixed_step() const {
    if (!offers().variable_step)
        return fmt::format(
            "fmu {} says that it takes no steps of other lengths (canHandleVariableCommunicationStepSize)", file());
    if (offers().fixed_step > 0)
        return fmt::format("fmu {} works in fixed steps of {} s (fixedInternalStepSize)", file(), offers().fixed_step);
    return {};
}

fmu_component::fmu_component(const subsystem_spec& spec, fmu_model model, const adjustment& adjust)
    : model_(std::move(model)), name_(spec.name), code_("fmu", name_, model_.file()), tolerance_(spec.fmu.tolerance) {
    if (!tolerance_) tolerance_ = model_.description().experiment.tolerance;
    fmi::instance_options options;
    options.name = spec.name;
    options.kind = model_.kind;
    options.logging = !spec.fmu.log.empty();
    options.log = make_log(spec, model_.file());
    if (!spec.fmu.trace.empty())
        options.trace = [this, log = std::make_shared<const call_log>(spec.fmu.trace),
                         name = spec.name](std::string_view text) {
            (*log)(fmt::format("{} {} ({}): {}\n", time_ == nullptr ? "-" : fmt::format("{}", *time_), name,
                               model_.file(), text));
        };
    if (spec.tunable)
        for (std::size_t i = 0; i < model_.description().variables.size(); ++i) {
            const fmi::variable& v = model_.description().variables[i];
            if (v.causality == fmi::causality::parameter && v.type <= fmi::base_type::boolean && v.element_count() == 1)
                tunable_.push_back(static_cast<int>(i));
        }
    if (adjust) adjust(options, model_.offers());
    {
        const foreign_scope inside(code_, no_time);
        instance_ = about_the_fmu(spec, [&] { return make_instance(options); });
    }
    call(0, [&] { configure(); });
}

/// Without event mode where the FMU offers it and then gives no instance.
std::unique_ptr<fmi::instance> fmu_component::make_instance(fmi::instance_options& options) {
    if (!options.event_mode) return fmi::make_instance(model_.files, options);
    try {
        event_mode_ = true;
        return fmi::make_instance(model_.files, options);
    } catch (const user_error&) {
        event_mode_ = options.event_mode = false;
        auto made = fmi::make_instance(model_.files, options);
        tell(
            "it offers an event mode (hasEventMode) and gives no instance that has it. It runs without: its events "
            "happen "
            "inside its steps.");
        return made;
    }
}

fmu_component::~fmu_component() {
    const foreign_scope inside(code_, no_time);  // the time belongs to who uses this, and may be gone
    instance_.reset();
}

/// Structural parameters, which give the number of states and the sizes of arrays. A reset FMU has forgotten them.
void fmu_component::configure() {
    configured_ = true;
    const bool any = std::any_of(model_.starts.begin(), model_.starts.end(), [&](const fmu_start& s) {
        return model_.description().variables[static_cast<std::size_t>(s.variable)].causality ==
               fmi::causality::structural_parameter;
    });
    if (!any) return;
    instance_->enter_configuration();
    set_starts(true);
    instance_->exit_configuration();
}

void fmu_component::set_starts(bool structural) {
    for (const fmu_start& s : model_.starts) {
        const fmi::variable& v = model_.description().variables[static_cast<std::size_t>(s.variable)];
        if ((v.causality == fmi::causality::structural_parameter) == structural) set(s);
    }
}

void fmu_component::set(const fmu_start& start) {
    const fmi::variable& v = model_.description().variables[static_cast<std::size_t>(start.variable)];
    if (!start.texts.empty() && v.causality != fmi::causality::structural_parameter)
        return instance_->set_texts(start.variable, start.texts);
    fmi::value_block block = instance_->make_block({&start.variable, 1});
    instance_->set(block, start.numbers);
}

void fmu_component::set_text(int input, std::string_view text) {
    const fmu_use& use = model_.layout.text_inputs[static_cast<std::size_t>(input)];
    const std::size_t elements = model_.description().variables[static_cast<std::size_t>(use.variable)].element_count();
    if (elements == 1) return instance_->set_texts(use.variable, std::vector{std::string(text)});
    std::vector<std::string> all = instance_->get_texts(use.variable);
    all.resize(elements);
    all[static_cast<std::size_t>(use.element)] = text;
    instance_->set_texts(use.variable, all);
}

void fmu_component::get_text(int output, std::string& into) const {
    const fmu_use& use = model_.layout.text_outputs[static_cast<std::size_t>(output)];
    into = instance_->get_texts(use.variable).at(static_cast<std::size_t>(use.element));
}

void fmu_component::get_start_text(int output, std::string& into) const {
    const fmu_use& use = model_.layout.text_outputs[static_cast<std::size_t>(output)];
    const auto& start = model_.description().variables[static_cast<std::size_t>(use.variable)].start;
    into = start.empty() ? "" : start[std::min(static_cast<std::size_t>(use.element), start.size() - 1)];
}

std::vector<tunable_parameter> fmu_component::parameters() const {
    std::vector<tunable_parameter> found;
    for (const int variable : tunable_) {
        const fmi::variable& v = model_.description().variables[static_cast<std::size_t>(variable)];
        found.push_back({v.name, v.variability == fmi::variability::tunable});
    }
    return found;
}

void fmu_component::tune(int parameter, double value, bool at_once) {
    const int variable = tunable_[static_cast<std::size_t>(parameter)];
    subsystem_spec one;
    one.name = name_;
    one.set.push_back({model_.description().variables[static_cast<std::size_t>(variable)].name,
                       {},
                       {{fmt::format("{}", value), {}}},
                       false});
    const fmu_start start = read_fmu_settings(model_.description(), one).front();
    if (at_once) set(start);
    std::erase_if(model_.starts, [&](const fmu_start& s) { return s.variable == variable; });
    model_.starts.push_back(start);
}

std::string fmu_component::why_no_bytes() const {
    if (model_.offers().serialise) return {};
    if (model_.description().version == fmi::version::v1) return model_.why_not_saved();
    return fmt::format("fmu {} does not offer to write its state (canSerializeFMUState)", model_.file());
}

void fmu_component::state(state_bytes& bytes, fmi::saved_state& saved, double t) const {
    call(t, [&] {
        std::vector<std::byte> own;
        if (!bytes.reading()) instance_->write(saved, own);
        bytes(own);
        if (bytes.reading()) instance_->read(saved, own);
    });
}

void fmu_component::enter_initialisation(const double& time, double end) {
    time_ = &time;
    const double t0 = time;
    call(t0, [&] {
        if (!configured_) configure();
        configured_ = false;  // next time after a reset
        fmi::experiment_setup setup{.start = t0, .tolerance = tolerance_};
        if (std::isfinite(end)) setup.stop = end;
        instance_->set_up(setup);
        set_starts(false);
        instance_->enter_initialisation();
    });
}

fmi::discrete_update fmu_component::update_discrete_states(double t, fmu_clocks& clocks) {
    bool changed = false;
    for (int n = 0; n < most_updates; ++n) {
        clocks.look();
        fmi::discrete_update update = instance_->update_discrete_states();
        clocks.end_ticks();
        update.states_changed = changed |= update.states_changed;
        if (update.again && !update.terminate) continue;
        clocks.updated(t);
        return update;
    }
    fail(t, fmt::format("its discrete states do not come to rest in {} updates", most_updates));
}

void fmu_component::rate_sensitivities(fmu_sensitivities& known, int input, std::span<double> by_output) const {
    const std::string problem = known.get(*instance_, input, by_output);
    if (problem.empty()) return;
    tell(problem + " Its directional derivatives, which its description promises, are not used.");
}

void fmu_component::tell(const std::string& what) const {
    messages_.send(fmt::format("subsystem '{}' (fmu {}): {}", name_, model_.file(), what));
}

void fmu_component::fail(double t, const std::string& reason) const {
    throw run_error(fmt::format("fmu {} at t = {} s: {}", model_.file(), t, reason));
}

}  // namespace mdpcosim

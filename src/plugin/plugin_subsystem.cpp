
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "plugin/instance.hpp"
#include "plugin/library.hpp"
#include "scenario/resolve.hpp"
#include "subsystem/factory.hpp"
#include "subsystem/native_subsystem.hpp"
#include "subsystem/solvers/interval.hpp"
#include "subsystem/source.hpp"

namespace mdpcosim {

namespace {

class plugin_equations final : public equations {
   public:
    explicit plugin_equations(std::unique_ptr<plugin_instance> instance)
        : plugin_(std::move(instance)),
          f_(plugin_->model().functions),
          before_(static_cast<std::size_t>(f_.state_count)) {}

    const subsystem_description& describe() const noexcept override { return plugin_->model().description; }
    int state_count() const override { return f_.state_count; }
    void initial_state(double t0, double* x) const override { plugin_->call("initialise", t0, f_.initialise, t0, x); }

    void derivatives(double t, const double* x, const double* u, double* dx) const override {
        if (f_.derivatives != nullptr) plugin_->call("derivatives", t, f_.derivatives, t, x, u, dx);
    }

    void outputs(double t, const double* x, const double* u, double* y) const override {
        if (f_.output_values != nullptr) plugin_->call("output_values", t, f_.output_values, t, x, u, y);
    }

    bool jacobian(double t, const double* x, const double* u, double* dfdx) const override {
        if (f_.jacobian == nullptr) return false;
        plugin_->call("jacobian", t, f_.jacobian, t, x, u, dfdx);
        return true;
    }

    int event_count() const override { return f_.event_count; }

    void event_indicators(double t, const double* x, const double* u, double* z) const override {
        if (f_.event_indicators != nullptr) plugin_->call("event_indicators", t, f_.event_indicators, t, x, u, z);
    }

    bool apply_event(int event, bool rising, double t, double* x, const double* u) override {
        std::copy_n(x, before_.size(), before_.begin());
        plugin_->call("apply_event", t, f_.apply_event, event, rising ? 1 : 0, t, x, u);
        return !std::equal(before_.begin(), before_.end(), x);
    }

    double next_time_event(double t) const override {
        double next = equations::next_time_event(t);
        if (f_.next_time_event != nullptr) plugin_->call("next_time_event", t, f_.next_time_event, t, &next);
        return next;
    }

    void set_text(int input, std::string_view text, double t, double*) override { plugin_->set_text(input, text, t); }
    void get_text(int output, double t, std::string& into) const override { plugin_->get_text(output, t, into); }

   private:
    std::unique_ptr<plugin_instance> plugin_;
    const mdpcosim_plugin& f_;
    std::vector<double> before_;  ///< state before an event
};

struct plugin_snapshot final : snapshot {
    double time = 0;
    std::vector<std::max_align_t> bytes;
    void state(state_bytes& all) override { all(time, bytes); }
};

class plugin_with_solver final : public subsystem {
   public:
    plugin_with_solver(const plugin_model& model, std::string name, std::vector<double> parameters)
        : name_(std::move(name)),
          parameters_(std::move(parameters)),
          plugin_(std::make_unique<plugin_instance>(model, name_, parameters_)),
          f_(model.functions),
          inputs_(static_cast<std::size_t>(describe().input_count())),
          coefficients_(inputs_.size() * MDPCOSIM_COEFFICIENTS) {}

    const subsystem_description& describe() const noexcept override { return plugin_->model().description; }

    capabilities offers() const override {
        capabilities offered;
        offered.save_restore = f_.save != nullptr;
        if (!offered.save_restore)
            offered.why_no_save_restore =
                fmt::format("plugin {} has an own solver and gives no 'save' and 'restore'", plugin_->model().file);
        offered.starts_again = true;
        for (const auto& p : plugin_->model().parameters)
            offered.parameters.push_back({p.name, f_.set_parameter != nullptr});
        return offered;
    }

    void initialise(double t0) override {
        begun_ = true;
        plugin_->call("initialise", t0, f_.initialise, t0, nullptr);
        time_ = t0;
    }

    void reset() override {
        if (begun_) make_instance();
        begun_ = false;
    }

    void outputs(std::span<const double> u, std::span<double> y) override {
        if (f_.output_values != nullptr)
            plugin_->call("output_values", time_, f_.output_values, time_, nullptr, u.data(), y.data());
    }

    void advance(const macro_step& step, std::span<const polynomial> inputs, std::span<double> y) override {
        static_assert(MDPCOSIM_COEFFICIENTS == max_degree + 1);
        double* c = coefficients_.data();
        for (const polynomial& p : inputs) {
            std::fill(std::copy_n(p.c.begin(), p.degree + 1, c), c + MDPCOSIM_COEFFICIENTS, 0.0);
            c += MDPCOSIM_COEFFICIENTS;
        }
        plugin_->call("advance", step.begin, f_.advance, step.begin, step.end, coefficients_.data());
        time_ = step.end;
        ++steps_;
        input_values(inputs, step.end - step.begin, inputs_.data());
        outputs(inputs_, y);
    }

    std::unique_ptr<snapshot> make_snapshot() const override {
        if (f_.save == nullptr) return subsystem::make_snapshot();
        auto made = std::make_unique<plugin_snapshot>();
        made->bytes.resize(places());
        return made;
    }

    void save(snapshot& into) override {
        auto& s = static_cast<plugin_snapshot&>(into);
        s.time = time_;
        if (s.bytes.size() < places()) s.bytes.resize(places());
        plugin_->call("save", time_, f_.save, s.bytes.data());
    }

    void restore(const snapshot& from) override {
        const auto& s = static_cast<const plugin_snapshot&>(from);
        plugin_->call("restore", s.time, f_.restore, s.bytes.data());
        time_ = s.time;
    }

    void tune(int parameter, double value) override {
        double& kept = parameters_[static_cast<std::size_t>(parameter)];
        const double before = std::exchange(kept, value);
        try {
            if (begun_)
                plugin_->call("set_parameter", time_, f_.set_parameter, parameter, value);
            else
                make_instance();
        } catch (...) {
            kept = before;
            throw;
        }
    }

    void set_text(int input, std::string_view text) override { plugin_->set_text(input, text, time_); }
    void get_text(int output, std::string& into) override { plugin_->get_text(output, time_, into); }

    subsystem_statistics statistics() const override {
        subsystem_statistics counted;
        counted.micro_steps = steps_;  // the plugin's own are its secret
        return counted;
    }

   private:
    std::size_t places() const { return plugin_->save_size(time_) / sizeof(std::max_align_t) + 1; }

    void make_instance() {
        try {
            plugin_ = std::make_unique<plugin_instance>(plugin_->model(), name_, parameters_);
        } catch (const std::invalid_argument& problem) {
            throw user_error(problem.what());
        }
    }

    std::string name_;
    std::vector<double> parameters_;
    std::unique_ptr<plugin_instance> plugin_;
    const mdpcosim_plugin& f_;
    std::vector<double> inputs_, coefficients_;
    double time_ = 0;
    std::int64_t steps_ = 0;
    bool begun_ = false;
};

/// Calls make(numbers of all parameters).
template <class Make>
auto make_with_parameters(const subsystem_spec& spec, const plugin_model& model, const Make& make) {
    const std::string owner = fmt::format("subsystem '{}' (plugin {})", spec.name, model.file);
    const parameter_values values = resolve_parameters(model.parameters, spec.set, spec.where, owner);
    std::vector<double> numbers;
    for (const auto& p : model.parameters) numbers.push_back(values[p.name]);
    try {
        return make(numbers);
    } catch (const std::invalid_argument& problem) {
        throw user_error(spec.where, fmt::format("{}: {}", owner, problem.what()));
    }
}

}  // namespace

namespace {

std::unique_ptr<subsystem> make_plugin_subsystem(const subsystem_spec& spec) {
    const plugin_model& model = load_plugin(spec);
    if (!model.own_solver()) return nullptr;
    if (!spec.solver.name.empty() || !spec.solver.options.empty()) {
        const location& where = spec.solver.name.empty() ? spec.solver.options.front().where : spec.solver.name.where;
        throw user_error(where, fmt::format("subsystem '{}': 'solver' is not allowed: plugin {} has its own solver.",
                                            spec.name, model.file));
    }
    return make_with_parameters(spec, model, [&](const std::vector<double>& numbers) {
        return std::make_unique<plugin_with_solver>(model, spec.name, numbers);
    });
}

std::unique_ptr<equations> make_plugin_equations(const subsystem_spec& spec) {
    const plugin_model& model = load_plugin(spec);
    if (model.own_solver()) return nullptr;
    return make_with_parameters(spec, model, [&](const std::vector<double>& numbers) {
        return std::make_unique<plugin_equations>(std::make_unique<plugin_instance>(model, spec.name, numbers));
    });
}

const source_registration plugin_source{{.name = "plugin",
                                         .make = make_plugin_subsystem,
                                         .make_equations = make_plugin_equations,
                                         .write_defaults =
                                             [](subsystem_spec& spec) {
                                                 if (lives_apart(spec)) return false;  // its code stays elsewhere
                                                 const plugin_model& model = load_plugin(spec);
                                                 spec.set = with_defaults(model.parameters, spec.set);
                                                 return !model.own_solver();
                                             },
                                         .parameters =
                                             [](const subsystem_spec& spec) {
                                                 std::vector<tunable_parameter> found;
                                                 for (const auto& p : load_plugin(spec).parameters)
                                                     found.push_back({p.name, true});
                                                 return found;
                                             }}};

}  // namespace

}  // namespace mdpcosim

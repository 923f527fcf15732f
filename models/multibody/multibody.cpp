#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/error.hpp"
#include "core/shared_library.hpp"
#include "subsystem/body_frame.hpp"
#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"
#include "system.hpp"

// Multibody systems of parts: read_system.cpp has their kinds, simbody/module.cpp their equations.
//
//     q' = N(q) u,   M(q) u' + G(q)^T lambda = f(q, u, loads),   G u' = b(q, u),   on 0 = c(q), 0 = G u, projected after micro steps

namespace mdpcosim {

namespace multibody {

namespace {

constexpr const char* module_name = "mdpcosim-multibody.so";

/// Beside the program as it is built, where it is installed, beside the programs of the tests, and beside an FMU's library.
std::filesystem::path find_module() {
    for (const auto& here : own_folders())
        for (const auto& folder : {here, here.parent_path() / "lib/mdpcosim", here.parent_path()})
            if (std::error_code ignored; std::filesystem::exists(folder / module_name, ignored))
                return folder / module_name;
    return {};
}

make_engine load_module() {
    const auto module = find_module();
    if (module.empty())
        throw std::invalid_argument(
            fmt::format("this mdpcosim was built without Simbody, which it needs: there is no '{}' beside the program. "
                        "Install libsimbody-dev "
                        "(tools/setup multibody does it) and build mdpcosim again",
                        module_name));
    return reinterpret_cast<make_engine>(find_symbol(open_shared_library(module), "mdpcosim_multibody"));
}

/// The body's axis number k in inertial axes.
triple rotated(const double* q, std::size_t k) {
    const double w = q[0];
    const triple v{q[1], q[2], q[3]};
    triple axis{};
    axis[k] = 1;
    return axis + 2 * (w * cross(v, axis) + cross(v, cross(v, axis)));
}

class multibody_equations final : public equations {
   public:
    explicit multibody_equations(described_system d) : data_(std::move(d)) {
        static const make_engine make = load_module();
        try {
            engine_.reset(make(data_, sizeof(system_data)));
            if (!engine_)
                throw std::invalid_argument(fmt::format(
                    "the module '{}' beside the program comes from another build; build mdpcosim again", module_name));
            n_ = static_cast<std::size_t>(engine_->coordinate_count() + engine_->speed_count()) +
                 tyre_states * data_.tyres.size();
            start_.resize(n_);
            engine_->start(start_.data());
        } catch (const std::invalid_argument&) {
            throw;
        } catch (const std::exception& problem) {  // masses and lengths that it cannot compute with
            throw std::invalid_argument(fmt::format("Simbody cannot start it: {}", problem.what()));
        }
        constrained_ = engine_->has_constraints();
        describe_all();
    }

    const subsystem_description& describe() const noexcept override { return description_; }
    int state_count() const override { return static_cast<int>(n_); }
    void initial_state(double /*t0*/, double* x) const override { std::copy(start_.begin(), start_.end(), x); }

    void derivatives(double t, const double* x, const double* u, double* dx) const override {
        guarded(t, [&] {
            engine_->look(t, x, u, true);
            engine_->rates(dx);
        });
    }
    void outputs(double t, const double* x, const double* u, double* y) const override {
        guarded(t, [&] {
            engine_->look(t, x, u, !description_.ports.empty());
            put_ports(y);
            put_bodies(y);
        });
    }
    void port_outputs(double t, const double* x, const double* u, double* y) const override {
        guarded(t, [&] {
            engine_->look(t, x, u, false);
            put_ports(y);
        });
    }

    bool watches(moment m) const override { return m == moment::micro_step && constrained_; }
    bool discrete_update(moment m, double t, double* x, const double* u) override {
        if (m != moment::micro_step) return false;
        bool closed = false;
        guarded(t, [&] {
            engine_->look(t, x, u, false);
            if (!(engine_->drift() > data_.tolerance)) return;
            engine_->close(x);
            closed = true;
        });
        return closed;
    }

   private:
    template <class Action>
    static void guarded(double t, const Action& action) {
        try {
            action();
        } catch (const std::exception& problem) {
            throw run_error(fmt::format("at t = {:.9g}: Simbody: {}", t, problem.what()));
        }
    }

    void describe_all() {
        auto& d = description_;
        d.type = "model multibody";
        for (const auto& name : data_.frame_names) add_frame_port(d, name, "frame of a body");
        for (std::size_t i = 0; i < data_.coordinates.size(); ++i) {
            const auto& c = data_.coordinates[i];
            const auto unit = std::string(
                coordinates_of(
                    data_.joints[static_cast<std::size_t>(c.joint)].kind)[static_cast<std::size_t>(c.coordinate)]
                    .unit);
            add_mechanical_port(d, data_.coordinate_names[i],
                                unit == "rad" ? port_kind::rotation : port_kind::translation, "coordinate of a joint");
        }
        std::vector<int> loads;
        for (int k = 0; k < d.input_count(); ++k) loads.push_back(k);
        for (auto& o : d.outputs)
            if (!o.direct.empty()) o.direct = loads;  // whatever acts anywhere accelerates everything
        const auto with_rate = [&](const std::string& name, const char* unit, const std::string& rate_name,
                                   const char* rate_unit, const std::string& description, int size) {
            add_output(d, name, unit, description, size);
            const int rate = add_output(d, rate_name, rate_unit, "rate of " + description, size);
            (d.outputs.end() - 2)->rate_slot = rate;
        };
        for (const auto& joint : data_.joints)
            for (const auto& [name, unit] : coordinates_of(joint.kind)) {
                const std::string full = joint.name + "." + name;
                with_rate(full, unit, fmt::format("der({})", full), unit == std::string("m") ? "m/s" : "rad/s",
                          fmt::format("{} of joint '{}'", name, joint.name), 1);
            }
        for (const auto& body : data_.bodies) {
            with_rate(body.name + ".position", "m", body.name + ".velocity", "m/s",
                      fmt::format("position of the centre of mass of '{}'", body.name), 3);
            add_output(d, body.name + ".orientation", "1", fmt::format("quaternion of '{}'", body.name), 4);
            add_output(d, body.name + ".angular-velocity", "rad/s", fmt::format("angular velocity of '{}'", body.name),
                       3);
        }
        for (const auto& tyre : data_.tyres) {
            add_output(d, tyre.name + ".force", "N", fmt::format("force on tyre '{}': along, across, up", tyre.name),
                       3);
            add_output(d, tyre.name + ".slip", "1", fmt::format("slip of tyre '{}': along, across", tyre.name), 2);
        }
        for (const auto& a : data_.attitudes)
            for (const char* angle : {"yaw", "pitch", "roll"})
                add_output(d, a.name + "." + angle, "rad",
                           fmt::format("{} of '{}'", angle, data_.bodies[static_cast<std::size_t>(a.body)].name));
        add_output(d, "energy", "J", "kinetic and potential energy");
    }

    void put_ports(double* y) const {
        for (std::size_t i = 0; i < data_.frames.size(); ++i)
            engine_->frame(data_.frames[i], y + i * frame_motion::count);
        y += data_.frames.size() * frame_motion::count;
        for (std::size_t i = 0; i < data_.coordinates.size(); ++i) engine_->coordinate(data_.coordinates[i], y + 3 * i);
    }

    void put_bodies(double* y) const {
        y += data_.frames.size() * frame_motion::count + 3 * data_.coordinates.size();
        double motion[frame_motion::count];
        for (std::size_t i = 0; i < data_.joints.size(); ++i)
            for (std::size_t k = 0; k < coordinates_of(data_.joints[i].kind).size(); ++k) {
                engine_->coordinate({static_cast<int>(i), static_cast<int>(k)}, motion);
                *y++ = motion[0];
                *y++ = motion[1];
            }
        for (std::size_t i = 0; i < data_.bodies.size(); ++i) {
            engine_->frame({static_cast<int>(i), data_.bodies[i].centre}, motion);
            y = std::copy_n(motion + frame_motion::position, 3, y);
            y = std::copy_n(motion + frame_motion::velocity, 3, y);
            y = std::copy_n(motion + frame_motion::orientation, 4, y);
            y = std::copy_n(motion + frame_motion::angular_velocity, 3, y);
        }
        for (std::size_t i = 0; i < data_.tyres.size(); ++i, y += tyre_outputs) engine_->tyre(static_cast<int>(i), y);
        for (const auto& a : data_.attitudes) y = put_attitude(a.body, y);
        *y = engine_->energy();
    }

    /// About up, then about the axis to the left, then about the one ahead: z, y, x where z is up, and so on in a circle.
    double* put_attitude(int body, double* y) const {
        double motion[frame_motion::count];
        engine_->frame({body, {}}, motion);
        const double* q = motion + frame_motion::orientation;
        const auto up = static_cast<std::size_t>(std::ranges::find(data_.up, 1.0) - data_.up.begin());
        const std::size_t ahead = (up + 1) % 3, left = (up + 2) % 3;
        const triple forward = rotated(q, ahead), across = rotated(q, left), above = rotated(q, up);
        *y++ = std::atan2(forward[left], forward[ahead]);
        *y++ = std::atan2(-forward[up], std::hypot(forward[ahead], forward[left]));
        *y++ = std::atan2(across[up], above[up]);
        return y;
    }

    described_system data_;
    subsystem_description description_;
    std::unique_ptr<engine> engine_;
    std::size_t n_ = 0;
    std::vector<double> start_;
    bool constrained_ = false;
};

}  // namespace

std::unique_ptr<equations> make_system(described_system d) {
    return std::make_unique<multibody_equations>(std::move(d));
}

}  // namespace multibody

namespace {

const model_registration registered{{
    .name = "multibody",
    .summary = "rigid bodies with joints, springs, loops and ground contacts, on Simbody",
    .parameters = multibody::parameters(),
    .parts = multibody::part_kinds(),
    .make_of_parts = [](const parameter_values& p, const std::vector<part>& parts) -> std::unique_ptr<equations> {
        return multibody::make_system(multibody::read_system(p, parts));
    },
    .scene_of_parts = [](const parameter_values& p,
                         const std::vector<part>& parts) { return multibody::draw(multibody::read_system(p, parts)); },
    .module = multibody::module_name,
}};

}  // namespace

}  // namespace mdpcosim

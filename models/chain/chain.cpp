#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>

#include "core/error.hpp"
#include "subsystem/description_parts.hpp"
#include "subsystem/model.hpp"

// m v_i' = f_{i+1} - f_i + load_i, f_i = c q + c3 q^3 + d q' + d3 q'^3 with q = x_i - x_{i-1}: the oscillator chain of
// Kraft, Meyer and Schweizer, eq. (1). States stand as x_1, v_1, x_2, v_2 ..., so that the Jacobian is banded (3 below,
// 2 above).

namespace mdpcosim {

namespace {

enum class chain_end { free, fixed };

/// Chains of one length share a description; a run has few lengths and many chains.
const subsystem_description& description(int n) {
    static std::mutex guard;
    static std::map<int, subsystem_description> by_length;
    const std::lock_guard lock(guard);
    const auto [entry, added] = by_length.try_emplace(n);
    subsystem_description& d = entry->second;
    if (!added) return d;
    d.type = "model chain";
    add_mechanical_port(d, "left", port_kind::translation,
                        "the first mass; a positive force accelerates it in positive direction");
    add_mechanical_port(d, "right", port_kind::translation,
                        "the last mass; a positive force accelerates it in positive direction");
    if (n == 1)
        for (const char* name : {"left.acceleration", "right.acceleration"}) output_named(d, name).direct = {0, 1};
    add_output(d, "x", "m", "positions of the masses", n);
    const int v = add_output(d, "v", "m/s", "velocities of the masses", n);
    output_named(d, "x").rate_slot = v;
    add_output(d, "energy", "J", "kinetic energy of the masses and potential energy of the chain's own springs");
    return d;
}

std::uint64_t mix(std::uint64_t z) {  // the output function of splitmix64
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

enum class drawn { position, velocity, hit, hit_time };

/// Uniform in [0, 1), a function of its arguments alone: how a chain is split into subsystems does not matter.
double uniform(std::uint64_t seed, std::uint64_t mass, drawn quantity) {
    const std::uint64_t bits = mix(mix(mix(seed) + mass) + static_cast<std::uint64_t>(quantity));
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

struct impact {
    int mass;
    double time;
};

class chain final : public equations {
   public:
    explicit chain(const parameter_values& p)
        : n_(static_cast<int>(p["n"])),
          left_(static_cast<chain_end>(static_cast<int>(p["left"]))),
          right_(static_cast<chain_end>(static_cast<int>(p["right"]))),
          mass_(p["mass"]),
          inverse_mass_(1 / mass_),
          c_(p["stiffness"]),
          d_(p["damping"]),
          c3_(p["cubic-stiffness"]),
          d3_(p["cubic-damping"]),
          x0_(p.list("x0")),
          v0_(p.list("v0")),
          x_amplitude_(p["x-amplitude"]),
          v_amplitude_(p["v-amplitude"]),
          seed_(static_cast<std::uint64_t>(p["seed"])),
          first_(static_cast<std::uint64_t>(p["first"])),
          impact_force_(p["impact-force"]),
          impact_duration_(p["impact-duration"]),
          structure_(make_structure(n_)),
          input_structure_(make_input_structure(n_)),
          output_structure_(make_output_structure(n_)),
          description_(&description(n_)) {
        const double share = p["impact-share"], earliest = p["impact-time-min"], latest = p["impact-time-max"];
        for (int i = 0; i < n_; ++i)
            if (random(i, drawn::hit) < share)
                impacts_.push_back({i, earliest + (latest - earliest) * random(i, drawn::hit_time)});
    }

    const subsystem_description& describe() const noexcept override { return *description_; }
    int state_count() const override { return 2 * n_; }

    void initial_state(double /*t0*/, double* x) const override {
        const auto value = [this](const std::vector<double>& given, int i, double amplitude, drawn quantity) {
            const double mean = given.size() == 1 ? given.front() : given[static_cast<std::size_t>(i)];
            return mean + amplitude * (2 * random(i, quantity) - 1);
        };
        for (int i = 0; i < n_; ++i) {
            x[2 * i] = value(x0_, i, x_amplitude_, drawn::position);
            x[2 * i + 1] = value(v0_, i, v_amplitude_, drawn::velocity);
        }
    }

    void derivatives(double t, const double* x, const double* u, double* dx) const override {
        double before = left_force(x) - u[0];
        for (int i = 0; i + 1 < n_; ++i) {
            const double after = element_force(x[2 * i + 2] - x[2 * i], x[2 * i + 3] - x[2 * i + 1]);
            dx[2 * i] = x[2 * i + 1];
            dx[2 * i + 1] = (after - before) * inverse_mass_;
            before = after;
        }
        const int last = 2 * n_ - 2;
        dx[last] = x[last + 1];
        dx[last + 1] = (right_force(x) + u[1] - before) * inverse_mass_;
        for (const impact& hit : impacts_) dx[2 * hit.mass + 1] += impact_force(hit, t) * inverse_mass_;
    }

    void outputs(double t, const double* x, const double* u, double* y) const override {
        const int last = 2 * n_ - 2;
        y[0] = x[0];
        y[1] = x[1];
        y[2] = acceleration(0, t, x, u);
        y[3] = x[last];
        y[4] = x[last + 1];
        y[5] = acceleration(n_ - 1, t, x, u);
        for (int i = 0; i < n_; ++i) {
            y[6 + i] = x[2 * i];
            y[6 + n_ + i] = x[2 * i + 1];
        }
        y[6 + 2 * n_] = energy(x);
    }

    void port_outputs(double /*t*/, const double* x, const double* /*u*/, double* y) const override {
        const int last = 2 * n_ - 2;
        y[0] = x[0];
        y[1] = x[1];
        y[3] = x[last];
        y[4] = x[last + 1];
    }

    const sparsity* structure() const override { return &structure_; }
    const sparsity* input_structure() const override { return &input_structure_; }
    const sparsity* output_structure() const override { return &output_structure_; }

    bool sparse_jacobian(double /*t*/, const double* x, const double* /*u*/, double* values) const override {
        // Tangent stiffness and damping of the elements before and after each mass, per mass.
        const auto tangent = [&](int i, double& stiffness, double& damping) {
            stiffness = damping = 0;
            if ((i == 0 && left_ == chain_end::free) || (i == n_ && right_ == chain_end::free)) return;
            const double q = (i < n_ ? x[2 * i] : 0) - (i > 0 ? x[2 * i - 2] : 0);
            const double v = (i < n_ ? x[2 * i + 1] : 0) - (i > 0 ? x[2 * i - 1] : 0);
            stiffness = (c_ + 3 * c3_ * q * q) * inverse_mass_;
            damping = (d_ + 3 * d3_ * v * v) * inverse_mass_;
        };
        double c_before = 0, d_before = 0, c_after = 0, d_after = 0;
        tangent(0, c_before, d_before);
        for (int i = 0; i < n_; ++i) {
            tangent(i + 1, c_after, d_after);
            const bool has_before = i > 0, has_after = i + 1 < n_;
            if (has_before) *values++ = c_before;
            *values++ = -c_before - c_after;
            if (has_after) *values++ = c_after;
            if (has_before) *values++ = d_before;
            *values++ = 1;
            *values++ = -d_before - d_after;
            if (has_after) *values++ = d_after;
            c_before = c_after;
            d_before = d_after;
        }
        return true;
    }

   private:
    /// Column x_i: rows v_{i-1}, v_i, v_{i+1}; column v_i: rows v_{i-1}, x_i, v_i, v_{i+1}.
    static sparsity make_structure(int n) {
        sparsity s;
        s.start.push_back(0);
        for (int i = 0; i < n; ++i)
            for (const bool velocity : {false, true}) {
                if (i > 0) s.rows.push_back(2 * i - 1);
                if (velocity) s.rows.push_back(2 * i);
                s.rows.push_back(2 * i + 1);
                if (i + 1 < n) s.rows.push_back(2 * i + 3);
                s.start.push_back(static_cast<int>(s.rows.size()));
            }
        return s;
    }

    /// The loads act on the first and on the last velocity.
    static sparsity make_input_structure(int n) { return {{0, 1, 2}, {1, 2 * n - 1}}; }

    /// Accelerations depend on the masses at an end and next to it.
    static sparsity make_output_structure(int n) {
        sparsity s;
        s.start.push_back(0);
        for (int i = 0; i < n; ++i)
            for (const int of : {0, 1}) {
                if (i == 0) s.rows.push_back(of);
                if (i <= 1) s.rows.push_back(2);
                if (i == n - 1) s.rows.push_back(3 + of);
                if (i >= n - 2) s.rows.push_back(5);
                s.rows.push_back(6 + of * n + i);
                s.rows.push_back(6 + 2 * n);
                s.start.push_back(static_cast<int>(s.rows.size()));
            }
        return s;
    }

    double random(int i, drawn quantity) const {
        return uniform(seed_, first_ + static_cast<std::uint64_t>(i), quantity);
    }

    double element_force(double q, double v) const { return (c_ + c3_ * q * q) * q + (d_ + d3_ * v * v) * v; }

    double element_energy(double q) const { return (0.5 * c_ + 0.25 * c3_ * q * q) * q * q; }

    /// The tension to the left of the first mass and to the right of the last one.
    double left_force(const double* x) const { return left_ == chain_end::fixed ? element_force(x[0], x[1]) : 0; }
    double right_force(const double* x) const {
        return right_ == chain_end::fixed ? element_force(-x[2 * n_ - 2], -x[2 * n_ - 1]) : 0;
    }

    double acceleration(int i, double t, const double* x, const double* u) const {
        const double* const s = x + 2 * i;
        const double before = i == 0 ? left_force(x) - u[0] : element_force(s[0] - s[-2], s[1] - s[-1]);
        const double after = i == n_ - 1 ? right_force(x) + u[1] : element_force(s[2] - s[0], s[3] - s[1]);
        double value = (after - before) * inverse_mass_;
        // Impacts stand in the order of the masses and are needed at the ends only.
        if (!impacts_.empty()) {
            const impact& hit = i == 0 ? impacts_.front() : impacts_.back();
            if (hit.mass == i) value += impact_force(hit, t) * inverse_mass_;
        }
        return value;
    }

    double energy(const double* x) const {
        double sum = left_ == chain_end::fixed ? element_energy(x[0]) : 0;
        for (int i = 0; i + 1 < n_; ++i) sum += element_energy(x[2 * i + 2] - x[2 * i]);
        if (right_ == chain_end::fixed) sum += element_energy(x[2 * n_ - 2]);
        for (int i = 0; i < n_; ++i) sum += 0.5 * mass_ * x[2 * i + 1] * x[2 * i + 1];
        return sum;
    }

    double impact_force(const impact& hit, double t) const {
        const double s = (t - hit.time) / impact_duration_;
        if (s < -20 || s > 21) return 0;  // tanh is +-1 to the last bit there, and most masses are
        return 0.5 * impact_force_ * (std::tanh(s) - std::tanh(s - 1));
    }

    int n_;
    chain_end left_, right_;
    double mass_, inverse_mass_, c_, d_, c3_, d3_;
    std::vector<double> x0_, v0_;  ///< one value for all, or n
    double x_amplitude_, v_amplitude_;
    std::uint64_t seed_, first_;
    double impact_force_, impact_duration_;
    std::vector<impact> impacts_;
    sparsity structure_, input_structure_, output_structure_;
    const subsystem_description* description_;
};

void check_initial_values(const parameter_values& p, std::string_view name) {
    const std::size_t size = p.list(name).size();
    if (size != 1 && static_cast<double>(size) != p["n"])
        throw std::invalid_argument(fmt::format(
            "parameter '{}' has {} values; {} masses need one value for all or {} values", name, size, p["n"], p["n"]));
}

void check_impacts(const parameter_values& p) {
    if (p["impact-share"] == 0) return;
    if (p["impact-share"] > 1)
        throw std::invalid_argument(
            fmt::format("parameter 'impact-share' is {}; a share lies between 0 and 1", p["impact-share"]));
    if (p["impact-time-max"] < p["impact-time-min"])
        throw std::invalid_argument(
            fmt::format("parameter 'impact-time-max' ({} s) lies before 'impact-time-min' ({} s)", p["impact-time-max"],
                        p["impact-time-min"]));
}

std::unique_ptr<equations> make(const parameter_values& p) {
    if (p["n"] > 1e8)
        throw std::invalid_argument(
            fmt::format("parameter 'n' is {}; at most 1e8 masses fit into one subsystem", p["n"]));
    for (const char* name : {"seed", "first"})
        if (p[name] > 0x1p53)
            throw std::invalid_argument(fmt::format("parameter '{}' is {}; at most 2^53 is exact", name, p[name]));
    check_initial_values(p, "x0");
    check_initial_values(p, "v0");
    check_impacts(p);
    return std::make_unique<chain>(p);
}

/// Of a long chain some masses, evenly.
model_scene scene(const parameter_values& p) {
    constexpr int most = 40;
    const int n = static_cast<int>(p["n"]), shown = std::min(n, most);
    const auto fixed = [&](const char* end) {
        return static_cast<chain_end>(static_cast<int>(p[end])) == chain_end::fixed;
    };
    model_scene out{true, {}};
    if (fixed("left")) out.shapes = {{"ground", {}}, {"spring", {}}};
    for (int k = 0; k < shown; ++k) {
        const int i = shown > 1 ? static_cast<int>(std::int64_t{k} * (n - 1) / (shown - 1)) : 0;
        // The ends are recorded under the ports' names more often than as elements of x.
        const std::string at = i == 0 ? "left_position" : i == n - 1 ? "right_position" : fmt::format("x_{}", i);
        scene_shape block{"block", {{at}}};
        if (i == 0) block.ports.emplace_back("left");
        if (i == n - 1) block.ports.emplace_back("right");
        if (k > 0) out.shapes.push_back({"spring", {}});
        out.shapes.push_back(std::move(block));
    }
    if (fixed("right")) {
        out.shapes.push_back({"spring", {}});
        out.shapes.push_back({"ground", {}});
    }
    return out;
}

using range = parameter_info::range;
const std::vector<std::string> end_names{"free", "fixed"};

const model_registration registered{{
    "chain",
    "row of masses with linear and cubic springs and dampers between them, random start and impacts",
    {
        {.name = "n",
         .unit = "1",
         .description = "number of masses",
         .default_value = 10,
         .allowed = range::whole,
         .most = 1e6},
        {"mass", "kg", "each mass m", 1, range::positive},
        {"stiffness", "N/m", "linear stiffness c of each element", 1},
        {"damping", "N.s/m", "linear damping d of each element", 0},
        {"cubic-stiffness", "N/m3", "cubic stiffness c3 of each element", 0},
        {"cubic-damping", "N.s3/m3", "cubic damping d3 of each element", 0},
        {"left", "", "fixed: an element joins the first mass to the ground", 0, range::any, false, false, end_names},
        {"right", "", "fixed: an element joins the last mass to the ground", 0, range::any, false, false, end_names},
        {"x0", "m", "positions at the start, one for all or a list", 0, range::any, false, true},
        {"v0", "m/s", "velocities at the start, one for all or a list", 0, range::any, false, true},
        {"x-amplitude", "m", "random positions at the start, uniform in +- this value", 0, range::not_negative},
        {"v-amplitude", "m/s", "random velocities at the start, uniform in +- this value", 0, range::not_negative},
        {"seed", "1", "seed of all random values", 1, range::whole},
        {"first", "1", "number of the first mass in the whole chain, where this is a part of it", 1, range::whole},
        {"impact-share", "1", "share of the masses that receive an impact", 0, range::not_negative},
        {"impact-force", "N", "amplitude dF of the impacts", 0},
        {"impact-duration", "s", "duration delta of the impacts", 1e-3, range::positive},
        {"impact-time-min", "s", "earliest impact", 0},
        {"impact-time-max", "s", "latest impact", 0},
    },
    make,
    {},
    scene,
}};

}  // namespace

}  // namespace mdpcosim

#include "master/joint_loads.hpp"

namespace mdpcosim {

namespace {

/// Gauss points of [0, 1], and the interpolation through them as monomials: coefficient n is the sum of to_monomials[n][k] * value[k].
struct gauss {
    static constexpr std::size_t count = max_degree + 1;
    std::array<double, count> at;
    std::array<std::array<double, count>, count> to_monomials{};

    gauss() {
        constexpr double a = 0.94910791234275852, b = 0.74153118559939444, c = 0.40584515137739717;
        at = {(1 - a) / 2, (1 - b) / 2, (1 - c) / 2, 0.5, (1 + c) / 2, (1 + b) / 2, (1 + a) / 2};
        for (std::size_t k = 0; k < count; ++k) {
            std::array<double, count> product{1};  // Lagrange's polynomial of node k
            int degree = 0;
            for (std::size_t j = 0; j < count; ++j) {
                if (j == k) continue;
                const double scale = 1 / (at[k] - at[j]);
                ++degree;
                for (int n = degree; n > 0; --n) product[n] = scale * (product[n - 1] - at[j] * product[n]);
                product[0] *= -scale * at[j];
            }
            for (std::size_t n = 0; n < count; ++n) to_monomials[n][k] = product[n];
        }
    }
};

const gauss points;

/// The polynomial of fifth degree with p at 0 and q at L, at sigma * L.
double between(const jet& p, const jet& q, double L, double sigma) {
    const double pv = p.v * L, pa = p.a * L * L, qv = q.v * L, qa = q.a * L * L, d = q.x - p.x;
    const double c3 = 10 * d - 6 * pv - 4 * qv - 1.5 * pa + 0.5 * qa;
    const double c4 = -15 * d + 8 * pv + 7 * qv + 1.5 * pa - qa;
    const double c5 = 6 * d - 3 * (pv + qv) + 0.5 * (qa - pa);
    return p.x + sigma * (pv + sigma * (pa / 2 + sigma * (c3 + sigma * (c4 + sigma * c5))));
}

bool rests(const jet& p) { return p.v == 0 && p.a == 0; }

}  // namespace

joint_loads::joint_loads(const coupled_system& system) {
    for (const joint_connection& j : system.joints) {
        const int equations = j.joint->equations(), components = static_cast<int>(j.ends[0].load.size());
        places_.push_back({multipliers_, loads_, equations, components});
        multipliers_ += static_cast<std::size_t>(equations);
        loads_ += static_cast<std::size_t>(2 * equations * components);
    }
    course_.resize(loads_);
}

std::size_t joint_loads::index(std::size_t joint, int port, int component, int equation) const {
    const place& p = places_[joint];
    return p.load + static_cast<std::size_t>((port * p.equations + equation) * p.components + component);
}

void joint_loads::evaluate(const coupled_system& system, std::size_t joint, std::span<const double> y,
                           std::span<const double> y_of, subsystem_index of, joint_state& into) const {
    const joint_connection& j = system.joints[joint];
    std::array<std::array<double, frame_motion::count>, 2> motion;
    for (std::size_t e = 0; e < 2; ++e) {
        const auto from = j.ends[e].subsystem == of ? y_of : y;
        for (std::size_t k = 0; k < j.ends[e].motion.size(); ++k) motion[e][k] = from[j.ends[e].motion[k].value()];
    }
    j.joint->evaluate(motion[0].data(), motion[1].data(), into.residuals.data() + places_[joint].multiplier,
                      into.loads.data() + index(joint, 0, 0, 0), into.loads.data() + index(joint, 1, 0, 0));
}

void joint_loads::go_on(const joint_state& before, const joint_state& now, double H_before, double H) {
    H_ = H;
    for (std::size_t i = 0; i < loads_; ++i) {
        const jet &p = before.loads[i], &q = now.loads[i];
        course_[i].constant = rests(q) && (H_before == 0 || (rests(p) && p.x == q.x));
        for (std::size_t k = 0; k < nodes; ++k) {
            const double s = points.at[k] * H;
            course_[i].at[k] =
                H_before == 0 ? q.x + s * (q.v + s / 2 * q.a) : between(p, q, H_before, 1 + s / H_before);
        }
    }
}

void joint_loads::lead(const joint_state& now, const joint_state& end, double H) {
    H_ = H;
    for (std::size_t i = 0; i < loads_; ++i) {
        const jet &p = now.loads[i], &q = end.loads[i];
        course_[i].constant = rests(p) && rests(q) && p.x == q.x;
        for (std::size_t k = 0; k < nodes; ++k) course_[i].at[k] = between(p, q, H, points.at[k]);
    }
}

polynomial joint_loads::interpolated(const std::array<double, nodes>& values) const {
    polynomial p{.degree = max_degree};
    double power = 1;
    for (std::size_t n = 0; n < nodes; ++n, power *= H_) {
        double sum = 0;
        for (std::size_t k = 0; k < nodes; ++k) sum += points.to_monomials[n][k] * values[k];
        p.c[n] = sum / power;
    }
    return p;
}

polynomial joint_loads::load_of(std::size_t joint, int port, int component, int equation,
                                const polynomial& multiplier) const {
    const course& c = course_[index(joint, port, component, equation)];
    if (c.constant) {
        polynomial p = multiplier;
        for (double& coefficient : p.c) coefficient *= c.at[0];
        return p;
    }
    std::array<double, nodes> values;
    for (std::size_t k = 0; k < nodes; ++k) values[k] = c.at[k] * multiplier(points.at[k] * H_);
    return interpolated(values);
}

polynomial joint_loads::load(std::size_t joint, int port, int component,
                             std::span<const polynomial> multipliers) const {
    polynomial constant;
    std::array<double, nodes> values{};
    bool turns = false;
    for (int i = 0; i < places_[joint].equations; ++i) {
        const polynomial& m = multipliers[places_[joint].multiplier + static_cast<std::size_t>(i)];
        const course& c = course_[index(joint, port, component, i)];
        if (c.constant) {
            constant.degree = std::max(constant.degree, m.degree);
            for (std::size_t n = 0; n < nodes; ++n) constant.c[n] += c.at[0] * m.c[n];
            continue;
        }
        turns = true;
        for (std::size_t k = 0; k < nodes; ++k) values[k] += c.at[k] * m(points.at[k] * H_);
    }
    if (!turns) return constant;
    polynomial sum = interpolated(values);
    for (std::size_t n = 0; n < nodes; ++n) sum.c[n] += constant.c[n];
    return sum;
}

void joint_loads::impose(coupled_system& system, std::span<const polynomial> multipliers) const {
    const auto give = [&](channel_index channel, const polynomial& p) {
        system.coupling.impose(channel, p);
        system.u[channel.value()] = p(H_);
        system.du[channel.value()] = p.derivative(H_);
    };
    for (std::size_t j = 0; j < system.joints.size(); ++j) {
        const joint_connection& connection = system.joints[j];
        for (std::size_t i = 0; i < connection.multipliers.size(); ++i)
            give(connection.multipliers[i], multipliers[places_[j].multiplier + i]);
        for (int port = 0; port < 2; ++port)
            for (int l = 0; l < places_[j].components; ++l)
                give(connection.ends[static_cast<std::size_t>(port)].load[static_cast<std::size_t>(l)],
                     load(j, port, l, multipliers));
    }
}

}  // namespace mdpcosim

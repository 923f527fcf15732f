#include "analysis/joint_stability.hpp"

#include <algorithm>
#include <limits>

#include "analysis/recurrence.hpp"
#include "transport/threads.hpp"

namespace mdpcosim {

namespace {

linear_equations oscillator(double m, double real, double imaginary) {
    const double c = real * real + imaginary * imaginary, d = -2 * real;
    linear_equations eq;
    eq.A = Eigen::MatrixXd{{0, 1}, {-c, -d}};
    eq.B = Eigen::MatrixXd{{0}, {1 / m}};
    eq.E = Eigen::MatrixXd::Zero(2, 1);
    eq.C = Eigen::MatrixXd{{1, 0}, {0, 1}, {-c, -d}};
    eq.D = Eigen::MatrixXd{{0}, {0}, {1 / m}};
    eq.inputs = {"force"};
    eq.outputs = {"position", "velocity", "acceleration"};
    return eq;
}

}  // namespace

bool holds_joints(const std::string& method) {
    const method_info* info = method_registry::instance().find(method);
    return info != nullptr && info->traits.holds_joints;
}

linear_system make_joint_system(const joint_test_parameters& p) {
    linear_system made;
    std::vector<named_subsystem> parts;
    const auto add = [&](const char* name, linear_equations eq) {
        auto part =
            std::make_unique<linear_subsystem>(std::move(eq), Eigen::VectorXd(Eigen::Vector2d(0, 0)), max_degree);
        made.parts.push_back(part.get());
        parts.push_back({name, std::move(part)});
    };
    add("first", oscillator(1, p.real, p.imaginary));
    add("second", oscillator(p.mass_ratio, p.real * p.damping_ratio, p.imaginary * p.frequency_ratio));
    coupled_system& system = made.system;
    system.subsystems = make_thread_transport(std::move(parts), 1);
    network& net = system.coupling;
    const joint_info& rigid = *joint_registry::instance().find("rigid");
    joint_connection j;
    j.name = "joint";
    j.joint = rigid.make(parameter_values(rigid.parameters), port_kind::translation);
    j.multipliers = {net.add_imposed("joint")};
    for (std::size_t e = 0; e < 2; ++e) {
        auto& end = j.ends[e];
        end.subsystem = subsystem_index(e);
        for (std::size_t k = 0; k < 3; ++k) end.motion.emplace_back(3 * e + k);
        end.input = {input_slot(e)};
        end.load = {net.add_imposed("joint")};
        net.add_delivery(end.input[0], max_degree, {end.load[0], 1});
    }
    system.joints.push_back(std::move(j));
    net.finish(std::vector<double>(2, 0.0));
    system.finish();
    const method_info& info = *method_registry::instance().find(p.method);
    parameter_values options(info.options);
    options.set("degree", {p.degree == 2 ? 0.0 : 1.0});
    made.chosen = info.make_with(options);
    system.initialise(0);
    made.chosen->prepare(system);
    made.chosen->step(system, {0, 1, 0});  // at rest the method measures answers without noise, which it keeps
    return made;
}

double joint_radius(const joint_test_parameters& p) {
    linear_system system = make_joint_system(p);
    recurrence steps(system);
    const Eigen::MatrixXd& P = steps.matrix(1);
    return P.allFinite() ? spectral_radius(P) : std::numeric_limits<double>::infinity();
}

int joint_map::unstable(double tolerance) const {
    return static_cast<int>(std::ranges::count_if(rho, [&](double r) { return !(r <= 1 + tolerance); }));
}

joint_map map_joint(joint_test_parameters p, double range, int points) {
    joint_map map{p, range, points, {}};
    for (int i = 0; i < points; ++i)
        for (int k = 0; k < points; ++k) {
            p.real = map.real(i);
            p.imaginary = map.imaginary(k);
            map.rho.push_back(joint_radius(p));
        }
    return map;
}

}  // namespace mdpcosim

#include "assembly/joints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/suggest.hpp"
#include "scenario/resolve.hpp"
#include "subsystem/solver.hpp"

namespace mdpcosim {

namespace {

const joint_info& known_joint(const connection_spec& c) {
    const auto& joints = joint_registry::instance();
    if (const joint_info* found = joints.find(c.joint.value)) return *found;
    throw user_error(c.joint.where,
                     fmt::format("connection '{}': joint '{}' does not exist. Joints: {}.{}", c.name, c.joint.value,
                                 name_list(joints.names()), did_you_mean(c.joint.value, joints.names())));
}

std::string kinds_text(const std::vector<port_kind>& kinds) {
    std::vector<std::string> names;
    for (const port_kind k : kinds) names.push_back(info(k).name);
    return fmt::format("{}", fmt::join(names, " or "));
}

std::string motion_name(const port& p, std::size_t number) {
    return p.kind == port_kind::frame ? frame_element_name(frame_motion_variables(), static_cast<int>(number))
                                      : info(p.kind).motion[number];
}

struct joined_port {
    address_book::port_place place;
    const text* address;
    std::vector<int> motion, load;  ///< slots
};

joined_port find_joined(const text& address, const joint_info& joint, const address_book& book,
                        const std::string& object) {
    joined_port found{book.find_port(address, object), &address, {}, {}};
    const port& p = *found.place.port;
    if (std::ranges::find(joint.kinds, p.kind) == joint.kinds.end())
        throw user_error(address.where,
                         fmt::format("{}: port '{}' is of kind {}, but joint '{}' joins ports of kind {}.", object,
                                     address.value, info(p.kind).name, joint.name, kinds_text(joint.kinds)));
    if (p.causality != causality::takes_load)
        throw user_error(address.where,
                         fmt::format("{}: port '{}' takes {} and gives {}, but a joint needs a port that gives its "
                                     "motion and takes a load.",
                                     object, address.value, info(p.kind).motion[0], info(p.kind).load));
    found.motion = p.kind == port_kind::frame ? p.motion_slots : std::vector<int>(p.motion.begin(), p.motion.end());
    found.load = p.kind == port_kind::frame ? p.load_slots : std::vector<int>{p.load};
    const auto lacking = std::ranges::find_if(found.motion, [](int slot) { return slot < 0; });
    if (lacking != found.motion.end())
        throw user_error(
            address.where,
            fmt::format("{}: port '{}' gives no {}, and a joint needs position, velocity and acceleration. The way "
                        "that needs less: a stiff spring ('law: spring-damper') instead of the joint, with 'method: "
                        "one-pass'.",
                        object, address.value,
                        motion_name(p, static_cast<std::size_t>(lacking - found.motion.begin()))));
    return found;
}

std::array<joined_port, 2> find_joined(const connection_spec& c, const joint_info& joint, const address_book& book,
                                       const std::string& object) {
    if (c.between.size() != 2)
        throw user_error(c.where, fmt::format("{}: joint '{}' joins two ports; 'between' has {}.", object, joint.name,
                                              c.between.size()));
    std::array<joined_port, 2> ports{find_joined(c.between[0], joint, book, object),
                                     find_joined(c.between[1], joint, book, object)};
    const auto& [first, second] = ports;
    if (first.place.port == second.place.port && first.place.subsystem == second.place.subsystem)
        throw user_error(c.between[1].where,
                         fmt::format("{}: port '{}' is joined to itself; a joint joins different ports.", object,
                                     c.between[1].value));
    if (first.place.port->kind != second.place.port->kind)
        throw user_error(c.between[1].where,
                         fmt::format("{}: port '{}' is of kind {}, but port '{}' is of kind {}; both must be of one "
                                     "kind.",
                                     object, c.between[0].value, info(first.place.port->kind).name, c.between[1].value,
                                     info(second.place.port->kind).name));
    return ports;
}

std::vector<parameter_info> parameters_of(const joint_info& joint, port_kind kind) {
    std::vector<parameter_info> infos = joint.parameters;
    for (auto& p : infos) p.unit = unit_for(kind, p.unit);
    return infos;
}

channel_index add_channel(const std::string& name, const connection_spec& c, coupling_graph& graph, assembly& into,
                          channel_report report) {
    report.extrapolation = "none";
    report.why_extrapolation = "found by the method";
    into.channels.push_back(std::move(report));
    graph.channel_sources.emplace_back();
    graph.delayed.push_back(false);
    graph.channel_names.push_back(fmt::format("joint '{}'", c.name));
    graph.channel_places.push_back(c.where);
    return into.system.coupling.add_imposed(name);
}

}  // namespace

std::vector<parameter_info> joint_parameters(const connection_spec& c, const address_book& book) {
    return parameters_of(known_joint(c), book.find_port(c.between.front(), c.name).port->kind);
}

void add_joint(const connection_spec& c, const scenario& s, const address_book& book, coupling_graph& graph,
               assembly& into, std::vector<output_slot>& read) {
    const std::string object = fmt::format("connection '{}'", c.name);
    const joint_info& info = known_joint(c);
    if (c.extrapolation.given())
        throw user_error(c.extrapolation.where,
                         fmt::format("{}: a joint's multipliers are found by the method, nothing is extrapolated. "
                                     "Leave 'extrapolation' out.",
                                     object));
    const auto ports = find_joined(c, info, book, object);
    const port_kind kind = ports[0].place.port->kind;
    const auto infos = parameters_of(info, kind);
    const parameter_values values =
        resolve_parameters(infos, c.parameters, c.where, fmt::format("{} (joint {})", object, info.name));
    joint_connection made;
    made.name = c.name;
    try {
        made.joint = info.make(values, kind);
    } catch (const std::invalid_argument& problem) {
        throw user_error(c.where, fmt::format("{}: {}.", object, problem.what()));
    }
    const int equations = made.joint->equations();
    for (int i = 0; i < equations; ++i) {
        channel_report report;
        report.name = equations == 1 ? c.name : fmt::format("{}[{}]", c.name, i);
        report.column = equations == 1 ? c.name + ".u" : fmt::format("{}.u[{}]", c.name, i);
        report.law_name = info.name;
        report.law =
            fmt::format("joint {}{}", info.name, equations == 1 ? "" : fmt::format(", {} equations", equations));
        report.equation = i;
        report.unit = made.joint->multiplier_unit(i);
        report.recorded_name = true;
        for (std::size_t e = 0; e < 2; ++e)
            report.ends.push_back({ports[e].address->value, e == 0 ? -1.0 : 1.0, max_degree});
        made.multipliers.push_back(add_channel(c.name, c, graph, into, std::move(report)));
    }
    for (std::size_t e = 0; e < 2; ++e) {
        auto& end = made.ends[e];
        const transport& subsystems = *into.system.subsystems;
        end.subsystem = ports[e].place.subsystem;
        for (const int slot : ports[e].motion) {
            end.motion.push_back(book.global_output(end.subsystem, slot));
            read.push_back(end.motion.back());
        }
        const auto& inputs = subsystems.describe(end.subsystem).inputs;
        for (const int slot : ports[e].load) {
            const auto& input =
                *std::ranges::find_if(inputs, [&](const auto& v) { return slot >= v.slot && slot < v.slot + v.size; });
            const int limit =
                std::min(input.max_degree, s.subsystems[end.subsystem.value()].input_degree.value_or(max_degree));
            end.degree = std::min(end.degree, limit);
            channel_report report;
            report.name = c.name;
            report.internal = true;
            end.load.push_back(add_channel(c.name, c, graph, into, std::move(report)));
            end.input.push_back(book.global_input(end.subsystem, slot));
            into.system.coupling.add_delivery(end.input.back(), limit, {end.load.back(), 1});
            graph.input_channels[end.input.back().value()].push_back(end.load.back());
        }
    }
    into.system.joints.push_back(std::move(made));
}

void check_joints(const scenario& s, const method& chosen, const coupled_system& system) {
    if (system.joints.empty()) return;
    if (!chosen.traits().holds_joints) {
        std::vector<std::string> able;
        for (const auto* m : method_registry::instance().all())
            if (m->traits.holds_joints) able.push_back(m->name);
        throw user_error(
            s.method.where,
            fmt::format("method '{}' cannot hold joint '{}'. Methods that hold joints: {}; or take a stiff "
                        "spring ('law: spring-damper') in its place.",
                        known_method(s).name, system.joints.front().name, fmt::join(able, ", ")));
    }
    for (const joint_connection& j : system.joints)
        for (const auto& end : j.ends) {
            const subsystem_spec& spec = s.subsystems[end.subsystem.value()];
            const solver_info* solver =
                solver_registry::instance().find(spec.solver.name.empty() ? default_solver : spec.solver.name.value);
            const bool fixed = spec.kind != subsystem_spec::source_kind::file && solver != nullptr &&
                               !spec.solver.name.empty() &&
                               std::ranges::any_of(solver->options, [](const auto& o) { return o.name == "step"; });
            if (!fixed) continue;
            const auto given = std::ranges::find(spec.solver.options, "step", &setting::name);
            const double h = given == spec.solver.options.end()
                                 ? s.time.step
                                 : read_number(given->values.front(), "s", "solver step");
            if (h <= s.time.step / chosen.traits().least_micro_steps * (1 + 1e-9)) continue;
            throw user_error(
                given == spec.solver.options.end() ? spec.where : given->where,
                fmt::format("subsystem '{}': solver {} does micro steps of {} s, and joint '{}' needs at least {} in a "
                            "macro step of {} s: with fewer, position, velocity and acceleration at its end do not "
                            "answer to the three parameters of a multiplier one by one. Give 'solver: {{name: {}, "
                            "step: {} s}}' "
                            "or less, or a solver with error control.",
                            spec.name, solver->name, h, j.name, chosen.traits().least_micro_steps, s.time.step,
                            solver->name, s.time.step / chosen.traits().least_micro_steps));
        }
}

}  // namespace mdpcosim

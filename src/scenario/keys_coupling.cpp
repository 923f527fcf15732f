#include "scenario/key_builders.hpp"
#include "scenario/signal_text.hpp"

/// Keys of solvers, extrapolations, connections and signals.
namespace mdpcosim {

using namespace keys;

const key_group& solver_keys() {
    static const key_group table = group<solver_spec>(
        "solver", "A solver with its options.",
        {word<solver_spec>("name", &solver_spec::name, "A name out of 'mdpcosim list solvers'.")
             .from(catalogue::solvers)
             .by_default("`erk-5`")},
        {settings<solver_spec>("option", &solver_spec::options, setting_values::any, "An option of the solver.")
             .from(catalogue::solvers)});
    return table;
}

namespace {

/// Numbers without a unit, one or a list.
key_info coefficients(const char* name, std::vector<double> extrapolation_spec::*list, const char* description) {
    return special<extrapolation_spec>(
        name, "numbers", R"({"$ref": "#/definitions/coefficients"})", description,
        [=](extrapolation_spec& spec, const yaml_node& node, const key_place& at) {
            for (const auto& value : read_setting({name, node.where}, node, at.in.let, at.object).values)
                (spec.*list).push_back(read_number(value, "1", at.whole()));
        },
        [=](const extrapolation_spec& spec, yaml_node& out) {
            if ((spec.*list).empty()) return;
            out.kind = yaml_node::type::list;
            for (const double value : spec.*list) out.items.push_back(scalar_node(fmt::format("{}", value)));
        });
}

/// A name, with F or without, or own coefficients.
void check_extrapolation(void* owner, const yaml_node& node, const key_place& at) {
    auto& spec = *static_cast<extrapolation_spec*>(owner);
    const auto refuse = [&](const std::string& reason) {
        throw user_error(node.where, fmt::format("{}: {}.", at.object, reason));
    };
    const bool coefficients_given = spec.degree || !spec.a.empty() || !spec.b.empty() || spec.continuous;
    if (!spec.name.empty() && coefficients_given) refuse("it has a name and own coefficients; give one of the two");
    if (!spec.name.empty()) return;
    if (!spec.degree) refuse("key 'degree' is missing");
    if (spec.F) refuse("'F' belongs to a name that ends in -opt-F, not to own coefficients");
    if (spec.a.empty()) refuse("key 'a' (a list of numbers) is missing");
    if (spec.b.empty()) spec.b.assign(spec.a.size(), 0.0);
}

}  // namespace

const key_group& extrapolation_keys() {
    using spec = extrapolation_spec;
    static const key_group table = [] {
        key_info degree = whole<spec>("degree", &spec::degree, 0,
                                      "Of own coefficients: degree of the polynomial over the macro step, 0, 1 or 2.");
        key_group made = group<spec>(
            "extrapolation", "A name out of 'mdpcosim list extrapolations', or own coefficients.",
            {word<spec>("name", &spec::name, "A name out of 'mdpcosim list extrapolations'.")
                 .from(catalogue::extrapolations),
             number<spec>("F", &spec::F, "1",
                          "For names that end in -opt-F: stiffness of the connection over that of its ports.")
                 .by_default("from law and models"),
             degree, coefficients("a", &spec::a, "Weights of the values of u in its mean over the step, newest first."),
             coefficients("b", &spec::b, "Weights of H du/dt in the mean.").by_default("zeros"),
             flag<spec>("continuous", &spec::continuous,
                        "Each polynomial is forced to start where the last one ended.")});
        made.one_of = {"name", "degree"};
        made.together = {{"degree", "a"}, {"a", "degree"}, {"b", "degree"}, {"continuous", "degree"}, {"F", "name"}};
        made.check = check_extrapolation;
        return made;
    }();
    return table;
}

extrapolation_spec read_extrapolation(const yaml_node& node, const let_table& let, const std::string& object) {
    extrapolation_spec spec;
    spec.where = node.where;
    const reading in{let, {}, nullptr};
    const key_info* key = scenario_keys().find("extrapolation");
    read_short_or_keys(*key, &spec, {object, node.where}, node, {in, object, {}, false});
    return spec;
}

namespace {

template <class Owner>
key_info delay_key() {
    auto k = number<Owner>(
                 "delay", [](auto& owner) -> auto& { return owner.delay.value; }, "s",
                 "Memory: outputs are read as they were that long ago; for 'method: multirate'.")
                 .positive()
                 .by_default("none")
                 .more_in("methods/multirate.md");
    k.after = keeps_place<Owner>([](Owner& owner) -> location& { return owner.delay.where; });
    return k;
}

template <class Owner>
key_info own_extrapolation_key(const char* otherwise) {
    return map<Owner>("extrapolation", &Owner::extrapolation, extrapolation_keys,
                      "How u is continued over a macro step: a name, or own coefficients.", "name")
        .from(catalogue::extrapolations)
        .by_default(otherwise)
        .more_in("methods/extrapolations.md");
}

}  // namespace

const key_group& connection_keys() {
    using spec = connection_spec;
    static const key_group table = [] {
        key_info joint = word<spec>("joint", &spec::joint,
                                    "A name out of 'mdpcosim list joints', in place of a law: the ports are held "
                                    "rigidly, by 'method: index-1'.");
        auto made = group<spec>(
            "connection", "A law between ports, or a joint.",
            {word<spec>("law", &spec::law, "A name out of 'mdpcosim list laws'; the kind of the ports picks its units.")
                 .from(catalogue::laws),
             joint.from(catalogue::joints).more_in("joints.md"),
             words<spec>("between", &spec::between,
                         "The ports it joins: the first receives -u, the second +u; those of a node +u.", "ports",
                         ", [first.port, second.port]")
                 .needed(),
             own_extrapolation_key<spec>("the scenario's, or by law"), delay_key<spec>()},
            {settings<spec>("parameter", &spec::parameters, setting_values::any, "A parameter of the law or joint.")
                 .from(catalogue::laws)});
        made.one_of = {"law", "joint"};
        made.prepare = [](void*, const yaml_key&, const yaml_node& node, const key_place& at) {
            const yaml_node* law = node.find("law");
            if (law != nullptr && node.find("joint") != nullptr)
                throw user_error(law->where,
                                 fmt::format("{}: it has a joint and a law; give one of the two.", at.object));
            if (law == nullptr && node.find("joint") == nullptr) map_reader(node, at.in.let, at.object).need("law");
            return ~0U;
        };
        return made;
    }();
    return table;
}

const key_group& bond_keys() {
    using spec = bond_spec;
    static const key_group table = group<spec>(
        "bond", "Two signals that exchange power, one in each direction.",
        {word<spec>("flow", &spec::flow,
                    "The signal of the velocity, speed, flow, current: the input it goes to, or its name.")
             .needed(),
         word<spec>("effort", &spec::effort, "The signal of the force, torque, pressure, voltage, which goes back.")
             .needed(),
         flag<spec>("correct", &spec::correct,
                    "What the inputs of both signals missed of a macro step is given to them in the next one.")});
    return table;
}

const key_group& signal_keys() {
    using spec = signal_spec;
    static const key_group table = [] {
        auto connect = special<spec>(
            "connect", "`a.y -> b.u`", R"({"$ref": "#/definitions/arrow"})",
            "An output, or a sum of outputs with gains and numbers, to one input: '2*a.y - b.y + 3 -> c.u'.",
            [](spec& signal, const yaml_node& node, const key_place& at) {
                read_signal_text(read_text(node, at.in.let, at.alone ? "signal" : at.whole()), at.in.let, signal);
            },
            [](const spec& signal, yaml_node& out) { out = scalar_node(signal_text(signal)); });
        auto name = special<spec>(
            "name", "name", R"({"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_-]*$"})",
            "Its name in results and messages, and for '--set'.",
            [](spec& signal, const yaml_node& node, const key_place& at) {
                const text given = read_text(node, at.in.let, at.whole());
                check_name({given.value, given.where}, "signal");
                signal.name = given.value;
            },
            [](const spec& signal, yaml_node& out) {
                if (signal.name != signal.target.value) out = scalar_node(signal.name);
            });
        auto made = group<spec>("signal", "An output, or a sum of outputs, to one input.",
                                {connect.needed(), name.by_default("the address of the target"),
                                 own_extrapolation_key<spec>("by what it carries"), delay_key<spec>()});
        made.check = [](void* owner, const yaml_node&, const key_place&) {
            auto& signal = *static_cast<spec*>(owner);
            if (signal.name.empty()) signal.name = signal.target.value;
        };
        return made;
    }();
    return table;
}

}  // namespace mdpcosim

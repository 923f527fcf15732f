#include "assembly/address_book.hpp"
#include "assembly/assembly.hpp"
#include "assembly/iteration.hpp"
#include "assembly/joints.hpp"
#include "assembly/laws.hpp"
#include "assembly/unpacked_fmus.hpp"
#include "reference/monolithic.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

scenario resolved(const scenario& s, const assembly& a) {
    const auto unpacked = unpacked_fmus(s);
    scenario full = s;
    full.method.value = known_method(s).name;
    full.iteration = with_defaults(s.iteration);
    full.method_options = with_defaults(known_method(s).options, s.method_options);
    for (std::size_t i = 0; i < full.subsystems.size(); ++i) {
        subsystem_spec& subsystem = full.subsystems[i];
        subsystem = with_defaults(subsystem);
        for (const auto& p : a.system.subsystems->describe(subsystem_index(i)).parameters) {
            if (std::ranges::find(subsystem.set, p.name, &setting::name) != subsystem.set.end()) continue;
            subsystem.set.push_back({p.name, {}, {}, p.list});
            for (const auto& value : p.values) subsystem.set.back().values.push_back({value, {}});
        }
    }
    full.reference.solver = reference_solver(s.reference);
    const address_book book(*a.system.subsystems);
    std::size_t channel = 0;
    const auto fix = [&](extrapolation_spec& e, bool physical) {
        // Own coefficients stay as given; everything else gets the name that was chosen.
        const bool own =
            e.degree.has_value() || (physical && a.channels[channel].scenario_extrapolation && s.extrapolation.degree);
        if (own && !e.degree) e = s.extrapolation;
        if (!own) {
            e.name.value = a.channels[channel].extrapolation;
            e.F = a.channels[channel].F;
        }
        ++channel;
    };
    for (auto& c : full.connections) {
        if (c.is_joint()) {
            c.parameters = with_defaults(joint_parameters(c, book), c.parameters);
            continue;
        }
        fix(c.extrapolation, true);
        const law_info& law = known_law(c);
        const port_kind kind = book.find_port(c.between.front(), c.name).port->kind;
        c.parameters = with_defaults(law_parameters(law, kind), c.parameters);
    }
    for (auto& signal : full.signals)
        if (!book.text_input(signal.target.value)) fix(signal.extrapolation, false);
    return full;
}

}  // namespace mdpcosim

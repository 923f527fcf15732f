#include "assembly/described_subsystems.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "assembly/multirate.hpp"
#include "subsystem/factory.hpp"

namespace mdpcosim {

described_subsystems::described_subsystems(const scenario& s) {
    refuse_delays(s, "cannot be part of one system of equations (--monolithic)");
    for (const subsystem_spec& spec : s.subsystems) {
        composite_parts::part& part = parts_.emplace_back();
        capabilities& offered = offers_.emplace_back();
        part.name = spec.name;
        part.input_offset = inputs_.size();
        part.output_offset = outputs_.size();
        if (is_sampled(spec)) {
            const subsystem_spec on_grid = on_macro_grid(spec, s.time.step, s.time.end - s.time.start);
            part.sampled = make_subsystem(on_grid);
            part.clock = sampling_of(on_grid);
            offered = part.sampled->offers();
        } else {
            part.model = make_equations(on_macro_grid(spec, s.time.step, s.time.end - s.time.start));
            for (std::size_t i = 0; i < part.model->describe().ports.size(); ++i)
                offered.port_stiffness.push_back(part.model->port_stiffness(static_cast<int>(i)));
        }
        names_.push_back(spec.name);
        input_offsets_.push_back(part.input_offset);
        output_offsets_.push_back(part.output_offset);
        const auto& d = descriptions_.emplace_back(part.model ? part.model->describe() : part.sampled->describe());
        inputs_.resize(inputs_.size() + static_cast<std::size_t>(d.input_count()));
        outputs_.resize(outputs_.size() + static_cast<std::size_t>(d.output_count()));
    }
}

void described_subsystems::refuse() {
    throw std::logic_error("subsystems of a reference are integrated as one, not by a method");
}

}  // namespace mdpcosim

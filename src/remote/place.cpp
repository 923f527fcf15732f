#include "remote/place.hpp"

#include "remote/isolated_subsystem.hpp"
#include "remote/program_group.hpp"
#include "subsystem/source.hpp"

namespace mdpcosim {

std::unique_ptr<remote_group> make_remote_group(const subsystem_spec& spec, bool spin) {
    if (spec.kind == subsystem_spec::source_kind::program) return std::make_unique<program_group>(spec, spin);
    return std::make_unique<subsystem_process>(process_options{spec.name, spec.limit, spin},
                                               std::vector<subsystem_text>{text_of(spec)});
}

namespace {

const source_registration process_source{{.name = "process", .make = [](const subsystem_spec& spec) {
                                              return make_remote_subsystem(make_remote_group(spec));
                                          }}};

const source_registration program_source{{.name = "program", .write_defaults = [](subsystem_spec&) { return false; }}};

}  // namespace

}  // namespace mdpcosim

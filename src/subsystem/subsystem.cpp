#include "subsystem/subsystem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace mdpcosim {

std::string element_name(const variable& v, int slot) {
    return v.size == 1 ? v.name : fmt::format("{}[{}]", v.name, slot - v.slot);
}

const char* text_kind(variable_type type) {
    if (type == variable_type::integer) return "64-bit integer";
    return type == variable_type::string ? "string" : "binary";
}

bool same_structure(const subsystem_description& a, const subsystem_description& b) {
    const auto same_input = [](const input_variable& x, const input_variable& y) {
        return x.name == y.name && x.size == y.size && x.max_degree == y.max_degree;
    };
    const auto same_output = [](const output_variable& x, const output_variable& y) {
        return x.name == y.name && x.size == y.size && x.rate_slot == y.rate_slot &&
               x.rate_needs_input == y.rate_needs_input && x.direct == y.direct &&
               x.rate_sensitivities == y.rate_sensitivities;
    };
    const auto same_text = [](const text_variable& x, const text_variable& y) {
        return x.name == y.name && x.type == y.type;
    };
    return std::ranges::equal(a.inputs, b.inputs, same_input) &&
           std::ranges::equal(a.outputs, b.outputs, same_output) &&
           std::ranges::equal(a.text_inputs, b.text_inputs, same_text) &&
           std::ranges::equal(a.text_outputs, b.text_outputs, same_text);
}

void subsystem::advance_and_follow(const macro_step& step, const polynomial* inputs, const double* u, double* y,
                                   bool& advanced) {
    const auto input_count = static_cast<std::size_t>(describe().input_count());
    const std::span<double> all_outputs(y, static_cast<std::size_t>(describe().output_count()));
    advance(step, {inputs, input_count}, all_outputs);
    advanced = true;
    outputs({u, input_count}, all_outputs);
}

void subsystem::rate_sensitivities(std::span<const double>, int, std::span<double> by_output) {
    std::ranges::fill(by_output, std::numeric_limits<double>::quiet_NaN());
}

std::vector<std::byte> to_bytes(snapshot& s) {
    state_bytes bytes;
    bytes.write();
    s.state(bytes);
    return std::move(bytes.bytes());
}

void from_bytes(snapshot& s, const std::vector<std::byte>& bytes) {
    state_bytes reader;
    reader.bytes() = bytes;
    reader.read();
    s.state(reader);
    reader.finish();
}

// Who calls these has asked offers() before: they are reached by a programming error only.

std::unique_ptr<snapshot> subsystem::make_snapshot() const { throw std::logic_error("no save/restore"); }

void subsystem::save(snapshot&) { throw std::logic_error("no save/restore"); }

void subsystem::restore(const snapshot&) { throw std::logic_error("no save/restore"); }

void subsystem::reset() { throw std::logic_error("no second start"); }

void subsystem::tune(int, double) { throw std::logic_error("no parameters"); }

void subsystem::set_text(int, std::string_view) { throw std::logic_error("no texts"); }

void subsystem::get_text(int, std::string&) { throw std::logic_error("no texts"); }

}  // namespace mdpcosim

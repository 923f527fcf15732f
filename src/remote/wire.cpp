#include "remote/wire.hpp"

#include "core/error.hpp"

namespace mdpcosim {

void wire_writer::grow(std::size_t size) { bytes_.resize(std::max(2 * bytes_.size(), used_ + size)); }

void wire_writer::put(const std::string& text) {
    put(text.size());
    put_bytes(text.data(), text.size());
}

void wire_writer::put(const std::vector<int>& values) {
    put(values.size());
    for (const int value : values) put(value);
}

void wire_reader::cut_short() { throw run_error("a message of another process is cut short"); }

std::size_t wire_reader::get_count(std::size_t least_bytes) {
    const auto count = get<std::size_t>();
    if (count > rest_.size() / least_bytes) cut_short();
    return count;
}

std::string wire_reader::get_text() {
    std::string text(get_count(1), '\0');
    take(text.data(), text.size());
    return text;
}

std::vector<int> wire_reader::get_numbers() {
    std::vector<int> values(get_count(sizeof(int)));
    for (int& value : values) value = get<int>();
    return values;
}

namespace {

// Bytes of a variable, a port and a parameter without any text: what is announced must fit into what has come.
constexpr std::size_t least_variable = 50, least_port = 60, least_parameter = 17, least_text = 20;

void put_variable(wire_writer& to, const variable& v) {
    to.put(v.name);
    to.put(v.unit);
    to.put(v.description);
    to.put(v.type);
    to.put(v.size);
    to.put(v.slot);
    to.put(v.sampled);
    to.put(v.clock);
}

void get_variable(wire_reader& from, variable& v) {
    v.name = from.get_text();
    v.unit = from.get_text();
    v.description = from.get_text();
    v.type = from.get<variable_type>();
    v.size = from.get<int>();
    v.slot = from.get<int>();
    v.sampled = from.get<bool>();
    v.clock = from.get<bool>();
}

void put_texts(wire_writer& to, const std::vector<text_variable>& all) {
    to.put(all.size());
    for (const auto& v : all) {
        to.put(v.name);
        to.put(v.description);
        to.put(v.type);
    }
}

void get_texts(wire_reader& from, std::vector<text_variable>& all) {
    all.resize(from.get_count(least_text));
    for (auto& v : all) {
        v.name = from.get_text();
        v.description = from.get_text();
        v.type = from.get<variable_type>();
    }
}

}  // namespace

void put(wire_writer& to, const subsystem_description& d) {
    to.put(d.type);
    to.put(d.inputs.size());
    for (const auto& v : d.inputs) {
        put_variable(to, v);
        to.put(v.max_degree);
        to.put(v.start);
    }
    to.put(d.outputs.size());
    for (const auto& v : d.outputs) {
        put_variable(to, v);
        to.put(v.rate_slot);
        to.put(v.rate_needs_input);
        to.put(v.direct);
        to.put(v.rate_sensitivities);
        to.put(v.display.unit);
        to.put(v.display.factor);
        to.put(v.display.offset);
    }
    to.put(d.ports.size());
    for (const auto& p : d.ports) {
        to.put(p.name);
        to.put(p.kind);
        to.put(p.causality);
        to.put(p.motion);
        to.put(p.load);
        to.put(p.load_integral);
        to.put(p.description);
        to.put(p.motion_slots);
        to.put(p.load_slots);
    }
    put_texts(to, d.text_inputs);
    put_texts(to, d.text_outputs);
    to.put(d.parameters.size());
    for (const auto& p : d.parameters) {
        to.put(p.name);
        to.put(p.list);
        to.put(p.values.size());
        for (const auto& value : p.values) to.put(value);
    }
}

subsystem_description get_description(wire_reader& from) {
    subsystem_description d;
    d.type = from.get_text();
    d.inputs.resize(from.get_count(least_variable));
    for (auto& v : d.inputs) {
        get_variable(from, v);
        v.max_degree = from.get<int>();
        v.start = from.get<double>();
    }
    d.outputs.resize(from.get_count(least_variable));
    for (auto& v : d.outputs) {
        get_variable(from, v);
        v.rate_slot = from.get<int>();
        v.rate_needs_input = from.get<bool>();
        v.direct = from.get_numbers();
        v.rate_sensitivities = from.get<bool>();
        v.display.unit = from.get_text();
        v.display.factor = from.get<double>();
        v.display.offset = from.get<double>();
    }
    d.ports.resize(from.get_count(least_port));
    for (auto& p : d.ports) {
        p.name = from.get_text();
        p.kind = from.get<port_kind>();
        p.causality = from.get<causality>();
        p.motion = from.get<std::array<int, 3>>();
        p.load = from.get<int>();
        p.load_integral = from.get<int>();
        p.description = from.get_text();
        p.motion_slots = from.get_numbers();
        p.load_slots = from.get_numbers();
    }
    get_texts(from, d.text_inputs);
    get_texts(from, d.text_outputs);
    d.parameters.resize(from.get_count(least_parameter));
    for (auto& p : d.parameters) {
        p.name = from.get_text();
        p.list = from.get<bool>();
        p.values.resize(from.get_count(sizeof(std::size_t)));
        for (auto& value : p.values) value = from.get_text();
    }
    return d;
}

void put(wire_writer& to, const capabilities& c) {
    to.put(c.save_restore);
    to.put(c.rate_sensitivities);
    to.put(c.chooses_step);
    to.put(c.tells_next_event);
    to.put(c.starts_again);
    to.put(c.hidden_steps);
    to.put(c.events_at_points);
    to.put(c.why_no_save_restore);
    to.put(c.why_no_bytes);
    to.put(c.why_fixed_step);
    to.put(c.port_stiffness.size());
    for (const double stiffness : c.port_stiffness) to.put(stiffness);
    to.put(c.parameters.size());
    for (const auto& p : c.parameters) {
        to.put(p.name);
        to.put(p.between_steps);
        to.put(p.symbol);
    }
}

capabilities get_capabilities(wire_reader& from) {
    capabilities c;
    c.save_restore = from.get<bool>();
    c.rate_sensitivities = from.get<bool>();
    c.chooses_step = from.get<bool>();
    c.tells_next_event = from.get<bool>();
    c.starts_again = from.get<bool>();
    c.hidden_steps = from.get<bool>();
    c.events_at_points = from.get<bool>();
    c.why_no_save_restore = from.get_text();
    c.why_no_bytes = from.get_text();
    c.why_fixed_step = from.get_text();
    c.port_stiffness.resize(from.get_count(sizeof(double)));
    for (double& stiffness : c.port_stiffness) stiffness = from.get<double>();
    c.parameters.resize(from.get_count(least_parameter));
    for (auto& p : c.parameters) {
        p.name = from.get_text();
        p.between_steps = from.get<bool>();
        p.symbol = from.get_text();
    }
    return c;
}

}  // namespace mdpcosim

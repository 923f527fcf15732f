#include "remote/program_frames.hpp"

#include "core/error.hpp"

namespace mdpcosim {

namespace {

enum class message : char { question = first_program_message, declaration, refusal };

// Bytes of a variable and of a port without any text: what is announced must fit into what has come.
constexpr std::size_t least_declared_variable = 60, least_declared_port = 40;

void finish(const wire_reader& from) {
    if (!from.empty()) throw run_error("a message of a program that does not fit came");
}

void put_numbers(wire_writer& to, const std::vector<double>& numbers) {
    to.put(numbers.size());
    to.put_bytes(numbers.data(), numbers.size() * sizeof(double));
}

std::vector<double> get_numbers(wire_reader& from) {
    std::vector<double> numbers(from.get_count(sizeof(double)));
    from.take(numbers.data(), numbers.size() * sizeof(double));
    return numbers;
}

void put_variables(wire_writer& to, const std::vector<program_variable>& variables) {
    to.put(variables.size());
    for (const auto& v : variables) {
        for (const auto* text : {&v.name, &v.unit, &v.description, &v.rate, &v.direct}) to.put(*text);
        to.put(v.size);
        to.put(v.max_degree);
        to.put(v.start);
        to.put(v.type);
    }
}

std::vector<program_variable> get_variables(wire_reader& from) {
    std::vector<program_variable> variables(from.get_count(least_declared_variable));
    for (auto& v : variables) {
        for (auto* text : {&v.name, &v.unit, &v.description, &v.rate, &v.direct}) *text = from.get_text();
        v.size = from.get<int>();
        v.max_degree = from.get<int>();
        v.start = from.get<double>();
        v.type = from.get<variable_type>();
    }
    return variables;
}

program_question get_question(wire_reader& from) {
    program_question q;
    for (auto* text : {&q.name, &q.unit, &q.description, &q.text}) *text = from.get_text();
    q.form = from.get<program_question::kind>();
    q.required = from.get<bool>();
    q.numbers = get_numbers(from);
    if (q.form < program_question::kind{} || q.form > program_question::kind::list ||
        (q.form == program_question::kind::number && q.numbers.size() != 1))
        throw run_error("a message of a program that does not fit came");
    return q;
}

program_declaration get_declaration(wire_reader& from) {
    program_declaration d;
    d.inputs = get_variables(from);
    d.outputs = get_variables(from);
    d.ports.resize(from.get_count(least_declared_port));
    for (auto& p : d.ports)
        for (auto* text : {&p.name, &p.kind, &p.causality, &p.variables, &p.description}) *text = from.get_text();
    d.sampled = from.get<bool>();
    d.saves = from.get<bool>();
    d.tunable.resize(from.get_count(sizeof(std::size_t)));
    for (auto& name : d.tunable) name = from.get_text();
    return d;
}

}  // namespace

void put(wire_writer& to, const program_question& q) {
    to.put(message::question);
    for (const auto* text : {&q.name, &q.unit, &q.description, &q.text}) to.put(*text);
    to.put(q.form);
    to.put(q.required);
    put_numbers(to, q.numbers);
}

void put(wire_writer& to, const program_declaration& d) {
    to.put(message::declaration);
    put_variables(to, d.inputs);
    put_variables(to, d.outputs);
    to.put(d.ports.size());
    for (const auto& p : d.ports)
        for (const auto* text : {&p.name, &p.kind, &p.causality, &p.variables, &p.description}) to.put(*text);
    to.put(d.sampled);
    to.put(d.saves);
    to.put(d.tunable.size());
    for (const auto& name : d.tunable) to.put(name);
}

void put(wire_writer& to, const program_refusal& refusal) {
    to.put(message::refusal);
    to.put(refusal.reason);
}

std::variant<program_question, program_declaration, program_refusal> get_program_message(std::span<const char> frame) {
    wire_reader from(frame);
    std::variant<program_question, program_declaration, program_refusal> said;
    switch (from.get<message>()) {
        case message::question:
            said = get_question(from);
            break;
        case message::declaration:
            said = get_declaration(from);
            break;
        case message::refusal:
            said = program_refusal{from.get_text()};
            break;
        default:
            throw run_error("a message of a program that does not fit came");
    }
    finish(from);
    return said;
}

void put(wire_writer& to, const program_answer& answer) {
    put_numbers(to, answer.numbers);
    to.put(answer.text);
}

program_answer get_program_answer(std::span<const char> frame) {
    wire_reader from(frame);
    program_answer answer;
    answer.numbers = get_numbers(from);
    answer.text = from.get_text();
    finish(from);
    return answer;
}

}  // namespace mdpcosim

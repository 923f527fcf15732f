#include "remote/frames.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "core/error.hpp"

namespace mdpcosim {

void misfit(const char* kind) { throw run_error(fmt::format("a {} that does not fit came", kind)); }

namespace {

constexpr std::uint64_t magic = 0x6d64'7063'6f73'696d;  // "mdpcosim"; another order of bytes does not match
enum class outcome : char { made, user_mistake, failure };

void finish(const wire_reader& from, const char* kind) {
    if (!from.empty()) misfit(kind);
}

/// As it travels, without gaps: a macro step is a matter of nanoseconds, and one piece is put and taken faster than eight.
struct [[gnu::packed]] request_head {
    remote_command command;
    std::int32_t subsystem;
    double t0, begin, end;
    std::int64_t counter;
    std::int32_t number, level;
    char timed;
};

template <class T>
void put_all(wire_writer& to, std::span<T> values) {
    to.put_bytes(values.data(), values.size_bytes());
}

template <class T>
void get_all(wire_reader& from, std::span<T> values) {
    from.take(values.data(), values.size_bytes());
}

void put_piece(wire_writer& to, const state_piece& piece) {
    to.put(piece.at);
    to.put(piece.total);
    to.put(piece.size);
    to.put_bytes(piece.bytes.data(), piece.size);
}

void get_piece(wire_reader& from, state_piece& piece) {
    piece.at = from.get<std::uint64_t>();
    piece.total = from.get<std::uint64_t>();
    piece.size = from.get<std::uint32_t>();
    if (piece.size > state_piece::largest) misfit("piece of a state or text");
    from.take(piece.bytes.data(), piece.size);
}

constexpr int most_slots = 10'000'000;  // a number that is merely wrong should not use up the memory

/// Slots that overlap or lie outside would be read as memory: a description from elsewhere is checked as a whole.
template <class Variable>
void check_slots(const std::vector<Variable>& variables) {
    int next = 0;
    for (const auto& v : variables) {
        if (v.type < variable_type{} || v.type > variable_type::boolean) misfit("description");
        if (v.slot != next || v.size < 1 || v.size > most_slots - next) misfit("description");
        next += v.size;
    }
}

void check(const remote_member& m) {
    const auto& d = m.description;
    check_slots(d.inputs);
    check_slots(d.outputs);
    const auto in = [](int slot, int count) { return slot >= -1 && slot < count; };
    for (const auto& v : d.inputs)
        if (v.max_degree < 0 || v.max_degree > max_degree) misfit("description");
    for (const auto& v : d.outputs) {
        if (!in(v.rate_slot, d.output_count())) misfit("description");
        for (const int slot : v.direct)
            if (slot < 0 || !in(slot, d.input_count())) misfit("description");
    }
    for (const auto& p : d.ports) {
        if (p.kind < port_kind{} || p.kind > port_kind::signal || p.causality < causality{} ||
            p.causality > causality::takes_motion)
            misfit("description");
        const bool load = p.causality == causality::takes_load;
        for (const int slot : p.motion)
            if (!in(slot, load ? d.output_count() : d.input_count())) misfit("description");
        if (!in(p.load, load ? d.input_count() : d.output_count()) || !in(p.load_integral, d.output_count()))
            misfit("description");
        const bool frame = p.kind == port_kind::frame;
        if (p.motion_slots.size() != (frame ? frame_motion::count : 0u) ||
            p.load_slots.size() != (frame ? frame_load_count : 0u))
            misfit("description");
        for (const int slot : p.motion_slots)
            if (!in(slot, d.output_count())) misfit("description");
        for (const int slot : p.load_slots)
            if (!in(slot, d.input_count())) misfit("description");
    }
    for (const auto* texts : {&d.text_inputs, &d.text_outputs})
        for (const text_variable& v : *texts)
            if (v.type == variable_type::real || v.type == variable_type::boolean) misfit("description");
    if (!m.offers.port_stiffness.empty() && m.offers.port_stiffness.size() != d.ports.size()) misfit("description");
}

}  // namespace

void put(wire_writer& to, const remote_hello& hello) {
    to.put(magic);
    to.put(protocol_version);
    to.put(hello.name);
    to.put(hello.fingerprint);
    to.put(hello.challenge);
}

remote_hello get_hello(std::span<const char> frame) {
    wire_reader from(frame);
    if (from.get<std::uint64_t>() != magic) throw run_error("it does not speak mdpcosim's protocol");
    if (const auto version = from.get<std::uint32_t>(); version != protocol_version)
        throw run_error(
            fmt::format("it speaks version {} of the protocol, this program version {}", version, protocol_version));
    remote_hello hello;
    hello.name = from.get_text();
    hello.fingerprint = from.get<std::uint64_t>();
    hello.challenge = from.get<digest>();
    finish(from, "greeting");
    return hello;
}

// A refusal is read by every version.
void put(wire_writer& to, const master_word& word) {
    to.put(magic);
    to.put(word.refusal);
    if (!word.refusal.empty()) return;
    to.put(word.welcome);
    to.put(word.value);
}

master_word get_master_word(std::span<const char> frame) {
    wire_reader from(frame);
    if (from.get<std::uint64_t>() != magic) throw run_error("it does not speak mdpcosim's protocol");
    master_word word{.refusal = from.get_text()};
    if (word.refusal.empty()) {
        word.welcome = from.get<bool>();
        word.value = from.get<digest>();
    }
    finish(from, "word of a master");
    return word;
}

digest proof_of(prover who, const std::string& token, const remote_hello& hello, const digest& masters_challenge) {
    wire_writer said;
    said.put(std::string(who == prover::master ? "mdpcosim master" : "mdpcosim subsystem"));
    said.put(masters_challenge);
    put(said, hello);
    const auto bytes = [](std::span<const char> all) {
        return std::span(reinterpret_cast<const std::uint8_t*>(all.data()), all.size());
    };
    return hmac_sha256(bytes(token), bytes(said.bytes()));
}

void put_proof(wire_writer& to, const digest& proof) {
    to.put(magic);
    to.put(proof);
}

digest get_proof(std::span<const char> frame) {
    wire_reader from(frame);
    if (from.get<std::uint64_t>() != magic) throw run_error("it does not speak mdpcosim's protocol");
    const auto proof = from.get<digest>();
    finish(from, "proof");
    return proof;
}

void put_introduction(wire_writer& to, std::span<const remote_member> members) {
    to.put(outcome::made);
    to.put(members.size());
    for (const auto& m : members) {
        put(to, m.description);
        put(to, m.offers);
    }
}

void put_refusal(wire_writer& to, bool user_mistake, const std::string& reason) {
    to.put(user_mistake ? outcome::user_mistake : outcome::failure);
    to.put(reason);
}

std::vector<remote_member> get_introduction(std::span<const char> frame, std::size_t count) {
    wire_reader from(frame);
    const auto result = from.get<outcome>();
    if (result == outcome::user_mistake) throw user_error(from.get_text());
    if (result == outcome::failure) throw run_error(from.get_text());
    if (result != outcome::made || from.get<std::size_t>() != count) misfit("introduction");
    std::vector<remote_member> members(count);
    for (auto& m : members) {
        m.description = get_description(from);
        m.offers = get_capabilities(from);
        check(m);
    }
    finish(from, "introduction");
    return members;
}

void put_request(wire_writer& to, const exchange& from) {
    const remote_request& r = from.top().request;
    to.put(request_head{r.command, r.subsystem, r.t0, r.step.begin, r.step.end, r.step.counter, r.number, r.level,
                        r.timed});
    const bool advances = from.advances();
    for (auto [i, end] = from.addressed(); i < end; ++i) {
        if (r.command == remote_command::expect) {
            put_all(to, from.needed(i));
            put_all(to, from.driven(i));
            to.put(from.expected(i).outputs_follow);
            to.put(from.expected(i).next_event);
            to.put(from.expected(i).goes_back);
            to.put(from.expected(i).end);
            to.put(from.expected(i).step);
        }
        if (wants_piece(r.command)) to.put(from.top().piece.at);
        if (brings_piece(r.command)) put_piece(to, from.top().piece);
        if (r.command == remote_command::outputs || r.command == remote_command::rate_sensitivities)
            put_all(to, from.inputs(i));
        if (!advances) continue;
        for (const polynomial& p : from.polynomials(i)) {
            to.put(p.degree);
            put_all(to, std::span(p.c).first(static_cast<std::size_t>(p.degree) + 1));
        }
    }
    for (const group_plan::item& e : from.evaluated())
        if (e.given) put_all(to, from.inputs(static_cast<std::size_t>(e.member)));
}

void get_request(std::span<const char> frame, exchange& to) {
    wire_reader from(frame);
    const auto head = from.get<request_head>();
    const remote_request r{head.command, head.subsystem,  head.t0,   {head.begin, head.end, head.counter},
                           head.number,  head.timed != 0, head.level};
    constexpr std::int32_t most_snapshots = 1'000'000;
    if (r.command < remote_command{} || r.command > remote_command::quit || r.subsystem < -1 ||
        r.subsystem >= static_cast<std::int32_t>(to.members()) || r.number < 0 || r.number >= most_snapshots)
        misfit("request");
    to.top().request = r;
    if (r.command == remote_command::carry_out && to.present_plan() == nullptr) misfit("request");
    const bool advances = to.advances();
    for (auto [i, end] = to.addressed(); i < end; ++i) {
        if (r.command == remote_command::expect) {
            get_all(from, to.needed(i));
            get_all(from, to.driven(i));
            to.expected(i).outputs_follow = from.get<bool>();
            to.expected(i).next_event = from.get<bool>();
            to.expected(i).goes_back = from.get<bool>();
            to.expected(i).end = from.get<double>();
            to.expected(i).step = from.get<double>();
        }
        if (wants_piece(r.command)) to.top().piece.at = from.get<std::uint64_t>();
        if (brings_piece(r.command)) get_piece(from, to.top().piece);
        const bool derivatives = r.command == remote_command::rate_sensitivities;
        if (derivatives && static_cast<std::size_t>(r.number) >= to.inputs(i).size()) misfit("request");
        if (r.command == remote_command::outputs || derivatives) get_all(from, to.inputs(i));
        if (!advances) continue;
        for (polynomial& p : to.polynomials(i)) {
            const int degree = from.get<int>();
            if (degree < 0 || degree > max_degree) misfit("request");
            p.degree = degree;
            get_all(from, std::span(p.c).first(static_cast<std::size_t>(degree) + 1));
        }
    }
    for (const group_plan::item& e : to.evaluated())
        if (e.given) get_all(from, to.inputs(static_cast<std::size_t>(e.member)));
    finish(from, "request");
}

void put_reply(wire_writer& to, const exchange& from) {
    const auto& top = from.top();
    const remote_request& r = top.request;
    const bool advances = from.advances(), moves = from.moves();
    to.put(top.failed);
    if (top.failed >= 0) to.put(std::string(top.message.data()));
    if (r.command == remote_command::carry_out)
        to.put(top.in_evaluation);  // what comes before the failure is of use
    else if (top.failed >= 0)
        return;
    if (advances) to.put(top.noticed);
    if (wants_piece(r.command)) put_piece(to, top.piece);
    for (auto [i, end] = from.addressed(); i < end; ++i) {
        if (advances && top.noticed) {
            to.put(from.report(i).notice.first_event);
            to.put(from.report(i).notice.ask_to_end);
        }
        if (moves && from.expected(i).next_event) to.put(from.report(i).next_event);
        if (r.command == remote_command::outputs || advances) put_all(to, from.outputs(i));
        if (r.command == remote_command::rate_sensitivities) put_all(to, from.derivatives(i));
        if (r.command == remote_command::statistics) {
            to.put(from.report(i).statistics);
            to.put(from.report(i).cpu_seconds);
            to.put(from.report(i).next_step);
        }
        if (!r.timed) continue;
        to.put(from.report(i).begin);
        to.put(from.report(i).end);
    }
    if (advances) return;
    for (const group_plan::item& e : from.evaluated()) put_all(to, from.outputs(static_cast<std::size_t>(e.member)));
}

namespace {

void get_done(wire_reader& from, exchange& to) {
    const remote_request& r = to.top().request;
    const bool advances = to.advances(), moves = to.moves();
    if (advances) to.top().noticed = from.get<bool>();
    if (wants_piece(r.command)) {
        const std::uint64_t asked = to.top().piece.at;
        get_piece(from, to.top().piece);
        if (to.top().piece.at != asked) misfit("piece of a state or text");
    }
    for (auto [i, end] = to.addressed(); i < end; ++i) {
        if (advances && to.top().noticed) {
            to.report(i).notice.first_event = from.get<double>();
            to.report(i).notice.ask_to_end = from.get<bool>();
        }
        if (moves && to.expected(i).next_event) to.report(i).next_event = from.get<double>();
        if (r.command == remote_command::outputs || advances) get_all(from, to.outputs(i));
        if (r.command == remote_command::rate_sensitivities) get_all(from, to.derivatives(i));
        if (r.command == remote_command::statistics) {
            to.report(i).statistics = from.get<subsystem_statistics>();
            to.report(i).cpu_seconds = from.get<double>();
            to.report(i).next_step = from.get<double>();
        }
        if (!r.timed) continue;
        to.report(i).begin = from.get<double>();
        to.report(i).end = from.get<double>();
    }
    if (advances) return;
    for (const group_plan::item& e : to.evaluated()) get_all(from, to.outputs(static_cast<std::size_t>(e.member)));
}

}  // namespace

void get_reply(std::span<const char> frame, exchange& to) {
    wire_reader from(frame);
    const auto failed = from.get<std::int32_t>();
    if (failed < -1 || failed >= static_cast<std::int32_t>(to.members())) misfit("reply");
    to.top().failed = -1;
    if (failed >= 0) to.fail(static_cast<std::size_t>(failed), from.get_text().c_str());
    const bool by_plan = to.top().request.command == remote_command::carry_out;
    to.top().in_evaluation = by_plan && from.get<bool>();
    if (failed < 0 || by_plan) get_done(from, to);
    finish(from, "reply");
    check_reply(to);
}

namespace {

/// Counts that add up without running over, and seconds.
bool sound(const remote_report& told) {
    constexpr std::int64_t most = std::int64_t{1} << 52;
    const auto& s = told.statistics;
    for (const std::int64_t count :
         {s.micro_steps, s.evaluations, s.rejected, s.events, s.newton_iterations, s.factorisations})
        if (count < 0 || count > most) return false;
    return std::isfinite(told.cpu_seconds) && told.cpu_seconds >= 0 && !std::isnan(told.next_step);
}

}  // namespace

void check_reply(const exchange& of) {
    const auto& top = of.top();
    if (top.failed < -1 || top.failed >= static_cast<std::int32_t>(of.members())) misfit("reply");
    if (top.failed >= 0) return;
    const bool advances = of.advances(), moves = of.moves();
    for (auto [i, end] = of.addressed(); i < end; ++i) {
        const remote_report& told = of.report(i);
        if (top.request.command == remote_command::statistics && !sound(told)) misfit("reply");
        if (advances && top.noticed && std::isnan(told.notice.first_event)) misfit("reply");
        if (moves && of.expected(i).next_event && std::isnan(told.next_event)) misfit("reply");
    }
}

}  // namespace mdpcosim

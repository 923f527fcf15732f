#include "program/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/cpu_time.hpp"
#include "core/error.hpp"

namespace mdpcosim {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

void session::check_declaring() const {
    if (stage_ != stage::declaring) throw run_error("declarations come before run and receive");
}

std::vector<double> session::numbers(program_question question) {
    check_declaring();
    std::vector<double> told = link_.ask(question).numbers;
    if (told.empty()) throw run_error(fmt::format("mdpcosim has no value of '{}'", question.name));
    return told;
}

const char* session::text(const program_question& question) {
    check_declaring();
    return texts_.emplace_back(link_.ask(question).text).c_str();
}

int session::add_tunable(program_question question) {
    declared_.tunable.push_back(question.name);
    tunable_.push_back(numbers(std::move(question)).front());
    return static_cast<int>(tunable_.size()) - 1;
}

double session::tunable(int number) const {
    if (number < 0 || static_cast<std::size_t>(number) >= tunable_.size())
        throw run_error(fmt::format("there is no tunable number {}; there are {}", number, tunable_.size()));
    return tunable_[static_cast<std::size_t>(number)];
}

int session::add(std::vector<program_variable>& to, int& count, program_variable v) {
    check_declaring();
    if (v.size < 1) throw user_error(fmt::format("'{}' has {} elements; 1 is the least.", v.name, v.size));
    const int number = count;
    count += v.size;
    to.push_back(std::move(v));
    return number;
}

int session::add_text_input(program_variable v) {
    check_declaring();
    declared_text_inputs_.push_back(std::move(v));
    text_inputs_.emplace_back();
    return static_cast<int>(text_inputs_.size()) - 1;
}

int session::add_text_output(program_variable v) {
    check_declaring();
    declared_text_outputs_.push_back(std::move(v));
    text_outputs_.emplace_back();
    return static_cast<int>(text_outputs_.size()) - 1;
}

namespace {

std::size_t check_text(int number, std::size_t count, const char* kind) {
    if (number < 0 || static_cast<std::size_t>(number) >= count)
        throw run_error(fmt::format("there is no text {} number {}; there are {}", kind, number, count));
    return static_cast<std::size_t>(number);
}

}  // namespace

const std::string& session::text_input(int number) const {
    return text_inputs_[check_text(number, text_inputs_.size(), "input")];
}

void session::set_text_output(int number, std::string text) {
    text_outputs_[check_text(number, text_outputs_.size(), "output")] = std::move(text);
}

void session::carry_text(const remote_request& request) {
    exchange& areas = link_.areas();
    if (request.command == remote_command::get_text) {
        const std::string& text = text_outputs_[check_text(request.number, text_outputs_.size(), "output")];
        return areas.give_piece(std::as_bytes(std::span(text)));
    }
    std::string& text = text_inputs_[check_text(request.number, text_inputs_.size(), "input")];
    std::vector<std::byte>& bytes = travelling_.bytes();
    if (areas.take_piece(bytes)) text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

program_variable& session::variable(std::vector<program_variable>& in, int number, const char* kind) {
    check_declaring();
    int first = 0;
    for (auto& v : in) {
        if (number >= first && number < first + v.size) return v;
        first += v.size;
    }
    throw user_error(fmt::format("there is no {} number {}; numbers are those that were returned, 0 to {}.", kind,
                                 number, first - 1));
}

void session::add_direct(int output_number, int input_number) {
    output(output_number).direct += " " + input(input_number).name;
    asks_for_outputs_ = true;
}

void session::add_port(program_port port) {
    check_declaring();
    declared_.ports.push_back(std::move(port));
}

void session::set_sampled() {
    check_declaring();
    declared_.sampled = true;
}

const polynomial& session::polynomial_of(int number) const {
    if (number < 0 || number >= input_count_)
        throw run_error(fmt::format("there is no input number {}; there are {}", number, input_count_));
    if (inputs_.empty()) throw run_error("inputs have values in run and after receive only");
    return inputs_[static_cast<std::size_t>(number)];
}

double* session::output_at(int number) {
    if (number < 0 || number >= output_count_)
        throw run_error(fmt::format("there is no output number {}; there are {}", number, output_count_));
    if (outputs_.size() < static_cast<std::size_t>(output_count_))
        outputs_.resize(static_cast<std::size_t>(output_count_));
    return &outputs_[static_cast<std::size_t>(number)];
}

void session::begin_work(bool saves) {
    declared_.saves = saves;
    inputs_.resize(static_cast<std::size_t>(input_count_));
    outputs_.resize(static_cast<std::size_t>(output_count_));
    const auto append = [](const std::vector<program_variable>& texts, std::vector<program_variable>& to) {
        to.insert(to.end(), texts.begin(), texts.end());
    };
    append(declared_text_inputs_, declared_.inputs);
    append(declared_text_outputs_, declared_.outputs);
    link_.declare(declared_);
    stage_ = stage::idle;
}

void session::take_request() {
    link_.next();
    stage_ = stage::working;
    link_.areas().top().failed = -1;
    link_.areas().top().noticed = false;
    const remote_request& r = link_.areas().top().request;
    if (r.command == remote_command::set_text || r.command == remote_command::get_text) carry_text(r);
    if (r.command == remote_command::tune) tunable_.at(static_cast<std::size_t>(r.number)) = r.t0;
    if (link_.areas().top().request.timed) link_.areas().report(0).begin = now();
}

void session::reply() {
    exchange& areas = link_.areas();
    std::ranges::copy(outputs_, areas.outputs(0).begin());
    if (areas.top().request.timed) areas.report(0).end = now();
    stage_ = areas.top().request.command == remote_command::quit ? stage::over : stage::idle;
    link_.reply();
}

/// The inputs of a request for outputs or for a step.
void session::set_inputs() {
    const exchange& areas = link_.areas();
    const remote_request& r = areas.top().request;
    if (r.command == remote_command::advance) {
        std::ranges::copy(areas.polynomials(0), inputs_.begin());
        for (auto& p : inputs_) std::fill(p.c.begin() + p.degree + 1, p.c.end(), 0.0);
        begin_ = r.step.begin;
        return;
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        inputs_[i] = {};
        inputs_[i].c[0] = areas.inputs(0)[i];
    }
    begin_ = time_;
}

void session::fail(const std::string& reason) {
    switch (stage_) {
        case stage::declaring:
            link_.refuse(reason);
            break;
        case stage::working:
            link_.areas().fail(0, reason.c_str());
            reply();
            break;
        case stage::idle:
            std::fprintf(stderr, "%s\n", reason.c_str());
            break;
        case stage::over:
            return;
    }
    stage_ = stage::over;
}

int session::receive(double* begin, double* end) {
    if (stage_ == stage::declaring) begin_work(false);
    if (stage_ == stage::working) throw run_error("receive was called twice, without send between");
    while (stage_ != stage::over) {
        take_request();
        const remote_request r = link_.areas().top().request;
        if (r.command == remote_command::initialise) time_ = r.t0;
        if (r.command == remote_command::statistics) give_statistics();
        const bool step = r.command == remote_command::advance;
        if (step || (r.command == remote_command::outputs && asks_for_outputs_)) {
            set_inputs();
            if (begin != nullptr) *begin = begin_;
            if (end != nullptr) *end = step ? r.step.end : begin_;
            return step ? MDPCOSIM_SUBSYSTEM_STEP : MDPCOSIM_SUBSYSTEM_OUTPUTS;
        }
        reply();
    }
    return MDPCOSIM_SUBSYSTEM_END;
}

void session::send() {
    if (stage_ != stage::working) throw run_error("send was called without a receive before it");
    const remote_request& r = link_.areas().top().request;
    if (r.command == remote_command::advance) {
        time_ = r.step.end;
        ++steps_;
    }
    reply();
}

void session::run(const mdpcosim_subsystem_calls& calls, void* own) {
    const bool saves = calls.save_size != nullptr && calls.save != nullptr && calls.restore != nullptr;
    if (calls.advance == nullptr) throw user_error("function 'advance' is missing.");
    if (output_count_ > 0 && calls.outputs == nullptr)
        throw user_error("function 'outputs' is missing: outputs are declared.");
    if (!saves && (calls.save_size != nullptr || calls.save != nullptr || calls.restore != nullptr))
        throw user_error("'save_size', 'save' and 'restore' come together.");
    begin_work(saves);
    while (stage_ != stage::over) {
        take_request();
        carry_out(calls, own);
        if (stage_ == stage::working) reply();
    }
}

namespace {

void expect_success(const char* function, int status) {
    if (status != 0) throw run_error(fmt::format("its function '{}' returned {}", function, status));
}

}  // namespace

void session::give_outputs(const mdpcosim_subsystem_calls& calls, void* own) {
    if (calls.outputs != nullptr) expect_success("outputs", calls.outputs(own, time_));
}

void session::give_statistics() {
    link_.areas().report(0).statistics.micro_steps = steps_;
    link_.areas().report(0).cpu_seconds = process_cpu_seconds();
}

session::saved_state& session::saved(std::int32_t number) {
    if (saved_.size() <= static_cast<std::size_t>(number)) saved_.resize(static_cast<std::size_t>(number) + 1);
    saved_state& s = saved_[static_cast<std::size_t>(number)];
    s.text_inputs.resize(text_inputs_.size());
    s.text_outputs.resize(text_outputs_.size());
    return s;
}

void session::carry_state(const remote_request& request) {
    exchange& areas = link_.areas();
    saved_state& s = saved(request.number);
    if (request.command == remote_command::write_state) {
        if (areas.top().piece.at == 0) {
            travelling_.write();
            s.state(travelling_);
        }
        return areas.give_piece(travelling_.bytes());
    }
    if (!areas.take_piece(travelling_.bytes())) return;
    travelling_.read();
    s.state(travelling_);
    travelling_.finish();
}

void session::carry_out(const mdpcosim_subsystem_calls& calls, void* own) {
    const remote_request r = link_.areas().top().request;
    switch (r.command) {
        case remote_command::initialise:
            time_ = r.t0;
            if (calls.initialise != nullptr) expect_success("initialise", calls.initialise(own, r.t0));
            break;
        case remote_command::outputs:
            set_inputs();
            give_outputs(calls, own);
            break;
        case remote_command::advance:
            set_inputs();
            expect_success("advance", calls.advance(own, r.step.begin, r.step.end));
            time_ = r.step.end;
            ++steps_;
            give_outputs(calls, own);
            break;
        case remote_command::make_snapshot:
        case remote_command::save: {
            if (calls.save == nullptr) throw run_error("it does not save");
            saved_state& s = saved(r.number);
            s.time = time_;
            s.text_inputs = text_inputs_;
            s.text_outputs = text_outputs_;
            s.bytes.resize(calls.save_size(own) / sizeof(std::max_align_t) + 1);
            if (r.command == remote_command::save) expect_success("save", calls.save(own, s.bytes.data()));
            break;
        }
        case remote_command::restore:
            if (calls.restore == nullptr) throw run_error("it does not restore");
            text_inputs_ = saved(r.number).text_inputs;
            text_outputs_ = saved(r.number).text_outputs;
            expect_success("restore", calls.restore(own, saved(r.number).bytes.data()));
            time_ = saved(r.number).time;
            break;
        case remote_command::write_state:
        case remote_command::read_state:
            carry_state(r);
            break;
        case remote_command::statistics:
            give_statistics();
            break;
        case remote_command::reset:
            throw run_error("it does not start again");
        case remote_command::tune:  // known already, as are texts
        case remote_command::set_text:
        case remote_command::get_text:
        case remote_command::expect:
        case remote_command::rate_sensitivities:  // it offers none
        case remote_command::clock:
        case remote_command::set_plan:  // it takes none
        case remote_command::carry_out:
        case remote_command::quit:
            break;
    }
}

}  // namespace mdpcosim

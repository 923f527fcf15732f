#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "mdpcosim/mdpcosim_subsystem.h"
#include "program/session.hpp"

namespace mdpcosim {

namespace {

/// The one subsystem of this program.
struct life {
    std::unique_ptr<session> now;
    bool failed = false;
    std::string message;
};

life& mine() {
    static life one;
    return one;
}

/// The first reason stays; the master is told as long as it listens.
void fail(const std::string& reason) noexcept {
    life& l = mine();
    if (l.failed) return;
    l.failed = true;
    try {
        l.message = reason;
        if (l.now) l.now->fail(reason);
    } catch (...) {  // it does not listen any more
    }
}

/// No exception leaves the library; `otherwise` is what the caller gets after a failure.
template <class Result, class Work>
Result attempt(Result otherwise, const Work& work) noexcept {
    life& l = mine();
    if (l.failed) return otherwise;
    try {
        if (!l.now) throw run_error("mdpcosim_subsystem_open() comes first");
        const Result result = work(*l.now);
        return l.failed ? otherwise : result;
    } catch (const std::exception& problem) {
        fail(problem.what());
    } catch (...) {
        fail("an exception of unknown type");
    }
    return otherwise;
}

template <class Work>
int done(const Work& work) noexcept {
    return attempt(-1, [&](session& s) {
        work(s);
        return 0;
    });
}

std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }

program_variable variable_of(const char* name, const char* unit, int size, const char* description) {
    program_variable v;
    v.name = text_of(name);
    v.unit = text_of(unit);
    v.description = text_of(description);
    v.size = size;
    return v;
}

program_variable text_of_type(const char* name, int type, const char* description) {
    if (type != MDPCOSIM_SUBSYSTEM_STRING && type != MDPCOSIM_SUBSYSTEM_BINARY)
        throw user_error("text '" + text_of(name) + "' is of type " + std::to_string(type) +
                         "; it must be MDPCOSIM_SUBSYSTEM_STRING or MDPCOSIM_SUBSYSTEM_BINARY.");
    program_variable v = variable_of(name, nullptr, 1, description);
    v.type = static_cast<variable_type>(type);
    return v;
}

variable_type number_type(int type) {
    if (type < MDPCOSIM_SUBSYSTEM_REAL || type > MDPCOSIM_SUBSYSTEM_BOOLEAN)
        throw user_error("the type of a number is real, integer or boolean (0 to 2), not " + std::to_string(type) +
                         ".");
    return static_cast<variable_type>(type);
}

}  // namespace

}  // namespace mdpcosim

using namespace mdpcosim;
using question = program_question::kind;

int mdpcosim_subsystem_open() {
    life& l = mine();
    if (l.now || l.failed) return l.failed ? -1 : 0;
    try {
        l.now = std::make_unique<session>();
        return 0;
    } catch (const std::exception& problem) {
        fail(problem.what());
        return -1;
    }
}

const char* mdpcosim_subsystem_name() {
    return attempt("", [](session& s) { return s.name().c_str(); });
}

double mdpcosim_subsystem_parameter(const char* name, const char* unit, double default_value, const char* description) {
    return attempt(default_value, [&](session& s) {
        return s
            .numbers({text_of(name),
                      text_of(unit),
                      text_of(description),
                      question::number,
                      std::isnan(default_value),
                      {default_value}})
            .front();
    });
}

int mdpcosim_subsystem_tunable(const char* name, const char* unit, double default_value, const char* description) {
    return attempt(-1, [&](session& s) {
        return s.add_tunable({text_of(name),
                              text_of(unit),
                              text_of(description),
                              question::number,
                              std::isnan(default_value),
                              {default_value}});
    });
}

double mdpcosim_subsystem_tunable_value(int tunable) {
    return attempt(std::nan(""), [&](session& s) { return s.tunable(tunable); });
}

const char* mdpcosim_subsystem_text(const char* name, const char* default_value, const char* description) {
    return attempt(default_value == nullptr ? "" : default_value, [&](session& s) {
        return s.text({text_of(name),
                       {},
                       text_of(description),
                       question::text,
                       default_value == nullptr,
                       {},
                       text_of(default_value)});
    });
}

int mdpcosim_subsystem_list(const char* name, const char* unit, double* values, int size, int capacity,
                            const char* description) {
    return attempt(-1, [&](session& s) {
        if (values == nullptr || size < 0 || capacity < 1 || size > capacity)
            throw user_error("list parameter '" + text_of(name) + "': " + std::to_string(size) +
                             " defaults do not fit into " + std::to_string(capacity) + " places.");
        const std::vector<double> told = s.numbers(
            {text_of(name), text_of(unit), text_of(description), question::list, size == 0, {values, values + size}});
        if (told.size() > static_cast<std::size_t>(capacity))
            throw user_error("parameter '" + text_of(name) + "' has " + std::to_string(told.size()) + " values; " +
                             std::to_string(capacity) + " are the most.");
        std::copy(told.begin(), told.end(), values);
        return static_cast<int>(told.size());
    });
}

int mdpcosim_subsystem_input(const char* name, const char* unit, int size, const char* description) {
    return attempt(-1, [&](session& s) { return s.add_input(variable_of(name, unit, size, description)); });
}

int mdpcosim_subsystem_output(const char* name, const char* unit, int size, const char* description) {
    return attempt(-1, [&](session& s) { return s.add_output(variable_of(name, unit, size, description)); });
}

int mdpcosim_subsystem_input_type(int input, int type) {
    return done([&](session& s) { s.input(input).type = number_type(type); });
}

int mdpcosim_subsystem_output_type(int output, int type) {
    return done([&](session& s) { s.output(output).type = number_type(type); });
}

int mdpcosim_subsystem_text_input(const char* name, int type, const char* description) {
    return attempt(-1, [&](session& s) { return s.add_text_input(text_of_type(name, type, description)); });
}

int mdpcosim_subsystem_text_output(const char* name, int type, const char* description) {
    return attempt(-1, [&](session& s) { return s.add_text_output(text_of_type(name, type, description)); });
}

const char* mdpcosim_subsystem_input_text(int text_input, size_t* size) {
    if (size != nullptr) *size = 0;
    return attempt("", [&](session& s) {
        const std::string& text = s.text_input(text_input);
        if (size != nullptr) *size = text.size();
        return text.c_str();
    });
}

int mdpcosim_subsystem_set_output_text(int text_output, const char* text, size_t size) {
    return done(
        [&](session& s) { s.set_text_output(text_output, text == nullptr ? std::string() : std::string(text, size)); });
}

int mdpcosim_subsystem_max_degree(int input, int degree) {
    return done([&](session& s) {
        if (degree < 0 || degree > max_degree)
            throw user_error("a degree is 0 to " + std::to_string(max_degree) + ", not " + std::to_string(degree) +
                             ".");
        s.input(input).max_degree = degree;
    });
}

int mdpcosim_subsystem_start(int input, double value) {
    return done([&](session& s) { s.input(input).start = value; });
}

int mdpcosim_subsystem_rate(int output, int rate) {
    return done([&](session& s) { s.output(output).rate = s.output(rate).name; });
}

int mdpcosim_subsystem_direct(int output, int input) {
    return done([&](session& s) { s.add_direct(output, input); });
}

int mdpcosim_subsystem_sampled() {
    return done([](session& s) { s.set_sampled(); });
}

int mdpcosim_subsystem_port(const char* name, const char* kind, const char* causality, const char* variables,
                            const char* description) {
    return done([&](session& s) {
        s.add_port({text_of(name), text_of(kind), text_of(causality), text_of(variables), text_of(description)});
    });
}

double mdpcosim_subsystem_input_at(int input, double t) {
    return attempt(0.0, [&](session& s) { return s.polynomial_of(input)(t - s.begin()); });
}

double mdpcosim_subsystem_input_after(int input, double after) {
    return attempt(0.0, [&](session& s) { return s.polynomial_of(input)(after); });
}

const double* mdpcosim_subsystem_polynomial(int input) {
    static const polynomial nothing;
    return attempt(nothing.c.data(), [&](session& s) { return s.polynomial_of(input).c.data(); });
}

int mdpcosim_subsystem_set_output(int output, double value) {
    return done([&](session& s) { *s.output_at(output) = value; });
}

int mdpcosim_subsystem_run(const mdpcosim_subsystem_calls* calls, void* own) {
    return done([&](session& s) {
        if (calls == nullptr) throw user_error("run was given no functions.");
        s.run(*calls, own);
    });
}

int mdpcosim_subsystem_receive(double* begin, double* end) {
    return attempt(-1, [&](session& s) { return s.receive(begin, end); });
}

int mdpcosim_subsystem_send() {
    return done([](session& s) { s.send(); });
}

int mdpcosim_subsystem_fail(const char* text) {
    fail(text == nullptr || *text == '\0' ? "it gave no reason" : text);
    return -1;
}

const char* mdpcosim_subsystem_message() { return mine().message.c_str(); }

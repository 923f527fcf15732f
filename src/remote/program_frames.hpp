#pragma once

#include <span>
#include <string>
#include <variant>
#include <vector>

#include "remote/wire.hpp"

/// What a program says about itself, before requests and replies begin: any number of questions for parameters, each answered at
/// once, then the declaration of all it has, answered by the size of the areas when these are ready. Names and units are as the program wrote them, not checked yet.
namespace mdpcosim {

/// The first byte of what a program says; an introduction begins with a lower one.
inline constexpr char first_program_message = 16;

struct program_question {
    std::string name, unit, description;
    enum class kind : char { number, text, list } form = kind::number;
    bool required = false;
    std::vector<double> numbers = {};  ///< the default, one number or a list
    std::string text = {};             ///< the default of a text
};

struct program_answer {
    std::vector<double> numbers = {};
    std::string text = {};
};

struct program_variable {
    std::string name, unit, description;
    int size = 1;
    int max_degree = mdpcosim::max_degree;  ///< of an input
    double start = 0;                       ///< of an input
    std::string rate;                       ///< of an output: the name of its rate
    std::string direct;                     ///< of an output: names of inputs, with blanks
    variable_type type = variable_type::real;
};

struct program_port {
    std::string name, kind, causality, variables, description;
};

struct program_declaration {
    std::vector<program_variable> inputs, outputs;
    std::vector<program_port> ports;
    bool sampled = false;
    bool saves = false;                     ///< offers save and restore
    std::vector<std::string> tunable = {};  ///< parameters that may change between steps
};

/// Instead of either: the program does not go on, since a parameter is wrong.
struct program_refusal {
    std::string reason;
};

void put(wire_writer& to, const program_question& question);
void put(wire_writer& to, const program_declaration& declaration);
void put(wire_writer& to, const program_refusal& refusal);
/// Throws run_error for what does not fit.
std::variant<program_question, program_declaration, program_refusal> get_program_message(std::span<const char> frame);

void put(wire_writer& to, const program_answer& answer);
program_answer get_program_answer(std::span<const char> frame);

}  // namespace mdpcosim

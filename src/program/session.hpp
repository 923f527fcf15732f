#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mdpcosim/mdpcosim_subsystem.h"
#include "program/master_link.hpp"

namespace mdpcosim {

/// A program's life as a subsystem, as mdpcosim_subsystem.h tells it. Throws run_error or user_error; the C functions turn that into
/// a failure that stays.
class session {
   public:
    const std::string& name() const { return link_.name(); }

    std::vector<double> numbers(program_question question);
    const char* text(const program_question& question);
    int add_tunable(program_question question);
    double tunable(int number) const;
    int add_input(program_variable v) { return add(declared_.inputs, input_count_, std::move(v)); }
    int add_output(program_variable v) { return add(declared_.outputs, output_count_, std::move(v)); }
    program_variable& input(int number) { return variable(declared_.inputs, number, "input"); }
    program_variable& output(int number) { return variable(declared_.outputs, number, "output"); }
    /// Their numbers are places among the texts.
    int add_text_input(program_variable v);
    int add_text_output(program_variable v);
    const std::string& text_input(int number) const;
    void set_text_output(int number, std::string text);
    void add_direct(int output_number, int input_number);
    void add_port(program_port port);
    void set_sampled();

    const polynomial& polynomial_of(int input_number) const;
    double begin() const { return begin_; }
    double* output_at(int output_number);

    void run(const mdpcosim_subsystem_calls& calls, void* own);
    int receive(double* begin, double* end);
    void send();
    /// Tells the master, as well as that is possible now.
    void fail(const std::string& reason);

   private:
    enum class stage { declaring, idle, working, over };
    struct saved_state {
        double time = 0;
        std::vector<std::max_align_t> bytes;
        std::vector<std::string> text_inputs, text_outputs;
        void state(state_bytes& all) { all(time, bytes, text_inputs, text_outputs); }
    };

    void check_declaring() const;
    int add(std::vector<program_variable>& to, int& count, program_variable v);
    program_variable& variable(std::vector<program_variable>& in, int number, const char* kind);
    void begin_work(bool saves);
    void take_request();
    void reply();
    void set_inputs();
    void carry_out(const mdpcosim_subsystem_calls& calls, void* own);
    void give_outputs(const mdpcosim_subsystem_calls& calls, void* own);
    void give_statistics();
    void carry_state(const remote_request& request);
    void carry_text(const remote_request& request);
    saved_state& saved(std::int32_t number);

    master_link link_;
    stage stage_ = stage::declaring;
    program_declaration declared_;
    std::vector<program_variable> declared_text_inputs_, declared_text_outputs_;
    std::vector<std::string> text_inputs_, text_outputs_;
    std::list<std::string> texts_;  ///< that stay valid
    bool asks_for_outputs_ = false;
    int input_count_ = 0, output_count_ = 0;
    std::vector<polynomial> inputs_;
    std::vector<double> outputs_;
    std::vector<double> tunable_;
    std::vector<saved_state> saved_;
    state_bytes travelling_;  ///< a saved state
    double begin_ = 0, time_ = 0;
    std::int64_t steps_ = 0;
};

}  // namespace mdpcosim

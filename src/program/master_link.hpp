#pragma once

#include <memory>
#include <string>

#include "remote/exchange.hpp"
#include "remote/frame_link.hpp"
#include "remote/program_frames.hpp"

namespace mdpcosim {

/// The way from a program to the master that started it. Whatever goes wrong is a run_error.
///
/// Call order: the constructor, ask() for parameters, declare() or refuse(), then next() and reply() in turn.
class master_link {
   public:
    /// Reads the environment; a user_error says how the program is started.
    master_link();
    ~master_link();

    const std::string& name() const { return name_; }
    program_answer ask(const program_question& question);
    void refuse(const std::string& reason);
    void declare(const program_declaration& declaration);

    exchange& areas() { return areas_; }
    /// Waits for the next request, which is then in areas().
    void next();
    void reply();

   private:
    void read_files(const char* files);
    program_answer converse();
    void look_after_master();

    std::string name_;
    std::unique_ptr<frame_link> link_;
    file_handle memory_file_;
    int socket_ = -1;
    bool spin_ = false;
    waiting_habit habit_;
    void* memory_ = nullptr;
    exchange areas_;
    std::uint32_t round_ = 0;
    std::vector<char> frame_;
    wire_writer said_;
};

}  // namespace mdpcosim

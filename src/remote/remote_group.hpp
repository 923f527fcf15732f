#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/last_words.hpp"
#include "remote/exchange.hpp"

/// Subsystems that live together elsewhere (a process, a program, a rank), seen from who uses them.
///
/// Call order: introduce() once, then any number of times post() and wait() (or done() until it is true). Between the two the subsystems work, and their
/// exchange areas belong to the other side. A medium implements the protected part: how requests and replies travel, and what
/// becomes of the other side.
namespace mdpcosim {

class remote_group {
   public:
    remote_group() = default;
    remote_group(const remote_group&) = delete;
    remote_group& operator=(const remote_group&) = delete;
    virtual ~remote_group() = default;

    /// Waits until the subsystems are made. A user_error or run_error of the other side arrives here as what it is.
    virtual void introduce() = 0;

    std::size_t size() const { return members_.size(); }
    const subsystem_description& describe(std::size_t i) const { return members_[i].description; }
    const capabilities& offers(std::size_t i) const { return members_[i].offers; }
    exchange& areas() { return areas_; }
    /// Where they live, if that is a process of this machine that we started; else 0.
    virtual pid_t process() const { return 0; }

    void post(const remote_request& request);
    /// Whether the reply is there, which is waited for at least that long. Throws run_error when a subsystem fails
    /// (which_failed() says which) or the other side is gone or hangs: then with the reason and the end of what it wrote to
    /// standard output and error.
    bool done(std::chrono::milliseconds wait);
    void wait() {
        while (!done(look_after)) continue;
    }
    void call(const remote_request& request) {
        post(request);
        wait();
    }
    /// The bytes of a member's snapshot of that number, from there or to there.
    std::vector<std::byte> get_state(std::size_t member, int number);
    void set_state(std::size_t member, int number, std::span<const std::byte> bytes);
    /// The text of a member's output or input of that number.
    void get_text(std::size_t member, int output, std::string& into);
    void set_text(std::size_t member, int input, std::string_view text);
    /// The members know the plan under that number from now on.
    void set_plan(int number, const group_plan& plan);
    /// Whether the other side carries out plans; a program of a user's own is asked call by call.
    virtual bool takes_plans() const { return true; }
    int which_failed() const { return failed_; }
    bool gone() const { return gone_; }
    /// How it is called where its answer is waited for in vain: "subsystem 'a' (process 17)".
    void set_title(const std::string& title) { title_ = title; }
    /// Ends the other side in order and waits for it. Throws run_error where it ends otherwise, as in done().
    void finish();
    /// Ends the other side at once, whatever it is doing.
    void end(const std::string& reason) noexcept;

    /// Whoever waits longer looks now and then whether the other side still lives.
    static constexpr std::chrono::milliseconds look_after{20};

   protected:
    /// s of wall time that one request may take; 0: any time.
    void set_limit(double limit) { limit_ = limit; }
    /// A title from the name of its member, or members.
    void set_title_of(const std::string& name);
    /// What introduce() has learnt.
    void meet(std::vector<remote_member> members);
    /// The other side is no use any more.
    [[noreturn]] void give_up(const std::string& reason);
    /// Ends it when the limit is over since `begin`; `during` as in "at its start".
    void check_limit(std::chrono::steady_clock::time_point begin, const std::string& during, double t = no_time);
    /// Asks it to end in order; false where it does not answer.
    bool say_goodbye() noexcept;

    virtual void send() = 0;  ///< the request in areas()
    /// The reply into areas(), waiting at least that long; false: not yet. Throws run_error where the medium breaks.
    virtual bool receive(std::chrono::milliseconds wait) = 0;
    virtual std::string ended() = 0;  ///< how the other side ended, as the begin of a sentence; empty while it lives
    /// After its last reply: why its end was none in order; empty: it was.
    virtual std::string end_of_finished() { return {}; }
    virtual void stop() noexcept = 0;               ///< ends the other side at once
    virtual std::string last_text() { return {}; }  ///< the end of what it wrote

    exchange areas_;

   private:
    std::vector<std::byte> get_pieces(remote_command command, std::size_t member, int number);
    void set_pieces(remote_command command, std::size_t member, int number, std::span<const std::byte> bytes);
    void look_after_it();
    bool is_late(std::chrono::steady_clock::time_point begin) const;
    bool over_limit(std::chrono::steady_clock::time_point begin) const;

    std::vector<remote_member> members_;
    double limit_ = 0;
    std::optional<std::chrono::steady_clock::time_point> waiting_since_;
    std::string title_;
    std::optional<answer_in_work> late_;  ///< its answer
    int failed_ = -1;
    bool gone_ = false;
    std::string why_gone_;
};

}  // namespace mdpcosim

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/mailbox.hpp"
#include "core/polynomial.hpp"
#include "remote/group_plan.hpp"
#include "subsystem/subsystem.hpp"

/// What passes between subsystems that live elsewhere and who uses them: requests one way, replies the other.
///
/// The same areas stand on both sides, laid out from the members' descriptions: in memory that both share, or in memory of each
/// side, with frames (frames.hpp) carrying them over.
namespace mdpcosim {

enum class remote_command : std::int32_t {
    expect,
    initialise,
    outputs,
    advance,
    make_snapshot,
    save,
    restore,
    write_state,  ///< a piece of a snapshot's bytes is wanted
    read_state,   ///< a piece of a snapshot's bytes comes; after the last one the snapshot is that state
    tune,
    set_text,  ///< a piece of an input's text comes; after the last one the input has it
    get_text,  ///< a piece of an output's text is wanted
    reset,
    statistics,
    rate_sensitivities,
    clock,      ///< nothing but the times of a timed request
    set_plan,   ///< a piece of a plan comes; after the last one the members know it under that number
    carry_out,  ///< a level of a plan
    quit
};
const char* name_of(remote_command command);
/// Pieces of a state or text, from there or to there.
bool wants_piece(remote_command command);
bool brings_piece(remote_command command);

struct remote_request {
    remote_command command = remote_command::quit;
    std::int32_t subsystem = -1;  ///< -1: all members
    double t0 = 0;                ///< of initialise; the value of tune
    macro_step step{};            ///< of advance
    std::int32_t number =
        0;  ///< of the snapshot, of the input by which derivatives are wanted, of the parameter, of the text, of the plan
    bool timed = false;      ///< times are wanted
    std::int32_t level = 0;  ///< of the plan
};

/// What one member reports besides its outputs.
struct alignas(64) remote_report {
    double begin = 0, end = 0;  ///< of the last timed request: steady clock of the other side, s
    subsystem_statistics statistics;
    double cpu_seconds = 0;  ///< of the whole process, asked for together with the statistics
    double next_step = 0;    ///< the same: what its integrator would take
    step_notice notice;      ///< of the last advance, where exchange::head::noticed says that there are some
    double next_event = std::numeric_limits<double>::infinity();  ///< after every advance, where `expected` says so
};

/// How a member is used, but for what is said slot by slot.
struct remote_usage {
    bool outputs_follow = false, next_event = false, goes_back = true;
    double end = std::numeric_limits<double>::infinity();
    double step = 0;
};

/// A piece of a snapshot's bytes, or of a text.
struct state_piece {
    static constexpr std::size_t largest = 16384;
    static constexpr std::uint64_t most = std::uint64_t{1} << 33;  ///< bytes of one state
    std::uint64_t at = 0, total = 0;                               ///< where it begins, and the number of all bytes
    std::uint32_t size = 0;
    std::array<char, largest> bytes{};
};

class exchange {
   public:
    /// Boxes for two sides that share the memory; request and reply.
    struct head {
        alignas(64) mailbox request_box;
        remote_request request;
        /// The next request comes at once: who answers this one need not yield its core before.
        std::atomic<bool> next_at_once{false};
        mailbox::look first_look(bool own_core) const {
            return own_core                                       ? mailbox::always
                   : next_at_once.load(std::memory_order_relaxed) ? mailbox::moment
                                                                  : mailbox::none;
        }
        alignas(64) mailbox reply_box;
        bool noticed = false;              ///< some members left a notice
        std::int32_t failed = -1;          ///< the first member that failed
        bool in_evaluation = false;        ///< the evaluations of a plan had begun, all members having done their step
        std::array<char, 8192> message{};  ///< why, ended by zero
        state_piece piece;
    };

    /// Measures the areas of these members. Nothing but size() may be called before place().
    explicit exchange(std::span<const remote_member> members);
    exchange() : exchange(std::span<const remote_member>{}) {}

    std::size_t size() const { return size_; }
    /// Uses `memory` of size() bytes, aligned to 64. `fresh`: nothing is there yet.
    void place(void* memory, bool fresh);
    /// In memory of its own.
    void place();

    std::size_t members() const { return spots_.size(); }
    head& top() { return *head_; }
    const head& top() const { return *head_; }
    std::span<polynomial> polynomials(std::size_t i) const { return {spots_[i].polynomials, spots_[i].input_count}; }
    std::span<double> inputs(std::size_t i) const { return {spots_[i].inputs, spots_[i].input_count}; }
    std::span<double> outputs(std::size_t i) const { return {spots_[i].outputs, spots_[i].output_count}; }
    std::span<double> derivatives(std::size_t i) const { return {spots_[i].derivatives, spots_[i].output_count}; }
    std::span<char> needed(std::size_t i) const { return {spots_[i].needed, spots_[i].output_count}; }
    std::span<char> driven(std::size_t i) const { return {spots_[i].driven, spots_[i].input_count}; }
    remote_usage& expected(std::size_t i) const { return *spots_[i].expected; }
    /// What the three say, and back.
    void put_usage(std::size_t i, const usage& used);
    usage get_usage(std::size_t i) const;
    remote_report& report(std::size_t i) const { return *spots_[i].report; }

    /// The members that the present request is for.
    struct range {
        std::size_t begin, end;
    };
    range addressed() const;
    /// Whether the present request is for a step of the members it addresses; whether they may have another next event afterwards.
    bool advances() const;
    bool moves() const;
    /// Who is evaluated by the present request of carry_out.
    std::span<const group_plan::item> evaluated() const;
    /// The plan of that number, which both sides know.
    void set_plan(std::int32_t number, group_plan plan);
    /// That of the present request of carry_out; none where there is no such level of such a plan.
    const group_plan* present_plan() const;
    /// After an advance: what the member noticed; before the first member's: nothing.
    void notice(std::size_t member, const step_notice& told);
    /// The piece of `all` that is wanted; or the one that has come is added to it, and true says that it was the last.
    void give_piece(std::span<const std::byte> all);
    bool take_piece(std::vector<std::byte>& all) const;
    /// The first failure of a request stands: members are in the order of their numbers.
    void fail(std::size_t member, const char* reason);

   private:
    struct spot {
        std::size_t input_count, output_count;
        polynomial* polynomials = nullptr;
        double* inputs = nullptr;
        double* outputs = nullptr;
        double* derivatives = nullptr;
        char* needed = nullptr;
        char* driven = nullptr;
        remote_usage* expected = nullptr;
        remote_report* report = nullptr;
    };
    template <class Visit>
    std::size_t walk(const Visit& visit);

    std::vector<spot> spots_;
    std::vector<group_plan> plans_;
    std::size_t size_ = 0;
    head* head_ = nullptr;
    std::shared_ptr<void> own_;
};

}  // namespace mdpcosim

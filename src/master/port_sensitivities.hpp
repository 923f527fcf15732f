#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coupling/sparse_lu.hpp"
#include "master/rate_sensitivity.hpp"

namespace mdpcosim {

/// A connection as the one-pass method sees it.
struct coupled_channel {
    channel_index channel;
    bool first_order;  ///< u acts on the rate of q itself (heat on temperature), not on the rate of v
};

/// What the scenario says about inertias: per unit of the input, the output's rate (`per_unit` = 1/m) or its value changes so per time.
struct given_sensitivity {
    input_slot input;
    output_slot output;
    double per_unit;
};
using given_sensitivities = std::vector<given_sensitivity>;

/// All channels with a law. Throws user_error where a connection does not know the rates it needs.
std::vector<coupled_channel> coupled_channels(const coupled_system& system);

/// How ports answer to loads: B, the change per time of every coupled port's rate per unit of every coupling input of its
/// subsystem (1/m for a mass), and Q of coupling/one_pass.hpp that follows from it. B is, for each subsystem, what costs least:
///   given          by the scenario (inertia)
///   derivatives    the subsystem's own: exact
///   feed-through   the ports give accelerations that depend on their loads at once: evaluated with two loads, exact
///   trial steps    short steps under two loads, taken back; where all subsystems save and restore
///   short steps    the same as a part of the run, for subsystems that offer nothing
/// Ports that do not answer (grounds, prescribed motion) have B = 0, given as an infinite inertia or found by steps, once.
///
/// A port answers to a load, within a step that is short against all motion, as a free mass does. Three short steps, under u,
/// u + delta and u - delta, change the rate by a_0, a_1, a_2 per time: 3 B delta = 2 a_1 - a_0 - a_2, free of whatever else
/// acts if that changes linearly; the impulses of the loads cancel. delta begins far below all loads and grows until two
/// values of B agree to 2 %, so that rounding and the errors of solvers do not matter. Where the change does not grow although delta has
/// grown by ten powers of ten, there is no answer.
///
/// Call order: prepare() once; find() at the begin of a macro step, first and then every time is_due() says so; Q() after it.
/// After prepare() nothing allocates.
class port_sensitivities {
   public:
    enum class source { given, derivatives, feed_through, trial_steps, short_steps };

    /// Throws user_error where the scenario gives the inertia of some coupled ports of a subsystem, but not of all, and where only
    /// short steps are left and a subsystem takes none.
    port_sensitivities(const coupled_system& system, std::vector<coupled_channel> channels,
                       const given_sensitivities& given);

    /// Makes room for saved states, and makes sure of derivatives and of accelerations that depend on loads. Throws as the constructor does.
    /// Changes nothing.
    void prepare(coupled_system& system);
    /// Whether find() takes the subsystems forward.
    bool advances() const;
    bool is_due() const { return !found_ || (since_ >= wait_ && !all_given_); }
    /// Measures again what can change, from the network's polynomials over `step`; all channels' polynomials must be constant. Returns
    /// the time that the subsystems have come to: after step.begin where short steps had to be taken. Throws run_error with the reason
    /// and what to give where a port does not answer.
    double find(coupled_system& system, const macro_step& step);
    void step_done() { ++since_; }

    const std::vector<matrix_entry>& Q() const { return Q_; }
    /// Mean change of v per time under the loads of the begin, from the last find(); 0 where nothing was measured.
    const std::vector<double>& rates() const { return rates_; }

    void state(state_bytes& bytes) {
        for (part& p : parts_)
            bytes(p.from, p.answers, p.B, p.before, p.delta, p.answer, p.change, p.rests, p.settled, p.a, p.v);
        bytes(Q_, rates_, own_, steps_, found_, all_given_, since_, wait_);
    }

    /// By subsystem, where it has coupled ports: where its sensitivity comes from, in plain words.
    std::vector<std::string> describe(const transport& subsystems) const;

   private:
    /// One subsystem's coupled inputs, and the outputs whose rates they change.
    struct part : rate_sensitivity::question {  ///< own: a channel joins them
        source from = source::given;
        rate_sensitivity answers;
        std::vector<double> B, before;  ///< [output][input]
        // Of the input in work:
        double delta = 0, answer = 0, change = 0;
        bool rests = false;  ///< no input moves any of the outputs; found for good
        bool settled = true;
        std::vector<double> a;  ///< [3][output]
        std::vector<double> v;  ///< [output], at the begin of a short step

        bool steps() const { return !rests && (from == source::trial_steps || from == source::short_steps); }
        bool at_once() const { return from == source::derivatives || from == source::feed_through; }
    };
    /// Q(row, column) -= factor * B.
    struct entry {
        std::size_t part, at;
        double factor;
    };

    double& B(part& p, std::size_t output, std::size_t input) { return p.B[output * p.inputs.size() + input]; }
    double sensitivity_of(part& p, std::size_t input);
    void choose_sources(const transport& t, const given_sensitivities& all);
    source source_of(const part& p) const;
    bool known_at_once(coupled_system& system, part& p);
    bool does_not_answer(part& p, int attempt, double answer) const;
    std::string why_no_short_steps(const transport& t) const;
    double take_short_steps(coupled_system& system, const macro_step& step);
    double short_step(coupled_system& system, const macro_step& step, double t, double h, int stage, std::size_t input);
    void form_Q(const coupled_system& system, double t);

    std::vector<coupled_channel> channels_;
    std::vector<part> parts_;
    std::vector<matrix_entry> Q_;
    std::vector<entry> entries_;  ///< of Q_
    struct rate_term {
        std::size_t part, output;
        double weight;
    };
    std::vector<std::vector<rate_term>> terms_;  ///< by channel
    std::vector<double> rates_, own_;            ///< by channel; Q_ii
    std::vector<polynomial> inputs_;             ///< as delivered at step.begin
    std::vector<double> u_, du_;
    source steps_ = source::short_steps;  ///< where nothing else is offered
    bool found_ = false, all_given_ = true;
    int since_ = 0, wait_ = 0;
};

}  // namespace mdpcosim

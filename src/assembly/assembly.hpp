#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assembly/transports.hpp"
#include "coupling/extrapolation.hpp"
#include "coupling/law.hpp"
#include "master/coupled_system.hpp"
#include "master/method.hpp"
#include "results/coupling_monitor.hpp"
#include "results/recorder.hpp"
#include "scenario/spec.hpp"

/// From a scenario to a coupled system: makes the subsystems, resolves every address, chooses laws and extrapolations, finds
/// feed-through and algebraic loops, selects what is recorded. All mistakes a user can make in names, kinds,
/// causalities and units end here as user_error.
namespace mdpcosim {

/// What one connection or signal became; `check` and the summary show it.
struct channel_report {
    struct end {
        std::string address;          ///< `a.mass`, or the target of a signal
        double factor = 1;            ///< the port receives factor * u
        int degree = 0;               ///< effective degree of the input
        std::string integrated = {};  ///< what the master integrates for this port ("flow"); empty: nothing
    };

    std::string name;
    std::string law_name;
    std::string law;  ///< with its parameters; for signals the sum
    std::string unit;
    bool is_signal = false;
    bool is_node = false;
    int equation = -1;           ///< of a joint, whose multiplier it is; several channels stand for one connection then
    bool internal = false;       ///< a load of a joint, which nobody sees
    bool recorded_name = false;  ///< has a column
    std::string column = {};     ///< its name; empty: `<name>.u`
    std::string extrapolation;
    std::string why_extrapolation;        ///< "given", or why it was chosen
    bool scenario_extrapolation = false;  ///< it is the one that the scenario gives for all
    std::optional<double> F;              ///< that its coefficients were chosen for (-opt-F)
    double delay = 0;                     ///< s: it gives what was so long ago
    std::vector<end> ends;
    /// The name in the scenario, which the multipliers of a joint share.
    std::string connection() const { return name.substr(0, name.find('[')); }

    conjugate power = conjugate::none;  ///< what u is multiplied by to give power
    bool has_rate = false;              ///< du/dt is known
    bool has_velocity = false;          ///< dq/dt is known
};

/// A signal that carries texts.
struct text_report {
    std::string from, to;
    std::string type;  ///< "string", "binary"
};

struct assembly {
    coupled_system system;
    std::unique_ptr<method> chosen_method;
    std::function<void(method&)> brief;    ///< hands over what the scenario says to single methods
    std::vector<channel_report> channels;  ///< by channel_index
    std::vector<text_report> text_signals;
    std::vector<recorded_column> columns;
    std::vector<std::string> notes;
};

assembly assemble(const scenario& s, const transport_options& options);
/// The same with other subsystems and laws in the place of its own, which describe themselves in the same way.
struct stand_ins {
    std::unique_ptr<transport> subsystems;
    /// A connection's own law becomes another one; not given: it stays.
    std::function<std::unique_ptr<law>(const std::string& connection, std::unique_ptr<law> own)> replace = {};
};
assembly assemble(const scenario& s, stand_ins in_place);
/// For a reference: the subsystems are described_subsystems, the method is not looked at any further.
assembly assemble_reference(const scenario& s);

/// The method the scenario names, or the default.
const method_info& known_method(const scenario& s);
std::unique_ptr<method> make_method(const scenario& s);
/// Whether steps may be taken back: by the method, or by step control.
bool goes_back(const scenario& s);
/// What the method and the control of macro steps need of the subsystems; throws user_error.
void check_method(const scenario& s, const assembly& a);

/// The scenario with every default written out, so that its run gives the same results.
scenario resolved(const scenario& s, const assembly& a);

}  // namespace mdpcosim

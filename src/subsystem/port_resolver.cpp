#include "subsystem/port_resolver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/suggest.hpp"
#include "core/units.hpp"

namespace mdpcosim {

namespace {

class port_resolver {
   public:
    port_resolver(const std::string& owner, port_variables& variables) : owner_(owner), variables_(variables) {}

    port resolve(const port_spec& written) {
        written_ = &written;
        port made;
        made.name = written.name;
        made.kind = kind();
        made.causality = read_causality();
        info_ = &info(made.kind);
        takes_load_ = made.causality == causality::takes_load;
        if (made.kind == port_kind::frame) {
            resolve_frame(made);
            return made;
        }
        for (const auto& s : written.variables) {
            if (s.name == info_->load) {
                take(s, made.load, info_->load_unit, takes_load_);
            } else if (!s.name.empty() && s.name == info_->load_integral) {
                if (takes_load_)
                    fail(s.where,
                         fmt::format("'{}' is the integral of the {} that the port gives, so that only a port with "
                                     "'causality: takes-motion' has one.",
                                     s.name, info_->load));
                take(s, made.load_integral, info_->load_integral_unit, false);
            } else {
                const auto order = static_cast<std::size_t>(motion_order(s));
                take(s, made.motion[order], info_->motion_unit[order], !takes_load_);
            }
        }
        check_complete(made);
        return made;
    }

   private:
    [[noreturn]] void fail(const location& where, const std::string& message) const {
        throw user_error(where, fmt::format("{}: port '{}': {}", owner_, written_->name, message));
    }

    void resolve_frame(port& made) {
        if (!takes_load_)
            fail(written_->causality.where,
                 "'takes-motion' is not allowed: a frame gives its motion and takes force and torque.");
        made.motion_slots.assign(frame_motion::count, -1);
        made.load_slots.assign(frame_load_count, -1);
        for (const auto& s : written_->variables) {
            const auto named = [&](const frame_variable& v) { return v.name == s.name; };
            const auto motion = frame_motion_variables(), load = frame_load_variables();
            auto v = std::find_if(load.begin(), load.end(), named);
            const bool is_load = v != load.end();
            if (!is_load) v = std::find_if(motion.begin(), motion.end(), named);
            if (!is_load && v == motion.end()) unknown_variable(s);
            if (s.values.size() != static_cast<std::size_t>(v->size))
                fail(s.where, fmt::format("'{}': a list of {} variables is expected, not of {}.", s.name, v->size,
                                          s.values.size()));
            int* place = (is_load ? made.load_slots : made.motion_slots).data() + v->first;
            for (const text& target : s.values) take(s, target, *place++, v->unit, is_load);
        }
        // Velocities and accelerations may be rates that the subsystem knows by itself.
        for (const int needed : {frame_motion::position, frame_motion::orientation, frame_motion::angular_velocity})
            if (made.motion_slots[static_cast<std::size_t>(needed)] < 0) missing(frame_motion_variables(), needed);
        for (const auto& v : frame_load_variables())
            if (made.load_slots[static_cast<std::size_t>(v.first)] < 0) missing(frame_load_variables(), v.first);
    }

    port_kind kind() const {
        const text& name = written_->kind;
        std::vector<std::string> allowed;
        for (const auto& k : port_kinds())
            if (k.kind != port_kind::signal) allowed.push_back(k.name);
        if (name.empty()) fail(written_->where, fmt::format("'kind' is missing. Allowed: {}.", name_list(allowed)));
        const auto found = find_port_kind(name.value);
        if (!found)
            fail(name.where, fmt::format("kind '{}' does not exist. Allowed: {}.{}", name.value, name_list(allowed),
                                         did_you_mean(name.value, allowed)));
        if (*found == port_kind::signal)
            fail(name.where,
                 "kind 'signal' is not allowed: signals join inputs and outputs by their names, without a port.");
        return *found;
    }

    causality read_causality() const {
        const text& given = written_->causality;
        if (given.empty() || given.value == "takes-load") return causality::takes_load;
        if (given.value == "takes-motion") return causality::takes_motion;
        static const std::vector<std::string> allowed{"takes-load", "takes-motion"};
        fail(given.where, fmt::format("causality '{}' does not exist. Allowed: {}.{}", given.value, name_list(allowed),
                                      did_you_mean(given.value, allowed)));
    }

    std::vector<std::string> variable_names() const {
        std::vector<std::string> names;
        if (info_->kind == port_kind::frame) {
            for (const auto& v : frame_motion_variables()) names.push_back(v.name);
            for (const auto& v : frame_load_variables()) names.push_back(v.name);
            return names;
        }
        for (const auto& name : info_->motion)
            if (!name.empty()) names.push_back(name);
        names.push_back(info_->load);
        if (!takes_load_ && !info_->load_integral.empty()) names.push_back(info_->load_integral);
        return names;
    }

    int motion_order(const setting& s) const {
        for (int order = 0; order < 3; ++order)
            if (!s.name.empty() && info_->motion[static_cast<std::size_t>(order)] == s.name) return order;
        unknown_variable(s);
    }

    [[noreturn]] void unknown_variable(const setting& s) const {
        fail(s.where, unknown_name("variable", s.name, fmt::format("A {} port", info_->name), variable_names()));
    }

    void take(const setting& s, int& place, const std::string& unit, bool wants_input) {
        if (s.list || s.values.size() != 1 || s.values.front().empty())
            fail(s.where, fmt::format("'{}': the name of one variable is expected.", s.name));
        take(s, s.values.front(), place, unit, wants_input);
    }

    void take(const setting& s, const text& target, int& place, const std::string& unit, bool wants_input) {
        if (place >= 0) fail(s.where, fmt::format("'{}' is given twice.", s.name));
        place = wants_input ? find_input(s, target) : find_output(s, target);
        std::string& own_unit = wants_input ? variables_.input_unit(place) : variables_.output_unit(place);
        if (!units_fit(own_unit, unit))
            fail(target.where, fmt::format("'{}' needs a variable in '{}', but '{}' is in '{}'.", s.name, unit,
                                           target.value, own_unit));
        // The elements of a frame may share a variable that is constant, as the number 0 of any unit.
        if (own_unit.empty() && (wants_input || info_->kind != port_kind::frame)) own_unit = unit;
    }

    int find_input(const setting& s, const text& target) {
        const int input = variables_.find_input(target.value);
        if (input < 0) {
            refuse_other_kind(s, target, "an input");
            fail(target.where,
                 fmt::format("'{}': {}", s.name,
                             unknown_name("input", target.value, "The subsystem", variables_.input_names())));
        }
        std::string& owner = owners_[input];
        if (!owner.empty())
            fail(target.where,
                 fmt::format("'{}': input '{}' already belongs to port '{}'. Every port needs inputs of its own.",
                             s.name, target.value, owner));
        owner = written_->name;
        return input;
    }

    int find_output(const setting& s, const text& target) const {
        const int output = variables_.find_output(target.value);
        if (output >= 0) return output;
        const auto [first, second] = variables_.output_words();
        refuse_other_kind(s, target, fmt::format("a {} or an {}", first, second));
        fail(target.where, fmt::format("'{}': {}", s.name,
                                       unknown_name(fmt::format("{} or {}", first, second), target.value,
                                                    "The subsystem", variables_.output_names())));
    }

    /// The name exists, but as something that cannot stand here: says what the port's causality asks for.
    void refuse_other_kind(const setting& s, const text& target, std::string_view wanted) const {
        const std::string found = variables_.what_is(target.value);
        if (found.empty()) return;
        fail(target.where,
             fmt::format("'{}' is mapped to '{}', which is {}, but must be {}: the port {}. {}", s.name, target.value,
                         found, wanted,
                         takes_load_ ? "takes its load and gives its motion" : "takes its motion and gives its load",
                         takes_load_ ? "Write 'causality: takes-motion' for the reverse."
                                     : "Leave out 'causality: takes-motion' for the reverse."));
    }

    void check_complete(const port& made) const {
        // Of a hydraulic port the flow is enough: the master integrates it to the volume.
        const bool flow_only = made.kind == port_kind::hydraulic && made.motion[1] >= 0;
        const bool no_motion = made.motion[0] < 0 && !flow_only;
        // The rate of the load's integral is the load.
        if (!no_motion && (made.load >= 0 || made.load_integral >= 0)) return;
        missing(no_motion ? info_->motion[0] : info_->load);
    }

    void missing(std::span<const frame_variable> variables, int place) const {
        missing(
            std::find_if(variables.begin(), variables.end(), [&](const auto& v) { return v.first == place; })->name);
    }

    [[noreturn]] void missing(const std::string& variable) const {
        fail(written_->where,
             fmt::format("'{}' is missing. A {} port maps: {}.", variable, info_->name, name_list(variable_names())));
    }

    const std::string& owner_;
    port_variables& variables_;
    std::map<int, std::string> owners_;  // by input: the port it belongs to
    const port_spec* written_ = nullptr;
    const port_kind_info* info_ = nullptr;
    bool takes_load_ = true;
};

}  // namespace

std::vector<port> resolve_ports(const std::vector<port_spec>& written, const std::string& owner,
                                port_variables& variables) {
    port_resolver resolver(owner, variables);
    std::vector<port> ports;
    for (const auto& p : written) ports.push_back(resolver.resolve(p));
    return ports;
}

}  // namespace mdpcosim

#include "subsystem/port_resolver.hpp"

#include <fmt/format.h>

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

    port_kind kind() const {
        const text& name = written_->kind;
        std::vector<std::string> allowed;
        for (const auto& k : port_kinds())
            if (k.kind != port_kind::signal && k.kind != port_kind::frame) allowed.push_back(k.name);
        if (name.empty()) fail(written_->where, fmt::format("'kind' is missing. Allowed: {}.", name_list(allowed)));
        const auto found = find_port_kind(name.value);
        if (!found)
            fail(name.where, fmt::format("kind '{}' does not exist. Allowed: {}.{}", name.value, name_list(allowed),
                                         did_you_mean(name.value, allowed)));
        if (*found == port_kind::signal)
            fail(name.where,
                 "kind 'signal' is not allowed: signals join inputs and outputs by their names, without a port.");
        if (*found == port_kind::frame)
            fail(name.where,
                 fmt::format("kind 'frame' is not allowed: ports mapped in a scenario are scalar. Allowed: {}.",
                             name_list(allowed)));
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
        for (const auto& name : info_->motion)
            if (!name.empty()) names.push_back(name);
        names.push_back(info_->load);
        if (!takes_load_ && !info_->load_integral.empty()) names.push_back(info_->load_integral);
        return names;
    }

    int motion_order(const setting& s) const {
        for (int order = 0; order < 3; ++order)
            if (!s.name.empty() && info_->motion[static_cast<std::size_t>(order)] == s.name) return order;
        fail(s.where, unknown_name("variable", s.name, fmt::format("A {} port", info_->name), variable_names()));
    }

    void take(const setting& s, int& place, const std::string& unit, bool wants_input) {
        if (s.list || s.values.size() != 1 || s.values.front().empty())
            fail(s.where, fmt::format("'{}': the name of one variable is expected.", s.name));
        if (place >= 0) fail(s.where, fmt::format("'{}' is given twice.", s.name));
        const text& target = s.values.front();
        place = wants_input ? find_input(s, target) : find_output(s, target);
        std::string& own_unit = wants_input ? variables_.input_unit(place) : variables_.output_unit(place);
        if (!units_fit(own_unit, unit))
            fail(target.where, fmt::format("'{}' needs a variable in '{}', but '{}' is in '{}'.", s.name, unit,
                                           target.value, own_unit));
        if (own_unit.empty()) own_unit = unit;
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
        const std::string& missing = no_motion ? info_->motion[0] : info_->load;
        fail(written_->where,
             fmt::format("'{}' is missing. A {} port maps: {}.", missing, info_->name, name_list(variable_names())));
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

#include "reference/system_equations.hpp"

#include <algorithm>
#include <utility>

namespace mdpcosim {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Which opened inputs an output depends on at once, through whatever couples the subsystems.
class followed {
   public:
    /// opened: by input, its slot outside; -1: none.
    followed(const composite_parts& parts, const std::vector<int>& opened)
        : coupling_(parts.coupling), opened_(opened), channels_(opened.size()) {
        for (const auto& d : coupling_.deliveries()) channels_[d.input.value()].push_back(d.delivered.channel);
        for (const auto& p : parts.subsystems)
            for (const output_variable& v : p.model->describe().outputs)
                for (int i = 0; i < v.size; ++i) {
                    const std::size_t slot = p.output_offset + at(v.slot + i);
                    if (direct_.size() <= slot) direct_.resize(slot + 1);
                    for (const int input : v.direct) direct_[slot].push_back(p.input_offset + at(input));
                }
        seen_.resize(direct_.size());
    }

    std::vector<int> of_output(std::size_t output) {
        follow_output(output);
        return take();
    }
    std::vector<int> of_channel(channel_index channel) {
        follow_channel(channel);
        return take();
    }

   private:
    void follow_output(std::size_t output) {
        if (std::exchange(seen_[output], char(1)) != 0) return;
        visited_.push_back(output);
        for (const std::size_t input : direct_[output]) {
            if (opened_[input] >= 0) found_.push_back(opened_[input]);
            for (const channel_index c : channels_[input]) follow_channel(c);
        }
    }
    void follow_channel(channel_index channel) {
        for (const channel_term& term : coupling_.terms(channel)) {
            if (term.value.valid()) follow_output(term.value.value());
            if (coupling_.law_of(channel) != nullptr && term.rate.valid()) follow_output(term.rate.value());
        }
    }
    std::vector<int> take() {
        for (const std::size_t output : visited_) seen_[output] = 0;
        visited_.clear();
        std::ranges::sort(found_);
        found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
        return std::exchange(found_, {});
    }

    const network& coupling_;
    const std::vector<int>& opened_;
    std::vector<std::vector<channel_index>> channels_;  ///< by input
    std::vector<std::vector<std::size_t>> direct_;      ///< by output
    std::vector<char> seen_;                            ///< by output
    std::vector<std::size_t> visited_;
    std::vector<int> found_;
};

/// Joins slots, of which -1 stays; false where one that is there has no place outside.
template <class Slots, class Place>
bool move_slots(Slots& slots, const Place& place) {
    for (int& slot : slots)
        if (slot >= 0 && (slot = place(slot)) < 0) return false;
    return true;
}

}  // namespace

system_equations::system_equations(composite_parts parts, std::string type, const std::vector<shown_channel>& channels,
                                   const std::vector<bool>& nodes) {
    description_.type = std::move(type);
    const std::vector<input_slot> open = open_inputs(parts, nodes);
    std::size_t inputs = 0;
    for (const auto& p : parts.subsystems)
        inputs = std::max(inputs, p.input_offset + at(p.model->describe().input_count()));
    std::vector<int> opened(inputs, -1);
    for (std::size_t k = 0; k < open.size(); ++k) opened[open[k].value()] = static_cast<int>(k);
    add_outputs(parts, opened, channels);
    for (const auto& p : parts.subsystems) add_ports(p, opened);
    find_contents_of_nodes(parts, opened);
    whole_ = std::make_unique<composite_equations>(std::move(parts), 0);
    whole_->open(open);
    const std::size_t first = whole_->output_count() + whole_->integral_count();
    for (const auto& c : channels) shown_.push_back(first + c.channel.value());
    y_.resize(first + whole_->channel_count());
    in_node_.resize(static_cast<std::size_t>(whole_->state_count()));
}

std::vector<input_slot> system_equations::open_inputs(const composite_parts& parts, const std::vector<bool>& nodes) {
    std::vector<bool> of_node, of_port;
    const auto mark = [](std::vector<bool>& list, std::size_t slot) {
        if (list.size() <= slot) list.resize(slot + 1);
        list[slot] = true;
    };
    for (const auto& d : parts.coupling.deliveries())
        if (nodes[d.delivered.channel.value()]) mark(of_node, d.input.value());
    for (const auto& p : parts.subsystems)
        for (const port& one : p.model->describe().ports) {
            if (one.causality != causality::takes_load) continue;
            if (one.load >= 0) mark(of_port, p.input_offset + at(one.load));
            for (const int slot : one.load_slots)
                if (slot >= 0) mark(of_port, p.input_offset + at(slot));
        }
    const auto in = [](const std::vector<bool>& list, std::size_t slot) { return slot < list.size() && list[slot]; };
    std::vector<input_slot> open;
    for (const auto& p : parts.subsystems)
        for (input_variable v : p.model->describe().inputs) {
            bool closed = false, driven = false;
            for (int i = 0; i < v.size; ++i) {
                const std::size_t slot = p.input_offset + at(v.slot + i);
                driven |= parts.coupling.is_driven(input_slot(slot));
                closed |= parts.coupling.is_driven(input_slot(slot)) && (in(of_node, slot) || !in(of_port, slot));
            }
            if (closed) continue;
            const auto first = static_cast<int>(open.size());
            for (int i = 0; i < v.size; ++i) open.emplace_back(p.input_offset + at(v.slot + i));
            v.name = p.name + "." + v.name;
            v.slot = first;
            if (driven) v.start = 0;
            description_.inputs.push_back(std::move(v));
        }
    return open;
}

/// The states that the first motion of a port (a volume, a charge) is made of, where a node inside gives its load.
void system_equations::find_contents_of_nodes(const composite_parts& parts, const std::vector<int>& opened) {
    for (const auto& p : parts.subsystems) {
        const std::size_t first = in_node_.size();
        in_node_.resize(first + at(p.model->state_count()));
        const sparsity* shown = p.model->output_structure();
        for (const port& one : p.model->describe().ports) {
            if (one.causality != causality::takes_load || one.load < 0 || one.motion[0] < 0) continue;
            if (opened[p.input_offset + at(one.load)] >= 0) continue;
            for (std::size_t j = 0; j < at(p.model->state_count()); ++j) {
                if (shown == nullptr) {
                    in_node_[first + j] = true;
                    continue;
                }
                const auto begin = shown->rows.begin() + shown->start[j],
                           end = shown->rows.begin() + shown->start[j + 1];
                if (std::find(begin, end, one.motion[0]) != end) in_node_[first + j] = true;
            }
        }
    }
}

void system_equations::add_outputs(const composite_parts& parts, const std::vector<int>& opened,
                                   const std::vector<shown_channel>& channels) {
    followed feed(parts, opened);
    int end = 0;
    for (const auto& p : parts.subsystems) {
        const auto offset = static_cast<int>(p.output_offset);
        for (output_variable v : p.model->describe().outputs) {
            v.name = p.name + "." + v.name;
            v.slot += offset;
            v.direct.clear();
            for (int i = 0; i < v.size; ++i)
                for (const int input : feed.of_output(at(v.slot + i)))
                    if (std::ranges::find(v.direct, input) == v.direct.end()) v.direct.push_back(input);
            if (v.rate_slot >= 0) {
                v.rate_slot += offset;
                for (int i = 0; i < v.size; ++i) v.rate_needs_input |= !feed.of_output(at(v.rate_slot + i)).empty();
            }
            v.rate_sensitivities = false;
            end = std::max(end, v.slot + v.size);
            description_.outputs.push_back(std::move(v));
        }
    }
    for (const auto& c : channels) {
        output_variable v;
        v.name = c.name;
        v.unit = c.unit;
        v.description = "coupling variable";
        v.slot = end++;
        v.direct = feed.of_channel(c.channel);
        description_.outputs.push_back(std::move(v));
    }
}

void system_equations::add_ports(const composite_parts::part& from, const std::vector<int>& opened) {
    const auto& ports = from.model->describe().ports;
    const auto input = [&](int slot) { return opened[from.input_offset + at(slot)]; };
    const auto output = [&](int slot) { return slot + static_cast<int>(from.output_offset); };
    for (std::size_t i = 0; i < ports.size(); ++i) {
        port made = ports[i];
        const bool takes_load = made.causality == causality::takes_load;
        std::array<int, 2> loads{made.load, made.load_integral};
        const bool whole = takes_load ? move_slots(made.motion, output) && move_slots(made.motion_slots, output) &&
                                            move_slots(made.load_slots, input) && move_slots(loads, input)
                                      : move_slots(made.motion, input) && move_slots(made.motion_slots, input) &&
                                            move_slots(made.load_slots, output) && move_slots(loads, output);
        if (!whole) continue;
        made.load = loads[0];
        made.load_integral = loads[1];
        made.name = from.name + "." + made.name;
        description_.ports.push_back(std::move(made));
        stiffness_.push_back(from.model->port_stiffness(static_cast<int>(i)));
    }
}

void system_equations::outputs(double t, const double* x, const double* u, double* y) const {
    whole_->outputs(t, x, u, y_.data());
    y = std::copy_n(y_.begin(), whole_->output_count(), y);
    for (const std::size_t slot : shown_) *y++ = y_[slot];
}

bool system_equations::hand_on(bool changed) {
    if (!whole_->asked_to_end().empty()) noticed.ask_to_end = true;
    return changed;
}

bool system_equations::apply_event(int event, bool rising, double t, double* x, const double* u) {
    return hand_on(whole_->apply_event(event, rising, t, x, u));
}

bool system_equations::discrete_update(moment m, double t, double* x, const double* u) {
    return hand_on(whole_->discrete_update(m, t, x, u));
}

}  // namespace mdpcosim

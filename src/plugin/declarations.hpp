#pragma once

#include <set>
#include <span>
#include <string>

#include "core/parameter.hpp"
#include "mdpcosim/plugin.h"
#include "subsystem/subsystem.hpp"

namespace mdpcosim {

/// What plugins and programs declare, checked, in our own words. Inputs come before outputs, these before ports. Throws
/// std::invalid_argument for names, units, kinds or rates that do not fit; the text names the item.
class declaration_reader {
   public:
    /// `owner` begins sentences: "The plugin".
    explicit declaration_reader(std::string owner) : owner_(std::move(owner)) {}

    void read_inputs(std::span<const mdpcosim_input> all);
    void read_outputs(std::span<const mdpcosim_output> given);
    void read_ports(std::span<const mdpcosim_port> all);
    parameter_info read_parameter(const mdpcosim_parameter& given);

    subsystem_description& description() { return description_; }

   private:
    static bool add_text(int type, const std::string& object, variable& v, std::vector<text_variable>& texts);
    std::vector<int> direct_of(const std::string& names, const std::string& object) const;
    void set_rate(output_variable& output, const std::string& name);

    std::string owner_;
    subsystem_description description_;
    std::set<std::string> variables_, parameters_;
};

}  // namespace mdpcosim

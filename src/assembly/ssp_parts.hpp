#pragma once

#include <map>
#include <memory>
#include <string>

#include "fmi/archive.hpp"
#include "fmu/units.hpp"
#include "scenario/yaml.hpp"
#include "ssp/flatten.hpp"
#include "subsystem/file_csv.hpp"

/// Components of SSP and what is known about their variables. Private to assembly/.
namespace mdpcosim {

/// The description of a component's FMU, opened once.
class ssp_parts {
   public:
    /// nullptr: it is no FMU. User errors at the component's place.
    const fmi::description* fmu(const ssp::part& part);
    bool is_table(const ssp::part& part) const;
    /// The columns of a table, with what its annotation says of their units. User errors at the component's place.
    void read_table(const ssp::part& part, const yaml_node& annotation);
    bool has_variable(const ssp::part& part, const std::string& name);

    /// The variable that the connector stands for; nullptr: the part is no FMU. User errors: there is none, another type.
    const fmi::variable* variable(const ssp::part& part, const ssp::connector& connector);

    /// The unit of the variable, or of a table's column, and the one that its connector has in the SSD; a user error where they contradict each
    /// other.
    struct units {
        fmu_unit own, said;
        /// As numbers are meant; `own` where the engine converts them to SI.
        const fmu_unit& meant() const { return own.si.empty() ? said : own; }
    };
    units units_of(const ssp::part& part, const ssp::connector& connector);

   private:
    std::map<std::string, std::shared_ptr<const fmi::fmu_files>> opened_;
    std::map<const ssp::element*, csv_header> tables_;
};

/// What a connector's message begins with: "component 'a.b': connector 'y'".
std::string title_of(const ssp::part& part, const ssp::connector& connector);

/// The number or text for `set`, as the FMU's own words have it.
yaml_node ssp_value(const ssp::binding& binding, const ssp::part& part, const fmi::description& fmu,
                    const fmi::variable& v);

}  // namespace mdpcosim

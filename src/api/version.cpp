#include "api/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "assembly/mpi.hpp"
#include "commit.hpp"
#include "report/page.hpp"
#include "results/csv.hpp"

namespace mdpcosim {

const char* version() { return MDPCOSIM_VERSION; }

std::string about_this_build() {
    std::vector<std::string> formats;
    for (const result_format* format : result_format_registry::instance().all()) formats.push_back(format->name);
    const std::vector<std::string> mpi = mpi_modules();
    return fmt::format(
        "mdpcosim {} (commit {})\n"
        "results in:   {}\n"
        "FMI:          1.0, 2.0 and 3.0, co-simulation and model exchange\n"
        "transports:   threads, processes, tcp{}\n"
        "reports:      {}\n"
        "SUNDIALS:     {}\n"
        "compiler:     {}",
        version(), MDPCOSIM_COMMIT, fmt::join(formats, ", "),
        mpi.empty() ? "; no module for MPI is beside the program" : fmt::format(", mpi ({})", fmt::join(mpi, ", ")),
        has_page() ? "yes" : "no (built with -DMDPCOSIM_REPORTS=OFF)", MDPCOSIM_SUNDIALS, MDPCOSIM_COMPILER);
}

}  // namespace mdpcosim

#include "transport/mpi/library.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "core/arithmetic.hpp"
#include "core/error.hpp"
#include "core/shared_library.hpp"
#include "core/suggest.hpp"

namespace mdpcosim {

namespace fs = std::filesystem;

const std::vector<mpi_implementation>& mpi_implementations() {
    static const std::vector<mpi_implementation> all{{"openmpi", "Open MPI", "libopenmpi-dev and openmpi-bin"},
                                                     {"mpich", "MPICH", "libmpich-dev and mpich"}};
    return all;
}

namespace {

int number_in(const char* variable, int otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::atoi(text);
}

std::vector<fs::path> module_folders() {
    std::vector<fs::path> folders;
    for (const fs::path& here : own_folders())
        for (const fs::path& folder : {here, here.parent_path() / "lib/mdpcosim", here.parent_path()})
            folders.push_back(folder);
    return folders;
}

std::string module_name(const mpi_implementation& which) { return fmt::format("mdpcosim-mpi-{}.so", which.name); }

}  // namespace

const mpi_implementation* wanted_mpi() {
    const char* wanted = std::getenv("MDPCOSIM_MPI");
    if (wanted == nullptr || *wanted == '\0') return nullptr;
    std::vector<std::string> names;
    for (const auto& each : mpi_implementations()) {
        if (each.name == wanted) return &each;
        names.push_back(each.name);
    }
    throw user_error(unknown_name("MPI", wanted, "MDPCOSIM_MPI", names));
}

std::optional<mpi_launch_facts> told_by_launcher() {
    const auto& all = mpi_implementations();
    mpi_launch_facts told;
    if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr)
        told = {&all[0], number_in("OMPI_COMM_WORLD_RANK", 0), number_in("OMPI_COMM_WORLD_SIZE", 0)};
    else if (std::getenv("PMI_RANK") != nullptr)  // MPICH's mpiexec, Slurm's pmi2
        told = {&all[1], number_in("PMI_RANK", 0), number_in("PMI_SIZE", 0)};
    else if (std::getenv("PMIX_RANK") != nullptr)  // Slurm's pmix, which Open MPI speaks
        told = {&all[0], number_in("PMIX_RANK", 0), number_in("SLURM_STEP_NUM_TASKS", 0)};
    else
        return {};
    if (const auto* wanted = wanted_mpi()) told.implementation = wanted;
    return told;
}

std::string mpi_module_file(const mpi_implementation& which) {
    for (const auto& folder : module_folders())
        if (const fs::path file = folder / module_name(which); fs::exists(file)) return file.string();
    return {};
}

const mdpcosim_mpi& load_mpi(const mpi_implementation& which) {
    const std::string file = mpi_module_file(which);
    if (file.empty())
        throw user_error(fmt::format(
            "transport 'mpi': this mdpcosim was built without {}: there is no '{}' beside the program. Install {} and "
            "build mdpcosim again.",
            which.title, module_name(which), which.packages));
    try {
        const usual_arithmetic as_usual;
        // Open MPI's part for networks would tell of crashes before us, in pages.
        ::setenv("UCX_HANDLE_ERRORS", "none", 0);
        void* library = open_shared_library(file);
        using entry = const mdpcosim_mpi* (*)();
        const auto module = reinterpret_cast<entry>(find_symbol(library, "mdpcosim_mpi_module"));
        if (module == nullptr || module()->version != MDPCOSIM_MPI_VERSION)
            throw std::invalid_argument(fmt::format("'{}' belongs to another mdpcosim.", file));
        return *module();
    } catch (const std::invalid_argument& problem) {
        throw user_error(fmt::format("transport 'mpi': the module for {}: {} Install {}, or build mdpcosim again.",
                                     which.title, problem.what(), which.packages));
    }
}

}  // namespace mdpcosim

#include "export/target_file.hpp"

#include <fmt/format.h>

#include <fstream>

#include "archive/local_file.hpp"
#include "core/error.hpp"
#include "core/files.hpp"

namespace mdpcosim {

void refuse_file(const scenario& s, const std::filesystem::path& file, const std::string& extension,
                 const std::string& kind) {
    if (file.extension() != extension)
        throw user_error(fmt::format("--out {}: the name of an {} ends with {}.", file.string(), kind, extension));
    std::vector<std::filesystem::path> own = files_read(s);
    for (auto& read : own) read = archive::file_on_disk(read);
    if (find_same_file(file, own) != nullptr)
        throw user_error(fmt::format("--out {}: this is a file of the scenario. Choose another name.", file.string()));
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return;
    std::string begin(2, ' ');
    std::ifstream(file, std::ios::binary).read(begin.data(), 2);
    if (begin != "PK")
        throw user_error(fmt::format("--out {}: what is there is no {}, and is not replaced.", file.string(), kind));
}

std::filesystem::path draft_of(const std::filesystem::path& file) {
    std::filesystem::path draft = file;
    draft.replace_filename("." + file.stem().string() + ".draft" + file.extension().string());
    return draft;
}

void put_in_place(const std::filesystem::path& draft, const std::filesystem::path& file) {
    std::error_code problem, ignored;
    std::filesystem::rename(draft, file, problem);
    if (!problem) return;
    std::filesystem::remove(draft, ignored);
    throw run_error(fmt::format("'{}' cannot be written: {}.", file.string(), problem.message()));
}

}  // namespace mdpcosim

#include "export/target_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

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
    if (std::filesystem::is_regular_file(file, ignored))  // a pipe would be waited for
        std::ifstream(file, std::ios::binary).read(begin.data(), 2);
    if (begin != "PK")
        throw user_error(fmt::format("--out {}: what is there is no {}, and is not replaced.", file.string(), kind));
}

draft_file::draft_file(std::filesystem::path file) : file_(std::move(file)) {
    std::string folder = (file_.parent_path() / ("." + file_.stem().string() + ".draft-XXXXXX")).string();
    if (::mkdtemp(folder.data()) == nullptr) fail(std::strerror(errno));
    folder_.emplace(folder);
    draft_ = std::filesystem::path(folder) / file_.filename();
}

draft_file::~draft_file() {
    std::error_code ignored;
    std::filesystem::remove_all(draft_.parent_path(), ignored);
}

void draft_file::put_in_place() const {
    std::error_code problem;
    std::filesystem::rename(draft_, file_, problem);
    if (problem) fail(problem.message());
}

void draft_file::fail(const std::string& why) const {
    throw run_error(fmt::format("'{}' cannot be written: {}.", file_.string(), why));
}

}  // namespace mdpcosim

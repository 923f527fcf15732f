#pragma once

#include <filesystem>
#include <string>

#include "core/file_handle.hpp"
#include "study/study_spec.hpp"

namespace mdpcosim {

/// The folder of a study:
///   study.json   what it is about: path, check sum of everything that its results depend on
///   parts/       what workers leave (rows.hpp), and what is left to be done
///   runs/        folders of runs that are kept
///   table.csv, table.h5, report.html, summary.json
class study_folder {
   public:
    /// A folder that is neither new, empty nor a study's is refused, and one that another process works in. Without `resume` one that was not finished is
    /// refused, too, and a finished one is begun anew; with it one of another study.
    study_folder(const std::filesystem::path& path, const study_spec& study, bool resume);

    const std::filesystem::path& path() const { return path_; }
    std::filesystem::path parts() const { return path_ / "parts"; }
    std::filesystem::path file(const char* name) const { return path_ / name; }
    void write(const char* name, const std::string& content) const;
    /// The study is complete: the next one may begin anew.
    void close() const;

    /// For a worker: the study that the folder is about.
    static study_spec read(const std::filesystem::path& path);

   private:
    std::filesystem::path path_;
    file_handle lock_;
};

/// Changes with the study, its scenario and the files that this names.
std::string identity_of_study(const study_spec& s);

}  // namespace mdpcosim

#include "study/folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <system_error>

#include "assembly/fmu_scenario.hpp"
#include "core/check_sum.hpp"
#include "core/files.hpp"
#include "core/json.hpp"
#include "simulation/identity.hpp"

namespace mdpcosim {

namespace {

constexpr const char* about = "study.json";
constexpr std::size_t most_about = 1'000'000;

json read_about(const std::filesystem::path& folder) {
    try {
        return json::parse(read_input(folder / about, most_about));
    } catch (const std::exception&) {
        return {};
    }
}

}  // namespace

std::string identity_of_study(const study_spec& s) {
    check_sum sum;
    const auto add = [&sum](const std::string& text) { sum.add(text.data(), text.size()); };
    add(s.text);
    const scenario base = load_scenario(s.scenario, s.set);
    add(write_scenario(base));
    add(contents_of(base));
    if (s.how == study_spec::way::fit) {
        try {
            add(read_input(s.goal.data, std::size_t{1} << 30U));
        } catch (const file_problem& problem) {
            throw user_error(s.goal.data_where, fmt::format("fit: data: {}: {}", s.goal.data.string(), problem.what()));
        }
    }
    return fmt::format("{:016x}", sum.value());
}

study_folder::study_folder(const std::filesystem::path& path, const study_spec& study, bool resume) : path_(path) {
    std::error_code problem;
    const bool there = std::filesystem::exists(path, problem);
    const bool empty =
        there && std::filesystem::is_directory(path, problem) && std::filesystem::is_empty(path, problem);
    const json old = there ? read_about(path) : json();
    if (there && !empty && !old.contains("study"))
        throw user_error(
            fmt::format("--out {}: the folder is neither empty nor a study's. Name another one.", path.string()));
    const std::string identity = identity_of_study(study);
    const bool finished = old.contains("finished") && old["finished"].get<bool>();
    if (resume) {
        if (!old.contains("study")) throw user_error(fmt::format("--resume: there is no study in {}.", path.string()));
        if (old["identity"].get<std::string>() != identity)
            throw user_error(
                fmt::format("--resume: {} holds results of another study: this one, its scenario or a file that "
                            "it names has changed since. Begin anew without --resume, or in another folder "
                            "(--out).",
                            path.string()));
    } else if (old.contains("study") && !finished) {
        throw user_error(
            fmt::format("{} holds a study that did not come to its end. Go on with --resume, or remove the "
                        "folder.",
                        path.string()));
    }
    if (!std::filesystem::create_directories(path / "parts", problem) && problem)
        throw user_error(fmt::format("--out {}: the folder cannot be made: {}", path.string(), problem.message()));
    lock_ = file_handle(::open((path / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (lock_.get() < 0 || ::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0)
        throw user_error(
            fmt::format("--out {}: {}.", path.string(),
                        lock_.get() < 0 ? "nothing can be written there" : "another mdpcosim works on this study"));
    if (!resume) {
        for (const char* name : {"parts", "runs"}) std::filesystem::remove_all(path / name, problem);
        for (const char* name : {"table.csv", "table.h5", "report.html", "summary.json"})
            std::filesystem::remove(path / name, problem);
        std::filesystem::create_directories(path / "parts", problem);
    }
    write(about,
          json{{"study", std::filesystem::absolute(study.path).string()}, {"identity", identity}, {"finished", false}}
              .dump(2));
}

void study_folder::write(const char* name, const std::string& content) const {
    try {
        write_output(path_ / name, content);
    } catch (const file_problem& problem) {
        throw run_error(fmt::format("{}: cannot be written: {}", (path_ / name).string(), problem.what()));
    }
}

void study_folder::close() const {
    json all = read_about(path_);
    all["finished"] = true;
    write(about, all.dump(2));
}

study_spec study_folder::read(const std::filesystem::path& path) {
    const json all = read_about(path);
    if (!all.contains("study") || !all.contains("identity"))
        throw user_error(fmt::format("{} is no folder of a study.", path.string()));
    study_spec study = read_study(all["study"].get<std::string>());
    if (identity_of_study(study) != all["identity"].get<std::string>())
        throw user_error(fmt::format("{}: the study, its scenario or a file that it names has changed since it began.",
                                     path.string()));
    return study;
}

}  // namespace mdpcosim

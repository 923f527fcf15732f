#include "study/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <thread>

#include "core/error.hpp"
#include "core/files.hpp"
#include "remote/child_process.hpp"
#include "transport/affinity.hpp"
#include "transport/mpi/launch.hpp"

namespace mdpcosim {

namespace {

constexpr double time_to_end = 5;  // s, for workers that are told to

std::vector<std::string> worker_command(const study_options& options, const std::filesystem::path& folder) {
    return {options.program, "study-worker", std::filesystem::absolute(folder).string()};
}

void end_child(child_process& child) {
    if (child.ended().empty()) ::kill(child.id(), SIGTERM);
    child.finish(time_to_end);
}

/// On this machine.
class local_workers final : public study_workers {
   public:
    local_workers(std::vector<std::string> command, int count) : command_(std::move(command)), wanted_(count) {
        for (int k = 0; k < count; ++k) start();
    }

    bool at_work(bool more) override {
        bool any = false;
        for (auto& [id, child] : children_) {
            if (child == nullptr) continue;
            child->collect();
            const std::string end = child->ended();
            if (end.empty()) {
                any = true;
                continue;
            }
            if (!child->succeeded()) {
                ends_[fmt::format("-{}", id)] = end;
                words_ = child->last_text();
                if (!end.starts_with("was killed")) more = false;  // what one cannot do none can
            }
            const bool replaced = !child->succeeded() && more;
            child.reset();
            if (replaced) ++lost_;
        }
        for (; more && lost_ > 0; --lost_) {
            start();
            any = true;
        }
        return any;
    }

    std::string end_of(const std::string& worker) const override {
        for (const auto& [suffix, end] : ends_)
            if (worker.ends_with(suffix)) return end;
        return {};
    }
    std::string last_words() const override { return words_; }
    void stop() override {
        for (auto& [id, child] : children_)
            if (child != nullptr && child->ended().empty()) ::kill(child->id(), SIGTERM);
        for (auto& [id, child] : children_)
            if (child != nullptr) child->finish(time_to_end);
    }
    int count() const override { return wanted_; }

   private:
    void start() {
        auto child = std::make_unique<child_process>(child_process::program{.command = command_});
        const pid_t id = child->id();
        children_[id] = std::move(child);
    }

    std::vector<std::string> command_;
    int wanted_, lost_ = 0;
    std::map<pid_t, std::unique_ptr<child_process>> children_;
    std::map<std::string, std::string> ends_;
    std::string words_;
};

/// Under a launcher that brings all of them at once and ends with the last one.
class launched_workers final : public study_workers {
   public:
    launched_workers(std::vector<std::string> command, int count)
        : count_(count), child_(child_process::program{.command = std::move(command)}) {}

    bool at_work(bool) override {
        child_.collect();
        return child_.ended().empty();
    }
    std::string last_words() const override { return child_.succeeded() ? std::string() : child_.last_text(); }
    void stop() override { end_child(child_); }
    int count() const override { return count_; }

   private:
    int count_;
    child_process child_;
};

std::string find_command(const char* name) {
    const char* path = std::getenv("PATH");
    const std::string folders = path == nullptr ? "/usr/bin:/bin" : path;
    for (std::size_t from = 0; from <= folders.size();) {
        const std::size_t colon = std::min(folders.find(':', from), folders.size());
        std::string file = folders.substr(from, colon - from) + "/" + name;
        if (::access(file.c_str(), X_OK) == 0) return file;
        from = colon + 1;
    }
    return {};
}

std::string shell_quoted(const std::string& word) {
    std::string q = "'";
    for (const char c : word) q += c == '\'' ? "'\\''" : std::string(1, c);
    return q + "'";
}

/// A job array of Slurm's, waited for.
std::unique_ptr<study_workers> submit(const study_options& options, const std::filesystem::path& folder, int count) {
    const std::string sbatch = find_command("sbatch");
    if (sbatch.empty()) throw user_error("--on slurm: there is no sbatch in PATH. Run this where jobs are submitted.");
    std::string words;
    for (const std::string& word : worker_command(options, folder)) words += " " + shell_quoted(word);
    const std::string script = fmt::format(
        "#!/bin/sh\n#SBATCH --job-name=mdpcosim-study\n#SBATCH --array=0-{}\n#SBATCH --ntasks=1\n"
        "#SBATCH --output={}/slurm-%a.log\nexec{}\n",
        count - 1, std::filesystem::absolute(folder / "parts").string(), words);
    const std::filesystem::path file = folder / "job.sh";
    try {
        write_output(file, script);
    } catch (const file_problem& problem) {
        throw run_error(fmt::format("{}: cannot be written: {}", file.string(), problem.what()));
    }
    return std::make_unique<launched_workers>(std::vector<std::string>{sbatch, "--wait", file.string()}, count);
}

}  // namespace

std::unique_ptr<study_workers> launch_study_workers(const study_options& options, const std::filesystem::path& folder,
                                                    std::int64_t useful) {
    const auto bounded = [&](int wanted) {
        return static_cast<int>(std::clamp<std::int64_t>(useful, 1, std::max(1, wanted)));
    };
    const int cores = std::max(1, available_cores());
    if (options.on == study_place::local)
        return std::make_unique<local_workers>(worker_command(options, folder),
                                               bounded(options.workers > 0 ? options.workers : cores));
    if (options.on == study_place::slurm)
        return submit(options, folder, bounded(options.workers > 0 ? options.workers : cores));
    const std::vector<mpi_host> hosts = options.hosts.empty() ? std::vector<mpi_host>{} : parse_hosts(options.hosts);
    int ranks = options.workers;
    for (const mpi_host& h : hosts)
        if (options.workers == 0) ranks += h.ranks;
    ranks = bounded(ranks > 0 ? ranks : cores);
    return std::make_unique<launched_workers>(mpiexec_command(hosts, ranks, worker_command(options, folder)), ranks);
}

}  // namespace mdpcosim

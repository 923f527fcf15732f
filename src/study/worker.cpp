#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "study/folder.hpp"
#include "study/runner.hpp"
#include "study/search.hpp"
#include "study/study.hpp"

namespace mdpcosim {

namespace {

/// "node7-1234": no two workers of a study have the same.
std::string worker_name() {
    char host[256] = "host";
    ::gethostname(host, sizeof host - 1);
    std::string name(host);
    std::ranges::replace_if(
        name, [](char c) { return c == '/' || c == '\0'; }, '_');
    return fmt::format("{}-{}", name, ::getpid());
}

class study_worker {
   public:
    study_worker(const std::filesystem::path& folder, const std::atomic<bool>& interrupt)
        : study_(study_folder::read(folder)),
          plan_(study_),
          interrupt_(interrupt),
          runner_(study_, plan_, &interrupt),
          queue_(folder / "parts"),
          parts_(folder / "parts"),
          runs_(folder / "runs"),
          rows_(folder / "parts" / (worker_name() + ".rows")) {}

    int serve() {
        const bool search = study_.goal.given;
        std::size_t many = 1;
        while (!interrupt_) {
            const auto taken = queue_.take(search ? 1 : many);
            if (taken.empty()) return 0;
            double seconds = 0;
            for (const std::int64_t next : taken) {
                if (!(search ? seek(next) : run(next, seconds))) return 130;
            }
            // As much as takes a twentieth of a second: asking the queue costs nothing then.
            constexpr double wanted = 0.05;
            const double each = std::max(1e-6, seconds / static_cast<double>(taken.size()));
            many = static_cast<std::size_t>(std::clamp(wanted / each, 1.0, 1024.0));
        }
        return 130;
    }

   private:
    bool run(std::int64_t variant, double& seconds) {
        std::vector<double> parameters(plan_.parameters().size());
        for (std::size_t k = 0; k < parameters.size(); ++k) parameters[k] = plan_.value(variant, k);
        rows_.begin(variant);
        const auto row = runner_.run(variant, parameters);
        if (!row) return false;
        if (study_.keep && row->done) runner_.keep(parameters, runs_ / fmt::format("{}", variant));
        if (interrupt_) return false;
        rows_.add(*row);
        seconds += row->seconds;
        return true;
    }

    /// Evaluations that are known are not run again.
    bool seek(std::int64_t search) {
        row_reader known(parts_, plan_.parameters().size(), runner_.measures().specs().size());
        known.read();
        const std::string end = search_minimum(
            study_, [&](std::int64_t n, const std::vector<double>& parameters) -> std::optional<study_row> {
                const std::int64_t variant = search * study_.goal.evaluations + n;
                const auto before = known.all().rows.find(variant);
                if (before != known.all().rows.end() &&
                    (before->second.parameters == parameters || before->second.parameters.empty()))
                    return before->second;
                rows_.begin(variant);
                auto row = runner_.run(variant, parameters);
                if (row) rows_.add(*row);
                return row;
            });
        if (end.empty()) return false;
        rows_.close_search(search);
        return true;
    }

    study_spec study_;
    variant_plan plan_;
    const std::atomic<bool>& interrupt_;
    variant_runner runner_;
    work_queue queue_;
    std::filesystem::path parts_, runs_;
    row_file rows_;
};

}  // namespace

int serve_study(const std::filesystem::path& folder, const std::atomic<bool>& interrupt) {
    return study_worker(folder, interrupt).serve();
}

}  // namespace mdpcosim

// The fault campaign: faults of every kind, on every transport, of every kind of subsystem, at random times; what must be told, kept and
// gone after each. Prints the table of all of them.
//   fault_campaign [--faults N] [--seed S] [--jobs J] [--only TEXT] [--supervised] [--strict]
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "faults/one_run.hpp"

namespace mdpcosim::faults {
namespace {

struct settings {
    std::size_t faults = 60;
    unsigned seed = 20261118;
    unsigned jobs = 2;
    std::string only = {};    ///< cells whose name contains it
    bool supervised = false;  ///< a parent watches `run`: crashes and exits inside it are told, too
    bool strict = false;      ///< every run ends within a second of its fault, on ranks within ten
    bool no_mpi = false;      ///< it is not installed
    bool no_export = false;   ///< the library of exported FMUs is not built
};

struct tally {
    int runs = 0, good = 0;
};

std::string name_of(const cell& c) {
    return fmt::format("{}/{}/{}", name_of(c.what), name_of(c.where), name_of(c.who));
}

class campaign {
   public:
    explicit campaign(settings given) : settings_(std::move(given)) {
        for (const cell& c : all_cells())
            if (why_not(c).empty() && name_of(c).find(settings_.only) != std::string::npos) cells_.push_back(c);
    }

    int run() {
        draw();
        std::vector<std::jthread> workers;
        for (unsigned j = 0; j < settings_.jobs; ++j) workers.emplace_back([this] { work(); });
        workers.clear();
        print();
        return failures_ == 0 && !order_.empty() ? 0 : 1;
    }

   private:
    std::string why_not(const cell& c) const {
        if (std::string reason = c.impossible(); !reason.empty()) return reason;
        if (settings_.no_mpi && c.where == place::mpi) return "no MPI";
        if (settings_.no_export && c.who == source::exported) return "no export";
        if (!settings_.supervised && c.needs_supervisor()) return "sup";
        return {};
    }

    /// All cells in a random order, again and again.
    void draw() {
        std::mt19937 random(settings_.seed);
        while (order_.size() < settings_.faults && !cells_.empty()) {
            std::shuffle(cells_.begin(), cells_.end(), random);
            const std::size_t more = std::min(cells_.size(), settings_.faults - order_.size());
            order_.insert(order_.end(), cells_.begin(), cells_.begin() + static_cast<std::ptrdiff_t>(more));
        }
    }

    void work() {
        for (std::size_t i; (i = next_++) < order_.size();) {
            std::mt19937 random(settings_.seed + static_cast<unsigned>(i) * 7919u);
            const cell& c = order_[i];
            verdict v = run_fault(c, random, settings_.supervised);
            const double most = c.where == place::mpi ? 10 : 1;
            if (settings_.strict && v.seconds > most)
                v.problems.push_back(fmt::format("{:.2f} s from the fault to the end", v.seconds));
            note(i, c, v);
        }
    }

    void note(std::size_t i, const cell& c, const verdict& v) {
        const std::scoped_lock lock(mutex_);
        tally& t = tallies_[name_of(c)];
        ++t.runs;
        t.good += v.problems.empty();
        failures_ += !v.problems.empty();
        if (v.seconds >= 0) seconds_[static_cast<int>(c.where)].push_back(v.seconds);
        if (v.problems.empty()) return;
        fmt::print("fault {} of seed {}, {}:\n", i, settings_.seed, name_of(c));
        for (const auto& problem : v.problems) fmt::print("  {}\n", problem);
        std::fflush(stdout);
    }

    std::string shown(const cell& c) {
        if (const std::string reason = why_not(c); !reason.empty()) return reason;
        const tally& t = tallies_[name_of(c)];
        return t.runs == 0 ? "not drawn" : fmt::format("{}/{}", t.good, t.runs);
    }

    void print() {
        fmt::print("\n| fault |");
        for (int p = 0; p < places; ++p)
            fmt::print(" {}: native, ode, plugin, fmu, program, exported |", name_of(static_cast<place>(p)));
        fmt::print("\n|---|---|---|---|---|\n");
        for (int k = 0; k < kinds; ++k) {
            fmt::print("| {} |", name_of(static_cast<kind>(k)));
            for (int p = 0; p < places; ++p) {
                for (int s = 0; s < sources; ++s)
                    fmt::print("{} {}", s == 0 ? "" : ",",
                               shown({static_cast<kind>(k), static_cast<place>(p), static_cast<source>(s)}));
                fmt::print(" |");
            }
            fmt::print("\n");
        }
        fmt::print(
            "\ngood/all. own: the code is mdpcosim's own; C: a program has no exception that leaves it; none: there is "
            "no "
            "connection, or no rank;\nsup: the fault is one of the run itself, which a supervising parent tells "
            "(--supervised).\n");
        for (int p = 0; p < places; ++p) {
            auto& all = seconds_[p];
            if (all.empty()) continue;
            std::ranges::sort(all);
            fmt::print("{}: from the fault to the end of the program median {:.2f} s, longest {:.2f} s\n",
                       name_of(static_cast<place>(p)), all[all.size() / 2], all.back());
        }
        fmt::print("{} faults, {} not as they must be\n", order_.size(), failures_);
    }

    settings settings_;
    std::vector<cell> cells_, order_;
    std::atomic<std::size_t> next_{0};
    std::mutex mutex_;
    std::map<std::string, tally> tallies_;
    std::vector<double> seconds_[places];
    int failures_ = 0;
};

settings read(int count, char** words) {
    settings s;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        const auto value = [&] { return i + 1 < count ? words[++i] : ""; };
        if (word == "--faults")
            s.faults = std::strtoul(value(), nullptr, 10);
        else if (word == "--seed")
            s.seed = static_cast<unsigned>(std::strtoul(value(), nullptr, 10));
        else if (word == "--jobs")
            s.jobs = static_cast<unsigned>(std::strtoul(value(), nullptr, 10));
        else if (word == "--only")
            s.only = value();
        else if (word == "--supervised")
            s.supervised = true;
        else if (word == "--strict")
            s.strict = true;
        else
            throw std::invalid_argument("unknown option " + word);
    }
    s.no_mpi = std::system("mpiexec.openmpi --version > /dev/null 2>&1") != 0;
    s.no_export = !std::filesystem::exists(MDPCOSIM_BINARY_DIR "/mdpcosim-fmu.so");
    return s;
}

}  // namespace
}  // namespace mdpcosim::faults

int main(int count, char** words) {
    try {
        return mdpcosim::faults::campaign(mdpcosim::faults::read(count, words)).run();
    } catch (const std::exception& problem) {
        fmt::print(stderr, "fault_campaign: {}\n", problem.what());
        return 2;
    }
}

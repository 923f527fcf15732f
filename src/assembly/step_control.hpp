#pragma once

#include <cstdio>
#include <memory>

#include "master/step_control.hpp"
#include "results/run_folder.hpp"
#include "results/summary.hpp"
#include "scenario/spec.hpp"

namespace mdpcosim {

step_control_options step_control_of(const scenario& s);

/// Every attempt at a macro step as a line of steps.csv: when, how long, its error as a multiple of what is allowed, whether it was
/// accepted, and where the error was largest.
class step_log {
   public:
    explicit step_log(const run_folder& folder);
    void add(const step_attempt& attempt);
    /// Throws run_error where the disk is full.
    void finish();

   private:
    std::string path_;
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace mdpcosim

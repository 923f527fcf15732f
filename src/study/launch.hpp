#pragma once

#include <memory>
#include <string>

#include "study/study.hpp"

namespace mdpcosim {

/// Processes that work in a study's folder.
class study_workers {
   public:
    virtual ~study_workers() = default;
    /// Some still work, or are about to. Whoever ends too early is replaced while `more` is to be done.
    virtual bool at_work(bool more) = 0;
    /// How the worker of this name ended, "was killed by signal 11 (Segmentation fault)"; empty: nobody knows.
    virtual std::string end_of(const std::string& /*worker*/) const { return {}; }
    /// What the last one that ended said; a mistake of the user's where it ended with status 2.
    virtual std::string last_words() const { return {}; }
    virtual void stop() = 0;
    virtual int count() const = 0;
};

/// At most `useful` of them.
std::unique_ptr<study_workers> launch_study_workers(const study_options& options, const std::filesystem::path& folder,
                                                    std::int64_t useful);

}  // namespace mdpcosim

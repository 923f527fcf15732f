#pragma once

#include <mutex>
#include <string>

#include "core/messages.hpp"

namespace mdpcosim::test {

/// Collects the messages of everything that is made in this thread while it lives, a line each.
class told_messages {
   public:
    told_messages()
        : scope_([this](const std::string& message) {
              const std::scoped_lock lock(mutex_);
              text_ += message + "\n";
          }) {}
    std::string text() const {
        const std::scoped_lock lock(mutex_);
        return text_;
    }

   private:
    mutable std::mutex mutex_;
    std::string text_;
    message_scope scope_;
};

}  // namespace mdpcosim::test

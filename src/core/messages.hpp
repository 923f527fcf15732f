#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/error.hpp"

/// Where the library's messages to its user go. No room prints: who makes a simulation gives a sink, and everything that is made for it
/// keeps that sink and tells it, from any thread. Without one messages are dropped.
namespace mdpcosim {

/// One message without a newline at its end; may be called from several threads.
using message_sink = std::function<void(const std::string&)>;

/// While it lives, what is made in this thread takes this sink. (Subsystems are made many calls below who knows the sink; handing it
/// through all of them would tell every room of it.)
class message_scope {
   public:
    explicit message_scope(message_sink sink);
    ~message_scope();
    message_scope(const message_scope&) = delete;
    message_scope& operator=(const message_scope&) = delete;

   private:
    std::shared_ptr<const message_sink> before_;
};

/// The sink of the scope that it was made in.
class messages {
   public:
    messages();
    void send(const std::string& text) const {
        if (sink_ && *sink_) (*sink_)(presentable(text));
    }

   private:
    std::shared_ptr<const message_sink> sink_;
};

}  // namespace mdpcosim

#include "core/messages.hpp"

#include <utility>

namespace mdpcosim {

namespace {

thread_local std::shared_ptr<const message_sink> present;

}  // namespace

message_scope::message_scope(message_sink sink)
    : before_(std::exchange(present, std::make_shared<const message_sink>(std::move(sink)))) {}

message_scope::~message_scope() { present = std::move(before_); }

messages::messages() : sink_(present) {}

}  // namespace mdpcosim

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mdpcosim {

/// " Did you mean 'x'?" for the candidate closest to `name`, or an empty text when none is close.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

/// "a, b, c"; long lists are cut after `most` names with the number of those left out.
std::string name_list(std::span<const std::string> names, std::size_t most = 20);

/// "<kind> 'name' does not exist. <owner> has: a, b. Did you mean 'a'?", the one form of such a message.
std::string unknown_name(std::string_view kind, std::string_view name, std::string_view owner,
                         std::span<const std::string> candidates);

}  // namespace mdpcosim

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mdpcosim {

/// What a process writes, of which only the begin and the end are kept, however much it is.
class kept_text {
   public:
    void add(std::string_view more);
    /// Without trailing blanks; says how much was left out.
    std::string text() const;

   private:
    static constexpr std::size_t most_first = 400, most_last = 1500;

    std::string first_, last_;
    std::uint64_t size_ = 0;
};

}  // namespace mdpcosim

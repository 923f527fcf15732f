#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "subsystem/remote/frames.hpp"

/// The side where the subsystems live.
namespace mdpcosim {

using subsystem_maker = std::function<std::unique_ptr<subsystem>()>;

/// Carries out requests on subsystems of this process, one after the other.
class subsystem_host {
   public:
    /// Makes the subsystems and writes their introduction; whatever goes wrong becomes an apology and made() says no.
    subsystem_host(const std::vector<subsystem_maker>& make, wire_writer& introduction);

    bool made() const { return made_; }
    std::span<const remote_member> members() const { return members_; }
    /// The request at the top of `areas`; its reply is there in the end. After `quit` there are no subsystems any more.
    void carry_out(exchange& areas) noexcept;

   private:
    void attempt(exchange& areas, std::size_t i) noexcept;
    void carry_out(exchange& areas, std::size_t i);

    bool made_ = false;
    std::vector<std::unique_ptr<subsystem>> models_;
    std::vector<remote_member> members_;
    std::vector<std::vector<std::unique_ptr<snapshot>>> snapshots_;  ///< by member
};

}  // namespace mdpcosim

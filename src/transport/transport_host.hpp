#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "remote/host.hpp"
#include "transport/plan_levels.hpp"
#include "transport/transport.hpp"

namespace mdpcosim {

/// Carries out requests on a transport: a group elsewhere that is served by several threads.
class transport_host final : public request_host {
   public:
    transport_host(const std::function<std::unique_ptr<transport>()>& make, wire_writer& introduction);
    void carry_out(exchange& areas) noexcept override;

   private:
    void attempt(exchange& areas);
    void advance(exchange& areas);
    void carry_out_level(exchange& areas);
    void set_inputs(const exchange& areas);
    void advance_one(exchange& areas, std::size_t i);
    void fetch(exchange& areas, std::size_t i);
    state_id saved(std::int32_t number) const;
    void carry_state(exchange& areas, subsystem_index i);
    void carry_text(exchange& areas, subsystem_index i);
    void tell_notices(exchange& areas);
    std::size_t numbered(const std::string& name) const;

    std::unique_ptr<transport> inner_;
    std::vector<std::optional<state_id>> states_;  ///< by number of the snapshot
    std::vector<std::vector<given_plan>> plans_;   ///< by number, by level
    std::string text_;
};

}  // namespace mdpcosim

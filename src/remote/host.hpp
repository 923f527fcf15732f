#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "remote/frames.hpp"

/// The side where the subsystems live.
namespace mdpcosim {

using subsystem_maker = std::function<std::unique_ptr<subsystem>()>;

/// Carries out requests where the subsystems live.
class request_host {
   public:
    virtual ~request_host() = default;

    bool made() const { return made_; }
    std::span<const remote_member> members() const { return members_; }
    /// The request at the top of `areas`; its reply is there in the end. After `quit` there are no subsystems any more.
    virtual void carry_out(exchange& areas) noexcept = 0;

   protected:
    /// Throws run_error where there is no text of that number.
    static void check_text(std::size_t number, const std::vector<text_variable>& texts);
    /// A piece of a plan; nothing before the last one has come.
    std::optional<group_plan> take_plan(const exchange& areas);

    /// `make` fills members_. Writes their introduction; whatever goes wrong becomes an apology and made() says no.
    void introduce(const std::function<void()>& make, wire_writer& introduction);

    std::vector<remote_member> members_;
    std::vector<std::byte> bytes_;  ///< of a snapshot, text or plan that travels

   private:
    bool made_ = false;
};

/// Subsystems of this process, one after the other.
class subsystem_host final : public request_host {
   public:
    subsystem_host(const std::vector<subsystem_maker>& make, wire_writer& introduction);
    void carry_out(exchange& areas) noexcept override;

   private:
    void attempt(exchange& areas, std::size_t i) noexcept;
    template <class Work>
    void attempt(exchange& areas, std::size_t i, const Work& work) noexcept;
    void carry_out_level(exchange& areas) noexcept;
    void evaluate(exchange& areas, const group_plan& plan) noexcept;
    void carry_out(exchange& areas, std::size_t i);
    snapshot& saved(std::size_t i, std::size_t number);
    void tell_next_event(exchange& areas, std::size_t i);

    std::vector<std::unique_ptr<subsystem>> models_;
    std::vector<std::vector<std::unique_ptr<snapshot>>> snapshots_;  ///< by member
    std::string text_;
};

}  // namespace mdpcosim

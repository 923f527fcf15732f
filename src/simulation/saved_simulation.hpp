#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

#include "core/state_bytes.hpp"

namespace mdpcosim {

/// A saved simulation as it stands in a file: named pieces of bytes, those of the subsystems under their names. After a line that says what it
/// is, every piece has a line with its name and length; the last line holds a check sum. The bytes are those of one kind of machine.
class saved_simulation {
   public:
    static constexpr int version = 2;

    /// Throws user_error for anything that is not a whole, undamaged file of this version.
    static saved_simulation read(std::istream& from);
    /// Throws run_error where it cannot be written.
    void write(std::ostream& to) const;

    void add(std::string name, std::vector<std::byte> bytes);
    /// Everything that has a function state().
    template <class... Parts>
    void add_state_of(std::string name, Parts&... parts) {
        state_bytes bytes;
        bytes.write();
        bytes(parts...);
        add(std::move(name), std::move(bytes.bytes()));
    }
    void add_text(std::string name, const std::string& text);

    bool has(const std::string& name) const { return find(name) != nullptr; }
    /// Throws user_error where there is none of that name.
    const std::vector<std::byte>& bytes(const std::string& name) const;
    std::string text(const std::string& name) const;
    template <class... Parts>
    void put_state_of(const std::string& name, Parts&... parts) const {
        state_bytes bytes;
        bytes.bytes() = this->bytes(name);
        bytes.read();
        bytes(parts...);
        bytes.finish();
    }

   private:
    struct piece {
        std::string name;
        std::vector<std::byte> bytes;
    };
    const piece* find(const std::string& name) const;

    std::vector<piece> pieces_;
};

/// Where two scenarios, as text, differ first: the keys that lead there and both values; empty: nowhere.
std::string first_difference(const std::string& saved, const std::string& here);

}  // namespace mdpcosim

#pragma once

#include <cstring>
#include <memory>
#include <type_traits>

#include "remote/host_task.hpp"

/// Subsystems that tests make in another process, by functions of the test itself: test programs are their own hosts (host_main.cpp), and
/// a process of the same program has the same functions, at the same distance from each other.
namespace mdpcosim::test {

/// A function of this program that may travel to another process of it; a lambda without captures is one.
template <class Signature>
class far_function {
   public:
    far_function() = default;
    template <class Function>
    requires std::is_convertible_v<Function, Signature*> far_function(Function f)
        : distance_(address(static_cast<Signature*>(f)) - anchor()) {}

    template <class... Arguments>
    auto operator()(Arguments&&... arguments) const {
        return reinterpret_cast<Signature*>(anchor() + distance_)(std::forward<Arguments>(arguments)...);
    }

   private:
    static std::intptr_t address(Signature* f) { return reinterpret_cast<std::intptr_t>(f); }
    static std::intptr_t anchor() { return reinterpret_cast<std::intptr_t>(&live_as_host); }

    std::intptr_t distance_ = 0;
};

template <class T>
std::string as_text(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

template <class T>
T from_text(const std::string& text, std::size_t from = 0) {
    T value;
    std::memcpy(&value, text.data() + from, sizeof value);
    return value;
}

using far_maker = far_function<std::unique_ptr<subsystem>(const std::string&)>;

inline const maker_registration maker_by_function{
    {"function of a test",
     [](const std::string& text) { return from_text<far_maker>(text)(text.substr(sizeof(far_maker))); }}};

/// What `make` makes there of the text.
inline subsystem_text far_subsystem(const far_maker& make, const std::string& text) {
    return {"function of a test", as_text(make) + text};
}

/// What `make` makes there.
inline subsystem_text far_subsystem(const far_function<std::unique_ptr<subsystem>()>& make) {
    return far_subsystem(
        [](const std::string& text) { return from_text<far_function<std::unique_ptr<subsystem>()>>(text)(); },
        as_text(make));
}

}  // namespace mdpcosim::test

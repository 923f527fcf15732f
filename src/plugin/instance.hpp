#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/foreign_call.hpp"
#include "core/messages.hpp"
#include "plugin/table.hpp"

namespace mdpcosim {

/// One instance of a plugin's model. Every call of the plugin goes through here: a status other than 0 and an exception become
/// a run_error with the plugin's reason; a crash is reported by name (core/foreign_call.hpp).
class plugin_instance {
   public:
    /// `parameters` in the declared order. Throws std::invalid_argument when the plugin makes no instance. The model lives
    /// longer.
    plugin_instance(const plugin_model& model, std::string subsystem, const std::vector<double>& parameters);
    plugin_instance(const plugin_instance&) = delete;
    plugin_instance& operator=(const plugin_instance&) = delete;
    ~plugin_instance();

    const plugin_model& model() const { return model_; }

    /// Calls `function(instance, arguments...)`; `name` and `t` are for messages.
    template <class... Parameters, class... Arguments>
    void call(const char* name, double t, int (*function)(void*, Parameters...), Arguments... arguments) const {
        int status = 0;
        try {
            const foreign_scope inside(code_, t, name);
            status = function(instance_, arguments...);
        } catch (...) {
            fail_with_exception(name, t);
        }
        if (status != 0) [[unlikely]]
            fail(name, t, status);
    }

    std::size_t save_size(double t) const;
    void set_text(int input, std::string_view text, double t) const;
    void get_text(int output, double t, std::string& into) const;

   private:
    [[noreturn]] void fail(const char* name, double t, int status) const;
    [[noreturn]] void fail_with_exception(const char* name, double t) const;
    std::string message() const;

    const plugin_model& model_;
    std::string subsystem_;
    foreign_code code_;
    std::array<char, MDPCOSIM_MESSAGE_SIZE> message_{};
    void* instance_ = nullptr;
    messages messages_;
};

}  // namespace mdpcosim

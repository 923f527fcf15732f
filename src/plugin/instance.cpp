#include "plugin/instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace mdpcosim {

namespace {

/// What the exception being handled says of itself.
std::string present_exception() {
    try {
        throw;
    } catch (const std::exception& problem) {
        return fmt::format("a C++ exception left it: {}", problem.what());
    } catch (...) {
        return "a C++ exception of unknown type left it";
    }
}

}  // namespace

plugin_instance::plugin_instance(const plugin_model& model, std::string subsystem,
                                 const std::vector<double>& parameters)
    : model_(model), subsystem_(std::move(subsystem)), code_("plugin", subsystem_, model.file) {
    try {
        const foreign_scope inside(code_, no_time, "create");
        instance_ = model_.functions.create(parameters.data(), message_.data());
    } catch (...) {
        throw std::invalid_argument("create: " + present_exception() + ".");
    }
    if (instance_ != nullptr) return;
    std::string text = message();
    if (text.empty()) text = "it returned NULL and gave no reason";
    if (!text.ends_with('.')) text += '.';
    throw std::invalid_argument("create: " + text);
}

plugin_instance::~plugin_instance() {
    try {
        const foreign_scope inside(code_, no_time, "destroy");
        model_.functions.destroy(instance_);
    } catch (...) {
        // The run is over and its results are written: nothing depends on this any more.
        messages_.send(
            fmt::format("subsystem '{}' (plugin {}): destroy: {}", subsystem_, model_.file, present_exception()));
    }
}

void plugin_instance::set_text(int input, std::string_view text, double t) const {
    const std::string ended(text);
    call("set_text", t, model_.functions.set_text, input, ended.c_str(), ended.size());
}

void plugin_instance::get_text(int output, double t, std::string& into) const {
    const char* text = nullptr;
    std::size_t size = 0;
    call("get_text", t, model_.functions.get_text, output, &text, &size);
    into.assign(text == nullptr ? "" : text, text == nullptr ? 0 : size);
}

std::size_t plugin_instance::save_size(double t) const {
    try {
        const foreign_scope inside(code_, t, "save_size");
        return model_.functions.save_size(instance_);
    } catch (...) {
        fail_with_exception("save_size", t);
    }
}

std::string plugin_instance::message() const {
    // The plugin may have forgotten the final NUL, and may have ended its lines.
    std::string text(message_.data(), std::find(message_.begin(), message_.end(), '\0'));
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
}

void plugin_instance::fail(const char* name, double t, int status) const {
    std::string text = message();
    if (text.empty()) text = fmt::format("it returned {} and gave no reason", status);
    throw run_error(fmt::format("plugin {}: {} at t = {} s: {}", model_.file, name, t, text));
}

void plugin_instance::fail_with_exception(const char* name, double t) const {
    throw run_error(fmt::format("plugin {}: {} at t = {} s: {}", model_.file, name, t, present_exception()));
}

}  // namespace mdpcosim

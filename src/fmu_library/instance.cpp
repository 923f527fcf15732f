#include "fmu_library/instance.hpp"

#include <filesystem>

namespace mdpcosim::fmu_library {

namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// `file:///a%20b/resources`, `file:/a%20b/resources`, `file://localhost/...`, or a path as it is.
std::filesystem::path path_of(std::string_view uri) {
    if (!uri.starts_with("file:")) return uri;
    uri.remove_prefix(5);
    if (uri.starts_with("//")) uri.remove_prefix(std::min(uri.size(), uri.find('/', 2)));
    std::string path;
    for (std::size_t i = 0; i < uri.size(); ++i) {
        const int high = uri[i] == '%' && i + 2 < uri.size() ? hex_digit(uri[i + 1]) : -1;
        const int low = high >= 0 ? hex_digit(uri[i + 2]) : -1;
        path += low < 0 ? uri[i] : static_cast<char>(16 * high + low);
        if (low >= 0) i += 2;
    }
    return path;
}

}  // namespace

instance* make_instance(instance made, const char* call, const char* token, const char* resources, bool uri,
                        bool exchange) noexcept {
    instance* result = nullptr;
    guarded(&made, call, [&] {
        if (resources == nullptr || *resources == '\0')
            throw user_error("the host gives no folder of resources, where the model is");
        auto self = std::make_unique<instance>(std::move(made));
        // Its address stays; that of `made` does not.
        const auto to_host = [owner = self.get()](const std::string& text) { owner->tell(ok, text); };
        try {
            self->model = make_exported_model(uri ? path_of(resources) : std::filesystem::path(resources),
                                              token == nullptr ? "" : token, exchange, to_host);
        } catch (...) {
            made = std::move(*self);  // who tells
            throw;
        }
        result = self.release();
    });
    return result;
}

exported_exchange& exchange_of(instance& self) {
    if (exported_exchange* found = self.model->exchange()) return *found;
    throw user_error("this instance is for co-simulation");
}

void get_directional_derivative(instance& self, std::span<const unsigned> unknowns, std::span<const unsigned> knowns,
                                const double seed[], double sensitivity[]) {
    std::vector<std::size_t> of, by;
    for (const unsigned reference : unknowns) of.push_back(variable_at(*self.model, reference, variable_type::real));
    for (const unsigned reference : knowns) by.push_back(variable_at(*self.model, reference, variable_type::real));
    self.model->directional_derivative(of, by, {seed, by.size()}, {sensitivity, of.size()});
}

std::size_t variable_at(const exported_model& model, unsigned reference, variable_type type) {
    const auto& all = model.variables();
    if (reference == 0 || reference > all.size())
        throw user_error("there is no value reference " + std::to_string(reference));
    const exported_variable& v = all[reference - 1];
    if (v.type != type)
        throw user_error("value reference " + std::to_string(reference) + ", '" + v.address + "', has another type");
    return reference - 1;
}

}  // namespace mdpcosim::fmu_library

#include "core/parameter.hpp"

#include <stdexcept>

namespace mdpcosim {

parameter_values::parameter_values(const std::vector<parameter_info>& infos)
    : infos_(&infos), given_(infos.size(), false) {
    values_.reserve(infos.size());
    for (const auto& parameter : infos) values_.push_back({parameter.default_value});
}

void parameter_values::set(std::string_view name, std::vector<double> values) {
    const std::size_t i = index(name);
    values_[i] = std::move(values);
    given_[i] = true;
}

std::size_t parameter_values::index(std::string_view name) const {
    for (std::size_t i = 0; i < infos_->size(); ++i)
        if ((*infos_)[i].name == name) return i;
    throw std::logic_error("parameter '" + std::string(name) + "' is not declared");
}

}  // namespace mdpcosim

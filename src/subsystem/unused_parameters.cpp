#include "subsystem/unused_parameters.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace mdpcosim {

void refuse_unused(const parameter_values& values, std::initializer_list<std::string_view> names,
                   std::string_view reason) {
    for (const auto name : names)
        if (values.given(name))
            throw user_error(fmt::format("parameter '{}' has no effect, because {}. Leave it out or change the latter.",
                                         name, reason));
}

}  // namespace mdpcosim

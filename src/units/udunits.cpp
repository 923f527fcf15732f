#include <fmt/format.h>
#include <udunits2.h>

#include <array>
#include <clocale>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>

#include "core/error.hpp"
#include "core/units.hpp"

namespace mdpcosim {

namespace {

struct unit_free {
    void operator()(ut_unit* unit) const { ut_free(unit); }
};
using unit_pointer = std::unique_ptr<ut_unit, unit_free>;

/// The unit library reads numbers by the locale, which foreign code may have set to one with a decimal comma. This thread's only.
class plain_numbers {
   public:
    plain_numbers() : before_(::uselocale(plain())) {}
    plain_numbers(const plain_numbers&) = delete;
    plain_numbers& operator=(const plain_numbers&) = delete;
    ~plain_numbers() { ::uselocale(before_); }

   private:
    static locale_t plain() {
        static const locale_t made = ::newlocale(LC_ALL_MASK, "C", nullptr);
        return made;
    }
    locale_t before_;
};

/// Every bracket has its other one. The unit library takes 'kg.m)' for 'kg.m', which then fails as a part of 'kg.m)/s'.
bool is_closed(std::string_view text) {
    int open = 0;
    for (const char c : text) {
        open += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (open < 0) return false;
    }
    return open == 0;
}

/// The unit library with what engineers write and it lacks. Guarded by one lock: it is used before the run only.
class unit_system {
   public:
    unit_system() {
        ut_set_error_message_handler(ut_ignore);
        system_ = ut_read_xml(nullptr);
        if (system_ == nullptr)
            throw run_error("the unit database of UDUNITS-2 cannot be read (Debian package libudunits2-data)");
        add("deg", "degree");
        add("rev", "6.283185307179586 radian");
    }

    const ut_unit* find(std::string_view text) {
        const auto found = cache_.find(text);
        if (found != cache_.end()) return found->second.get();
        unit_pointer unit(ut_parse(system_, std::string(text).c_str(), UT_UTF8));
        if (!is_closed(text)) unit.reset();
        return cache_.emplace(text, std::move(unit)).first->second.get();
    }

    std::mutex guard;

   private:
    void add(const char* name, const char* definition) {
        const unit_pointer unit(ut_parse(system_, definition, UT_UTF8));
        if (unit) ut_map_name_to_unit(name, UT_UTF8, unit.get());
    }

    ut_system* system_ = nullptr;
    std::map<std::string, unit_pointer, std::less<>> cache_;
};

unit_system& units() {
    static unit_system instance;
    return instance;
}

/// To the unit library `2` is a unit, so that '3 2' would be 6; a user who writes that has mistyped something.
bool begins_with_number(std::string_view text) {
    if (text == "1" || text.starts_with("1/")) return false;
    return text.find_first_of("0123456789.+-") == 0;
}

const ut_unit& known_unit(std::string_view text) {
    const ut_unit* unit = begins_with_number(text) ? nullptr : units().find(text);
    if (unit == nullptr)
        throw unit_error(fmt::format("unit '{}' is not known; write units like 'N.m/rad', 'kg.m2', 'us', 'rpm'", text));
    return *unit;
}

class udunits final : public unit_library {
   public:
    conversion find_conversion(std::string_view from, std::string_view to) const override {
        const plain_numbers english;
        const std::lock_guard lock(units().guard);
        const ut_unit& source = known_unit(from);
        const ut_unit& target = known_unit(to);
        if (ut_are_convertible(&source, &target) == 0)
            throw unit_error(fmt::format("unit '{}' does not fit '{}'", from, to));
        if (cycles_against_angle(from, to))
            throw unit_error(
                fmt::format("unit '{}' does not fit '{}': one counts cycles, the other angle (factor 2 pi); write the "
                            "value in '{}'",
                            from, to, to));
        const std::unique_ptr<cv_converter, decltype(&cv_free)> converter(
            ut_get_converter(const_cast<ut_unit*>(&source), const_cast<ut_unit*>(&target)), &cv_free);
        const double offset = cv_convert_double(converter.get(), 0.0);
        const double factor = cv_convert_double(converter.get(), 1.0) - offset;
        // The library turns s into Hz by taking the reciprocal; logarithmic units are no straight line either.
        if (!std::isfinite(offset) || !std::isfinite(factor))
            throw unit_error(fmt::format("unit '{}' does not fit '{}'", from, to));
        return {factor, offset};
    }

    std::string base_units(std::string_view unit) const override {
        const plain_numbers english;
        const std::lock_guard lock(units().guard);
        std::array<char, 256> buffer{};
        const int length = ut_format(&known_unit(unit), buffer.data(), buffer.size(), UT_ASCII | UT_DEFINITION);
        std::string_view text = length > 0 && length < 256 ? buffer.data() : "(";
        text = text.substr(0, text.find(" @"));
        if (text.find('(') != std::string_view::npos)
            throw unit_error(fmt::format("unit '{}' is not a multiple of SI units", unit));
        if (const auto space = text.find(' '); space != std::string_view::npos) text.remove_prefix(space + 1);
        return std::string(text);
    }
};

const udunits in_use;

}  // namespace

}  // namespace mdpcosim

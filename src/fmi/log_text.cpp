#include "fmi/log_text.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>

namespace mdpcosim::fmi {

namespace {

constexpr int most_conversions = 64;
constexpr int widest = 1000;
constexpr std::size_t longest = 1 << 16;

/// One conversion of a printf format.
struct conversion {
    std::string flags;
    std::string length;
    std::optional<int> width, precision;
    bool star_width = false, star_precision = false;
    char kind = 0;
};

/// Reads the conversion behind a percent sign and moves `at` behind it; nothing when it is not one we trust.
std::optional<conversion> read_conversion(std::string_view format, std::size_t& at) {
    conversion c;
    const auto next = [&]() { return at < format.size() ? format[at] : '\0'; };
    const auto digits = [&]() {
        int value = 0;
        const auto [end, status] = std::from_chars(format.data() + at, format.data() + format.size(), value);
        at = static_cast<std::size_t>(end - format.data());
        return status == std::errc() ? value : widest + 1;
    };
    while (next() != '\0' && std::strchr("-+ #0", next()) != nullptr) c.flags += format[at++];
    if (c.flags.size() > 5) return {};
    if (next() == '*') {
        c.star_width = true;
        ++at;
    } else if (next() >= '0' && next() <= '9') {
        c.width = digits();
    }
    if (next() == '.') {
        ++at;
        if (next() == '*') {
            c.star_precision = true;
            ++at;
        } else {
            c.precision = next() >= '0' && next() <= '9' ? digits() : 0;
        }
    }
    if (c.width.value_or(0) > widest || c.precision.value_or(0) > widest) return {};
    while (next() != '\0' && std::strchr("hljztL", next()) != nullptr) c.length += format[at++];
    c.kind = next();
    ++at;
    constexpr std::string_view lengths[] = {"", "h", "hh", "l", "ll", "j", "z", "t", "L"};
    if (std::find(std::begin(lengths), std::end(lengths), c.length) == std::end(lengths)) return {};
    if (c.kind == '\0' || std::strchr("diouxXcspeEfFgGaA%", c.kind) == nullptr) return {};
    if (std::strchr("cs", c.kind) != nullptr && !c.length.empty()) return {};
    return c;
}

bool is_trusted(std::string_view format) {
    int count = 0;
    for (std::size_t at = format.find('%'); at != std::string_view::npos; at = format.find('%', at)) {
        ++at;
        if (!read_conversion(format, at) || ++count > most_conversions) return false;
    }
    return true;
}

/// An FMU that gives fewer arguments than its format asks for makes us read what else stands on its stack: wrong, but there,
/// and told to nobody but the log.
#define MDPCOSIM_READS_ARGUMENTS __attribute__((no_sanitize("address")))

/// The arguments in the order of the conversions.
class argument_reader {
   public:
    explicit argument_reader(std::va_list arguments) { va_copy(arguments_, arguments); }
    argument_reader(const argument_reader&) = delete;
    argument_reader& operator=(const argument_reader&) = delete;
    ~argument_reader() { va_end(arguments_); }

    MDPCOSIM_READS_ARGUMENTS std::string apply(conversion c) {
        if (c.kind == '%') return "%";
        if (c.star_width) c.width = star(c);
        if (c.star_precision) {
            c.precision = va_arg(arguments_, int);
            if (*c.precision < 0) c.precision.reset();
        }
        if (c.width.value_or(0) > widest || c.precision.value_or(0) > widest) c.width = c.precision = widest;
        spec_ = "%" + c.flags;
        if (c.width) spec_ += std::to_string(*c.width);
        if (c.precision) spec_ += "." + std::to_string(*c.precision);
        spec_ += c.length;
        spec_ += c.kind;
        switch (c.kind) {
            case 'c':
                return print(va_arg(arguments_, int));
            case 's': {
                const std::string text =
                    read_text(va_arg(arguments_, const char*),
                              c.precision ? static_cast<std::size_t>(*c.precision) : std::size_t{1} << 14);
                return c.width ? print(text.c_str()) : text;
            }
            case 'p':
                return print(va_arg(arguments_, void*));
            case 'd':
            case 'i':
                return whole<int, long, long long>(c.length);
            case 'o':
            case 'u':
            case 'x':
            case 'X':
                return whole<unsigned, unsigned long, unsigned long long>(c.length);
            default:
                return c.length == "L" ? print(va_arg(arguments_, long double)) : print(va_arg(arguments_, double));
        }
    }

   private:
    MDPCOSIM_READS_ARGUMENTS int star(conversion& c) {
        const int width = va_arg(arguments_, int);
        if (width < 0) c.flags += '-';
        return width < 0 ? -std::max(width, -widest) : width;
    }

    template <class Plain, class Long, class Longest>
    MDPCOSIM_READS_ARGUMENTS std::string whole(const std::string& length) {
        if (length == "l" || length == "z" || length == "t") return print(va_arg(arguments_, Long));
        if (length == "ll" || length == "j" || length == "L") return print(va_arg(arguments_, Longest));
        return print(va_arg(arguments_, Plain));
    }

    template <class Value>
    std::string print(Value value) const {
        char buffer[8192];
        const int count = std::snprintf(buffer, sizeof buffer, spec_.c_str(), value);
        return count < 0 ? "(?)" : std::string(buffer, std::min<std::size_t>(count, sizeof buffer - 1));
    }

    std::va_list arguments_;
    std::string spec_;
};

}  // namespace

std::string read_text(const char* text, std::size_t most) {
    if (text == nullptr) return "(null)";
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return "(unreadable text)";
    std::string result;
    bool readable = true;
    // The kernel reads the memory for us: where there is none it says so, instead of ending the process.
    while (readable && result.size() < most) {
        const char* from = text + result.size();
        const std::size_t page = 4096 - reinterpret_cast<std::uintptr_t>(from) % 4096;
        char buffer[4096];
        const long count = ::syscall(SYS_write, ends[1], from, std::min(page, most - result.size()));
        readable = count > 0 && ::read(ends[0], buffer, sizeof buffer) == count;
        if (!readable) break;
        const void* end = std::memchr(buffer, '\0', static_cast<std::size_t>(count));
        result.append(buffer, end == nullptr ? static_cast<std::size_t>(count)
                                             : static_cast<std::size_t>(static_cast<const char*>(end) - buffer));
        if (end != nullptr) break;
    }
    ::close(ends[0]);
    ::close(ends[1]);
    return readable ? result : result + "(unreadable text)";
}

std::string format_log(const char* format, std::va_list arguments) {
    std::string text = read_text(format);
    if (!is_trusted(text)) return text;
    std::string result;
    argument_reader reader(arguments);
    for (std::size_t at = 0; at < text.size() && result.size() < longest;) {
        const std::size_t percent = std::min(text.find('%', at), text.size());
        result.append(text, at, percent - at);
        at = percent + 1;
        if (percent < text.size()) result += reader.apply(*read_conversion(text, at));
    }
    return result;
}

std::string name_references(std::string_view text, const description& d) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t mark = std::min(text.find('#', at), text.size());
        result += text.substr(at, mark - at);
        if (mark == text.size()) break;
        const std::size_t end = text.find('#', mark + 1);
        const std::string_view inside = end == std::string_view::npos ? "" : text.substr(mark + 1, end - mark - 1);
        if (end == mark + 1) {
            result += '#';
            at = end + 1;
            continue;
        }
        const variable* found = nullptr;
        value_reference reference = 0;
        const char* last = inside.data() + inside.size();
        if (inside.size() > 1 && std::from_chars(inside.data() + 1, last, reference).ptr == last)
            for (const variable& x : d.variables) {
                const char letter = x.type == base_type::float64   ? 'r'
                                    : x.type == base_type::boolean ? 'b'
                                    : x.type == base_type::string  ? 's'
                                                                   : 'i';
                if (letter == inside[0] && x.reference == reference) {
                    found = &x;
                    break;
                }
            }
        if (found != nullptr) {
            result += found->name;
            at = end + 1;
        } else {
            result += '#';
            at = mark + 1;
        }
    }
    return result;
}

}  // namespace mdpcosim::fmi

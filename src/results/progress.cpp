#include "results/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <string_view>

namespace mdpcosim {

namespace {

using clock = std::chrono::steady_clock;

/// Of the terminal behind standard error; 80 where it does not say.
int terminal_columns() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

progress::style progress::fitting(bool quiet) {
    if (quiet) return style::none;
    return ::isatty(STDERR_FILENO) != 0 ? style::bar : style::lines;
}

std::string progress::duration(double seconds) {
    const auto whole = std::lround(seconds);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string progress::size(double bytes) {
    static constexpr const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
    std::size_t k = 0;
    while (bytes >= 999.5 && k + 1 < std::size(units)) bytes /= 1000, ++k;
    return fmt::format("{:.3g} {}", bytes, units[k]);
}

progress::progress(style wanted, double start, double end, writer out, std::string counted)
    : style_(wanted),
      out_(std::move(out)),
      start_(start),
      end_(end),
      counted_(std::move(counted)),
      begin_(clock::now()),
      last_(begin_) {}

progress::~progress() { finish(); }

std::string progress::line(double start, double end, double t, double wall, int bar_width, const std::string& counted) {
    const double share = std::clamp((t - start) / (end - start), 0.0, 1.0);
    std::string text = fmt::format("{:3.0f} % ", 100 * share);
    if (bar_width > 0) {
        const int filled = static_cast<int>(share * bar_width);
        text += fmt::format("|{:#<{}}{:<{}}| ", "", filled, "", bar_width - filled);
    }
    text += counted.empty() ? fmt::format("t = {:.4g} s of {:.4g} s", t, end)
                            : fmt::format("{:.0f} of {:.0f} {}", t, end, counted);
    if (wall > 0 && share > 0) {
        const double speed = (t - start) / wall;
        if (counted.empty())
            text += speed >= 1 ? fmt::format(", {:.3g} x real time", speed)
                               : fmt::format(", real time / {:.3g}", 1 / speed);
        else
            text += fmt::format(", {:.3g} per s", speed);
        text += fmt::format(", {} left", duration(wall * (1 - share) / share));
    }
    return text;
}

std::string progress::fitted_line(double start, double end, double t, double wall, int columns,
                                  const std::string& counted) {
    // A line that reached the terminal's last column would wrap, and only its last part could be removed.
    const auto room = static_cast<std::size_t>(std::max(1, columns - 1));
    std::string text = line(start, end, t, wall, 0, counted);
    const int bar_width = std::min(30, static_cast<int>(room) - static_cast<int>(text.size()) - 3);
    if (bar_width >= 5) text = line(start, end, t, wall, bar_width, counted);
    return text.substr(0, room);
}

void progress::update(double t) {
    if (style_ == style::none) return;
    const auto now = clock::now();
    const double interval = style_ == style::bar ? 0.1 : 10;
    if (std::chrono::duration<double>(now - last_).count() < interval) return;
    last_ = now;
    const double wall = std::chrono::duration<double>(now - begin_).count();
    if (style_ == style::bar)
        out_("\r\033[K" + fitted_line(start_, end_, t, wall, terminal_columns(), counted_));
    else
        out_(line(start_, end_, t, wall, 0, counted_) + "\n");
    shown_ = true;
}

void progress::tell(const std::string& line) {
    if (style_ == style::none) return;
    out_((style_ == style::bar ? "\r\033[K" : "") + line + "\n");
}

void progress::finish() {
    if (shown_ && style_ == style::bar) out_("\r\033[K");
    shown_ = false;
}

}  // namespace mdpcosim

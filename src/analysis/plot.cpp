#include "analysis/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "analysis/plot_scale.hpp"
#include "core/error.hpp"
#include "core/files.hpp"

namespace mdpcosim {

namespace {

constexpr std::array<const char*, 7> palette{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                             "#E69F00", "#56B4E9", "#222222"};
constexpr double left_margin = 78, right_margin = 24, top_margin = 34, bottom_margin = 56;
constexpr double title_height = 34, legend_row = 20, legend_sample = 30;
constexpr double font = 13, small_font = 12;

struct point {
    double x, y;
};
using polyline = std::vector<point>;

struct box {
    double left, top, right, bottom;
    bool holds(const point& p) const { return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom; }
};

/// Length of the UTF-8 sequence that begins at `at`, 0 where there is none.
std::size_t sequence_length(const std::string& text, std::size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xC2 && lead < 0xE0 ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (at + length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) return 0;
    return length;
}

/// Text that XML can hold: markup escaped, what is no character replaced.
std::string escape(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t length = sequence_length(text, i);
        const char c = text[i];
        if (length == 0)
            out += "\xEF\xBF\xBD";
        else if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else if (length == 1 && static_cast<unsigned char>(c) < 0x20)
            out += ' ';
        else
            out.append(text, i, length);
        i += std::max<std::size_t>(1, length);
    }
    return out;
}

/// Estimated: the viewer's font is not known.
double text_width(const std::string& text, double size) {
    const auto characters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
    return 0.6 * size * static_cast<double>(characters);
}

std::string text_element(double x, double y, const char* anchor, const std::string& inner,
                         const std::string& more = "") {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more, inner);
}

std::string power_of_ten(const std::string& exponent) {
    return fmt::format("10<tspan dy=\"-5\" font-size=\"9\">{}</tspan>", exponent);
}

/// The part of a segment within the box, by Liang and Barsky; false when there is none.
bool clip(const box& b, point& p, point& q) {
    double from = 0, to = 1;
    const double dx = q.x - p.x, dy = q.y - p.y;
    for (const auto& [step, room] : {std::pair{-dx, p.x - b.left}, std::pair{dx, b.right - p.x},
                                     std::pair{-dy, p.y - b.top}, std::pair{dy, b.bottom - p.y}}) {
        if (step == 0) {
            if (room < 0) return false;
        } else if (step < 0) {
            from = std::max(from, room / step);
        } else {
            to = std::min(to, room / step);
        }
    }
    if (from > to) return false;
    const point start = p;
    p = {start.x + from * dx, start.y + from * dy};
    q = {start.x + to * dx, start.y + to * dy};
    return true;
}

/// What is visible of the line through the points, in pieces; a place that is no number interrupts it.
std::vector<polyline> visible(const polyline& points, const box& b) {
    std::vector<polyline> pieces;
    bool joined = false;  // the last piece ends in the last point
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
        point p = points[i], q = points[i + 1];
        const point end = q;
        if (std::isnan(p.x + p.y + q.x + q.y) || !clip(b, p, q)) {
            joined = false;
            continue;
        }
        if (!joined) pieces.push_back({p});
        pieces.back().push_back(q);
        joined = q.x == end.x && q.y == end.y;
    }
    return pieces;
}

/// Points that fall on the last one are left out.
std::string path_data(const std::vector<polyline>& pieces) {
    std::string d;
    for (const auto& piece : pieces) {
        std::string last;
        for (const point& p : piece) {
            std::string place = fmt::format("{:.1f} {:.1f}", p.x, p.y);
            if (place == last) continue;
            d += (last.empty() ? "M" : "L") + place;
            last = std::move(place);
        }
    }
    return d;
}

std::string marker_data(plot_marker kind, const point& p) {
    const auto draw = [&](const char* shape) { return fmt::format("M{:.1f} {:.1f}{}", p.x, p.y, shape); };
    switch (kind) {
        case plot_marker::circle:
            return draw("m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z");
        case plot_marker::square:
            return draw("m-3.2-3.2h6.4v6.4h-6.4z");
        case plot_marker::triangle:
            return draw("m0-4.4l4 7h-8z");
        case plot_marker::diamond:
            return draw("m0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z");
        case plot_marker::cross:
            return draw("m-3.3-3.3l6.6 6.6m0-6.6l-6.6 6.6");
        case plot_marker::dot:
            return draw("h0");
        case plot_marker::none:
            break;
    }
    return "";
}

const char* dashes(plot_stroke stroke) {
    if (stroke == plot_stroke::dashed) return " stroke-dasharray=\"7 4\"";
    if (stroke == plot_stroke::dotted) return " stroke-dasharray=\"1.5 3.5\"";
    return "";
}

/// One curve's line and markers; also the sample in the legend.
std::string drawn(const plot_curve& curve, int colour, const polyline& points, const box& b) {
    std::string out;
    const char* ink = palette[static_cast<std::size_t>(colour) % palette.size()];
    if (curve.stroke != plot_stroke::none) {
        const std::string d = path_data(visible(points, b));
        if (!d.empty())
            out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{}/>\n", d, ink,
                               dashes(curve.stroke));
    }
    if (curve.marker == plot_marker::none) return out;
    std::string d;
    for (const point& p : points)
        if (b.holds(p)) d += marker_data(curve.marker, p);
    if (d.empty()) return out;
    const bool dot = curve.marker == plot_marker::dot;
    return out +
           fmt::format("<path d=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\"/>\n", d,
                       dot || curve.marker == plot_marker::cross ? "none" : "#ffffff", ink, dot ? 2.6 : 1.5);
}

int colour_of(const plot_panel& panel, std::size_t curve) {
    return panel.curves[curve].colour.value_or(static_cast<int>(curve));
}

struct reference_drawing {
    std::string lines, labels;  ///< the lines stay below the curves, their labels above
};

reference_drawing references(const plot_panel& panel, const plot_scale& x, const plot_scale& y, const box& b) {
    std::string lines, labels;
    for (const auto& r : panel.references) {
        polyline points;
        for (std::size_t i = 0; i < std::min(r.x.size(), r.y.size()); ++i)
            points.push_back({x.at(r.x[i]), y.at(r.y[i])});
        const auto pieces = visible(points, b);
        if (pieces.empty()) continue;
        lines += path_data(pieces);
        if (r.label.empty()) continue;
        // Written backwards from the line's end, so that it stays inside.
        const polyline& last = pieces.back();
        const point end = last.back();
        const bool leftwards = end.x < last.front().x;
        const double base = leftwards ? std::min(end.y + 14, b.bottom - 4) : std::max(end.y - 4, b.top + 12);
        labels += text_element(end.x + (leftwards ? 3 : -3), base, leftwards ? "start" : "end", escape(r.label),
                               " class=\"r\"");
    }
    if (lines.empty()) return {};
    return {fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#777777\" stroke-width=\"0.8\"/>\n", lines), labels};
}

std::string tick_text(const plot_tick& t) { return t.power ? power_of_ten(t.text) : t.text; }

std::string exponent_note(int exponent) {
    return exponent == 0 ? "" : "\xC3\x97" + power_of_ten(fmt::format("{}", exponent));
}

std::string axes(const plot_panel& panel, const plot_scale& x, const plot_scale& y, const box& b) {
    std::string grid, fine, out;
    for (const double v : x.minor_ticks()) fine += fmt::format("M{:.1f} {:.1f}V{:.1f}", x.at(v), b.top, b.bottom);
    for (const double v : y.minor_ticks()) fine += fmt::format("M{:.1f} {:.1f}H{:.1f}", b.left, y.at(v), b.right);
    for (const auto& t : x.ticks()) {
        grid += fmt::format("M{:.1f} {:.1f}V{:.1f}", x.at(t.value), b.top, b.bottom);
        out += text_element(x.at(t.value), b.bottom + 18, "middle", tick_text(t));
    }
    for (const auto& t : y.ticks()) {
        grid += fmt::format("M{:.1f} {:.1f}H{:.1f}", b.left, y.at(t.value), b.right);
        out += text_element(b.left - 7, y.at(t.value) + 4, "end", tick_text(t));
    }
    out = fmt::format("<path d=\"{}\" stroke=\"#f0f0f0\"/>\n<path d=\"{}\" stroke=\"#d8d8d8\"/>\n", fine, grid) + out;
    out += text_element(b.right, b.bottom + 34, "end", exponent_note(x.common_exponent()));
    out += text_element(b.left, b.top - 6, "end", exponent_note(y.common_exponent()));
    out += text_element((b.left + b.right) / 2, b.bottom + 40, "middle", escape(panel.x.label));
    out += text_element(
        0, 0, "middle", escape(panel.y.label),
        fmt::format(" transform=\"translate({:.1f} {:.1f}) rotate(-90)\"", b.left - 62, (b.top + b.bottom) / 2));
    return out;
}

std::string panel_svg(const plot_panel& panel, const box& b) {
    std::vector<const std::vector<double>*> xs, ys;
    for (const auto& c : panel.curves) {
        xs.push_back(&c.x);
        ys.push_back(&c.y);
    }
    plot_scale x(panel.x, xs), y(panel.y, ys);
    x.place(b.left, b.right);
    y.place(b.bottom, b.top);
    if (panel.equal_aspect) {
        const double units = std::max(x.units_per_pixel(), y.units_per_pixel());
        x.widen_to(units);
        y.widen_to(units);
    }
    std::string out = axes(panel, x, y, b);
    out += text_element((b.left + b.right) / 2, b.top - 9, "middle", escape(panel.title), " font-weight=\"bold\"");
    const reference_drawing reference = references(panel, x, y, b);
    out += reference.lines;
    for (std::size_t i = 0; i < panel.curves.size(); ++i) {
        const plot_curve& curve = panel.curves[i];
        polyline points;
        for (std::size_t k = 0; k < std::min(curve.x.size(), curve.y.size()); ++k)
            points.push_back({x.at(curve.x[k]), y.at(curve.y[k])});
        out += drawn(curve, colour_of(panel, i), points, b);
    }
    return out + reference.labels +
           fmt::format(
               "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" "
               "stroke=\"#444444\"/>\n",
               b.left, b.top, b.right - b.left, b.bottom - b.top);
}

/// Every named curve once, in rows below the panels; `height` becomes that of all rows.
std::string legend(const plot& picture, double top, double width, double& height) {
    std::vector<std::string> seen;
    std::string out;
    double x = left_margin / 2, y = top;
    for (const auto& panel : picture.panels)
        for (std::size_t i = 0; i < panel.curves.size(); ++i) {
            const plot_curve& curve = panel.curves[i];
            if (curve.name.empty() || std::find(seen.begin(), seen.end(), curve.name) != seen.end()) continue;
            seen.push_back(curve.name);
            const double length = legend_sample + 8 + text_width(curve.name, font) + 18;
            if (x + length > width && x > left_margin / 2) {
                x = left_margin / 2;
                y += legend_row;
            }
            plot_curve sample = curve;
            polyline points{{x, y - 4}, {x + legend_sample, y - 4}};
            sample.marker = plot_marker::none;
            const box all{0, 0, width, y + legend_row};
            out += drawn(sample, colour_of(panel, i), points, all);
            sample.stroke = plot_stroke::none;
            sample.marker = curve.marker;
            out += drawn(sample, colour_of(panel, i), {{x + legend_sample / 2, y - 4}}, all);
            out += text_element(x + legend_sample + 8, y, "start", escape(curve.name));
            x += length;
        }
    height = seen.empty() ? 0 : y - top + 1.5 * legend_row;
    return out;
}

}  // namespace

std::vector<plot_curve> map_curves(std::span<const double> x, std::span<const double> y, std::span<const double> rho,
                                   double limit) {
    std::vector<plot_curve> curves(2);
    curves[0].name = "stable";
    curves[0].marker = plot_marker::dot;
    curves[1].name = "unstable";
    curves[1].marker = plot_marker::cross;
    for (auto& curve : curves) curve.stroke = plot_stroke::none;
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t k = 0; k < y.size(); ++k) {
            plot_curve& to = curves[rho[i * y.size() + k] <= limit ? 0 : 1];
            to.x.push_back(x[i]);
            to.y.push_back(y[k]);
        }
    return curves;
}

plot_reference level_line(double level, std::string label) {
    constexpr double far = std::numeric_limits<double>::infinity();
    return {{-far, far}, {level, level}, std::move(label)};
}

std::string to_svg(const plot& picture) {
    const int columns = std::max(1, std::min(picture.columns, static_cast<int>(picture.panels.size())));
    const double cell_width = left_margin + picture.panel_width + right_margin;
    const double cell_height = top_margin + picture.panel_height + bottom_margin;
    const double head = picture.title.empty() ? 0 : title_height;
    const int rows = (static_cast<int>(picture.panels.size()) + columns - 1) / columns;
    const double width = columns * cell_width, bottom = head + rows * cell_height;

    std::string body;
    if (!picture.title.empty())
        body += text_element(width / 2, 25, "middle", escape(picture.title), " font-size=\"16\" font-weight=\"bold\"");
    for (std::size_t i = 0; i < picture.panels.size(); ++i) {
        const int column = static_cast<int>(i) % columns, row = static_cast<int>(i) / columns;
        const double left = column * cell_width + left_margin, top = head + row * cell_height + top_margin;
        body += panel_svg(picture.panels[i], {left, top, left + picture.panel_width, top + picture.panel_height});
    }
    double legend_height = 0;
    body += legend(picture, bottom + 14, width, legend_height);
    const double height = bottom + legend_height;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "font-family=\"Helvetica,Arial,'DejaVu Sans',sans-serif\" font-size=\"{2}\" fill=\"#222222\">\n"
        "<style>.r{{font-size:{3}px;fill:#555555;stroke:#ffffff;stroke-width:3px;paint-order:stroke}}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{4}</svg>\n",
        width, height, font, small_font, body);
}

void write_svg(const std::string& path, const plot& picture) {
    try {
        write_document(path, to_svg(picture));
    } catch (const file_problem& problem) {
        throw user_error(fmt::format("{}: the picture cannot be written ({}).", path, problem.what()));
    }
}

}  // namespace mdpcosim

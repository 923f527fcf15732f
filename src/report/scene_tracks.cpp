#include "report/scene_tracks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/json.hpp"
#include "expression/program.hpp"
#include "report/reduce.hpp"
#include "subsystem/scene.hpp"

namespace mdpcosim {

namespace {

constexpr std::size_t most_frames = 600, least_frames = 100;
constexpr std::size_t most_chain_numbers = 400'000;  // coordinates of chains in all frames: 1.1 MB in the page

/// Columns of a vector output, in their order.
std::vector<std::size_t> elements(const result_table& table, const std::string& name) {
    std::vector<std::size_t> found;
    for (std::size_t k = 0; k < table.columns(); ++k)
        if (table.names[k].starts_with(name) && table.names[k].size() > name.size() &&
            table.names[k][name.size()] == '[')
            found.push_back(k);
    return found;
}

std::vector<std::string> vectors_of(const json& shape) {
    // Runs of before there were chains have none.
    return shape.contains("vectors") ? shape.at("vectors").get<std::vector<std::string>>() : std::vector<std::string>{};
}

std::size_t chain_numbers(const json& scenes, const result_table& table) {
    std::size_t count = 0;
    for (const auto& scene : scenes)
        for (const auto& shape : scene.at("shapes"))
            for (const auto& name : vectors_of(shape))
                count += elements(table, scene.at("subsystem").get<std::string>() + "." + name).size();
    return count;
}

std::vector<std::size_t> frame_rows(std::size_t rows, std::size_t chain_numbers_per_frame) {
    const std::size_t affordable =
        std::max(least_frames, most_chain_numbers / std::max<std::size_t>(1, chain_numbers_per_frame));
    const std::size_t count = std::min({rows, most_frames, affordable});
    std::vector<std::size_t> frames(count);
    for (std::size_t i = 0; i < count; ++i) frames[i] = count > 1 ? i * (rows - 1) / (count - 1) : 0;
    return frames;
}

/// Turns expressions of one subsystem into tracks.
class track_maker {
   public:
    track_maker(const json& scene, const result_table& table, const std::vector<std::size_t>& frames)
        : table_(table), frames_(frames) {
        known_.emplace("t", expression(variable_id{0, 0}));
        const std::string prefix = scene.at("subsystem").get<std::string>() + ".";
        prefix_ = prefix;
        for (std::size_t k = 0; k < table.columns(); ++k)
            if (table.names[k].starts_with(prefix))
                known_.emplace(scene_name(table.names[k].substr(prefix.size())),
                               expression(variable_id{1, static_cast<int>(k)}));
        for (const auto& [name, value] : scene.at("constants").members())
            known_.emplace(name, expression(value.get<double>()));
        symbols_.find = [this](std::string_view name) -> std::optional<expression> {
            const auto found = known_.find(name);
            if (found != known_.end()) return found->second;
            missing_.emplace(name);
            return expression(0.0);
        };
    }

    /// Empty where an output is missing.
    json shape(const json& from) {
        const std::size_t before = missing_.size();
        json out{{"kind", from.at("kind")}, {"ports", from.at("ports")}};
        for (const auto& point : from.at("points")) out["points"].push_back(tracks(point));
        out["size"] = tracks(from.at("size"));
        out["rotation"] = tracks(from.at("rotation"));
        if (from.contains("place")) out["place"] = tracks(from.at("place"));
        if (from.contains("closed")) out["closed"] = from.at("closed");
        if (const auto vectors = vectors_of(from); !vectors.empty()) out["chain"] = chain(vectors);
        return missing_.size() == before ? out : json();
    }

    const std::set<std::string>& missing() const { return missing_; }

   private:
    json tracks(const json& expressions) {
        json out = json::array();
        for (const auto& text : expressions) out.push_back(track(text.get<std::string>()));
        return out;
    }

    json chain(const std::vector<std::string>& vectors) {
        std::vector<std::vector<std::size_t>> columns;
        for (const auto& name : vectors) {
            columns.push_back(elements(table_, prefix_ + name));
            if (columns.back().empty() || columns.back().size() != columns.front().size()) missing_.insert(name);
        }
        if (columns.size() == 1) {  // x and y in turn
            const auto both = std::exchange(columns, {{}, {}})[0];
            for (std::size_t k = 0; k + 1 < both.size(); k += 2) {
                columns[0].push_back(both[k]);
                columns[1].push_back(both[k + 1]);
            }
        }
        json coordinates = json::array();
        for (const auto& each : columns) coordinates.push_back(quantised(each));
        return {{"count", columns[0].size()}, {"coordinates", std::move(coordinates)}};
    }

    /// A 65000th of what a coordinate covers is finer than any screen.
    json quantised(const std::vector<std::size_t>& columns) const {
        constexpr double steps = 65534, none = 65535;
        double low = HUGE_VAL, high = -HUGE_VAL;
        const auto each = [&](const auto& work) {
            for (const std::size_t row : frames_)
                for (const std::size_t column : columns) work(table_.value(row, column));
        };
        each([&](double v) {
            if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
        });
        const double step = high > low ? (high - low) / steps : 1;
        std::vector<std::uint8_t> bytes;
        bytes.reserve(2 * frames_.size() * columns.size());
        each([&](double v) {
            const auto n = static_cast<unsigned>(std::isfinite(v) ? std::round((v - low) / step) : none);
            bytes.push_back(static_cast<std::uint8_t>(n & 0xff));
            bytes.push_back(static_cast<std::uint8_t>(n >> 8));
        });
        return {{"low", std::isfinite(low) ? low : 0.0}, {"step", step}, {"data", encode(bytes)}};
    }

    json track(const std::string& text) {
        const expression e = parse_expression(text, symbols_);
        if (e.is_constant()) return e.value();
        const assignment one{e, 0};
        const program evaluate(std::span(&one, 1));
        std::vector<double> values(frames_.size());
        for (std::size_t i = 0; i < frames_.size(); ++i) {
            const std::size_t row = frames_[i];
            evaluate.evaluate({&table_.time[row], table_.values.data() + row * table_.columns(), nullptr}, &values[i]);
        }
        return encode(values, true);
    }

    const result_table& table_;
    const std::vector<std::size_t>& frames_;
    std::string prefix_;
    std::map<std::string, expression, std::less<>> known_;
    symbol_table symbols_;
    std::set<std::string> missing_;
};

}  // namespace

json scene_tracks(const json& scenes, const result_table& table) {
    if (!scenes.is_array() || scenes.empty() || table.rows() == 0) return {};
    const auto frames = frame_rows(table.rows(), chain_numbers(scenes, table));
    std::vector<double> times;
    for (const std::size_t row : frames) times.push_back(table.time[row]);
    json list = json::array();
    for (const auto& scene : scenes) {
        track_maker make(scene, table, frames);
        json shapes = json::array();
        for (const auto& shape : scene.at("shapes"))
            if (json made = make.shape(shape); !made.is_null()) shapes.push_back(std::move(made));
        list.push_back({{"subsystem", scene.at("subsystem")},
                        {"row", scene.at("row")},
                        {"shapes", std::move(shapes)},
                        {"missing", make.missing()}});
    }
    return {{"time", encode(times)}, {"subsystems", std::move(list)}};
}

}  // namespace mdpcosim

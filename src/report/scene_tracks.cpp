#include "report/scene_tracks.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/json.hpp"
#include "expression/program.hpp"
#include "report/reduce.hpp"
#include "subsystem/scene.hpp"

namespace mdpcosim {

namespace {

constexpr std::size_t most_frames = 600;

std::vector<std::size_t> frame_rows(std::size_t rows) {
    const std::size_t count = std::min(rows, most_frames);
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
        return missing_.size() == before ? out : json();
    }

    const std::set<std::string>& missing() const { return missing_; }

   private:
    json tracks(const json& expressions) {
        json out = json::array();
        for (const auto& text : expressions) out.push_back(track(text.get<std::string>()));
        return out;
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
    std::map<std::string, expression, std::less<>> known_;
    symbol_table symbols_;
    std::set<std::string> missing_;
};

}  // namespace

json scene_tracks(const json& scenes, const result_table& table) {
    if (!scenes.is_array() || scenes.empty() || table.rows() == 0) return {};
    const auto frames = frame_rows(table.rows());
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

#include "simulation/scenes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/suggest.hpp"
#include "expression/expression.hpp"
#include "scenario/resolve.hpp"
#include "subsystem/model.hpp"
#include "subsystem/ode_model.hpp"

namespace mdpcosim {

namespace {

class scene_reader {
   public:
    scene_reader(const subsystem_spec& spec, const subsystem_description& d) : spec_(spec) {
        names_.emplace_back("t");
        for (const auto& y : d.outputs)
            for (int slot = y.slot; slot < y.slot + y.size; ++slot) {
                const std::string name = element_name(y, slot);
                names_.push_back(scene_name(name));
                if (!name.ends_with(']')) continue;
                // Elements may be outputs of their own: columns of a file.
                const std::string vector = name.substr(0, name.rfind('['));
                if (vectors_.empty() || vectors_.back().first != vector) vectors_.emplace_back(vector, 0);
                ++vectors_.back().second;
            }
        if (spec.kind == subsystem_spec::source_kind::ode)
            for (const auto& p : read_ode_model(spec).parameters) constants_.emplace_back(p.name, p.value);
        for (const auto& [name, value] : constants_) names_.push_back(name);
        for (const auto& p : d.ports) ports_.push_back(p.name);
        symbols_.names = names_;
        symbols_.find = [this](std::string_view name) -> std::optional<expression> {
            if (std::find(names_.begin(), names_.end(), name) == names_.end()) return std::nullopt;
            return expression(1.0);
        };
    }

    subsystem_scene read() const {
        subsystem_scene out{spec_.name, {}, constants_};
        for (std::size_t i = 0; i < spec_.scene.size(); ++i) {
            const scene_shape_spec& from = spec_.scene[i];
            object_ = fmt::format("subsystem '{}': shape {} of the scene", spec_.name, i + 1);
            scene_shape shape{.kind = from.kind.value,
                              .size = checked(from.size),
                              .rotation = checked(from.rotation),
                              .vectors = checked_vectors(from),
                              .place = checked(from.place),
                              .closed = from.closed};
            for (const auto& point : from.points) shape.points.push_back(checked(point));
            if (!from.port.empty()) {
                if (std::find(ports_.begin(), ports_.end(), from.port.value) == ports_.end())
                    throw user_error(
                        from.port.where,
                        fmt::format("{}: {}", object_, unknown_name("port", from.port.value, "The subsystem", ports_)));
                shape.ports.push_back(from.port.value);
            }
            out.scene.shapes.push_back(std::move(shape));
        }
        return out;
    }

   private:
    std::vector<std::string> checked(const std::vector<text>& expressions) const {
        std::vector<std::string> out;
        for (const auto& e : expressions) {
            try {
                parse_expression(e.value, symbols_);
            } catch (const expression_error& problem) {
                throw user_error(e.where, fmt::format("{}: '{}': {}.", object_, e.value, problem.what()));
            }
            out.push_back(e.value);
        }
        return out;
    }

    std::vector<std::string> checked_vectors(const scene_shape_spec& shape) const {
        std::vector<std::string> out;
        int points = 0;
        for (const text& name : shape.vectors) {
            const auto found = std::ranges::find(vectors_, name.value, &std::pair<std::string, int>::first);
            if (found == vectors_.end()) {
                std::vector<std::string> names;
                for (const auto& [each, size] : vectors_) names.push_back(each);
                throw user_error(
                    name.where,
                    fmt::format("{}: {}", object_, unknown_name("vector output", name.value, "The subsystem", names)));
            }
            if (!out.empty() && found->second != points)
                throw user_error(name.where,
                                 fmt::format("{}: '{}' has {} elements, '{}' {}; a chain needs as many of each.",
                                             object_, name.value, found->second, out.front(), points));
            points = found->second;
            if (shape.vectors.size() == 1 && points % 2 != 0)
                throw user_error(name.where,
                                 fmt::format("{}: '{}' has {} elements; x and y in turn are an even number. Give two "
                                             "outputs, [x, y], or one with both.",
                                             object_, name.value, points));
            out.push_back(name.value);
        }
        return out;
    }

    const subsystem_spec& spec_;
    std::vector<std::pair<std::string, int>> vectors_;  ///< outputs with several elements, and how many
    std::vector<std::string> names_, ports_;
    std::vector<std::pair<std::string, double>> constants_;
    symbol_table symbols_;
    mutable std::string object_;
};

}  // namespace

std::vector<subsystem_scene> collect_scenes(const scenario& s, const assembly& a) {
    std::vector<subsystem_scene> scenes;
    for (std::size_t i = 0; i < s.subsystems.size(); ++i) {
        const subsystem_spec& spec = s.subsystems[i];
        if (!spec.scene.empty()) {
            scenes.push_back(scene_reader(spec, a.system.subsystems->describe(subsystem_index(i))).read());
        } else if (spec.kind == subsystem_spec::source_kind::model) {
            const model_info* model = model_registry::instance().find(spec.source.value);
            if (model == nullptr || (!model->scene && !model->scene_of_parts)) continue;
            const auto values = resolve_parameters(model->parameters, spec.set, spec.where, spec.name);
            scenes.push_back({spec.name,
                              model->scene
                                  ? model->scene(values)
                                  : model->scene_of_parts(values, resolve_parts(model->parts, spec.parts, spec.name)),
                              {}});
        }
    }
    return scenes;
}

}  // namespace mdpcosim

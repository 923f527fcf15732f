#include <fmt/format.h>

#include "core/suggest.hpp"
#include "scenario/map_reader.hpp"

namespace mdpcosim {

namespace {

const std::vector<std::string> shape_kinds{"ball", "box", "disc", "rod", "spring", "line"};

std::vector<text> read_list(const yaml_node& node, const let_table& let, const std::string& object, std::size_t least,
                            std::size_t most) {
    std::vector<text> values;
    if (node.kind != yaml_node::type::list || node.items.size() < least || node.items.size() > most)
        throw user_error(node.where,
                         fmt::format("{}: a list of {} numbers or expressions is expected.", object,
                                     least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most)));
    for (const auto& item : node.items) values.push_back(read_text(item, let, object));
    return values;
}

/// One point, or for what reaches from place to place a list of points.
std::vector<std::vector<text>> read_points(const std::string& kind, const yaml_node& node, const let_table& let,
                                           const std::string& object) {
    if (kind == "ball" || kind == "box" || kind == "disc") return {read_list(node, let, object, 2, 3)};
    std::vector<std::vector<text>> points;
    if (node.kind == yaml_node::type::list)
        for (const auto& item : node.items) points.push_back(read_list(item, let, object, 2, 3));
    if (points.size() < 2)
        throw user_error(node.where, fmt::format("{}: at least two points are expected, [[x, y], [x, y]].", object));
    return points;
}

scene_shape_spec read_shape(const yaml_node& node, const let_table& let, const std::string& object) {
    map_reader map(node, let, object);
    scene_shape_spec shape;
    for (const auto& kind : shape_kinds)
        if (const yaml_node* places = map.find(kind)) {
            if (!shape.kind.empty())
                throw user_error(node.where, fmt::format("{}: it is a {} and a {}; only one of {} can say what it is.",
                                                         object, shape.kind.value, kind, name_list(shape_kinds)));
            shape.kind = {kind, places->where};
            shape.points = read_points(kind, *places, let, fmt::format("{}: {}", object, kind));
        }
    if (const yaml_node* size = map.find("size"))
        shape.size = size->kind == yaml_node::type::list ? read_list(*size, let, object + ": size", 1, 3)
                                                         : std::vector<text>{read_text(*size, let, object + ": size")};
    if (const text angle = map.find_text("angle"); !angle.empty()) shape.rotation = {angle};
    if (const yaml_node* quaternion = map.find("quaternion"))
        shape.rotation = read_list(*quaternion, let, object + ": quaternion", 4, 4);
    shape.port = map.find_text("port");
    map.finish();
    if (shape.kind.empty())
        throw user_error(node.where, fmt::format("{}: one of the keys {} is missing, which say what it is and where.",
                                                 object, name_list(shape_kinds)));
    return shape;
}

}  // namespace

std::vector<scene_shape_spec> read_scene(const yaml_node* node, const let_table& let, const std::string& object) {
    std::vector<scene_shape_spec> shapes;
    if (node == nullptr) return shapes;
    if (node->kind != yaml_node::type::list)
        throw user_error(node->where, fmt::format("{}: 'scene' is a list of shapes such as '- {{ball: [x, y], size: "
                                                  "0.1}}', not {}.",
                                                  object, describe(node->kind)));
    for (const auto& item : node->items)
        shapes.push_back(read_shape(item, let, fmt::format("{}: shape {} of the scene", object, shapes.size() + 1)));
    return shapes;
}

}  // namespace mdpcosim

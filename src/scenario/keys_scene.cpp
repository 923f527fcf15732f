#include "scenario/keys_scene.hpp"

#include "scenario/key_builders.hpp"

namespace mdpcosim {

using namespace keys;

namespace {

const std::vector<std::string> shape_kinds{"ball", "box", "disc", "rod", "spring", "line", "outline", "chain"};

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
    if (points.size() < (kind == "outline" ? 3 : 2))
        throw user_error(node.where,
                         fmt::format("{}: at least {} points are expected, [[x, y], [x, y]{}].", object,
                                     kind == "outline" ? "three" : "two", kind == "outline" ? ", ..." : ""));
    return points;
}

/// One of the keys that say what it is and where.
key_info shape_key(const std::string& kind) {
    const bool point = kind == "ball" || kind == "box" || kind == "disc", outline = kind == "outline";
    return special<scene_shape_spec>(
        kind, point ? "`[x, y]` or `[x, y, z]`" : "a list of points",
        point     ? R"({"$ref": "#/definitions/coordinates"})"
        : outline ? R"({"allOf": [{"$ref": "#/definitions/stretch"}, {"minItems": 3}]})"
                  : R"({"$ref": "#/definitions/stretch"})",
        (point     ? fmt::format("A {} at this point", kind)
         : outline ? std::string("A polygon through these points, about an origin that 'at' and 'angle' move")
                   : fmt::format("A {} through these points", kind)) +
            "; numbers in m, or expressions of outputs.",
        [kind](scene_shape_spec& shape, const yaml_node& node, const key_place& at) {
            shape.kind = {kind, node.where};
            shape.points = read_points(kind, node, at.in.let, at.value());
        },
        [kind](const scene_shape_spec& shape, yaml_node& out) {
            if (shape.kind.value != kind) return;
            if (shape.points.size() == 1) {
                out = list_node(shape.points[0]);
                return;
            }
            out.kind = yaml_node::type::list;
            for (const auto& point_of_list : shape.points) out.items.push_back(list_node(point_of_list));
        });
}

/// Outputs, in place of points.
key_info chain_key() {
    return special<scene_shape_spec>(
        "chain", "one to three names of vector outputs", R"({"$ref": "#/definitions/names"})",
        "A chain of rollers and links at the places that vector outputs hold: `[pins.x, pins.y]`, or one output with x "
        "and y in turn.",
        [](scene_shape_spec& shape, const yaml_node& node, const key_place& at) {
            shape.kind = {"chain", node.where};
            shape.vectors = node.kind == yaml_node::type::list
                                ? read_list(node, at.in.let, at.value(), 1, 3)
                                : std::vector<text>{read_text(node, at.in.let, at.value())};
        },
        [](const scene_shape_spec& shape, yaml_node& out) {
            if (shape.kind.value == "chain") out = list_node(shape.vectors);
        });
}

unsigned check_shape(void*, const yaml_key&, const yaml_node& node, const key_place& at) {
    std::string found;
    for (const auto& kind : shape_kinds) {
        if (node.find(kind) == nullptr) continue;
        if (!found.empty())
            throw user_error(node.where, fmt::format("{}: it is a {} and a {}; only one of {} can say what it is.",
                                                     at.object, found, kind, name_list(shape_kinds)));
        found = kind;
    }
    if (!found.empty()) return ~0U;
    map_reader misspelt(node, at.in.let, at.object);  // which says more than what is missing
    for (const auto& info : shape_keys().keys) misspelt.find(info.name);
    misspelt.finish();
    throw user_error(node.where, fmt::format("{}: one of the keys {} is missing, which say what it is and where.",
                                             at.object, name_list(shape_kinds)));
}

std::vector<key_info> further_keys() {
    using spec = scene_shape_spec;
    const auto read_size = [](spec& shape, const yaml_node& node, const key_place& at) {
        shape.size = node.kind == yaml_node::type::list ? read_list(node, at.in.let, at.value(), 1, 3)
                                                        : std::vector<text>{read_text(node, at.in.let, at.value())};
    };
    const auto write_size = [](const spec& shape, yaml_node& out) {
        if (!shape.size.empty()) out = list_node(shape.size);
    };
    const auto read_angle = [](spec& shape, const yaml_node& node, const key_place& at) {
        shape.rotation = {read_text(node, at.in.let, at.whole())};
    };
    const auto write_angle = [](const spec& shape, yaml_node& out) {
        if (shape.rotation.size() == 1) out = scalar_node(shape.rotation[0].value);
    };
    const auto read_quaternion = [](spec& shape, const yaml_node& node, const key_place& at) {
        shape.rotation = read_list(node, at.in.let, at.value(), 4, 4);
    };
    const auto write_quaternion = [](const spec& shape, yaml_node& out) {
        if (shape.rotation.size() == 4) out = list_node(shape.rotation);
    };
    const auto read_place = [](spec& shape, const yaml_node& node, const key_place& at) {
        shape.place = read_list(node, at.in.let, at.value(), 2, 3);
    };
    const auto write_place = [](const spec& shape, yaml_node& out) {
        if (!shape.place.empty()) out = list_node(shape.place);
    };
    return {
        special<spec>("at", "`[x, y]` or `[x, y, z]`", R"({"$ref": "#/definitions/coordinates"})",
                      "Where the origin of an outline stands; numbers in m, or expressions of outputs.", read_place,
                      write_place)
            .by_default("[0, 0]"),
        flag<spec>("closed", &spec::closed,
                   "Outline, chain: whether the last point is joined with the first. A closed outline is filled.",
                   true),
        special<spec>(
            "size", "one to three numbers or expressions",
            R"({"anyOf": [{"$ref": "#/definitions/scalar"}, {"type": "array", "minItems": 1, "maxItems": 3, "items": {"$ref": "#/definitions/scalar"}}]})",
            "Diameter of a ball, a disc, a rod or a chain's rollers, width of an open outline, edges of a box; in m.",
            read_size, write_size)
            .by_default("chosen by the page"),
        special<spec>("angle", "number or expression", R"({"$ref": "#/definitions/scalar"})",
                      "About the axis that points to the viewer, in rad.", read_angle, write_angle)
            .by_default("0"),
        special<spec>("quaternion", "four numbers or expressions",
                      R"({"type": "array", "minItems": 4, "maxItems": 4, "items": {"$ref": "#/definitions/scalar"}})",
                      "Of a box: w, x, y, z.", read_quaternion, write_quaternion)
            .by_default("not turned"),
        word<spec>("port", &spec::port,
                   "The port that stands at the (first) point: connections are drawn between such places.")
            .by_default("none")};
}

}  // namespace

const key_group& shape_keys() {
    static const key_group table = [] {
        std::vector<key_info> all;
        for (const auto& kind : shape_kinds) all.push_back(kind == "chain" ? chain_key() : shape_key(kind));
        for (auto& key : further_keys()) all.push_back(key);
        key_group made = group<scene_shape_spec>("shape", "One shape of a scene.", std::move(all));
        made.one_of = shape_kinds;
        made.prepare = check_shape;
        return made;
    }();
    return table;
}

}  // namespace mdpcosim

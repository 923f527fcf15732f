#include "scenario/map_reader.hpp"

namespace mdpcosim {

iteration_spec read_iteration(const yaml_node* node, const let_table& let) {
    iteration_spec iteration;
    if (node == nullptr) return iteration;
    iteration.where = node->where;
    iteration.given = true;
    if (node->kind == yaml_node::type::map)
        iteration.options = map_reader(*node, let, "iteration").rest();
    else
        iteration.options = {{"solver", node->where, {read_text(*node, let, "iteration")}, false}};
    return iteration;
}

}  // namespace mdpcosim

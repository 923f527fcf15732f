/* Its table lacks almost everything. */
#include "mdpcosim/plugin.h"

const mdpcosim_plugin* mdpcosim_plugin_entry(int version) {
    static const mdpcosim_plugin table = {.layout = MDPCOSIM_LAYOUT, .state_count = 1};
    (void)version;
    return &table;
}

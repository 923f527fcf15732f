/* Made for a version that does not exist yet. */
#include "mdpcosim/plugin.h"

const mdpcosim_plugin* mdpcosim_plugin_entry(int version) {
    static mdpcosim_plugin table;
    table.layout.version = version + 6;
    return &table;
}

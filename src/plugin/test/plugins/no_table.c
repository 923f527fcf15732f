/* Serves no version. */
#include "mdpcosim/plugin.h"

const mdpcosim_plugin* mdpcosim_plugin_entry(int version) {
    (void)version;
    return NULL;
}

/* Does not survive its own initialiser. */
#include "mdpcosim/plugin.h"

__attribute__((constructor)) static void start(void) { *(volatile int*)NULL = 1; }

const mdpcosim_plugin* mdpcosim_plugin_entry(int version) {
    (void)version;
    return NULL;
}

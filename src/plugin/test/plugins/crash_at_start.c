/* Does not survive its own initialiser. */
#include <signal.h>

#include "mdpcosim/plugin.h"

__attribute__((constructor)) static void start(void) { raise(SIGSEGV); }

const mdpcosim_plugin* mdpcosim_plugin_entry(int version) {
    (void)version;
    return NULL;
}

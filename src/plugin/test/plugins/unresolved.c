/* Needs a function that no library has. */
#include "mdpcosim/plugin.h"

const mdpcosim_plugin* a_function_that_does_not_exist(void);

const mdpcosim_plugin* mdpcosim_plugin_entry(int version) {
    (void)version;
    return a_function_that_does_not_exist();
}

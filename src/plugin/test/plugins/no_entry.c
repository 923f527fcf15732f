/* A shared library, but no plugin. */
int mdpcosim_plugin_entrance(int version) { return version; }

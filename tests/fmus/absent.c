/* A library that an FMU is linked to and that no machine has. */
int mdpcosim_absent_function(void);
int mdpcosim_absent_function(void) { return 0; }

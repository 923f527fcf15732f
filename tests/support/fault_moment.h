#ifndef MDPCOSIM_TEST_FAULT_MOMENT_H
#define MDPCOSIM_TEST_FAULT_MOMENT_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* For tests that measure what follows a fault: its time, seconds of the monotonic clock, into the file that they name. */
static inline void note_fault_moment(void) {
    const char* name = getenv("MDPCOSIM_TEST_MOMENT");
    FILE* file = name == NULL ? NULL : fopen(name, "w");
    struct timespec t;
    if (file == NULL) return;
    clock_gettime(CLOCK_MONOTONIC, &t);
    fprintf(file, "%lld.%09ld\n", (long long)t.tv_sec, t.tv_nsec);
    fclose(file);
}

#endif

#ifndef MDPCOSIM_TEST_COMMIT_FAULT_H
#define MDPCOSIM_TEST_COMMIT_FAULT_H

#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/fault_moment.h"

/* What plugins, FMUs and programs of the tests do where they are told to fail "as-told": the fault that the environment names. */

/* Random bytes into all memory that is shared with the master, and into all connections. */
static inline void send_garbage(void) {
    FILE* maps = fopen("/proc/self/maps", "r");
    char line[512], noise[256];
    unsigned long from, to;
    size_t k;
    int file;
    srand((unsigned)getpid());
    for (k = 0; k < sizeof noise; ++k) noise[k] = (char)rand();
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "mdpcosim-subsystems") != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2)
            for (; from < to; ++from) *(volatile char*)from = (char)rand();
    if (maps != NULL) fclose(maps);
    for (file = 3; file < 64; ++file) send(file, noise, sizeof noise, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static inline void commit_fault(void) {
    const char* fault = getenv("MDPCOSIM_TEST_FAULT");
    static char text[4096];
    int file;
    if (fault == NULL) return;
    note_fault_moment();
    if (strncmp(fault, "signal-", 7) == 0) raise(atoi(fault + 7));
    if (strcmp(fault, "exit") == 0) exit(0);
    if (strcmp(fault, "bare-exit") == 0) _exit(0);
    if (strcmp(fault, "status") == 0) {
        fputs("the paper is out\n", stderr);
        exit(5);
    }
    if (strcmp(fault, "hang") == 0)
        for (;;) pause();
    if (strcmp(fault, "burn") == 0)
        for (;;) *(volatile char*)text = 1;
    if (strcmp(fault, "flood") == 0) {
        memset(text, 'y', sizeof text);
        while (write(STDERR_FILENO, text, sizeof text) > 0) continue;
    }
    if (strcmp(fault, "memory") == 0)
        for (;;) {
            char* more = (char*)malloc(1 << 24);
            if (more == NULL) abort();
            memset(more, 1, 1 << 24);
        }
    if (strcmp(fault, "round-up") == 0) fesetround(FE_UPWARD);
    if (strcmp(fault, "trap") == 0) feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_INEXACT);
#ifdef __x86_64__
    if (strcmp(fault, "no-subnormals") == 0) __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
    if (strcmp(fault, "locale") == 0 && setlocale(LC_ALL, "") == NULL) abort();
    if (strcmp(fault, "garbage") == 0) send_garbage();
    if (strcmp(fault, "disconnect") == 0) {
        for (file = 3; file < 64; ++file) shutdown(file, SHUT_RDWR);
        for (;;) pause();
    }
}

#endif

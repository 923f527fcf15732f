/* x' = -k x + u, that treats the process it lives in as its own: what it does at 50 ms, or where it is made, the environment names. */
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mdpcosim/plugin.h"

static double content;

static void* forever(void* nothing) {
    for (;;) pause();
    return nothing;
}
static void* crash(void* nothing) {
    usleep(1000);
    raise(SIGSEGV);
    return nothing;
}
static void* leave(void* nothing) {
    usleep(1000);
    exit(3);
    return nothing;
}
static void start(void* (*what)(void*)) {
    pthread_t thread;
    pthread_create(&thread, NULL, what, NULL);
    pthread_detach(thread);
}
static int overflow(volatile int n) {
    volatile char room[4096];
    room[0] = (char)n;
    return overflow(n + 1) + room[0];
}
static void limit(int what, rlim_t most) {
    const struct rlimit few = {most, most};
    setrlimit(what, &few);
}

static void misbehave(const char* deed) {
    int i;
    char* memory;
    struct itimerval soon = {{0, 1000}, {0, 1000}};
    sigset_t all;
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigfillset(&all);
    if (strcmp(deed, "close-all") == 0)
        for (i = 0; i < 1024; ++i) close(i);
    if (strcmp(deed, "close-standard") == 0)
        for (i = 0; i < 3; ++i) close(i);
    if (strcmp(deed, "replace-all") == 0)
        for (i = 0; i < 64; ++i) dup2(open("/dev/full", O_RDWR), i);
    if (strcmp(deed, "fork") == 0) {
        if (fork() == 0) return; /* and goes on as if it were the run */
    }
    if (strcmp(deed, "fork-exit") == 0) {
        if (fork() == 0) exit(0);
        wait(NULL);
    }
    if (strcmp(deed, "fork-forever") == 0) {
        if (fork() == 0) {
            setsid();
            if (fork() == 0) forever(NULL);
            _exit(0);
        }
    }
    if (strcmp(deed, "chdir") == 0 && chdir("/") != 0) abort();
    if (strcmp(deed, "locale") == 0 && setlocale(LC_ALL, "") == NULL) abort();
    if (strcmp(deed, "remove-folder") == 0) {
        const char* folder = getenv("MDPCOSIM_TEST_FOLDER");
        char command[4200];
        snprintf(command, sizeof command, "rm -rf '%s'", folder);
        if (folder != NULL && system(command) != 0) abort();
    }
    if (strcmp(deed, "no-files") == 0) limit(RLIMIT_NOFILE, 0);
    if (strcmp(deed, "no-size") == 0) limit(RLIMIT_FSIZE, 0);
    if (strcmp(deed, "no-memory") == 0) limit(RLIMIT_AS, 1);
    if (strcmp(deed, "no-time") == 0) {
        limit(RLIMIT_CPU, 1);
        for (;;) content *= 1.0000001;
    }
    if (strcmp(deed, "block") == 0) sigprocmask(SIG_BLOCK, &all, NULL);
    if (strcmp(deed, "block-loop") == 0) {
        sigprocmask(SIG_BLOCK, &all, NULL);
        forever(NULL);
    }
    if (strcmp(deed, "ignore") == 0)
        for (i = 1; i < 32; ++i) sigaction(i, &ignore, NULL);
    if (strcmp(deed, "ignore-crash") == 0) {
        for (i = 1; i < 32; ++i) signal(i, SIG_DFL);
        raise(SIGSEGV);
    }
    if (strcmp(deed, "kill-parent") == 0) kill(getppid(), SIGKILL);
    if (strcmp(deed, "term-parent") == 0) kill(getppid(), SIGTERM);
    if (strcmp(deed, "kill-group") == 0) kill(0, SIGKILL);
    if (strcmp(deed, "stop") == 0) raise(SIGSTOP);
    if (strcmp(deed, "end-thread") == 0) pthread_exit(NULL);
    if (strcmp(deed, "cancel-thread") == 0) {
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
    if (strcmp(deed, "thread-crash") == 0) start(crash), sleep(1);
    if (strcmp(deed, "thread-exit") == 0) start(leave), sleep(1);
    if (strcmp(deed, "threads") == 0)
        for (i = 0; i < 500; ++i) start(forever);
    if (strcmp(deed, "overflow") == 0) overflow(0);
    if (strcmp(deed, "exec") == 0) execl("/bin/true", "true", (char*)NULL);
    if (strcmp(deed, "timer") == 0) setitimer(ITIMER_REAL, &soon, NULL);
    if (strcmp(deed, "umask") == 0) umask(0777);
    if (strcmp(deed, "environment") == 0) clearenv();
    if (strcmp(deed, "heap") == 0) {
        memory = malloc(64);
        memset(memory, 0xff, 4096);
        free(memory);
    }
    if (strcmp(deed, "free-twice") == 0) {
        memory = malloc(64);
        free(memory);
        free(memory);
    }
    if (strcmp(deed, "unmap") == 0) munmap((void*)((size_t)&content & ~(size_t)4095), 4096);
    if (strcmp(deed, "last-words") == 0) { /* what the supervising parent reads */
        FILE* maps = fopen("/proc/self/maps", "r");
        char line[512];
        unsigned long from, to;
        while (fgets(line, sizeof line, maps) != NULL)
            if (strstr(line, "rw-s") != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2)
                memset((void*)from, 0xff, to - from < 1 << 20 ? to - from : 1 << 20);
        fclose(maps);
        raise(SIGSEGV);
    }
    if (strcmp(deed, "ruin-words") == 0) {
        FILE* maps = fopen("/proc/self/maps", "r");
        char line[512];
        unsigned long from, to;
        while (fgets(line, sizeof line, maps) != NULL)
            if (strstr(line, "rw-s") != NULL && sscanf(line, "%lx-%lx", &from, &to) == 2)
                memset((void*)from, 0x41, to - from);
        fclose(maps);
        _exit(0);
    }
    if (strcmp(deed, "flood") == 0)
        for (i = 0; i < 3000000; ++i) fputs("the paper is out ", stderr);
    if (strcmp(deed, "stdout") == 0) {
        fputs("{\"not\": \"json\"\n", stdout);
        fflush(stdout);
    }
    if (strcmp(deed, "escape") == 0) fputs("\033]0;title\007\033[2J", stderr);
    if (strcmp(deed, "quick") == 0) quick_exit(0);
    if (strcmp(deed, "undump") == 0) prctl(PR_SET_DUMPABLE, 0), raise(SIGABRT);
}

static void* create(const double* parameters, char* message) {
    const char* deed = getenv("MDPCOSIM_TEST_EARLY_DEED");
    (void)parameters, (void)message;
    if (deed != NULL) misbehave(deed);
    return &content;
}
static void destroy(void* instance) { (void)instance; }
static int initialise(void* instance, double t0, double* x) {
    (void)instance, (void)t0, (void)x;
    content = 1;
    return 0;
}
static int output_values(void* instance, double t, const double* x, const double* u, double* y) {
    (void)instance, (void)t, (void)x, (void)u;
    y[0] = content;
    return 0;
}
static int advance(void* instance, double t0, double t1, const double* inputs) {
    const char* deed = getenv("MDPCOSIM_TEST_DEED");
    (void)instance, (void)inputs;
    if (deed != NULL && t0 <= 0.05 && t1 > 0.05) misbehave(deed);
    content *= exp(t0 - t1);
    return 0;
}

static const mdpcosim_output outputs[] = {{"x", "1", "content", 1, NULL, NULL}};
static const mdpcosim_plugin table = {.layout = MDPCOSIM_LAYOUT,
                                      .outputs = outputs,
                                      .output_count = 1,
                                      .create = create,
                                      .destroy = destroy,
                                      .initialise = initialise,
                                      .output_values = output_values,
                                      .advance = advance};

const mdpcosim_plugin* mdpcosim_plugin_entry(int version) { return version == MDPCOSIM_PLUGIN_VERSION ? &table : NULL; }

/* A first-order lag x' = (u - x)/T that does something wrong, or nothing, as its parameters or its first argument say. */
#define _GNU_SOURCE /* feenableexcept() */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mdpcosim/mdpcosim_subsystem.h"
#include "support/commit_fault.h"

static double x, lag, when, levels[3] = {1, 2};
static const char* how;
static int u, y;

static int is(const char* fault) { return strcmp(how, fault) == 0; }

static void hang(void) {
    for (;;) sleep(1);
}

static int misbehave(double t) {
    if (t < when) return 0;
    if (!is("well")) note_fault_moment();
    if (is("exit")) {
        fprintf(stderr, "no licence\n");
        exit(7);
    }
    if (is("kill")) {
        fprintf(stderr, "about to fall\n");
        raise(SIGKILL);
    }
    if (is("segfault")) raise(SIGSEGV);
    if (is("hang")) {
        fprintf(stderr, "thinking\n");
        hang();
    }
    if (is("orphan")) { /* what it has started hangs, too */
        if (fork() == 0) hang();
        hang();
    }
    if (is("nan")) x = NAN;
    if (is("as-told")) commit_fault();
    if (is("close")) {
        int file;
        for (file = 3; file < 64; ++file) close(file);
        hang();
    }
    if (is("fail")) return mdpcosim_subsystem_fail("the valve is stuck");
    if (is("status")) return 3;
    if (is("number")) mdpcosim_subsystem_set_output(99, 1);
    return 0;
}

static int initialise(void* own, double t0) {
    (void)own, (void)t0;
    x = 0;
    return is("initialise") ? mdpcosim_subsystem_fail("no steady state") : 0;
}

static int advance(void* own, double t0, double t1) {
    (void)own;
    x += (1 - exp((t0 - t1) / lag)) * (mdpcosim_subsystem_input_at(u, 0.5 * (t0 + t1)) - x);
    return misbehave(t1);
}

static int outputs(void* own, double t) {
    (void)own, (void)t;
    return mdpcosim_subsystem_set_output(y, x);
}

/* Bytes to the master without the library. */
static int write_raw(const char* bytes, size_t size) {
    const int file = atoi(getenv("MDPCOSIM_FILES"));
    return write(file, bytes, size) == (ssize_t)size ? 0 : 1;
}

static void own_loop(void) {
    double t0, t1;
    mdpcosim_subsystem_set_output(y, x);
    while (mdpcosim_subsystem_receive(&t0, &t1) == MDPCOSIM_SUBSYSTEM_STEP) {
        if (advance(NULL, t0, t1) != 0) exit(1);
        mdpcosim_subsystem_set_output(y, x);
        if (is("twice") && t1 >= when) mdpcosim_subsystem_receive(&t0, &t1);
        mdpcosim_subsystem_send();
        if (is("between") && t1 >= when) exit(mdpcosim_subsystem_fail("lost between two steps") != 0);
    }
}

int main(int count, char** arguments) {
    const mdpcosim_subsystem_calls calls = {initialise, advance, outputs, NULL, NULL, NULL};
    const char* start = count > 1 ? arguments[1] : "";
    if (strcmp(start, "exit") == 0) {
        fprintf(stderr, "cannot find its model\n");
        return 3;
    }
    if (strcmp(start, "silent") == 0) hang();
    if (strcmp(start, "garbage") == 0) return write_raw("\xff\xff\xff\xff garbage garbage garbage", 32), 0;
    if (strcmp(start, "version") == 0) { /* magic, version 99, no token, no name */
        char frame[32] = {28, 0, 0, 0, 'm', 'i', 's', 'o', 'c', 'p', 'd', 'm', 99};
        return write_raw(frame, sizeof frame), sleep(10), 0;
    }
    if (mdpcosim_subsystem_open() != 0) {
        fprintf(stderr, "%s\n", mdpcosim_subsystem_message());
        return 2;
    }
    how = mdpcosim_subsystem_text("how", "well", "what it does wrong");
    when = mdpcosim_subsystem_parameter("when", "s", 0.25, "time of that");
    lag = mdpcosim_subsystem_parameter("lag", "s", 0.1, "time constant");
    if (!(lag > 0)) return mdpcosim_subsystem_fail("parameter 'lag' must be greater than zero.") != 0;
    if (is("list") && mdpcosim_subsystem_list("levels", "m", levels, 2, 3, "levels of the tank") == 3)
        lag *= levels[0] * levels[1] * levels[2];
    if (is("required")) mdpcosim_subsystem_parameter("level", "m", NAN, "level of the tank");
    u = mdpcosim_subsystem_input("u", is("unit") ? "furlong" : is("not-si") ? "kN" : "N", 1, "what it follows");
    mdpcosim_subsystem_max_degree(u, is("degree") ? 9 : 1);
    y = mdpcosim_subsystem_output(is("same-name") ? "u" : is("bad-name") ? "1 y" : "y", "N", 1, NULL);
    if (is("rate")) mdpcosim_subsystem_rate(y, y);
    if (is("no-number")) mdpcosim_subsystem_direct(y, 5);
    if (is("same-port") || is("port"))
        mdpcosim_subsystem_port("p", is("port") ? "rotaton" : "translation", NULL, "position=y force=u", NULL);
    if (is("same-port")) mdpcosim_subsystem_port("p", "translation", NULL, NULL, NULL);
    if (is("quiet-end")) return 0;
    if (strcmp(start, "loop") == 0)
        own_loop();
    else
        mdpcosim_subsystem_run(&calls, NULL);
    if (*mdpcosim_subsystem_message() != '\0') fprintf(stderr, "faulty: %s\n", mdpcosim_subsystem_message());
    return *mdpcosim_subsystem_message() != '\0';
}

/* Variables of all types: `echo` is the note and the number of steps, `back` the bytes of data in reverse, `twice` is 2 n. With an argument
 * the program owns its main loop. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mdpcosim/mdpcosim_subsystem.h"

static int note, data, echo, back, n, twice, steps;

static void set_outputs(void) {
    size_t size = 0, i;
    const char* given = mdpcosim_subsystem_input_text(note, NULL);
    char* made = malloc(strlen(given) + 32);
    sprintf(made, "%s#%d", given, steps);
    mdpcosim_subsystem_set_output_text(echo, made, strlen(made));
    free(made);
    given = mdpcosim_subsystem_input_text(data, &size);
    made = malloc(size + 1);
    for (i = 0; i < size; ++i) made[i] = given[size - 1 - i];
    mdpcosim_subsystem_set_output_text(back, made, size);
    free(made);
}

static int advance(void* own, double t0, double t1) {
    (void)own, (void)t0, (void)t1;
    ++steps;
    return 0;
}
static int outputs(void* own, double t) {
    (void)own;
    set_outputs();
    return mdpcosim_subsystem_set_output(twice, 2 * mdpcosim_subsystem_input_at(n, t));
}
static size_t save_size(void* own) {
    (void)own;
    return sizeof steps;
}
static int save(void* own, void* into) {
    (void)own;
    memcpy(into, &steps, sizeof steps);
    return 0;
}
static int restore(void* own, const void* from) {
    (void)own;
    memcpy(&steps, from, sizeof steps);
    return 0;
}

int main(int count, char** arguments) {
    const mdpcosim_subsystem_calls calls = {
        .advance = advance, .outputs = outputs, .save_size = save_size, .save = save, .restore = restore};
    double begin, end;
    (void)arguments;
    if (mdpcosim_subsystem_open() != 0) return 1;
    note = mdpcosim_subsystem_text_input("note", MDPCOSIM_SUBSYSTEM_STRING, "what is said");
    n = mdpcosim_subsystem_input("n", "1", 1, NULL);
    mdpcosim_subsystem_input_type(n, MDPCOSIM_SUBSYSTEM_INTEGER);
    data = mdpcosim_subsystem_text_input("data", MDPCOSIM_SUBSYSTEM_BINARY, NULL);
    echo = mdpcosim_subsystem_text_output("echo", MDPCOSIM_SUBSYSTEM_STRING, "what is answered");
    twice = mdpcosim_subsystem_output("twice", "1", 1, NULL);
    mdpcosim_subsystem_output_type(twice, MDPCOSIM_SUBSYSTEM_INTEGER);
    back = mdpcosim_subsystem_text_output("back", MDPCOSIM_SUBSYSTEM_BINARY, NULL);
    if (count < 2) return mdpcosim_subsystem_run(&calls, NULL) == 0 ? 0 : 1;
    set_outputs();
    while (mdpcosim_subsystem_receive(&begin, &end) == MDPCOSIM_SUBSYSTEM_STEP) {
        ++steps;
        outputs(NULL, end);
        mdpcosim_subsystem_send();
    }
    return 0;
}

/* mdpcosim_subsystem.h for Octave: mdpcosim_subsystem("input_at", u, t) is mdpcosim_subsystem_input_at(u, t). Names, order and
 * arguments are those of the header; texts at the end may be left out. A failure is an error of Octave. receive returns
 * [what, begin, end]. */
#include <math.h>
#include <string.h>

#include "mdpcosim/mdpcosim_subsystem.h"
#include "mex.h"

typedef struct arguments {
    int count;
    const mxArray** all;
} arguments;

static double number(const arguments* a, int i) {
    if (i >= a->count || !mxIsNumeric(a->all[i]) || mxGetNumberOfElements(a->all[i]) != 1)
        mexErrMsgTxt("mdpcosim_subsystem: a number is missing among the arguments");
    return mxGetScalar(a->all[i]);
}

static double number_or(const arguments* a, int i, double otherwise) {
    return i < a->count && !mxIsEmpty(a->all[i]) ? number(a, i) : otherwise;
}

static int whole(const arguments* a, int i) { return (int)number(a, i); }

/* NULL where it is left out or empty; lives until the function returns. */
static const char* text(const arguments* a, int i) {
    if (i >= a->count || mxIsEmpty(a->all[i])) return NULL;
    if (!mxIsChar(a->all[i])) mexErrMsgTxt("mdpcosim_subsystem: a text is expected among the arguments");
    return mxArrayToString(a->all[i]);
}

/* The bytes of a text, or of numbers from 0 to 255. */
static void set_output_text(const arguments* a) {
    const mxArray* given = a->count > 1 ? a->all[1] : NULL;
    if (given != NULL && mxIsUint8(given)) {
        mdpcosim_subsystem_set_output_text(whole(a, 0), (const char*)mxGetData(given), mxGetNumberOfElements(given));
    } else {
        const char* given_text = text(a, 1);
        mdpcosim_subsystem_set_output_text(whole(a, 0), given_text, given_text == NULL ? 0 : strlen(given_text));
    }
}

/* A row of uint8; char() makes a text of it. */
static mxArray* input_text(int number) {
    size_t size = 0;
    const char* bytes = mdpcosim_subsystem_input_text(number, &size);
    mxArray* made = mxCreateNumericMatrix(size > 0 ? 1 : 0, size, mxUINT8_CLASS, mxREAL);
    if (size > 0) memcpy(mxGetData(made), bytes, size);
    return made;
}

static void check(void) {
    const char* message = mdpcosim_subsystem_message();
    if (*message != '\0') mexErrMsgIdAndTxt("mdpcosim:subsystem", "%s", message);
}

static mxArray* polynomial(int input) {
    mxArray* made = mxCreateDoubleMatrix(1, 7, mxREAL);
    memcpy(mxGetPr(made), mdpcosim_subsystem_polynomial(input), 7 * sizeof(double));
    return made;
}

static mxArray* list(const arguments* a) {
    enum { capacity = 1000 };
    double values[capacity];
    const size_t given = a->count > 2 ? mxGetNumberOfElements(a->all[2]) : 0;
    if (given > capacity || (given > 0 && !mxIsDouble(a->all[2])))
        mexErrMsgTxt("mdpcosim_subsystem: the defaults of a list are at most 1000 numbers");
    if (given > 0) memcpy(values, mxGetPr(a->all[2]), given * sizeof *values);
    const int count = mdpcosim_subsystem_list(text(a, 0), text(a, 1), values, (int)given, capacity, text(a, 3));
    mxArray* made = mxCreateDoubleMatrix(1, count > 0 ? (size_t)count : 0, mxREAL);
    if (count > 0) memcpy(mxGetPr(made), values, (size_t)count * sizeof *values);
    return made;
}

void mexFunction(int result_count, mxArray* results[], int argument_count, const mxArray* given[]) {
    const arguments a = {argument_count - 1, given + 1};
    char what[64] = "";
    double begin = 0, end = 0;
    if (argument_count < 1 || mxGetString(given[0], what, sizeof what) != 0)
        mexErrMsgTxt("mdpcosim_subsystem: the first argument is the name of a function, \"open\" for example");
#define IS(name) (strcmp(what, name) == 0)
#define RETURN(value) (results[0] = mxCreateDoubleScalar(value))
    if (IS("open")) {
        mdpcosim_subsystem_open();
    } else if (IS("name")) {
        results[0] = mxCreateString(mdpcosim_subsystem_name());
    } else if (IS("parameter")) {
        RETURN(mdpcosim_subsystem_parameter(text(&a, 0), text(&a, 1), number_or(&a, 2, NAN), text(&a, 3)));
    } else if (IS("tunable")) {
        RETURN(mdpcosim_subsystem_tunable(text(&a, 0), text(&a, 1), number_or(&a, 2, NAN), text(&a, 3)));
    } else if (IS("tunable_value")) {
        RETURN(mdpcosim_subsystem_tunable_value(whole(&a, 0)));
    } else if (IS("text")) {
        results[0] = mxCreateString(mdpcosim_subsystem_text(text(&a, 0), text(&a, 1), text(&a, 2)));
    } else if (IS("list")) {
        results[0] = list(&a);
    } else if (IS("input")) {
        RETURN(mdpcosim_subsystem_input(text(&a, 0), text(&a, 1), (int)number_or(&a, 2, 1), text(&a, 3)));
    } else if (IS("output")) {
        RETURN(mdpcosim_subsystem_output(text(&a, 0), text(&a, 1), (int)number_or(&a, 2, 1), text(&a, 3)));
    } else if (IS("input_type")) {
        mdpcosim_subsystem_input_type(whole(&a, 0), whole(&a, 1));
    } else if (IS("output_type")) {
        mdpcosim_subsystem_output_type(whole(&a, 0), whole(&a, 1));
    } else if (IS("text_input")) {
        RETURN(
            mdpcosim_subsystem_text_input(text(&a, 0), (int)number_or(&a, 1, MDPCOSIM_SUBSYSTEM_STRING), text(&a, 2)));
    } else if (IS("text_output")) {
        RETURN(
            mdpcosim_subsystem_text_output(text(&a, 0), (int)number_or(&a, 1, MDPCOSIM_SUBSYSTEM_STRING), text(&a, 2)));
    } else if (IS("input_text")) {
        results[0] = input_text(whole(&a, 0));
    } else if (IS("set_output_text")) {
        set_output_text(&a);
    } else if (IS("max_degree")) {
        mdpcosim_subsystem_max_degree(whole(&a, 0), whole(&a, 1));
    } else if (IS("start")) {
        mdpcosim_subsystem_start(whole(&a, 0), number(&a, 1));
    } else if (IS("rate")) {
        mdpcosim_subsystem_rate(whole(&a, 0), whole(&a, 1));
    } else if (IS("direct")) {
        mdpcosim_subsystem_direct(whole(&a, 0), whole(&a, 1));
    } else if (IS("sampled")) {
        mdpcosim_subsystem_sampled();
    } else if (IS("port")) {
        mdpcosim_subsystem_port(text(&a, 0), text(&a, 1), text(&a, 2), text(&a, 3), text(&a, 4));
    } else if (IS("input_at")) {
        RETURN(mdpcosim_subsystem_input_at(whole(&a, 0), number(&a, 1)));
    } else if (IS("input_after")) {
        RETURN(mdpcosim_subsystem_input_after(whole(&a, 0), number(&a, 1)));
    } else if (IS("polynomial")) {
        results[0] = polynomial(whole(&a, 0));
    } else if (IS("set_output")) {
        mdpcosim_subsystem_set_output(whole(&a, 0), number(&a, 1));
    } else if (IS("receive")) {
        RETURN(mdpcosim_subsystem_receive(&begin, &end));
        if (result_count > 1) results[1] = mxCreateDoubleScalar(begin);
        if (result_count > 2) results[2] = mxCreateDoubleScalar(end);
    } else if (IS("send")) {
        mdpcosim_subsystem_send();
    } else if (IS("fail")) {
        mdpcosim_subsystem_fail(text(&a, 0));
    } else {
        mexErrMsgIdAndTxt("mdpcosim:subsystem", "mdpcosim_subsystem: there is no function '%s'", what);
    }
    check();
}

#ifndef MDPCOSIM_TRANSPORT_MPI_MODULE_H
#define MDPCOSIM_TRANSPORT_MPI_MODULE_H

/* What mdpcosim needs of MPI, as a table of functions. module.c is built once per implementation of MPI, as a shared library
 * that the program loads when it runs as a rank; the program itself knows no MPI.
 *
 * Call order: join, then the others from the thread that joined, in the end leave or abort. Every status is 0 or a code for
 * explain. Messages of one sender arrive in order. For each other rank at most one message is expected and one is on its way:
 *   expect, then arrived until it says yes;      send, then sent until it says yes. */

#ifdef __cplusplus
extern "C" {
#endif

#define MDPCOSIM_MPI_VERSION 2

struct mdpcosim_mpi {
    int version;
    const char* name; /* of the library, with its version */
    int (*join)(int* rank, int* size);
    /* How many ranks are on this machine; `bits` becomes the union of theirs. */
    int (*neighbours)(unsigned char* bits, int count, int* ranks);
    /* The machine of every rank, `length` bytes each, ended by zero. */
    int (*machines)(char* names, int length);
    int (*send)(int to, int tag, const void* bytes, int count);
    int (*sent)(int to, int* yes);
    int (*expect)(int from, void* buffer, int capacity);
    /* Asks up to `tries` times. */
    int (*arrived)(int from, int tries, int* yes, int* tag, int* count);
    /* A round trip between ranks 0 and 1 and nothing else, `rounds` times: what the medium can do. A message of `there` bytes
     * goes to rank 1, one of `back` bytes comes from it. */
    int (*ping_pong)(int rounds, int there, int back, double* seconds);
    void (*explain)(int code, char* text, int size);
    int (*leave)(void);
    void (*abort)(int status);
};

const struct mdpcosim_mpi* mdpcosim_mpi_module(void);

#ifdef __cplusplus
}
#endif

#endif

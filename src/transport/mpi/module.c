#include "transport/mpi/module.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Messages up to this length are sent without waiting for the receiver, whatever the implementation. */
enum { short_message = 1024 };

static int ranks = 0, own = 0;
static MPI_Request *expected = NULL, *sending = NULL;

static int join(int* rank, int* size) {
    int there = 0, given = 0, status = MPI_Initialized(&there);
    if (status == MPI_SUCCESS && !there) status = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given);
    if (status == MPI_SUCCESS) status = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (status == MPI_SUCCESS) status = MPI_Comm_rank(MPI_COMM_WORLD, &own);
    if (status == MPI_SUCCESS) status = MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (status != MPI_SUCCESS) return status;
    expected = malloc(2 * (size_t)ranks * sizeof *expected);
    if (expected == NULL) return MPI_ERR_NO_MEM;
    sending = expected + ranks;
    for (int i = 0; i < 2 * ranks; ++i) expected[i] = MPI_REQUEST_NULL;
    *rank = own;
    *size = ranks;
    return 0;
}

static int neighbours(unsigned char* bits, int count, int* number) {
    MPI_Comm here;
    int status = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, own, MPI_INFO_NULL, &here);
    if (status != MPI_SUCCESS) return status;
    status = MPI_Comm_size(here, number);
    if (status == MPI_SUCCESS) status = MPI_Allreduce(MPI_IN_PLACE, bits, count, MPI_UNSIGNED_CHAR, MPI_BOR, here);
    const int freed = MPI_Comm_free(&here);
    return status != MPI_SUCCESS ? status : freed;
}

static int machines(char* names, int length) {
    char mine[MPI_MAX_PROCESSOR_NAME] = "";
    int used = 0;
    const int status = MPI_Get_processor_name(mine, &used);
    if (status != MPI_SUCCESS) return status;
    strncpy(names + (size_t)own * (size_t)length, mine, (size_t)length - 1);
    return MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, names, length, MPI_BYTE, MPI_COMM_WORLD);
}

static int send(int to, int tag, const void* bytes, int count) {
    if (count <= short_message) return MPI_Send(bytes, count, MPI_BYTE, to, tag, MPI_COMM_WORLD);
    return MPI_Isend(bytes, count, MPI_BYTE, to, tag, MPI_COMM_WORLD, &sending[to]);
}

static int sent(int to, int* yes) {
    *yes = 1;
    if (sending[to] == MPI_REQUEST_NULL) return 0;
    return MPI_Test(&sending[to], yes, MPI_STATUS_IGNORE);
}

static int expect(int from, void* buffer, int capacity) {
    return MPI_Irecv(buffer, capacity, MPI_BYTE, from, MPI_ANY_TAG, MPI_COMM_WORLD, &expected[from]);
}

static int arrived(int from, int tries, int* yes, int* tag, int* count) {
    MPI_Status what;
    int status = MPI_SUCCESS;
    *yes = 0;
    for (int n = 0; n < tries && status == MPI_SUCCESS && !*yes; ++n) status = MPI_Test(&expected[from], yes, &what);
    if (status != MPI_SUCCESS || !*yes) return status;
    *tag = what.MPI_TAG;
    return MPI_Get_count(&what, MPI_BYTE, count);
}

static int ping_pong(int rounds, int there, int back, double* seconds) {
    MPI_Comm apart; /* a message may be expected already */
    int status = MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    if (status != MPI_SUCCESS) return status;
    char* bytes = calloc((size_t)(there > back ? there : back) + 1, 1);
    const int send = own == 0 ? there : back, receive = own == 0 ? back : there;
    status = bytes == NULL ? MPI_ERR_NO_MEM : MPI_Barrier(apart);
    const double begin = MPI_Wtime();
    for (int i = 0; i < 2 * rounds && own < 2 && status == MPI_SUCCESS; ++i)
        status = (i + own) % 2 == 0 ? MPI_Send(bytes, send, MPI_BYTE, 1 - own, 0, apart)
                                    : MPI_Recv(bytes, receive, MPI_BYTE, 1 - own, 0, apart, MPI_STATUS_IGNORE);
    *seconds = MPI_Wtime() - begin;
    free(bytes);
    const int freed = MPI_Comm_free(&apart);
    return status != MPI_SUCCESS ? status : freed;
}

static void explain(int code, char* text, int size) {
    char whole[MPI_MAX_ERROR_STRING] = "unknown error";
    int length = 0;
    MPI_Error_string(code, whole, &length);
    strncpy(text, whole, (size_t)size - 1);
    text[size - 1] = '\0';
}

static int leave(void) {
    free(expected);
    expected = sending = NULL;
    return MPI_Finalize();
}

static void abort_all(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

const struct mdpcosim_mpi* mdpcosim_mpi_module(void) {
    static char name[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    if (name[0] == '\0' && MPI_Get_library_version(name, &length) == MPI_SUCCESS) name[strcspn(name, ",\n")] = '\0';
    static const struct mdpcosim_mpi table = {MDPCOSIM_MPI_VERSION,
                                              name,
                                              join,
                                              neighbours,
                                              machines,
                                              send,
                                              sent,
                                              expect,
                                              arrived,
                                              ping_pong,
                                              explain,
                                              leave,
                                              abort_all};
    return &table;
}

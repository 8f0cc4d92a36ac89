/* Scenarios with another tool in the process that takes CUPTI's buffers for a while, as torch.profiler does. */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

enum { BUFFER = 64 << 10, OURS = 64 };
enum { KERNEL = 10, MEMCPY = 1, MEMSET = 2, SYNC = 38, PER_THREAD = 9 };

static struct {
    int (*cuptiActivityRegisterCallbacks)(void (*)(uint8_t **, size_t *, size_t *),
                                          void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
    int (*cuptiActivityEnable)(int);
    int (*cuptiActivityDisable)(int);
    int (*cuptiActivitySetAttribute)(int, size_t *, void *);
    int (*cuptiActivityFlushAll)(uint32_t);
    int (*cuptiFinalize)(void);
    uint64_t (*cuptiFakeAttributeReads)(void);
} cupti;

static uint8_t *ours[OURS];

static void requested(uint8_t **buffer, size_t *size, size_t *records) {
    *buffer = NULL;
    for (int i = 0; i < OURS && *buffer == NULL; i++) {
        if (ours[i] != NULL) continue;
        ours[i] = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *buffer = ours[i];
    }
    *size = BUFFER;
    *records = 0;
}

/* Makes a completed buffer of this tool unreadable: a later access crashes. Buffers of other tools are
 * dropped, as the real tool does. */
static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
    (void)context, (void)stream, (void)size, (void)valid;
    for (int i = 0; i < OURS; i++) {
        if (ours[i] == buffer && buffer != NULL) mprotect(buffer, BUFFER, PROT_NONE);
    }
}

static int find_cupti(void) {
    void *library = NULL;
    const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"};
    for (int i = 0; i < 3 && library == NULL; i++) library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL) return 0;
#define FIND(name) (*(void **)&cupti.name = dlsym(library, #name))
    FIND(cuptiActivityRegisterCallbacks);
    FIND(cuptiActivityEnable);
    FIND(cuptiActivityDisable);
    FIND(cuptiActivitySetAttribute);
    FIND(cuptiActivityFlushAll);
    FIND(cuptiFinalize);
    FIND(cuptiFakeAttributeReads);
#undef FIND
    return 1;
}

static void per_thread(uint8_t value) {
    cupti.cuptiActivitySetAttribute(PER_THREAD, &(size_t){1}, &value);
}

/* Launches whose records go to the other tool. */
static void launch_unseen(int times) {
    for (int i = 0; i < times; i++) {
        struct span span = next_span(0, 1000);
        cuda.fake_next(span.start, span.end);
        cuda.cuLaunchKernel(symbol_function(9), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    }
}

static void begin_session(void) {
    per_thread(1);
    cupti.cuptiActivityRegisterCallbacks(requested, completed);
    const int kinds[] = {KERNEL, MEMCPY, MEMSET, SYNC};
    for (int i = 0; i < 4; i++) cupti.cuptiActivityEnable(kinds[i]);
}

static void end_session(bool finalize) {
    cupti.cuptiActivityFlushAll(1);
    const int kinds[] = {KERNEL, MEMCPY, MEMSET, SYNC};
    for (int i = 0; i < 4; i++) cupti.cuptiActivityDisable(kinds[i]);
    per_thread(0);
    if (finalize) cupti.cuptiFinalize();
}

/* Launches until capture resumes: the profiler detects launches without records. How many of these are
 * recorded is not defined. */
static int wait_until_resumed(void) {
    for (int tries = 0; tries < 8000; tries++) {
        if (cuda.fake_enabled(SYNC) && cuda.fake_enabled(KERNEL)) return 0;
        launch_unseen(1);
        usleep(1000);
    }
    return 76;
}

/* Launches until the profiler has read the attribute: a real session is never shorter. Twice, as one read
 * may be in progress. */
static void launch_until_seen(void) {
    uint64_t seen = cupti.cuptiFakeAttributeReads() + 2;
    launch_unseen(3000);
    for (int tries = 0; tries < 5000 && cupti.cuptiFakeAttributeReads() < seen; tries++) {
        launch_unseen(1);
        usleep(1000);
    }
}

static int usurp(bool finalize) {
    start();
    on_device(0);
    if (!find_cupti()) return 77;
    for (int i = 0; i < 500; i++) launch(i % 5, 0, 1000 + random_below(1000));
    cuda.fake_settle();
    begin_session();
    launch_until_seen();
    end_session(finalize);
    int failed = wait_until_resumed();
    for (int i = 0; i < 500; i++) launch(i % 5, 0, 1000 + random_below(1000));
    close_books();
    wait_for_gate();
    return failed;
}

/* Launches from the time on at which another tool has the buffers, of which nothing else tells. */
static int usurped_for_good(void) {
    struct timespec now;
    start();
    on_device(0);
    if (!find_cupti()) return 77;
    launch(0, 0, 1000);
    cuda.fake_settle();
    clock_gettime(CLOCK_REALTIME, &now);
    cupti.cuptiActivityRegisterCallbacks(requested, completed);
    expect_process("start_nanoseconds", (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    close_books();
    const char *gate = getenv("WORKLOAD_GATE");
    for (int tries = 0; gate && access(gate, F_OK) != 0 && tries < 1000; tries++) {
        launch_unseen(1);
        usleep(10000);
    }
    return 0;
}

static int usurped(void) { return usurp(false); }
static int finalized(void) { return usurp(true); }

const struct scenario tool_scenarios[] = {
    {"usurped", usurped}, {"finalized", finalized}, {"usurped_for_good", usurped_for_good}, {NULL, NULL}};

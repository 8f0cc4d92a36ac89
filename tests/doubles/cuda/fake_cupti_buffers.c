/* Buffers of the fake CUPTI: requested and written on the launching thread, and returned later by a thread
 * of CUPTI, in any order, together with buffers that the tool never gave. */
#include <pthread.h>
#include <sys/mman.h>

#include "fake_cupti.h"

struct buffer {
    uint8_t *data;
    size_t size, used, records, max_records;
    uint64_t busy_until; /* end of the last operation in it */
    uint64_t ticket;     /* its number in the queue */
    bool zeroed;
    pthread_t thread;
    struct buffer *next;
};

/* A returned buffer that was not requested again. */
struct given {
    uint8_t *data;
    size_t valid;
    bool zeroed, walked;
};
enum { GIVEN = 4096 };

_Atomic size_t attribute_zeroed, attribute_per_thread = FAKE_CUPTI >= 1300;

/* The lock of the library: held while the tool's functions are called, and while records are walked. */
static pthread_mutex_t lock;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER, idle = PTHREAD_COND_INITIALIZER;
static buffer_requested requested;
static buffer_completed completed;
static struct buffer *open_buffers, *queue;
static bool worker_runs;
static _Atomic bool disputed;
static uint64_t last_ticket;
static struct given given[GIVEN];
static size_t given_count;
static size_t dropped, delivered, flushes;
static uint32_t noise = 1;

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_opened = PTHREAD_COND_INITIALIZER;
static bool gate_closed;

static uint32_t random_below(uint32_t limit) {
    noise = noise * 1664525u + 1013904223u;
    return (noise >> 16) % limit;
}

/* ---- requests ---- */

static void forget_given(const uint8_t *data) {
    for (size_t i = 0; i < given_count; i++) {
        if (given[i].data != data) continue;
        given[i] = given[--given_count];
        return;
    }
}

static bool all_zero(const uint8_t *data, size_t size) {
    return data[0] == 0 && memcmp(data, data + 1, size - 1) == 0;
}

static struct buffer *ask(void) {
    if (requested == NULL) return NULL;
    uint8_t *data = NULL;
    size_t size = 0, max_records = 0;
    callback_entered();
    requested(&data, &size, &max_records);
    callback_left();
    if (data == NULL || size == 0) {
        if (FAKE_CUPTI_VERSION < 27) fake_violation("no buffer is given: this version crashes");
        return NULL;
    }
    if ((uintptr_t)data % 8 != 0) fake_violation("a buffer is not aligned to 8 bytes");
    if (size < 1024) fake_violation("a buffer of %zu bytes is too small", size);
    if (!attribute_zeroed) memset(data, 0, size);
    forget_given(data);
    struct buffer *buffer = calloc(1, sizeof *buffer);
    *buffer = (struct buffer){.data = data, .size = size, .max_records = max_records};
    buffer->zeroed = all_zero(data, size);
    buffer->thread = pthread_self();
    buffer->next = open_buffers;
    open_buffers = buffer;
    return buffer;
}

static bool has_room(const struct buffer *buffer, size_t size) {
    return buffer->used + size <= buffer->size &&
           (buffer->max_records == 0 || buffer->records < buffer->max_records);
}

static struct buffer *find_open(size_t size) {
    for (struct buffer *at = open_buffers; at != NULL; at = at->next) {
        if (attribute_per_thread && !pthread_equal(at->thread, pthread_self())) continue;
        if (has_room(at, size)) return at;
    }
    return ask();
}

/* ---- returns ---- */

static void hand_over(uint8_t *data, size_t size, size_t valid, bool zeroed) {
    if (completed == NULL) return;
    if (data != NULL && given_count < GIVEN) {
        given[given_count++] = (struct given){data, valid, zeroed, valid == 0};
    }
    callback_entered();
    completed(NULL, 0, data, size, valid);
    callback_left();
    delivered++;
}

/* Returns a buffer of another tool: a tool that reads it crashes. */
static void hand_over_foreign(void) {
    static uint8_t *foreign;
    if (foreign == NULL) {
        foreign = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (completed == NULL || foreign == MAP_FAILED) return;
    callback_entered();
    completed(NULL, 0, foreign, 65536, 4096);
    callback_left();
}

static void hand_over_noise(void) {
    if (delivered % 3 == 1) hand_over(NULL, 0, 0, true);
    if (delivered % 5 == 1) hand_over_foreign();
}

/* Takes the oldest buffer, which is the last one, or sometimes the next one, but never delays a buffer twice:
 * the busy time must stay exact within the collector's history. */
static struct buffer *take_any(void) {
    static bool late;
    struct buffer **at = &queue, **before = &queue;
    for (; (*at)->next != NULL; at = &(*at)->next) before = at;
    late = !late && random_below(2) == 0;
    if (late) at = before;
    struct buffer *taken = *at;
    *at = taken->next;
    return taken;
}

static void give_one(void) {
    struct buffer *buffer = take_any();
    hand_over_noise();
    hand_over(buffer->data, buffer->size, buffer->used, buffer->zeroed);
    free(buffer);
}

static void *work(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (queue == NULL) pthread_cond_wait(&queued, &lock);
        pthread_mutex_unlock(&lock);
        usleep(500); /* late: after the flush has returned */
        pthread_mutex_lock(&lock);
        while (queue != NULL) give_one();
        pthread_cond_broadcast(&idle);
    }
    return NULL;
}

static void enqueue(struct buffer **at, bool forced, uint64_t now) {
    struct buffer *buffer = *at;
    if (forced && buffer->busy_until > now) {
        for (size_t offset = 0; offset < buffer->used;) {
            uint32_t kind;
            memcpy(&kind, buffer->data + offset, sizeof kind);
            record_cut(buffer->data + offset, now);
            offset += record_size(kind);
        }
    }
    *at = buffer->next;
    buffer->ticket = ++last_ticket;
    buffer->next = queue;
    queue = buffer;
    pthread_cond_signal(&queued);
}

static void enqueue_complete(bool full_only, bool forced) {
    uint64_t now = fake_now();
    for (struct buffer **at = &open_buffers; *at != NULL;) {
        bool full = !has_room(*at, record_size(KIND_KERNEL));
        if ((forced || (*at)->busy_until <= now) && (full || !full_only)) enqueue(at, forced, now);
        else at = &(*at)->next;
    }
}

static bool waits(uint64_t ticket) {
    for (const struct buffer *at = queue; at != NULL; at = at->next) {
        if (at->ticket <= ticket) return true;
    }
    return false;
}

/* Waits until all buffers that are in the queue now have been returned. */
static void wait_for_queue(void) {
    uint64_t ticket = last_ticket;
    while (worker_runs && waits(ticket)) pthread_cond_wait(&idle, &lock);
}

int buffers_flush(bool forced) {
    pthread_mutex_lock(&lock);
    enqueue_complete(false, forced);
    /* In every third flush, the flushing thread itself returns the buffers. */
    if (!forced && ++flushes % 3 == 0) {
        while (queue != NULL) give_one();
    }
    if (forced) wait_for_queue();
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

void buffers_record(const struct fake_operation *operation) {
    size_t size = record_size(operation->kind);
    pthread_mutex_lock(&lock);
    struct buffer *buffer = find_open(size);
    if (buffer == NULL) {
        dropped++;
    } else {
        record_write(buffer->data + buffer->used, operation);
        buffer->used += size;
        buffer->records++;
        if (operation->end > buffer->busy_until) buffer->busy_until = operation->end;
        if (!has_room(buffer, record_size(KIND_KERNEL))) enqueue_complete(true, false);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- reads ---- */

static struct given *find_given(const uint8_t *data) {
    for (size_t i = 0; i < given_count; i++) {
        if (given[i].data == data) return &given[i];
    }
    return NULL;
}

static int step(uint8_t *buffer, size_t valid, void **record) {
    struct given *from = find_given(buffer);
    if (from == NULL || from->valid != valid) {
        fake_violation("%s is walked", from == NULL ? "a buffer that was not given" : "not what is valid");
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    if (attribute_zeroed && !from->zeroed) fake_violation("a buffer that is walked was not zeroed");
    uint8_t *at = buffer;
    if (*record != NULL) {
        uint32_t kind;
        memcpy(&kind, *record, sizeof kind);
        at = (uint8_t *)*record + record_size(kind);
    }
    if (at >= buffer + valid) {
        from->walked = true;
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    }
    *record = at;
    return CUPTI_SUCCESS;
}

int buffers_next_record(uint8_t *buffer, size_t valid, void **record) {
    pthread_mutex_lock(&gate_lock);
    while (gate_closed) pthread_cond_wait(&gate_opened, &gate_lock);
    pthread_mutex_unlock(&gate_lock);
    if (buffer == NULL || record == NULL) return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    int result = step(buffer, valid, record);
    pthread_mutex_unlock(&lock);
    return result;
}

size_t buffers_dropped(void) {
    pthread_mutex_lock(&lock);
    size_t count = dropped;
    dropped = 0;
    pthread_mutex_unlock(&lock);
    return count;
}

/* ---- functions for tests ---- */

void buffers_drop(size_t records) {
    pthread_mutex_lock(&lock);
    dropped += records;
    pthread_mutex_unlock(&lock);
}

void buffers_gate(bool closed) {
    pthread_mutex_lock(&gate_lock);
    gate_closed = closed;
    pthread_cond_broadcast(&gate_opened);
    pthread_mutex_unlock(&gate_lock);
}

static bool all_walked(void) {
    for (size_t i = 0; i < given_count; i++) {
        if (!given[i].walked) return false;
    }
    return true;
}

void buffers_settle(void) {
    for (int tries = 0; tries < 5000; tries++) {
        pthread_mutex_lock(&lock);
        if (tries == 0) enqueue_complete(false, false);
        bool settled = queue == NULL && all_walked();
        pthread_mutex_unlock(&lock);
        if (settled) return;
        usleep(1000);
    }
    fake_violation("what was given back is not read within 5 s");
}

/* ---- start and end ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_lock(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);
}

bool buffers_disputed(void) { return disputed; }

void buffers_start(void) { pthread_once(&once, make_lock); }

int buffers_register(buffer_requested request, buffer_completed complete) {
    if (request == NULL || complete == NULL) return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    if (requested != NULL && requested != request) disputed = true;
    requested = request;
    completed = complete;
    pthread_t worker;
    if (!worker_runs && pthread_create(&worker, NULL, work, NULL) == 0) {
        pthread_detach(worker);
        worker_runs = true;
    }
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

void buffers_end(void) {
    pthread_mutex_lock(&lock);
    enqueue_complete(false, true);
    wait_for_queue();
    requested = NULL;
    completed = NULL;
    pthread_mutex_unlock(&lock);
}

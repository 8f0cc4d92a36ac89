/* Test of buffers.c: threads borrow and return buffers while one reads them. None is lent twice, read twice or
 * lost, and all are zeroed. */
#include "buffers.h"

#include <pthread.h>
#include <stdatomic.h>

#include "../testdata/check.h"

#define THREADS 8
#define TIMES 3000

static _Atomic uint64_t written;
static _Atomic uint32_t done;
static uint8_t *_Atomic shared;

static void *use(void *number) {
    for (uint64_t i = 0; i < TIMES; i++) {
        uint8_t *data;
        size_t size, records;
        buffers_request(&data, &size, &records);
        CHECK(data && size == BUFFER_SIZE && records == 0);
        if (data == atomic_load(&shared)) {
            buffers_complete(NULL, 0, data, size, 0);
            continue;
        }
        uint64_t *word = (uint64_t *)(void *)data;
        CHECK(word[0] == 0 && word[1] == 0);
        word[0] = (uint64_t)(uintptr_t)number << 32 | (i + 1);
        atomic_fetch_add(&written, word[0]);
        buffers_complete(NULL, 0, data, size, sizeof *word);
    }
    atomic_fetch_add(&done, 1);
    return NULL;
}

static uint64_t read_all(void) {
    uint64_t sum = 0;
    struct buffer buffer;
    while (buffers_take(&buffer)) {
        sum += *(uint64_t *)(void *)buffer.data;
        buffers_recycle(buffer);
    }
    return sum;
}

/* Borrows all buffers: then every request gets the shared one. */
static void exhaust(void) {
    uint8_t *lent[BUFFER_COUNT], *data, foreign[8];
    size_t size, records;
    for (uint32_t i = 0; i < BUFFER_COUNT; i++) buffers_request(&lent[i], &size, &records);
    CHECK(buffers_lent() == BUFFER_COUNT);
    buffers_request(&data, &size, &records);
    atomic_store(&shared, data);
    buffers_complete(NULL, 0, data, size, 1000);
    CHECK(buffers_lost_bytes() == 1000);
    buffers_complete(NULL, 0, foreign, sizeof foreign, sizeof foreign);
    buffers_complete(NULL, 0, lent[0] + 1, size, 8);
    buffers_complete(NULL, 0, NULL, 0, 0);
    CHECK(buffers_lent() == BUFFER_COUNT);
    for (uint32_t i = 0; i < BUFFER_COUNT; i++) buffers_complete(NULL, 0, lent[i], size, 0);
    buffers_complete(NULL, 0, lent[0], size, 0);
    struct buffer buffer;
    for (uint32_t i = 0; i < BUFFER_COUNT; i++) {
        CHECK(buffers_take(&buffer) && buffer.data == lent[i]);
        buffers_recycle(buffer);
    }
    CHECK(!buffers_take(&buffer) && buffers_lent() == 0);
}

/* Another client took two buffers: they are free again, and the one lent later stays lent. */
static void reclaim(void) {
    uint8_t *first, *second, *third;
    size_t size, records;
    buffers_request(&first, &size, &records);
    buffers_request(&second, &size, &records);
    buffers_lose();
    buffers_request(&third, &size, &records);
    buffers_reclaim();
    CHECK(buffers_lent() == 1);
    buffers_complete(NULL, 0, first, size, 8);
    buffers_complete(NULL, 0, third, size, 8);
    CHECK(buffers_lent() == 0);
    read_all();
}

int main(void) {
    CHECK(buffers_open());
    exhaust();
    reclaim();
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, use, (void *)(i + 1));
    uint64_t read = 0;
    while (atomic_load(&done) < THREADS) read += read_all();
    read += read_all();
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK(read == atomic_load(&written) && read > 0);
    CHECK(buffers_lent() == 0);
    buffers_end();
    uint8_t *data;
    size_t size, records;
    buffers_request(&data, &size, &records);
    CHECK(data == atomic_load(&shared));
    return 0;
}

/* Test of buffers.c: threads borrow and return buffers while one reads them. None is lent twice, read twice or
 * lost, all are zeroed, and memory that is not needed is given back. */
#define _GNU_SOURCE
#include "buffers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "../testdata/check.h"

#define THREADS 8
#define TIMES 3000

static _Atomic uint64_t written;
static _Atomic uint32_t done;

static void *use(void *number) {
    for (uint64_t i = 0; i < TIMES; i++) {
        uint8_t *data;
        size_t size, records;
        buffers_request(&data, &size, &records);
        CHECK(data && records == 0);
        if (size == DISCARD_SIZE) {
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

/* Borrows all buffers: then every request gets one that is never read. */
static void exhaust(void) {
    uint8_t *lent[BUFFER_COUNT], *data, foreign[8];
    size_t size, records;
    for (uint32_t i = 0; i < BUFFER_COUNT; i++) {
        buffers_request(&lent[i], &size, &records);
        CHECK(i > 0 || size == BUFFER_LEAST);
    }
    CHECK(size == BUFFER_SIZE);
    CHECK(buffers_lent() == BUFFER_COUNT);
    for (uint64_t i = 0; i < 2 * DISCARD_COUNT; i++) {
        buffers_request(&data, &size, &records);
        CHECK(size == DISCARD_SIZE && data[0] == 0 && data[size - 1] == 0);
        memset(data, 1, size);
        buffers_complete(NULL, 0, data, size, 1000);
        CHECK(buffers_lost_bytes() == 1000 * (i + 1));
    }
    buffers_open(true);
    buffers_request(&data, &size, &records);
    CHECK(data == NULL && size == 0);
    buffers_open(false);
    size = BUFFER_LEAST;
    buffers_complete(NULL, 0, foreign, sizeof foreign, sizeof foreign);
    buffers_complete(NULL, 0, lent[0] + 1, size, 8);
    buffers_complete(NULL, 0, NULL, 0, 0);
    CHECK(buffers_lent() == BUFFER_COUNT);
    for (uint32_t i = 0; i < BUFFER_COUNT; i++) buffers_complete(NULL, 0, lent[i], size, 0);
    buffers_complete(NULL, 0, lent[0], size, 0);
    struct buffer buffer;
    for (uint32_t i = 0; i < BUFFER_COUNT; i++) {
        CHECK(buffers_take(&buffer) && buffer.data == lent[i] && buffer.first == (i == 0));
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

static uint32_t resident_pages(const uint8_t *data) {
    uint8_t resident[BUFFER_SIZE / 4096];
    uint32_t count = 0;
    CHECK(mincore((void *)data, BUFFER_SIZE, resident) == 0);
    for (uint32_t i = 0; i < BUFFER_SIZE / 4096; i++) count += resident[i] & 1;
    return count;
}

/* Writes so many buffers full at once. Returns the pages that they then have. */
static uint32_t need(uint32_t count) {
    static uint8_t *used[BUFFER_COUNT];
    size_t sizes[BUFFER_COUNT], records;
    uint32_t pages = 0;
    for (uint32_t i = 0; i < count; i++) {
        buffers_request(&used[i], &sizes[i], &records);
        memset(used[i], 1, sizes[i]);
    }
    for (uint32_t i = 0; i < count; i++) buffers_complete(NULL, 0, used[i], sizes[i], sizes[i]);
    read_all();
    for (uint32_t i = 0; i < BUFFER_COUNT; i++) pages += used[i] ? resident_pages(used[i]) : 0;
    return pages;
}

/* Memory that one second needed is given back in the next ones, but for what they need themselves. */
static void give_back(void) {
    uint32_t all = 0;
    while (all < BUFFER_COUNT * (BUFFER_SIZE / 4096)) all = need(BUFFER_COUNT);
    while (need(2) > 3 * BUFFER_LEAST / 4096) buffers_trim();
}

int main(void) {
    CHECK(buffers_open(false));
    exhaust();
    reclaim();
    give_back();
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
    CHECK(size == DISCARD_SIZE);
    return 0;
}

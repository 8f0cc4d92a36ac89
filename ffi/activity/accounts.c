/* Accounts: the series and cells of each device; copies, sets and waits; publication. */
#include "accounts.h"

#include <stdio.h>
#include <string.h>

#include "reserve.h"

#define METRIC_SIZE 96

/* ---- Series ---- */

static uint32_t add_series(const struct activity_source *source, const char *metric, uint32_t type,
                           const char *const tags[]) {
    char name[METRIC_SIZE];
    snprintf(name, sizeof name, "%s_%s", source->prefix, metric);
    return segment_series(name, type, tags);
}

static uint32_t device_series(const struct account *account, const char *metric, uint32_t type) {
    return add_series(account->source, metric, type, (const char *const[]){"device.uuid", account->uuid, NULL});
}

/* A counter that devices of all vendors have: without a prefix. */
static uint32_t gpu_counter(const struct account *account, const char *metric) {
    const char *const tags[] = {"device.uuid", account->uuid, NULL};
    return segment_cell(segment_series(metric, SEGMENT_COUNTER, tags), 0);
}

static uint32_t frame_cell(uint32_t profile, const char *name) {
    return segment_cell(profile, segment_name(name, strlen(name)));
}

static void clear_cells(uint32_t cells[ACCOUNTS_KINDS]) {
    for (uint32_t i = 0; i < ACCOUNTS_KINDS; i++) cells[i] = SEGMENT_NONE;
}

static void open_traffic(struct account_traffic *traffic, struct activity_kinds kinds, const char *bytes_metric) {
    traffic->kinds = kinds;
    traffic->bytes_metric = bytes_metric;
    clear_cells(traffic->time_cells);
    clear_cells(traffic->byte_cells);
}

/* Only if the source records it: a profile without frames is published too. */
static uint32_t device_profile(const struct account *account, const char *metric, bool recorded) {
    return recorded ? device_series(account, metric, SEGMENT_PROFILE) : SEGMENT_NONE;
}

static void open_account(struct account *account) {
    const struct activity_source *source = account->source;
    account->kernels.profile = device_profile(account, "kernels_nanoseconds", true);
    account->graphs = device_profile(account, "graphs_nanoseconds", source->graphs);
    account->waits = device_profile(account, "sync_nanoseconds", source->waits.count > 0);
    clear_cells(account->wait_cells);
    open_traffic(&account->copies, source->copies, "memcpy_bytes");
    account->copies.profile = device_profile(account, "memcpy_nanoseconds", source->copies.count > 0);
    open_traffic(&account->sets, source->sets, "memset_bytes");
    account->sets.profile = device_profile(account, "memset_nanoseconds", source->sets.count > 0);
    account->busy_cell = gpu_counter(account, "gpu_busy_nanoseconds");
    account->late_cell = gpu_counter(account, "gpu_busy_late_nanoseconds");
    durations_open(&account->durations, device_series(account, "kernel_duration_nanoseconds", SEGMENT_HISTOGRAM));
}

uint32_t accounts_cell(const struct accounts *accounts, const char *metric, uint32_t type) {
    return segment_cell(add_series(accounts->source, metric, type, NULL), 0);
}

void accounts_open(struct accounts *accounts, const struct activity_source *source) {
    accounts->source = source;
    accounts->dropped_cell = accounts_cell(accounts, "dropped_records_total", SEGMENT_COUNTER);
    accounts->invalid_cell = accounts_cell(accounts, "invalid_records_total", SEGMENT_COUNTER);
}

static struct account *newest;

struct account *accounts_add_device(struct accounts *accounts, uint32_t ordinal, const char *uuid) {
    struct account *account = uuid && ordinal < ACCOUNTS_DEVICES ? reserve(sizeof *account) : NULL;
    if (!account) {
        accounts->dropped++;
        return NULL;
    }
    account->source = accounts->source;
    account->uuid = uuid;
    open_account(account);
    account->older = newest;
    newest = account;
    return accounts->devices[ordinal] = account;
}

/* ---- Kernels ---- */

/* So many kernels wait, while what their symbols are compared with is fetched. */
#define WAITING 16u

static struct {
    struct account *account;
    const char *name;
    struct symbol *symbol;
    uint64_t ns;
} waiting[WAITING];
static uint32_t waiting_count;

static void make_room_for_symbols(void) {
    if (symbols_make_room(WAITING)) return;
    for (struct account *account = newest; account; account = account->older)
        kernels_forget_symbols(&account->kernels);
    symbols_forget();
}

void accounts_compare(void) {
    for (uint32_t i = 0; i < waiting_count; i++) {
        uint32_t number = symbols_compare(waiting[i].symbol, waiting[i].name);
        kernels_add(&waiting[i].account->kernels, number, waiting[i].ns);
    }
    waiting_count = 0;
    make_room_for_symbols();
}

void account_unsure_kernel(struct account *account, const char *name, struct symbol *symbol, uint64_t ns) {
    if (!name) symbol = symbols_first(name = "");
    symbol = symbols_search(symbol, name);
    if (symbols_is_sure(symbol, name)) {
        kernels_add(&account->kernels, symbol->number, ns);
        return;
    }
    symbols_expect(symbol, name);
    waiting[waiting_count].account = account;
    waiting[waiting_count].name = name;
    waiting[waiting_count].symbol = symbol;
    waiting[waiting_count].ns = ns;
    if (++waiting_count == WAITING) accounts_compare();
}

/* ---- Other records ---- */

static uint32_t byte_cell(const struct account *account, const struct account_traffic *traffic, const char *kind) {
    const char *const tags[] = {"device.uuid", account->uuid, "kind", kind, NULL};
    return segment_cell(add_series(account->source, traffic->bytes_metric, SEGMENT_COUNTER, tags), 0);
}

static void add_traffic(struct account *account, struct account_traffic *traffic, uint32_t kind, uint64_t bytes,
                        uint64_t ns) {
    if (kind >= traffic->kinds.count) kind = 0;
    const char *name = traffic->kinds.names[kind];
    uint32_t *time = &traffic->time_cells[kind], *byte = &traffic->byte_cells[kind];
    if (*time == SEGMENT_NONE) *time = frame_cell(traffic->profile, name);
    if (*byte == SEGMENT_NONE) *byte = byte_cell(account, traffic, name);
    segment_add(*time, ns, 1);
    segment_add(*byte, bytes, 0);
}

void account_copy(struct account *account, uint32_t kind, uint64_t bytes, uint64_t start, uint64_t end) {
    add_traffic(account, &account->copies, kind, bytes, end - start);
    busy_add(&account->busy, start, end);
}

void account_set(struct account *account, uint32_t kind, uint64_t bytes, uint64_t start, uint64_t end) {
    add_traffic(account, &account->sets, kind, bytes, end - start);
    busy_add(&account->busy, start, end);
}

void account_wait(struct account *account, uint32_t kind, uint64_t ns, uint64_t count) {
    const struct activity_kinds *kinds = &account->source->waits;
    if (count == 0) return;
    if (kind >= kinds->count) kind = 0;
    uint32_t *cell = &account->wait_cells[kind];
    if (*cell == SEGMENT_NONE) *cell = frame_cell(account->waits, kinds->names[kind]);
    segment_add(*cell, ns, count);
}

/* ---- Publication ---- */

static void show_account(struct account *account, struct accounts_publication publication) {
    busy_settle(&account->busy);
    kernels_show(&account->kernels);
    segment_set(account->busy_cell, account->busy.covered, 0);
    segment_set(account->late_cell, account->busy.late, 0);
    if (publication.answer) durations_show(&account->durations, publication.taken);
}

void accounts_show(struct accounts *accounts, uint64_t dropped, struct accounts_publication publication) {
    for (uint32_t i = 0; i < ACCOUNTS_DEVICES; i++)
        if (accounts->devices[i]) show_account(accounts->devices[i], publication);
    segment_set(accounts->dropped_cell, accounts->dropped + dropped, 0);
    segment_set(accounts->invalid_cell, accounts->invalid, 0);
}

/* The script of the fake driver. */
#include "fake_nvml.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_AGAIN_NS 10000000

struct fake fake;

static struct timespec read_at;
static ino_t inode;

/* Held during each call, as the driver's own; the library's end waits for it. */
static pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;

static void set_defaults(void) {
    struct fake before = fake;
    fake = (struct fake){.count = 1, .cuda = 12080, .driver = "570.124.06"};
    for (int i = 0; i < FAKE_FIELDS; i++) fake.types[i] = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
    for (int i = 0; i < FAKE_DEVICES; i++) {
        struct fake_device *device = &fake.devices[i];
#define SET(name, value) device->name = value;
        PROPERTIES(SET)
#undef SET
        device->fields[NVML_FI_DEV_MEMORY_TEMP] = 40;
        device->fields[NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON] = 26562;
        for (int j = 0; j < FAKE_XIDS; j++) device->xids[j].delivered = before.devices[i].xids[j].delivered;
    }
}

static void set_property(struct fake_device *device, const char *name, uint64_t value) {
#define TAKE(property, ignored) \
    if (strcmp(name, #property) == 0) device->property = value;
    PROPERTIES(TAKE)
#undef TAKE
}

static void set_xid(struct fake_device *device, uint64_t xid, uint64_t count, uint32_t instance) {
    for (int i = 0; i < FAKE_XIDS; i++) {
        struct fake_xid *slot = &device->xids[i];
        if (slot->xid != 0) continue;
        slot->xid = xid;
        slot->count = count;
        slot->instance = instance;
        return;
    }
}

static void read_of_device(char *words[], struct fake_device *device) {
    uint64_t first = words[2] ? strtoull(words[2], NULL, 10) : 0;
    uint64_t second = words[3] ? strtoull(words[3], NULL, 10) : 0;
    if (strcmp(words[0], "set") == 0) set_property(device, words[2], second);
    if (strcmp(words[0], "uuid") == 0) snprintf(device->uuid, sizeof device->uuid, "%s", words[2]);
    if (strcmp(words[0], "mig_uuid") == 0) snprintf(device->mig_uuid, sizeof device->mig_uuid, "%s", words[2]);
    if (strcmp(words[0], "field") == 0) device->fields[first % FAKE_FIELDS] = second;
    if (strcmp(words[0], "refuse_field") == 0) device->refused[first % FAKE_FIELDS] = (nvmlReturn_t)second;
    if (strcmp(words[0], "gpm") == 0) device->metrics[first % FAKE_METRICS] = second;
    if (strcmp(words[0], "xid") == 0)
        set_xid(device, first, second, words[4] ? (uint32_t)strtoul(words[4], NULL, 10) : NVML_NO_INSTANCE);
}

static void read_rule(char *words[]) {
    if (fake.rule_count == FAKE_RULES) return;
    struct fake_rule *rule = &fake.rules[fake.rule_count++];
    snprintf(rule->function, sizeof rule->function, "%s", words[1]);
    rule->every = strcmp(words[2], "*") == 0;
    rule->device = strcmp(words[2], "-") == 0 ? NO_DEVICE : atoi(words[2]);
    if (strcmp(words[0], "hang") == 0) rule->seconds = atof(words[3]);
    else rule->code = atoi(words[3]);
}

static void read_line(char *line) {
    char *words[8] = {NULL}, *rest = NULL;
    int count = 0;
    for (char *word = strtok_r(line, " \n", &rest); word && count < 7; word = strtok_r(NULL, " \n", &rest))
        words[count++] = word;
    if (count < 2) return;
    if (strcmp(words[0], "devices") == 0) fake.count = atoi(words[1]);
    else if (strcmp(words[0], "cuda") == 0) fake.cuda = atoi(words[1]);
    else if (strcmp(words[0], "driver") == 0) snprintf(fake.driver, sizeof fake.driver, "%s", words[1]);
    else if (strcmp(words[0], "type") == 0) fake.types[atoi(words[1]) % FAKE_FIELDS] = atoi(words[2]);
    else if (strcmp(words[0], "answer") == 0 || strcmp(words[0], "hang") == 0) read_rule(words);
    else
        for (int i = 0; i < FAKE_DEVICES; i++)
            if (strcmp(words[1], "*") == 0 || atoi(words[1]) == i) read_of_device(words, &fake.devices[i]);
}

void fake_read(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t since = (now.tv_sec - read_at.tv_sec) * 1000000000ll + now.tv_nsec - read_at.tv_nsec;
    if (read_at.tv_sec != 0 && since < LOOK_AGAIN_NS) return;
    read_at = now;
    const char *path = getenv("FAKE_NVML");
    struct stat status;
    if (path && (stat(path, &status) != 0 || status.st_ino == inode)) return;
    if (!path && fake.count) return;
    set_defaults();
    FILE *script = path ? fopen(path, "re") : NULL;
    if (!script) return;
    inode = status.st_ino;
    char line[256];
    while (fgets(line, sizeof line, script)) read_line(line);
    fclose(script);
}

/* ---- Calls ---- */

static void log_call(const char *function, int device) {
    static int fd = -2;
    const char *path = getenv("FAKE_NVML_LOG");
    if (fd == -2) fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) dprintf(fd, "%s %d\n", function, device);
}

static void hang(double seconds) {
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) != 0) {}
}

nvmlReturn_t fake_begin(const char *function, const struct nvmlDevice_st *handle) {
    pthread_mutex_lock(&driver_lock);
    fake_read();
    int device = handle ? handle->index : NO_DEVICE;
    log_call(function, device);
    nvmlReturn_t answer = NVML_SUCCESS;
    for (int i = 0; i < fake.rule_count; i++) {
        struct fake_rule *rule = &fake.rules[i];
        bool all = strcmp(rule->function, "*") == 0 && device != NO_DEVICE;
        if ((!all && strcmp(rule->function, function) != 0) || (!rule->every && rule->device != device)) continue;
        if (rule->seconds > 0) hang(rule->seconds);
        answer = rule->code;
    }
    if (handle && handle->index >= fake.count) answer = NVML_ERROR_GPU_IS_LOST;
    pthread_mutex_unlock(&driver_lock);
    return answer;
}

/* As a driver's library may: its end waits for the calls. */
__attribute__((destructor)) static void end(void) {
    pthread_mutex_lock(&driver_lock);
    pthread_mutex_unlock(&driver_lock);
}

/* The script. One line, one word and what it needs; `#` begins a comment. A target is the number of a GPU in the
 * order of the script (NVML's own order is that of the buses), `2/0` its first MIG instance, `*` all GPUs.
 *
 *   device <model> <bus id>                 a GPU: a model of models.c at `0000:1b:00.0`
 *   set <target> <key> <value> [per second] a reading, and how much it grows
 *   unset <target> <key>                    the device does not support it
 *   gpm <target> <metric> <value>           a GPM metric from now on; `-`: not supported
 *   name <target> <text>, uuid <target> <text>   text with \xNN for bytes
 *   mig <gpu> <gi> <ci> <MiB> <SMs> <name>  a MIG instance; the GPU's handles of instances become invalid
 *   unmig <gpu>                             no instances
 *   deny <gpu>                              its node is not permitted
 *   lost <gpu>, reset <gpu>, well <gpu>     fell off the bus, requires a reset, answers again
 *   unplug <gpu>, plug <gpu>                from the next initialization on; until then it is lost
 *   down <result>, up                       the driver is unloaded, is loaded again: counters begin again
 *   xid <gpu> <number> [gi ci], event <gpu> <type> <data>
 *   fail <target> <subject> <result> [times], heal <target> <subject>   see rules.c
 *   hang <target> <function> [locked], release
 *   delay <function> <min us> <max us>      latency of a call, in the driver's lock
 *   refresh <ms>                            of GPM, 100 otherwise
 *   early <n>                               that many waits for events end before their time
 *   driver <version>, cuda <version> */

#include "double.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void run_line(char *line);

static struct gpu *gpu_numbered(int number) {
    if (number < 0 || number >= machine.gpu_count) fatal("script: no GPU %d", number);
    return &machine.gpus[number];
}

/* Calls `act` with each subject of a target. */
static void on_target(const char *target, const char *rest, void (*act)(struct subject *, const char *)) {
    int number, instance = -1;
    if (strcmp(target, "*") == 0) {
        for (int gpu = 0; gpu < machine.gpu_count; gpu++) act(&machine.gpus[gpu].self, rest);
    } else if (sscanf(target, "%d/%d", &number, &instance) >= 1) {
        struct gpu *gpu = gpu_numbered(number);
        if (instance >= gpu->instance_count) fatal("script: no instance %s", target);
        act(instance < 0 ? &gpu->self : &gpu->instances[instance], rest);
    } else {
        fatal("script: no target %s", target);
    }
}

static void act_set(struct subject *subject, const char *rest) {
    char key[32], value[32];
    double per_second = 0;
    if (sscanf(rest, "%31s %31s %lf", key, value, &per_second) < 2) fatal("script: set %s", rest);
    set_reading(subject, key, value[0] == '-' ? (uint64_t)strtoll(value, NULL, 0) : strtoull(value, NULL, 0),
                per_second);
}

static void act_unset(struct subject *subject, const char *rest) { unset_reading(subject, rest); }

static void act_gpm(struct subject *subject, const char *rest) {
    int id;
    char value[32];
    if (sscanf(rest, "%d %31s", &id, value) != 2 || id < 0 || id >= METRICS) fatal("script: gpm %s", rest);
    set_metric(subject, id, strtod(value, NULL), strcmp(value, "-") != 0);
}

static void unescape(char *to, size_t size, const char *from) {
    size_t length = 0;
    for (; *from && length + 1 < size; length++) {
        unsigned byte;
        if (sscanf(from, "\\x%2x", &byte) == 1) {
            to[length] = (char)byte;
            from += 4;
        } else {
            to[length] = *from++;
        }
    }
    to[length] = '\0';
}

static void act_name(struct subject *subject, const char *rest) {
    unescape(subject->name, sizeof subject->name, rest);
}

static void act_uuid(struct subject *subject, const char *rest) {
    unescape(subject->uuid, sizeof subject->uuid, rest);
}

static bool add_gpu(const char *line) {
    char model[32];
    unsigned domain, bus, device;
    if (sscanf(line, "device %31s %x:%x:%x", model, &domain, &bus, &device) != 4) return false;
    const char *words = model_named(model);
    if (!words || machine.gpu_count == GPUS) fatal("script: %s", line);
    int number = machine.gpu_count++;
    struct gpu *gpu = &machine.gpus[number];
    gpu->bus = domain << 16 | bus << 8 | device;
    snprintf(gpu->self.uuid, sizeof gpu->self.uuid, "GPU-%08x-1c02-4a5e-9d3f-%012x", 0xa0b1c200u + number, gpu->bus);
    set_reading(&gpu->self, "minor", (uint64_t)number, 0);
    while (*words) {
        size_t length = strcspn(words, "\n");
        char one[256], whole[300];
        snprintf(one, sizeof one, "%.*s", (int)length, words);
        char *space = strchr(one, ' ');
        snprintf(whole, sizeof whole, "%.*s %d%s", (int)(space - one), one, number, space);
        run_line(whole);
        words += length + (words[length] == '\n');
    }
    return true;
}

static bool add_instance(const char *line) {
    int number, name = 0;
    unsigned gi, ci, mebibytes, processors;
    if (sscanf(line, "mig %d %u %u %u %u %n", &number, &gi, &ci, &mebibytes, &processors, &name) < 5) return false;
    struct gpu *gpu = gpu_numbered(number);
    if (gpu->instance_count == INSTANCES) fatal("script: %s", line);
    struct subject *instance = &gpu->instances[gpu->instance_count++];
    memset(instance, 0, sizeof *instance);
    instance->gi = gi;
    instance->ci = ci;
    unescape(instance->name, sizeof instance->name, line + name);
    snprintf(instance->uuid, sizeof instance->uuid, "MIG-%08x-%04x-%04x-8000-%012x", 0xd1e2f300u + number, gi, ci,
             gpu->bus);
    set_reading(instance, "memory_total", (uint64_t)mebibytes << 20, 0);
    set_reading(instance, "memory_used", 0, 0);
    set_reading(instance, "memory_reserved", 0, 0);
    set_reading(instance, "processors", processors, 0);
    for (int id = 1; id <= 13; id++) set_metric(instance, id, 0, true);
    set_reading(&gpu->self, "mig_mode", 1, 0);
    gpu->partition++;
    return true;
}

/* A driver that is loaded again has new counters. */
static void restart_counters(void) {
    static const char *const counters[] = { "energy", "pcie_replay", "policy_", "nvlink_", "ecc_corrected_volatile",
                                            "ecc_uncorrected_volatile", "pcie_bytes_" };
    for (int number = 0; number < machine.gpu_count; number++) {
        struct subject *self = &machine.gpus[number].self;
        machine.gpus[number].failure = 0;
        for (int index = 0; index < self->count; index++) {
            struct reading *reading = &self->readings[index];
            for (size_t counter = 0; counter < sizeof counters / sizeof *counters; counter++) {
                if (strncmp(reading->key, counters[counter], strlen(counters[counter])) == 0) {
                    set_reading(self, reading->key, 0, reading->per_second);
                }
            }
        }
    }
}

static bool change_gpu(const char *word, int number) {
    struct gpu *gpu = gpu_numbered(number);
    if (strcmp(word, "deny") == 0) gpu->denied = true;
    else if (strcmp(word, "lost") == 0) gpu->failure = NVML_ERROR_GPU_IS_LOST;
    else if (strcmp(word, "reset") == 0) gpu->failure = NVML_ERROR_RESET_REQUIRED;
    else if (strcmp(word, "well") == 0) gpu->failure = 0;
    else if (strcmp(word, "unplug") == 0) gpu->unplugged = true, gpu->failure = NVML_ERROR_GPU_IS_LOST;
    else if (strcmp(word, "plug") == 0) gpu->unplugged = false, gpu->failure = 0;
    else if (strcmp(word, "unmig") == 0) gpu->instance_count = 0, gpu->partition++;
    else return false;
    wake_waiters();
    return true;
}

static bool change_machine(const char *line) {
    int number = 0;
    unsigned gi = UINT32_MAX, ci = UINT32_MAX;
    unsigned long long type, data;
    if (sscanf(line, "down %u", &machine.driver_down) == 1) wake_waiters();
    else if (strcmp(line, "up") == 0) machine.driver_down = 0, restart_counters();
    else if (sscanf(line, "xid %d %llu %u %u", &number, &data, &gi, &ci) >= 2) add_event(number, 8, data, gi, ci);
    else if (sscanf(line, "event %d %lli %llu", &number, (long long *)&type, &data) == 3) {
        add_event(number, type, data, gi, ci);
    } else if (sscanf(line, "refresh %d", &machine.gpm_refresh_ms) == 1) return true;
    else if (sscanf(line, "early %d", &machine.early_waits) == 1) return true;
    else if (sscanf(line, "driver %79s", machine.driver_version) == 1) return true;
    else return sscanf(line, "cuda %d", &machine.cuda_version) == 1;
    return true;
}

static void run_line(char *line) {
    static const struct {
        const char *word;
        void (*act)(struct subject *, const char *);
    } acts[] = {
        { "set", act_set }, { "unset", act_unset }, { "gpm", act_gpm }, { "name", act_name }, { "uuid", act_uuid },
    };
    if (line[0] == '#' || line[0] == '\0') return;
    char word[16], target[32];
    int rest = 0, number;
    if (sscanf(line, "%15s %31s %n", word, target, &rest) == 2) {
        for (size_t index = 0; index < sizeof acts / sizeof *acts; index++) {
            if (strcmp(word, acts[index].word) != 0) continue;
            on_target(target, line + rest, acts[index].act);
            return;
        }
    }
    if (add_gpu(line) || add_instance(line) || add_rule(line)) return;
    if (sscanf(line, "%15s %d", word, &number) == 2 && strchr("dlruwp", word[0]) && strcmp(word, "down") != 0 &&
        strcmp(word, "driver") != 0 && strcmp(word, "refresh") != 0 && change_gpu(word, number)) {
        return;
    }
    if (!change_machine(line)) fatal("script: %s", line);
}

void read_script(void) {
    static int file = -2;
    static char rest[1 << 14];
    static size_t held;
    static off_t offset;
    if (file == -2) {
        const char *path = getenv("NVML_STRICT_SCRIPT");
        file = path && *path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    }
    if (file < 0) return;
    for (;;) {
        ssize_t count = pread(file, rest + held, sizeof rest - held - 1, offset);
        if (count <= 0) return;
        offset += count;
        held += (size_t)count;
        rest[held] = '\0';
        char *line = rest;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            run_line(line);
        }
        held -= (size_t)(line - rest);
        memmove(rest, line, held);
    }
}

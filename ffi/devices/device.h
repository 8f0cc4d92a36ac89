/* A device, or a MIG device, and its series in the segment. All of them have the tags `device.uuid` and
 * `device.bus_id` first:
 *
 *   the metrics of metrics.h, and gpu_throttled_nanoseconds{reason}
 *   device      gauge, 1: its further tags are the attributes of the device; not measured: superseded
 *   polled      gauge: nanoseconds since the epoch at the end of the last complete poll
 *   unsupported gauge {metric, reason}, 1: the device refuses this metric; not measured: no longer
 *   listed      gauge, 1: this process may see the device, whoever polls it; its further tags identify it
 *   lost        gauge {reason}, 1: the device does not answer any more; not measured: it does
 *   xid         counter {xid}: events */
#ifndef SERVICE_DEVICES_DEVICE_H
#define SERVICE_DEVICES_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "library.h"
#include "metrics.h"

/* Devices and MIG devices; further ones are not measured, and the segment's reason says so. */
#define DEVICES 128

/* The reasons for lower clocks, by the bits of NVML's mask. */
#define THROTTLE_REASONS 11

/* What is known of one metric of one device. */
struct reading {
    uint32_t cell;        /* + 1; 0: none yet */
    uint32_t refused;     /* + 1: cell of its series `unsupported`; 0: never refused */
    nvmlReturn_t answer;  /* the last one other than success */
    bool known;           /* whether `last` is a value */
    bool away;            /* whether the device or its driver was away since `last` */
    uint64_t last;        /* of a counter, as NVML gave it */
    uint64_t total;       /* of a counter, since the first value */
};

/* More links than any device has, and counters of each. */
#define NVLINKS_MOST 72
#define NVLINK_COUNTERS 7

struct link_reading {
    bool known;
    uint64_t last;
};

struct throttling {
    uint32_t cell;  /* + 1 */
    bool counted;   /* the device counts this time itself */
    uint64_t last, total_ns;
};

struct device {
    char uuid[NVML_UUID_SIZE];
    char bus_id[32];
    nvmlDevice_t handle;
    uint32_t index;                /* of the whole device */
    uint32_t mig_index;
    struct device *parent;         /* of a MIG device */
    uint32_t gpu_instance, compute_instance;
    bool listed;                   /* found by the last look */
    bool told;                     /* whether it is published as listed */
    int lock;                      /* -1: not open */
    bool held;
    nvmlReturn_t fault;            /* an answer that concerns the whole device; 0: none */
    bool prepared;                 /* whether all below was set up since it was held, or found again */
    uint64_t polls;
    uint64_t polled_ns, before_ns; /* CLOCK_BOOTTIME at the begin of this poll and of the one before */
    struct call_names calls;
    struct reading readings[METRICS_COUNT];
    struct throttling throttling[THROTTLE_REASONS];
    uint32_t polled_cell, identity_cell, lost_cell, listed_cell; /* + 1 */
    uint32_t identities;
    bool can_be_split;             /* into MIG devices */
    nvmlEventSet_t events;
    nvmlGpmSample_t samples[2];    /* the newer one first */
    uint64_t sampled_ns;           /* when the newer one was taken; 0: never */
    bool gpm_refused, gpm_has_pcie;
    uint32_t nvlink_count;
    struct link_reading nvlinks[NVLINK_COUNTERS][NVLINKS_MOST];
    bool nvlink_later;             /* recoveries are in the field of later devices */
    enum { NVLINK_SUMS, NVLINK_EACH, NVLINK_BYTES } nvlink_traffic; /* how to ask for it */
};

extern struct device devices[DEVICES];
extern uint32_t devices_count;
/* Those of them that are no MIG devices, at least 1. */
extern uint32_t devices_whole;
/* Polls so far. */
extern uint64_t devices_beat;

/* Calls a function on this device. */
#define ASK(device, function, ...) NVML(&(device)->calls, (device)->uuid, function, __VA_ARGS__)

/* The cell of a series of the device; `more` are further tags, ended by NULL, or NULL. */
uint32_t device_cell(const struct device *device, const char *name, uint32_t type, const char *const more[]);

/* Whether to ask for the metric: not refused for good, and the device still answers. */
bool device_wants(const struct device *device, enum metric metric);

/* A gauge's value. */
void device_gauge(struct device *device, enum metric metric, uint64_t value);

/* A counter's value as NVML gives it, of `bits` bits. */
void device_counter(struct device *device, enum metric metric, uint64_t value, unsigned bits);

/* What a counter of `bits` bits has gained. One that falls has wrapped, if it was in the upper half. */
uint64_t device_increase(uint64_t last, uint64_t value, unsigned bits);

/* Adds to a counter that NVML does not keep. */
void device_count(struct device *device, enum metric metric, uint64_t more);

/* The metric is not measured at present; `answer` is NVML's, other than success. */
void device_refuses(struct device *device, enum metric metric, nvmlReturn_t answer);

/* A gauge's value, or that it is refused. */
void device_answers(struct device *device, enum metric metric, nvmlReturn_t answer, uint64_t value);

/* Notes an answer; one that concerns the whole device ends its poll. Returns whether it is success. */
bool device_is_answered(struct device *device, nvmlReturn_t answer);

/* No gauge is measured, nothing is known of the driver's counters: the device or its driver was away. */
void device_forgets(struct device *device);

#endif

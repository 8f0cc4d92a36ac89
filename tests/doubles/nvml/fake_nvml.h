/* The fake driver: its devices have the properties that a script gives them. The script is the file named
 * by FAKE_NVML, which is read again whenever it has changed. Its lines, where DEVICE is a number or `*`:
 *
 *   devices COUNT                     number of devices; 0: none are visible
 *   set DEVICE PROPERTY VALUE         one of PROPERTIES
 *   uuid DEVICE UUID                  another UUID than its usual one
 *   mig_uuid DEVICE UUID              of its first MIG device
 *   field DEVICE ID VALUE             value of a field, for all its scopes
 *   type ID TYPE                      value type of a field
 *   gpm DEVICE METRIC MILLIONTHS      value of a metric of GPM
 *   xid DEVICE XID COUNT [INSTANCE]   events so far
 *   answer FUNCTION DEVICE CODE       a function answers with an error, on `-` where it is of no device
 *   refuse_field DEVICE ID CODE       a field does
 *   hang FUNCTION DEVICE SECONDS      a function lasts so long
 *   cuda VERSION                      12080: 12.8
 *   driver VERSION                    version of the driver; another one: it was loaded anew
 *
 * Each call is appended to the file named by FAKE_NVML_LOG, as `FUNCTION DEVICE`. */
#ifndef FAKE_NVML_H
#define FAKE_NVML_H

#include <stdbool.h>
#include <stdint.h>

#include "../../../ffi/devices/nvml.h"

/* Properties of a device, as those of an idle H100. */
#define PROPERTIES(P)                                                                                  \
    P(utilization, 0) P(memory_utilization, 0) P(memory_total, 85520809984) P(memory_reserved, 655360000) \
    P(memory_used, 0) P(temperature, 31) P(power, 71250) P(power_limit, 700000)                        \
    P(default_power_limit, 700000) P(energy, 1000000) P(fan, 30) P(clock_sm, 345) P(clock_mem, 2619)   \
    P(max_clock_sm, 1980) P(max_clock_mem, 2619) P(reasons, 1) P(performance_state, 0)                 \
    P(pcie_generation, 5) P(pcie_width, 16) P(pcie_max_generation, 5) P(pcie_max_width, 16)            \
    P(pcie_tx, 0) P(pcie_rx, 0) P(replays, 0) P(nvlinks, 18) P(nvlinks_active, 18) P(cores, 16896)     \
    P(bus_width, 5120) P(ecc_mode, 1) P(persistence, 1) P(compute_mode, 0) P(architecture, 9)          \
    P(major, 9) P(minor, 0) P(gpm, 1) P(mig, 0) P(nvlink_sums, 1)

#define FAKE_DEVICES 16
#define FAKE_MIG 7
#define FAKE_FIELDS 512
#define FAKE_METRICS 512
#define FAKE_RULES 64
#define FAKE_XIDS 8

/* The number of a device for which there is none. */
#define NO_DEVICE (-1)

struct fake_xid {
    uint64_t xid, count, delivered;
    uint32_t instance;
};

/* A handle points to one of these. */
struct nvmlDevice_st {
    int index;
    int mig; /* number of the MIG device, or -1 */
};

struct fake_device {
    char uuid[64], mig_uuid[64];
#define MEMBER(name, value) uint64_t name;
    PROPERTIES(MEMBER)
#undef MEMBER
    uint64_t fields[FAKE_FIELDS], metrics[FAKE_METRICS];
    nvmlReturn_t refused[FAKE_FIELDS];
    struct fake_xid xids[FAKE_XIDS];
};

struct fake_rule {
    char function[64];
    int device;
    bool every;
    nvmlReturn_t code;
    double seconds;
};

struct fake {
    int count, cuda;
    char driver[32];
    int types[FAKE_FIELDS];
    struct fake_device devices[FAKE_DEVICES];
    struct fake_rule rules[FAKE_RULES];
    int rule_count;
};

extern struct fake fake;

/* Reads the script again if it has changed. */
void fake_read(void);

/* The begin of each function: logs it, hangs, and returns the error that it has. */
nvmlReturn_t fake_begin(const char *function, const struct nvmlDevice_st *device);

#endif

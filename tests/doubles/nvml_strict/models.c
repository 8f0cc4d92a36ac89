/* Models of GPUs: words of a script that give an idle one its name and readings. Numbers are of data sheets, the
 * refusals are those that reports name. */

#include "double.h"

#include <string.h>

/* What all have. */
#define ANY_GPU \
    "set utilization 0\nset memory_utilization 0\nset temperature 31\nset pstate 0\nset throttle 1\n" \
    "set sm_clock 345\nset graphics_clock 345\nset video_clock 765\nset pcie_tx 0\nset pcie_rx 0\n" \
    "set pcie_replay 0\nset memory_used 0\nset persistence 1\nset compute_mode 0\nset display 0\n" \
    "set temperature_shutdown 92\nset temperature_slowdown 89\nset encoder 0\nset decoder 0\n" \
    "set policy_power 0\nset policy_thermal 0\nset policy_sync_boost 0\nset policy_board_limit 0\n" \
    "set policy_low_utilization 0\nset policy_reliability 0\nset policy_app_clocks 0\nset policy_base_clocks 0\n" \
    "set events 0x1c\nset virtualization 0\n"
/* What those for data centers have beside. */
#define DATA_CENTER \
    ANY_GPU \
    "set events 0x1f\nset energy 0\nset memory_temperature 36\nset ecc_mode 1\n" \
    "set ecc_corrected_volatile 0\nset ecc_uncorrected_volatile 0\n" \
    "set ecc_corrected_aggregate 0\nset ecc_uncorrected_aggregate 0\n"
#define REMAPPER \
    "set remapped_corrected 0\nset remapped_uncorrected 0\nset remapped_pending 0\nset remapped_failure 0\n" \
    "set rows_max 640\nset rows_high 0\nset rows_partial 0\nset rows_low 0\nset rows_none 0\n"
#define RETIREMENT "set retired_sbe 0\nset retired_dbe 0\nset retired_pending 0\n"
#define PCIE(generation, width) \
    "set pcie_generation " #generation "\nset pcie_width " #width "\n" \
    "set pcie_max_generation " #generation "\nset pcie_max_width " #width "\n" \
    "set pcie_bytes_tx 0\nset pcie_bytes_rx 0\n"
#define POWER(idle, limit, least) \
    "set power " #idle "\nset power_instant " #idle "\n" \
    "set power_limit " #limit "\nset enforced_power_limit " #limit "\n" \
    "set power_default " #limit "\nset power_min " #least "\nset power_max " #limit "\n"
#define CLOCKS(sm, memory) \
    "set max_sm_clock " #sm "\nset max_graphics_clock " #sm "\nset max_video_clock 1545\n" \
    "set memory_clock " #memory "\nset max_memory_clock " #memory "\n"
#define CHIP(architecture, major, minor, cores, bus) \
    "set architecture " #architecture "\nset cc_major " #major "\nset cc_minor " #minor "\nset cores " #cores "\n" \
    "set bus_width " #bus "\nset brand 14\n"
#define MEMORY(total, reserved) "set memory_total " #total "\nset memory_reserved " #reserved "\nset bar1 137438953472\n"
#define LINKS(count, version, speed) \
    "set links " #count "\nset link_version " #version "\nset link_speed " #speed "\n"
#define GPM_PERCENT \
    "gpm 1 0\ngpm 2 0\ngpm 3 0\ngpm 4 0\ngpm 5 0\ngpm 6 0\ngpm 7 0\ngpm 9 0\n" \
    "gpm 10 0\ngpm 11 0\ngpm 12 0\ngpm 13 0\ngpm 20 0\ngpm 21 0\n"

static const struct {
    const char *name, *words;
} models[] = {
    { "h100", "name NVIDIA H100 80GB HBM3\n" DATA_CENTER REMAPPER CHIP(9, 9, 0, 16896, 5120) CLOCKS(1980, 2619)
                  MEMORY(85520809984, 560988160) POWER(70000, 700000, 200000) PCIE(5, 16) LINKS(18, 4, 26562)
                      GPM_PERCENT "gpm 60 0\ngpm 61 0\nset mig_mode 0\nset gpm 1\n" },
    { "h100pcie", "name NVIDIA H100 PCIe\n" DATA_CENTER REMAPPER CHIP(9, 9, 0, 14592, 5120) CLOCKS(1755, 1593)
                      MEMORY(85520809984, 560988160) POWER(48000, 350000, 200000) PCIE(5, 16)
                          GPM_PERCENT "set mig_mode 0\nset gpm 1\n" },
    { "h200", "name NVIDIA H200\n" DATA_CENTER REMAPPER CHIP(9, 9, 0, 16896, 6144) CLOCKS(1980, 3201)
                  MEMORY(150754820096, 560988160) POWER(75000, 700000, 200000) PCIE(5, 16) LINKS(18, 4, 26562)
                      GPM_PERCENT "gpm 60 0\ngpm 61 0\nset mig_mode 0\nset gpm 1\n" },
    { "b200", "name NVIDIA B200\n" DATA_CENTER REMAPPER CHIP(10, 10, 0, 18944, 8192) CLOCKS(1965, 3996)
                  MEMORY(191512969216, 780140544) POWER(140000, 1000000, 300000) PCIE(6, 16) LINKS(18, 5, 50000)
                      GPM_PERCENT "gpm 60 0\ngpm 61 0\nset mig_mode 0\nset gpm 1\n" },
    { "a100", "name NVIDIA A100-SXM4-40GB\n" DATA_CENTER REMAPPER CHIP(7, 8, 0, 6912, 5120) CLOCKS(1410, 1215)
                  MEMORY(42949672960, 468844544) POWER(50000, 400000, 100000) PCIE(4, 16) LINKS(12, 3, 25781)
                      "set mig_mode 0\n" },
    { "l4", "name NVIDIA L4\n" DATA_CENTER REMAPPER CHIP(8, 8, 9, 7424, 192) CLOCKS(2040, 6251)
                MEMORY(24152899584, 455081984) POWER(16000, 72000, 40000) PCIE(4, 16) "unset memory_temperature\n" },
    { "v100", "name Tesla V100-SXM2-32GB\n" DATA_CENTER RETIREMENT CHIP(5, 7, 0, 5120, 4096) CLOCKS(1530, 877)
                  MEMORY(34359738368, 0) POWER(40000, 300000, 150000) PCIE(3, 16) LINKS(6, 2, 25781) "set brand 2\n" },
    { "rtx4090", "name NVIDIA GeForce RTX 4090\n" ANY_GPU CHIP(8, 8, 9, 16384, 384) CLOCKS(3105, 10501)
                     MEMORY(25757220864, 425132032) POWER(20000, 450000, 150000) PCIE(4, 16)
                         "set energy 0\nset fans 2\nset fan 0\nset brand 5\nset pstate 8\nset persistence 0\n" },
    { "gtx1080", "name NVIDIA GeForce GTX 1080\n" ANY_GPU CHIP(4, 6, 1, 2560, 256) CLOCKS(1911, 5005)
                     MEMORY(8589934592, 0) POWER(10000, 180000, 90000) PCIE(3, 16)
                         "set fans 1\nset fan 27\nset brand 5\nset pstate 8\nset persistence 0\n" },
    /* Unified memory: the GPU has none of its own. */
    { "gb10", "name NVIDIA GB10\n" ANY_GPU CHIP(10, 12, 1, 6144, 256) CLOCKS(3003, 0) PCIE(1, 1)
                  "unset memory_used\nunset memory_utilization\nunset memory_clock\nunset max_memory_clock\n"
                  "set power 4000\nset power_instant 4000\nunset virtualization\n" },
    /* A virtual GPU of a guest: the host keeps most of it to itself. */
    { "vgpu", "name GRID A100-10C\n"
              "set utilization 0\nset memory_utilization 0\nset memory_used 0\nset power 0\nset pstate 0\n"
              "set sm_clock 1410\nset graphics_clock 1410\nset virtualization 2\nset persistence 1\nset brand 9\n"
              "set events 0\nset ecc_mode 1\n" CHIP(7, 8, 0, 6912, 5120) MEMORY(10737418240, 0) },
};

const char *model_named(const char *name) {
    for (size_t index = 0; index < sizeof models / sizeof *models; index++) {
        if (strcmp(models[index].name, name) == 0) return models[index].words;
    }
    return NULL;
}

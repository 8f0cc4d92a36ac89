/** The native files that are built, with their sources and flags. */

const HERE = decodeURIComponent(new URL("./", import.meta.url).pathname);

/** Flags of a library that is loaded into the user's programs: hidden symbols, never unloaded. */
const PRELOAD_FLAGS = [
  ...["-shared", "-fPIC", "-fvisibility=hidden", "-static-libgcc"],
  ...["-D_GNU_SOURCE=", "-include", `${HERE}glibc.h`],
  ...["-Wl,-Bsymbolic", "-Wl,-z,nodelete", "-Wl,-z,now", "-Wl,-z,defs"],
];

/** Libraries that glibc 2.34 merged into libc: older ones have functions in them, newer ones nothing. */
const SPLIT_GLIBC_LIBRARIES = ["-Wl,--no-as-needed", "-l:libdl.so.2", "-l:libpthread.so.0"];

/** aarch64 only: atomics inline, without the constructor by which the compiler's own library chooses them. */
const INLINE_ATOMICS = "-mno-outline-atomics";

/** A segment with room for eight devices, each with seven MIG devices. */
const DEVICES_CAPACITIES = [
  "-DSEGMENT_SIZE=0x100000u",
  "-DSEGMENT_SERIES=6144u",
  "-DSEGMENT_CELLS=8192u",
];

/** A native file, its sources and its flags. */
export interface Product {
  /** Paths below `ffi/`. */
  sources: string[];
  flags: string[];
  /** Alternative last flags, the best first: the next ones are tried if the system lacks a library or an option. */
  fallbacks: string[][];
  /** Whether musl's compiler is preferred: its programs start sooner and are ten times smaller. */
  musl?: boolean;
}

/** The products by file name. */
export const PRODUCTS: Record<string, Product> = {
  "service-supervisor": {
    sources: [
      "supervisor/console.c",
      "supervisor/descriptors.c",
      "supervisor/ends.c",
      "supervisor/main.c",
      "supervisor/processes.c",
      "supervisor/pump.c",
      "supervisor/ring.c",
      "supervisor/scanner.c",
      "supervisor/sieve.c",
      "supervisor/signals.c",
      "supervisor/streams.c",
      "supervisor/terminal.c",
    ],
    flags: ["-s", "-pthread"],
    fallbacks: [["-static", "-Wl,--fatal-warnings"], []],
    musl: true,
  },
  "libservice.so": {
    sources: [
      "activity/accounts.c",
      "activity/busy.c",
      "activity/collector.c",
      "activity/durations.c",
      "activity/kernels.c",
      "activity/overhead.c",
      "activity/reserve.c",
      "activity/states.c",
      "activity/symbols.c",
      "cuda/buffers.c",
      "cuda/callbacks.c",
      "cuda/device_names.c",
      "cuda/graph_cells.c",
      "cuda/graph_ids.c",
      "cuda/graph_shape.c",
      "cuda/graph_store.c",
      "cuda/graphs.c",
      "cuda/injection.c",
      "cuda/launches.c",
      "cuda/library.c",
      "cuda/other_client.c",
      "cuda/reasons.c",
      "cuda/records.c",
      "cuda/source.c",
      "cuda/subscription.c",
      "cuda/waits.c",
      "exec.c",
      "segment/ask.c",
      "segment/file.c",
      "segment/segment.c",
      "segment/tables.c",
      "sources.c",
    ],
    flags: PRELOAD_FLAGS,
    fallbacks: [[INLINE_ATOMICS, ...SPLIT_GLIBC_LIBRARIES], SPLIT_GLIBC_LIBRARIES, []],
  },
  "libconsole.so": {
    sources: ["supervisor/sieve.c"],
    flags: PRELOAD_FLAGS,
    fallbacks: [[INLINE_ATOMICS, ...SPLIT_GLIBC_LIBRARIES], SPLIT_GLIBC_LIBRARIES, []],
  },
  "libdevices.so": {
    sources: [
      "devices/basics.c",
      "devices/device.c",
      "devices/events.c",
      "devices/fields.c",
      "devices/gpm.c",
      "devices/identity.c",
      "devices/library.c",
      "devices/list.c",
      "devices/listed.c",
      "devices/memory.c",
      "devices/metrics.c",
      "devices/nvlink.c",
      "devices/pcie.c",
      "devices/poller.c",
      "devices/polling.c",
      "devices/throttling.c",
      "segment/file.c",
      "segment/segment.c",
      "segment/tables.c",
    ],
    flags: [...PRELOAD_FLAGS, ...DEVICES_CAPACITIES],
    fallbacks: [[INLINE_ATOMICS, ...SPLIT_GLIBC_LIBRARIES], SPLIT_GLIBC_LIBRARIES, []],
  },
};

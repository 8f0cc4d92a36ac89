/** Build of the fake NVIDIA driver, of the poller's library and of a process that loads it. */

import { PRODUCTS } from "../../../ffi/products.ts";
import { compile, folderOf, once, type Sanitizer, watchedBy } from "../cuda/build.ts";

const FFI = new URL("../../../ffi/", import.meta.url).pathname;
const HERE = new URL("./", import.meta.url).pathname;
const SHARED = ["-shared", "-fPIC", "-fvisibility=hidden"];
const FAKE = ["fake_nvml.c", "fake_nvml_gpm.c", "fake_nvml_script.c"].map((name) => HERE + name);
const FILES = ["host.c", "fast_time.c"].map((name) => HERE + name);
const SONAME = "libnvidia-ml.so.1";

/** Options for the build of the fake driver. */
export interface DriverOptions {
  sanitizer?: Sanitizer;
  /** Functions that it lacks, as an old driver does. */
  lacking?: readonly string[];
}

/** Path of the fake driver. */
export function driver({ sanitizer, lacking = [] }: DriverOptions = {}): Promise<string> {
  const folder = ["nvml", folderOf(sanitizer), lacking.join("+") || "complete"];
  return once(SONAME, folder, async (path) => {
    const versions = `${path}.map`;
    const hidden = [...lacking, "fake_*"].join("; ");
    await Deno.writeTextFile(versions, `{ global: nvml*; local: ${hidden}; };\n`);
    await compile(path, FAKE, [
      ...[...SHARED, ...watchedBy(sanitizer)],
      ...[`-Wl,-soname,${SONAME}`, `-Wl,--version-script=${versions}`],
    ]);
  });
}

/** Path of the poller's library. */
export function pollerLibrary(sanitizer?: Sanitizer): Promise<string> {
  return once("libdevices.so", ["nvml", folderOf(sanitizer)], async (path) => {
    const { sources, flags } = PRODUCTS["libdevices.so"]!;
    const defined = flags.filter((flag) => flag.startsWith("-DSEGMENT"));
    // The product's build checks warnings; sanitizers add warnings of their own.
    await compile(path, sources.map((name) => FFI + name), [
      ...[...SHARED, ...watchedBy(sanitizer), ...defined, "-w", "-include", `${FFI}glibc.h`],
      ...["-Wl,-Bsymbolic", "-Wl,-z,nodelete"],
    ]);
  });
}

/** Path of the program that loads the poller's library. */
export function host(sanitizer?: Sanitizer): Promise<string> {
  return once(
    "host",
    ["nvml", folderOf(sanitizer)],
    // Its clocks and waits are those that the libraries call.
    (path) => compile(path, FILES, [...watchedBy(sanitizer), "-rdynamic"]),
  );
}

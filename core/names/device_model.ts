/** A model of a device, as a row of the table of peaks. */

/**
 * A data type of arithmetic. `fp16`, `bf16`, `fp8`, `fp4` and `int8` are the tensor cores' rates, the
 * floats with sums in FP32; `fp64_tensor` is FP64 on tensor cores, `fp64` and `fp32` are without them.
 */
export type DataType =
  | "fp64"
  | "fp64_tensor"
  | "fp32"
  | "tf32"
  | "fp16"
  | "bf16"
  | "fp8"
  | "int8"
  | "fp4";

/** Peaks of a device model by its data sheet: dense, never with sparsity. */
export interface DevicePeaks {
  /** 10^9 bytes a second. */
  memory_gigabytes_per_second: number;
  /** 10^12 operations a second; a multiply-add is two. A type that is absent is not known. */
  teraflops: Readonly<Partial<Record<DataType, number>>>;
}

/** A row of the table: a model as its driver names it, and its peaks. */
export interface DeviceModel extends DevicePeaks {
  /** Names as the driver has them, without the brands before them. */
  names: readonly string[];
  /** Streaming multiprocessors, where they are published. */
  multiprocessors?: number;
  /** Memory in GiB, where variants of one name differ in it. */
  memory_gibibytes?: number;
  /** Document that states the figures. */
  source: string;
}

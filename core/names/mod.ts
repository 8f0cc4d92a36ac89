/** Names of devices, of their events and of kernels, and what they say. */

export type { DataType, DevicePeaks } from "./device_model.ts";
export { devicePeaks, memoryBandwidth, peakAttributes } from "./device_peaks.ts";
export { describeXid, type Xid } from "./xid.ts";
export { demangle } from "./itanium/demangle.ts";
export { canonicalName, type KernelName, kernelName } from "./kernels/kernel_name.ts";
export type { KernelCategory } from "./kernels/reading.ts";

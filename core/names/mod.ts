/** Names of devices, of their events and of kernels, and what they say. */

export type { DataType, DevicePeaks } from "./device_model.ts";
export { devicePeaks, memoryBandwidth, peakAttributes } from "./device_peaks.ts";
export { describeXid, type Xid } from "./xid.ts";
export { demangle } from "./itanium/demangle.ts";

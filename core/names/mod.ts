/** Names of devices and their events, and what the vendor says about them. */

export type { DataType, DevicePeaks } from "./device_model.ts";
export { devicePeaks, memoryBandwidth, peakAttributes } from "./device_peaks.ts";
export { describeXid, type Xid } from "./xid.ts";

/**
 * The packed format of windows: of uploads, spools, run files, rows and streams. FORMAT.md describes it
 * byte by byte.
 */

export { type Block, type InstanceHead, readBlock } from "./block.ts";
export { crc32 } from "./crc32.ts";
export { asDamaged, DamagedError, UnknownFormatError } from "./error.ts";
export {
  type Damage,
  FORMAT,
  type Frame,
  frameAt,
  type FrameKind,
  MAX_PAYLOAD_BYTES,
  PACKED_TYPE,
  readFrames,
} from "./frame.ts";
export type { BucketKind } from "./buckets.ts";
export type { Identities, ResourceIdentity, SeriesIdentity } from "./identities.ts";
export { IdentityTable } from "./identity_table.ts";
export { type PackedWindow, type PackOptions, WindowPacker } from "./packer.ts";
export { type ScannedWindow, scanWindows } from "./scan.ts";
export { readWindows, type StreamedWindow, streamWindows } from "./stream.ts";
export {
  type Members,
  type ReadWindow,
  readWindow,
  type ReadWindowOptions,
  type WindowHead,
  windowHead,
  withoutMembers,
} from "./window.ts";
export { UPLOAD_LIMITS, type WindowLimits } from "./window_limits.ts";
export { type WindowToWrite, WindowWriter, type WrittenWindow } from "./window_writer.ts";

/** Frames: the units of the packed format, each with its length and its checksums. */

import { crc32 } from "./crc32.ts";
import { DamagedError, UnknownFormatError } from "./error.ts";

/** Number of the format, in every frame. */
export const FORMAT = 1;

/** Content type of packed windows. */
export const PACKED_TYPE = "application/vnd.service.windows";

/** Bytes of a frame before its payload. */
export const HEADER_BYTES = 20;

/** Most bytes of a payload. */
export const MAX_PAYLOAD_BYTES: number = 2 ** 24;

/** The content of a frame. */
export type FrameKind = "block" | "window" | "end";

/** A frame whose checksums are right. */
export interface Frame {
  /** Its content. */
  readonly kind: FrameKind;
  /** The bytes behind the header. */
  readonly payload: Uint8Array<ArrayBuffer>;
  /** Header and payload. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Bytes between two frames that are no frame. */
export interface Damage {
  /** No frame. */
  readonly kind: "damage";
  /** The bytes that were passed over. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Not ASCII, so that a text is no frame; a carriage return or line feed is changed by some programs. */
const MAGIC = [0x89, 0x53, 0x52, 0x57] as const;

const KINDS: readonly FrameKind[] = ["block", "window", "end"];

const AT = { format: 4, kind: 5, reserved: 6, length: 8, payloadCrc: 12, headerCrc: 16 };

/** A payload as a frame. */
export function frameOf(kind: FrameKind, payload: Uint8Array): Frame {
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  bytes.set(payload, HEADER_BYTES);
  return sealed(kind, bytes);
}

/**
 * The frame of a payload that lies in `bytes` behind room for the header.
 *
 * @throws {RangeError} If it is too large for a frame.
 */
export function sealed(kind: FrameKind, bytes: Uint8Array<ArrayBuffer>): Frame {
  const payload = bytes.subarray(HEADER_BYTES);
  const { length } = payload;
  if (length > MAX_PAYLOAD_BYTES) {
    throw new RangeError(
      `Cannot pack: must have at most ${MAX_PAYLOAD_BYTES} bytes: got ${length}`,
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  bytes.set(MAGIC);
  bytes[AT.format] = FORMAT;
  bytes[AT.kind] = KINDS.indexOf(kind) + 1;
  view.setUint32(AT.length, length, true);
  view.setUint32(AT.payloadCrc, crc32(payload), true);
  view.setUint32(AT.headerCrc, crc32(bytes.subarray(0, AT.headerCrc)), true);
  return { kind, payload, bytes };
}

/**
 * All frames of `bytes`.
 *
 * @throws {DamagedError} If anything in them is not a whole frame.
 * @throws {UnknownFormatError} If a frame is of another format.
 */
export function* readFrames(bytes: Uint8Array<ArrayBuffer>): Generator<Frame> {
  for (let at = 0; at < bytes.length;) {
    const frame = frameAt(bytes, at);
    if (!frame) throw new DamagedError(`the frame at byte ${at} is cut`);
    if (frame.kind === "damage") throw new DamagedError(`there is no frame at byte ${at}`);
    yield frame;
    at += frame.bytes.length;
  }
}

/**
 * The frame at an index; the damaged bytes there, which another frame may follow; `undefined` if the
 * bytes end before the frame does. Takes time linear in the bytes that the result stands for.
 *
 * @throws {UnknownFormatError} If the frame is of another format.
 */
export function frameAt(bytes: Uint8Array<ArrayBuffer>, at: number): Frame | Damage | undefined {
  const rest = bytes.length - at;
  if (!isMagicAt(bytes, at)) return damageAt(bytes, at);
  if (rest < HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, HEADER_BYTES);
  const headerCrc = crc32(bytes.subarray(at, at + AT.headerCrc));
  if (headerCrc !== view.getUint32(AT.headerCrc, true)) return damageAt(bytes, at);
  const format = view.getUint8(AT.format);
  if (format !== FORMAT) throw new UnknownFormatError(format, FORMAT);
  const length = view.getUint32(AT.length, true);
  const kind = KINDS[view.getUint8(AT.kind) - 1];
  if (!kind || view.getUint16(AT.reserved) !== 0 || length > MAX_PAYLOAD_BYTES) {
    return damageAt(bytes, at);
  }
  const end = HEADER_BYTES + length;
  if (rest < end) return undefined;
  const frame = bytes.subarray(at, at + end);
  const payload = frame.subarray(HEADER_BYTES);
  const isWhole = crc32(payload) === view.getUint32(AT.payloadCrc, true);
  return isWhole ? { kind, payload, bytes: frame } : { kind: "damage", bytes: frame };
}

/** The frame that ends an answer, with the number of its windows. */
export function endFrame(windows: number): Frame {
  const payload = new Uint8Array(4);
  new DataView(payload.buffer).setUint32(0, windows, true);
  return frameOf("end", payload);
}

/**
 * The number of windows of an answer, from the payload of its last frame.
 *
 * @throws {DamagedError} If it is not such a payload.
 */
export function windowsBeforeEnd({ payload }: Frame): number {
  if (payload.length !== 4) throw new DamagedError("the end frame must have 4 bytes");
  return new DataView(payload.buffer, payload.byteOffset).getUint32(0, true);
}

/** Bytes up to where the next frame may begin. */
function damageAt(bytes: Uint8Array<ArrayBuffer>, at: number): Damage {
  let end = at + 1;
  while (end < bytes.length && !isMagicAt(bytes, end)) end++;
  return { kind: "damage", bytes: bytes.subarray(at, end) };
}

/** Whether a frame may begin at an index; the bytes may end within its first ones. */
function isMagicAt(bytes: Uint8Array, at: number): boolean {
  return MAGIC.every((byte, i) => at + i >= bytes.length || bytes[at + i] === byte);
}

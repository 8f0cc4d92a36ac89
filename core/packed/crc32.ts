/** CRC-32 (IEEE 802.3), the checksum of frames: as that of gzip and PNG. */

/** The polynomial, its bits reversed. */
const POLYNOMIAL = 0xedb88320;

/** Tables for four bytes at a time ("slicing by four"). */
const TABLES = tables();

/** The CRC-32 of bytes. */
export function crc32(bytes: Uint8Array): number {
  const [t0, t1, t2, t3] = TABLES;
  let crc = -1;
  let i = 0;
  for (const end = bytes.length - 3; i < end; i += 4) {
    crc ^= bytes[i]! | bytes[i + 1]! << 8 | bytes[i + 2]! << 16 | bytes[i + 3]! << 24;
    crc = t3[crc & 255]! ^ t2[crc >>> 8 & 255]! ^ t1[crc >>> 16 & 255]! ^ t0[crc >>> 24]!;
  }
  for (; i < bytes.length; i++) crc = t0[(crc ^ bytes[i]!) & 255]! ^ crc >>> 8;
  return ~crc >>> 0;
}

function tables(): readonly [Int32Array, Int32Array, Int32Array, Int32Array] {
  const first = Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >>> 1 ^ POLYNOMIAL : crc >>> 1;
    return crc;
  });
  const next = (table: Int32Array) => table.map((crc) => first[crc & 255]! ^ crc >>> 8);
  const second = next(first);
  const third = next(second);
  return [first, second, third, next(third)];
}

/** The layout of a segment, as `ffi/segment/segment.h` defines it, checked before it is used. */

/** The segment is invalid: it is not read again. */
export class SegmentRefusal extends Error {
  override name = "SegmentRefusal";
}

/** Refuses a segment; `why` completes "the segment is refused: ". */
export function refuseSegment(why: string): never {
  throw new SegmentRefusal(why);
}

/** Bytes of the header. */
export const HEADER_BYTES = 136;

/** Bytes of a series. */
export const SERIES_BYTES = 16;
/** Bytes of a cell. */
export const CELL_BYTES = 8;
/** Bytes of a cell's value. */
export const VALUE_BYTES = 16;

const MAGIC = 0x6d676573637673n; // "svcsegm\0"
const VERSION = 1;
const MAX_BYTES = 8 * 2 ** 20;

/** The fields of the header that never change. */
export interface SegmentLayout {
  pid: number;
  start_ticks: bigint;
  series_at: number;
  cells_at: number;
  banks_at: readonly [number, number];
  names_at: number;
  series_capacity: number;
  cell_capacity: number;
  name_capacity: number;
}

/** The fields of the header that change. */
export interface SegmentProgress {
  state: number;
  reason: number;
  series_count: number;
  cell_count: number;
  name_bytes: number;
  begun: bigint;
  published: bigint;
  asked: number;
  answered: number;
  /** Name of the call that the writer was last in. */
  call: number;
  /** When that call began; 0: it is over. */
  call_began_ns: bigint;
}

/** Whether the writer has written the header. */
export function isReady(header: DataView): boolean {
  return header.byteLength >= 8 && header.getBigUint64(0, true) !== 0n;
}

/**
 * The layout in the header of a file of `fileBytes` bytes.
 *
 * @throws {SegmentRefusal} If no writer of this version could have written it.
 */
export function readLayout(header: DataView, fileBytes: number): SegmentLayout {
  if (header.getBigUint64(0, true) !== MAGIC) refuseSegment("it is no segment");
  const field = (at: number) => header.getUint32(at, true);
  if (field(8) !== VERSION) refuseSegment(`its version is ${field(8)}, not ${VERSION}`);
  if (field(12) !== fileBytes || fileBytes > MAX_BYTES) {
    refuseSegment(`it says that it has ${field(12)} bytes, the file has ${fileBytes}`);
  }
  const layout: SegmentLayout = {
    pid: field(16),
    start_ticks: header.getBigUint64(24, true),
    series_at: field(36),
    cells_at: field(40),
    banks_at: [field(44), field(48)],
    names_at: field(52),
    series_capacity: field(56),
    cell_capacity: field(60),
    name_capacity: field(64),
  };
  checkTables(layout, fileBytes);
  return layout;
}

function checkTables(layout: SegmentLayout, fileBytes: number): void {
  const { series_capacity, cell_capacity, name_capacity, banks_at } = layout;
  const tables = [
    [0, HEADER_BYTES],
    [layout.series_at, series_capacity * SERIES_BYTES],
    [layout.cells_at, cell_capacity * CELL_BYTES],
    [banks_at[0], cell_capacity * VALUE_BYTES],
    [banks_at[1], cell_capacity * VALUE_BYTES],
    [layout.names_at, name_capacity],
  ].map(([at = 0, bytes = 0]) => ({ at, end: at + bytes })).sort((a, b) => a.at - b.at);
  if (banks_at.some((at) => at % VALUE_BYTES !== 0)) refuseSegment("its values are not aligned");
  for (const [i, { at, end }] of tables.entries()) {
    if (at % 4 !== 0 || end > fileBytes) refuseSegment("a table lies outside of it");
    if (i > 0 && at < tables[i - 1]!.end) refuseSegment("its tables overlap");
  }
}

/**
 * The progress in the header.
 *
 * @throws {SegmentRefusal} If it is beyond the capacities of the layout.
 */
export function readProgress(header: DataView, layout: SegmentLayout): SegmentProgress {
  const field = (at: number) => header.getUint32(at, true);
  const progress: SegmentProgress = {
    state: field(20),
    reason: field(32),
    series_count: field(68),
    cell_count: field(72),
    name_bytes: field(76),
    begun: header.getBigUint64(80, true),
    published: header.getBigUint64(88, true),
    asked: field(108),
    answered: field(112),
    call: field(120),
    call_began_ns: header.getBigUint64(128, true),
  };
  if (progress.series_count > layout.series_capacity) refuseSegment("it has too many series");
  if (progress.cell_count > layout.cell_capacity) refuseSegment("it has too many cells");
  if (progress.name_bytes > layout.name_capacity) refuseSegment("it has too many names");
  return progress;
}

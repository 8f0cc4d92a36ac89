/** Limits of one instance: generous, and counted in the payload when one is reached. */

/** Series of one instance; `profiler_dropped_series_total` counts those beyond it. */
export const MAX_SERIES = 20_000;

/** Frames of one profile; those beyond it are added to the frame {@linkcode OTHER_FRAME}. */
export const MAX_FRAMES = 4_096;

/** The frame with the sum of all frames beyond {@linkcode MAX_FRAMES}. */
export const OTHER_FRAME = "(other)";

/** Frames of all profiles in one window. */
export const MAX_WINDOW_FRAMES: number = 2 ** 20;

/** Bucket bounds of one Prometheus histogram, which has one bucket more. */
export const MAX_BUCKETS = 4_096;

/** Bins of one native histogram. */
export const MAX_BINS: number = 2 ** 15;

/** Characters of a metric, frame, tag key or resource kind. */
export const MAX_NAME_LENGTH = 4_096;

/** Characters of a tag's or an attribute's value. */
export const MAX_VALUE_LENGTH = 65_536;

/** Tags of one series, and tags or attributes of one resource or instance. */
export const MAX_TAGS = 64;

/** Resources of one instance. */
export const MAX_RESOURCES = 20_000;

/** Warnings and errors in a window: the newest. */
export const MAX_ERRORS = 100;

/** Characters of an error's message or exception. */
export const MAX_ERROR_LENGTH = 65_536;

/** Largest magnitude of a value, so that no sum of values overflows a double. */
export const MAX_MAGNITUDE = 1e300;

/** Bytes of an upload as sent, compressed or not. */
export const MAX_UPLOAD_BYTES: number = 8 * 2 ** 20;

/** Bytes of an upload after decompression. */
export const MAX_INFLATED_BYTES: number = 16 * 2 ** 20;

/** Objects, arrays and members of a JSON text in an upload: bounds the memory that reading one takes. */
export const MAX_UPLOAD_PARTS: number = 2 ** 20;

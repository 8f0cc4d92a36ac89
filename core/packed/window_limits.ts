/** Limits of packed windows: of those that are uploaded, and of those that are merged from them. */

import {
  MAX_FRAMES,
  MAX_MAGNITUDE,
  MAX_RESOURCES,
  MAX_SERIES,
  MAX_WINDOW_FRAMES,
} from "../limits.ts";

/** How much a window may hold. */
export interface WindowLimits {
  /** Series. */
  readonly series: number;
  /** Resources. */
  readonly resources: number;
  /** Frames of one profile. */
  readonly profile_frames: number;
  /** Frames of all profiles. */
  readonly frames: number;
  /** Magnitude of a number. */
  readonly magnitude: number;
}

/** The limits of an upload. */
export const UPLOAD_LIMITS: WindowLimits = {
  series: MAX_SERIES,
  resources: MAX_RESOURCES,
  profile_frames: MAX_FRAMES + 1,
  frames: MAX_WINDOW_FRAMES,
  magnitude: MAX_MAGNITUDE,
};

/** The limits of any window: the identities bound the rest. */
export const MERGED_LIMITS: WindowLimits = {
  series: Infinity,
  resources: Infinity,
  profile_frames: Infinity,
  frames: 8 * MAX_WINDOW_FRAMES,
  magnitude: Number.MAX_VALUE,
};

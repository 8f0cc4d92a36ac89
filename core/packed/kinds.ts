/** The packed formats of all kinds of series. */

import type { Series } from "../series/mod.ts";
import { counter } from "./counter.ts";
import { gauge } from "./gauge.ts";
import { histogram } from "./histogram.ts";
import type { KindFormat } from "./kind.ts";
import { profile } from "./profile.ts";

/** The formats by type, in the order in which a packed window has the kinds. */
export const formats: {
  readonly [Type in Series["type"]]: KindFormat<Extract<Series, { type: Type }>>;
} = { gauge, counter, histogram, profile };

/** The packed formats of all kinds, in this order. */
export const KINDS: readonly KindFormat<Series>[] = Object.values(formats);

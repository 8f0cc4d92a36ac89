/** Query parameters of all routes that answer with a context, and the checks of a command line. */

import type { Format } from "../query.ts";
import { parseSections, type Section, SECTIONS } from "./sections.ts";

/** Tokens of a text when nothing is asked for. */
export const DEFAULT_TOKENS = 8_000;
/** Fewest tokens that can be asked for. */
export const MIN_TOKENS = 500;
/** Most tokens that can be asked for. */
export const MAX_TOKENS = 100_000;

/** Tokens of a text. */
export const tokenBudget: Format<number> = {
  parse(text) {
    const tokens = /^\d{1,7}$/.test(text) ? Number(text) : NaN;
    if (!(tokens >= MIN_TOKENS && tokens <= MAX_TOKENS)) {
      throw new RangeError(
        `must be a whole number from ${MIN_TOKENS} to ${MAX_TOKENS}: got ${
          JSON.stringify(text.slice(0, 40))
        }`,
      );
    }
    return tokens;
  },
  schema: { type: "integer", minimum: MIN_TOKENS, maximum: MAX_TOKENS },
};

/** Sections of a text, as one comma-separated text. */
export const sectionNames: Format<readonly Section[]> = {
  parse: parseSections,
  schema: { type: "array", items: { enum: [...SECTIONS] } },
};

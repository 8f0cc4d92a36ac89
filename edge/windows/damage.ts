/** Damage: stored rows that cannot be read. */

import { DamagedError, UnknownFormatError } from "@service/core/packed";

/** Whether an error means that a row is damaged, or of a format that this program does not know. */
export function isDamage(error: unknown): error is Error {
  return error instanceof DamagedError || error instanceof UnknownFormatError;
}

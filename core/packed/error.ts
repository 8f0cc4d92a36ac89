/** Errors of reading packed bytes. */

/** Bytes that are not what was packed: cut, changed, or made by something else. */
export class DamagedError extends Error {
  /** Its name in texts. */
  override name = "DamagedError";

  /** The fault, and what should be there. */
  constructor(fault: string, options?: ErrorOptions) {
    super(`Cannot read packed bytes: ${fault}`, options);
  }
}

/** Bytes of a format that this program does not know. */
export class UnknownFormatError extends Error {
  /** Its name in texts. */
  override name = "UnknownFormatError";

  /** The format's number, and those that this program reads. */
  constructor(format: number, known: number) {
    super(`Cannot read packed bytes: must be of format ${known}: got ${format}`);
  }
}

/**
 * The result of `read`; any error in it means that the named part is damaged.
 *
 * @throws {DamagedError} If `read` throws.
 */
export function asDamaged<T>(part: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedError) throw error;
    throw new DamagedError(`${part}: ${(error as Error).message}`, { cause: error });
  }
}

/** Files of databases: where they are, and whether they are still there. */

import { LibsqlError } from "@libsql/client/web";

/** A database that was made before is not there any more, or another is in its place. */
export class GoneError extends Error {
  /** Name of the class. */
  override readonly name = "GoneError";

  /** Of the database at the URL. */
  constructor(url: string) {
    super(
      `Cannot use the database ${withoutToken(url)}: it is gone, or another is in its place; ` +
        "restore it from a backup. It is not made anew, as what it held would be missing silently",
    );
  }
}

/**
 * The path of a file's URL.
 *
 * @throws {LibsqlError} If the URL has more than a path.
 */
export function pathOf(url: string): string {
  const path = /^file:(?:\/\/(?:localhost)?(?=\/))?((?!\/\/)[^?#]+)$/.exec(url)?.[1];
  if (path === undefined) {
    throw new LibsqlError(`must be file: and a path: got ${JSON.stringify(url)}`, "URL_INVALID");
  }
  return decodeURIComponent(path);
}

/** What tells the file at the URL from any other; `null`: it is gone, or empty, or out of reach. */
export function fileIdentity(url: string): string | null {
  try {
    const { dev, ino, size } = Deno.statSync(pathOf(url));
    return size === 0 ? null : `${dev}:${ino}`;
  } catch {
    return null;
  }
}

/** The URL as it may be shown. */
export function withoutToken(url: string): string {
  return url.replace(/([?&]authToken=)[^&#]*/g, "$1…");
}

/** Tag strings (`k1:v1;k2:v2`) and the identity that tags give to a series. */

/** Tags: keys and values that identify a series or a resource beside its name. */
export type Tags = Readonly<Record<string, string>>;

/**
 * Tags of a tag string, `k1:v1;k2:v2`. A value may hold colons; `;`, `%` and a colon in a key are
 * percent-encoded. Empty pairs, as after a last `;`, are skipped.
 *
 * @throws {RangeError} If a pair has no colon or no key, a key comes twice, or an escape is broken.
 */
export function parseTags(text: string): Tags {
  const tags: Record<string, string> = Object.create(null);
  for (const pair of text.split(";")) {
    if (pair === "") continue;
    const colon = pair.indexOf(":");
    if (colon < 1) throw cannotRead(pair, "must be key:value");
    const key = unescape(pair.slice(0, colon), pair);
    if (key in tags) throw cannotRead(pair, "its key is given twice");
    tags[key] = unescape(pair.slice(colon + 1), pair);
  }
  return { ...tags };
}

/** The tag string of `tags`, keys sorted; {@linkcode parseTags} gives the same tags back. */
export function formatTags(tags: Tags): string {
  return sortedEntries(tags)
    .map(([key, value]) => `${escape(key).replaceAll(":", "%3A")}:${escape(value)}`)
    .join(";");
}

/** Whether `tags` has all of `wanted`. */
export function hasTags(tags: Tags, wanted: Tags): boolean {
  return Object.entries(wanted).every(([key, value]) => tags[key] === value);
}

/** The identity of tags as a text: equal for the same pairs, in any order. */
export function tagsKey(tags: Tags): string {
  const names = Object.keys(tags);
  if (names.length > 1) names.sort();
  // With lengths no escapes are needed: several times as fast as JSON.
  let key = "";
  for (const name of names) {
    const value = tags[name]!;
    key += `${name.length}:${name}${value.length}:${value}`;
  }
  return key;
}

function sortedEntries(tags: Tags): [string, string][] {
  return Object.entries(tags).sort(([a], [b]) => a < b ? -1 : 1);
}

function escape(text: string): string {
  return text.replaceAll("%", "%25").replaceAll(";", "%3B");
}

function unescape(text: string, pair: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw cannotRead(pair, "a percent sign must start an escape such as %3B");
  }
}

function cannotRead(pair: string, reason: string): RangeError {
  return new RangeError(`Cannot read the tag ${JSON.stringify(pair.slice(0, 80))}: ${reason}`);
}

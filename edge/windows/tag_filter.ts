/** Tags that an instance must have, all of them. */
export type TagFilter = { key: string; value: string }[];

/**
 * The filter that a query parameter is: `k1:v1;k2:v2`. A value may hold colons, a key none.
 *
 * @throws {RangeError} If it is none.
 */
export function tagFilter(text: string): TagFilter {
  return text.split(";").map((pair) => {
    const [, key, value] = /^([^:]+):(.*)$/s.exec(pair) ?? [];
    if (key === undefined || value === undefined) {
      throw new RangeError(
        `must be key:value pairs with one semicolon between them: got ${
          JSON.stringify(pair.slice(0, 40))
        }`,
      );
    }
    return { key, value };
  });
}

/** Rows of fault tables: all of them, and more at random, where SERVICE_TEST_FAULTS is set. */

/** Whether there is time for everything. */
export const isWhole = Boolean(Deno.env.get("SERVICE_TEST_FAULTS"));

/** What is killed, and when. */
export interface Kill {
  point: string;
  statement: RegExp;
  victim: "server" | "API";
  when: "asked" | "answered";
}

const KILLS: Pick<Kill, "victim" | "when">[] = [
  { victim: "server", when: "asked" },
  { victim: "API", when: "answered" },
  { victim: "server", when: "answered" },
  { victim: "API", when: "asked" },
];

/** Each point with each way to kill there; without much time, in turn with two of them. */
export function kills(points: Record<string, RegExp>): Kill[] {
  return Object.entries(points).flatMap(([point, statement], i) => {
    const some = isWhole ? KILLS : KILLS.slice(i % 2 * 2, i % 2 * 2 + 2);
    return some.map((kill) => ({ point, statement, ...kill }));
  });
}

/** A row's name. */
export function nameOf({ victim, when, point }: Kill): string {
  return `${victim} killed ${when === "asked" ? "before" : "after"} ${point}`;
}

/** Which changes of a disk are tried, of as many as there are: all, or fewer and fewer. */
export function nextChange(change: number): number {
  return isWhole ? change + 1 : Math.ceil(change * 1.7);
}

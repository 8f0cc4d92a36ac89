/** Rows of fault tables: all of them, and more at random, where SERVICE_TEST_FAULTS is set. */

/** Whether there is time for everything. */
export const isWhole = Boolean(Deno.env.get("SERVICE_TEST_FAULTS"));

/** What is killed, and when. */
export interface Kill {
  /** The statement at which it is killed, as the comment that it begins with names it. */
  step: string;
  victim: "server" | "API";
  when: "asked" | "answered";
}

const KILLS: Pick<Kill, "victim" | "when">[] = [
  { victim: "server", when: "asked" },
  { victim: "API", when: "answered" },
  { victim: "server", when: "answered" },
  { victim: "API", when: "asked" },
];

/** Each step with each way to kill there; without much time, in turn with two of them. */
export function kills(steps: readonly string[]): Kill[] {
  return steps.flatMap((step, i) => {
    const some = isWhole ? KILLS : KILLS.slice(i % 2 * 2, i % 2 * 2 + 2);
    return some.map((kill) => ({ step, ...kill }));
  });
}

/** A row's name. */
export function nameOf({ victim, when, step }: Kill): string {
  return `${victim} killed ${when === "asked" ? "before" : "after"} "${step}"`;
}

/** Which changes of a disk are tried, of as many as there are: all, or fewer and fewer. */
export function nextChange(change: number): number {
  return isWhole ? change + 1 : Math.ceil(change * 1.7);
}

/** Rows of fault tables: all of them with SERVICE_TEST_FAULTS, otherwise a part. */

/** Whether all rows are tested. */
export const isWhole = Boolean(Deno.env.get("SERVICE_TEST_FAULTS"));

/** Row of a table: the process to kill, and the instant. */
export interface Kill {
  /** Name of the statement at that instant: the comment that it begins with. */
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

/** Rows for each step: all four kills, or two of them in turn. */
export function kills(steps: readonly string[]): Kill[] {
  return steps.flatMap((step, i) => {
    const some = isWhole ? KILLS : KILLS.slice(i % 2 * 2, i % 2 * 2 + 2);
    return some.map((kill) => ({ step, ...kill }));
  });
}

/** Name of a row. */
export function nameOf({ victim, when, step }: Kill): string {
  return `${victim} killed ${when === "asked" ? "before" : "after"} "${step}"`;
}

/** Next change of a disk to test: every one, or at growing distances. */
export function nextChange(change: number): number {
  return isWhole ? change + 1 : Math.ceil(change * 1.7);
}

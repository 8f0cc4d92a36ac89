/** Tells the user what the profiler has to say, on stderr. */
export function complain(why: string): void {
  console.error(`service-run: ${why}`);
}

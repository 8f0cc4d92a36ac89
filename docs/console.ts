/** Renders the table of the corpus of console lines in `docs/profiling.md`: `deno run -A docs/console.ts`. */

import { corpusTable, judgeCorpus } from "../local/sources/console/testdata/corpus.ts";

const PROFILING = new URL("profiling.md", import.meta.url);

/** `text` with the present figures of the corpus in place of those that it has. */
export function withCorpusTable(text: string): string {
  return text.replace(/^\| Lines that are [^]*?\n(?=\n)/m, () => corpusTable(judgeCorpus()));
}

if (import.meta.main) {
  await Deno.writeTextFile(PROFILING, withCorpusTable(await Deno.readTextFile(PROFILING)));
}

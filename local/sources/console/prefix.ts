/** Prefixes of lines: marks that tell which of several processes wrote a line. */

import type { Tags } from "@service/core";

/** A line without its mark. */
export interface Prefixed {
  /** The mark, the same for all lines of a process; empty if there is none. */
  mark: string;
  pid?: string;
  /** The ranks that the mark names, as tags. */
  ranks: Tags;
  text: string;
}

/**
 * `(EngineCore_0 pid=123) `, `(Worker pid=1, ip=10.0.0.1) `, `(raylet) `, `[rank0]: `, `[default1]:` of
 * torchrun, and `[1,0]<stderr>:` of mpirun.
 */
const MARK =
  /^(?:\((?<name>[\w.:/ -]{1,80}?) ?pid=(?<pid>\d+)(?:, [^()]{1,80})?\)[ \t]?|\(raylet\) ?|\[(?:rank|RANK ?)(?<rank>\d+)\]:?[ \t]?|\[default(?<local_rank>\d+)\]:|\[\d+\]:(?=.)|(?<mpi>\[(?:[\w.-]+@)?\d+,(?<mpi_rank>\d+)\](?:<\w+>)?:))/;

/** A sign before a message, as Julia's logger and command lines write it. */
const SIGN = /^(?:[❌❗✗✖✘⛔⚠┌]\ufe0f?|🚨|💥|!{2,3}) +(?=\S)/;

/** The prefixes of the lines of one stream. */
export class Prefixes {
  /** Whether mpirun writes a blank behind its marks; undefined until a line tells. */
  #isSpaced: boolean | undefined;

  /** The line's mark and its text without a sign before it; several marks in a row count as one. */
  split(line: string): Prefixed {
    let mark = "";
    let pid: string | undefined;
    const ranks: Record<string, string> = {};
    let text = line;
    for (let depth = 0; depth < 3; depth++) {
      const match = MARK.exec(text);
      if (!match) break;
      mark += match[0].trimEnd();
      const { mpi, mpi_rank, rank = mpi_rank, local_rank } = match.groups!;
      pid = match.groups!.pid ?? pid;
      if (rank) ranks["process.rank"] = rank;
      if (local_rank) ranks["process.local_rank"] = local_rank;
      text = text.slice(match[0].length);
      if (!mpi) continue;
      this.#isSpaced = /^\S/.test(text)
        ? false
        : this.#isSpaced ?? (/^ \S/.test(text) || undefined);
      if (this.#isSpaced) text = text.replace(/^ /, "");
    }
    return { mark, pid, ranks, text: text.replace(SIGN, "") };
  }
}

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

/** `(EngineCore_0 pid=123) `, `(Worker pid=1, ip=10.0.0.1) `, `[rank0]: `, `[default1]:`, `[1,0]<stderr>:`, `(raylet) `. */
const MARK =
  /^(?:\((?<name>[\w.:/ -]{1,80}?) ?pid=(?<pid>\d+)(?:, [^()]{1,80})?\)|\(raylet\)|\[(?:rank|RANK ?)(?<rank>\d+)\]:?|\[default(?<local_rank>\d+)\]:|\[\d+\]:(?=.)|\[\d+,(?<mpi_rank>\d+)\](?:<\w+>)?:)[ \t]?/;

/** A sign before a message, as Julia's logger and command lines write it. */
const SIGN = /^(?:[❌❗✗✖✘⛔⚠┌]\ufe0f?|🚨|💥|!{2,3}) +(?=\S)/;

/** The line's mark and its text without a sign before it; several marks in a row count as one. */
export function splitPrefix(line: string): Prefixed {
  let mark = "";
  let pid: string | undefined;
  const ranks: Record<string, string> = {};
  let text = line;
  for (let depth = 0; depth < 3; depth++) {
    const match = MARK.exec(text);
    if (!match) break;
    mark += match[0].trimEnd();
    const { rank, mpi_rank = rank, local_rank } = match.groups!;
    pid = match.groups!.pid ?? pid;
    if (mpi_rank) ranks["process.rank"] = mpi_rank;
    if (local_rank) ranks["process.local_rank"] = local_rank;
    text = text.slice(match[0].length);
  }
  return { mark, pid, ranks, text: text.replace(SIGN, "") };
}

/** Storage that is filled for benchmarks: windows of one instance, with their roll-ups. */

import type { Window } from "@service/core";
import { SECOND_NS } from "@service/core/time";
import type { TestService } from "../../edge/testing/api.ts";
import { digestOf } from "../../edge/windows/digest.ts";
import { rollUpClosed } from "../../edge/windows/rollup.ts";
import { storeWindow } from "../../edge/windows/write.ts";
import { START_TS } from "./storage_data.ts";

/** Windows stored in parallel. */
const PARALLEL = 32;

/** Stores windows as the ingest endpoint does, without HTTP. */
export async function fillStorage(
  { db, service }: TestService,
  instance_id: string,
  windows: number,
  windowAt: (at: number) => Window,
): Promise<void> {
  const { rows: [key] } = await db.query("SELECT name, project FROM keys");
  const project = key!.project as bigint;
  const { packers, blocks } = service.memory;
  const instance = {
    instance_id,
    profiler_version: "0.0.0",
    start_ns: BigInt(START_TS) * SECOND_NS,
    tags: {},
    attributes: {},
  };
  const store = async (window: Window) => {
    const { from_ns, to_ns } = window;
    const { frame, known } = await packers.pack(db, project, { ...instance, final: false, window });
    const outcome = await storeWindow(db, {
      project,
      key: key!.name as string,
      known,
      from_ns,
      to_ns,
      final: false,
      body: frame.bytes,
      digest: digestOf(frame.bytes),
      entries: [],
      received_ns: to_ns,
    }, { blocks });
    if ("conflict" in outcome) throw new Error(outcome.message);
    return { blocks, project, ...outcome, rolled: [], from_ns, to_ns };
  };
  await store(windowAt(0));
  for (let at = 1; at < windows; at += PARALLEL) {
    const group = Array.from(
      { length: Math.min(PARALLEL, windows - at) },
      (_, i) => windowAt(at + i),
    );
    for (const stored of await Promise.all(group.map(store))) await rollUpClosed(db, stored);
  }
}

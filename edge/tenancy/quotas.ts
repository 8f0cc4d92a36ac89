/** What a project may have, and the refusals of what is more. */

import type { Window } from "@service/core";
import { Lru } from "@service/core/lru";
import { refuse } from "@service/core/problem";
import { SECOND_NS } from "@service/core/time";
import { type Database, statement } from "../database/database.ts";
import type { KnownKey, Quotas } from "./key_cache.ts";

/** What a project may have. */
export interface Limits {
  max_instances: number;
  /** Series in one window. */
  max_series: number;
  /** Bytes of an upload as sent. */
  max_body_bytes: number;
}

/** The project's limits: its own, or those of the service. */
export function quotasOf({ quotas }: KnownKey["project"], defaults: Limits): Limits {
  const of = (name: keyof Quotas) => quotas[name] ?? defaults[name];
  return {
    max_instances: of("max_instances"),
    max_series: of("max_series"),
    max_body_bytes: of("max_body_bytes"),
  };
}

/**
 * Refuses a window with too many series.
 *
 * @throws {Refusal} 422.
 */
export function expectFewSeries({ series }: Window, { max_series }: Limits): void {
  if (series.size <= max_series) return;
  const message = `must have at most ${max_series} series, the project's quota: got ${series.size}`;
  throw refuse(422, `Cannot store the window: window.series ${message}`, [
    { parameter: "window.series", message },
  ]);
}

const MAX_SEEN = 100_000;
const COUNTED_FOR_NS = 10n * SECOND_NS;

interface Counted {
  instances: number;
  since_ns: bigint;
}

/**
 * Refuses new instances where a project has its full number; remembers those it saw, and for a while
 * how many there are: to count them takes as long as there are many.
 */
export class InstanceRoom {
  readonly #now_ns: () => bigint;
  readonly #seen = new Lru<string, true>({ max: MAX_SEEN });
  readonly #counted = new Lru<bigint, Counted>({ max: MAX_SEEN });

  /** With the time, epoch nanoseconds. */
  constructor(now_ns: () => bigint) {
    this.#now_ns = now_ns;
  }

  /**
   * Refuses an instance that would be one too many; among those that come at once, a few may pass.
   *
   * @throws {Refusal} 409.
   */
  async expectRoom(
    { db, project }: { db: Database; project: { id: bigint } },
    instance_id: string,
    { max_instances }: Limits,
  ): Promise<void> {
    const seen = `${project.id} ${instance_id}`;
    if (this.#seen.get(seen)) return;
    const name = { project: project.id, instance_id };
    const { rows: [known] } = await db.query(statement(IS_KNOWN, name));
    if (!known) await this.#expectOneMore(db, { project: project.id, max_instances });
    this.#seen.set(seen, true);
  }

  async #expectOneMore(
    db: Database,
    { project, max_instances }: { project: bigint; max_instances: number },
  ): Promise<void> {
    let counted = this.#counted.get(project);
    const age_ns = counted ? this.#now_ns() - counted.since_ns : -1n;
    const isFull = counted && counted.instances >= max_instances;
    if (!counted || isFull || age_ns < 0n || age_ns >= COUNTED_FOR_NS) {
      const { rows } = await db.query(statement(COUNT, { project, max_instances }));
      counted = { instances: Number(rows[0]!.instances), since_ns: this.#now_ns() };
      this.#counted.set(project, counted);
    }
    if (counted.instances >= max_instances) {
      const message = `would be one more than ${max_instances}, the project's quota`;
      throw refuse(
        409,
        `Cannot take a new instance: instance_id ${message}; old ones leave with their windows`,
        [{ parameter: "instance_id", message }],
      );
    }
    counted.instances++;
  }
}

const IS_KNOWN = "SELECT 1 FROM instances WHERE project = :project AND instance_id = :instance_id";

const COUNT = `SELECT count(*) AS instances
  FROM (SELECT 1 FROM instances WHERE project = :project LIMIT :max_instances)`;

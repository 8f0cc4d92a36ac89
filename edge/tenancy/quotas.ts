/** Quotas of projects, and the refusals beyond them. */

import type { Window } from "@service/core";
import { Lru } from "@service/core/lru";
import { refuse } from "@service/core/problem";
import { SECOND_NS } from "@service/core/time";
import { type Database, type Row, statement } from "../database/database.ts";

/** A project's own quotas; `null`: the service's default. */
export interface Quotas {
  max_instances: number | null;
  max_series: number | null;
  max_body_bytes: number | null;
}

/** The limits of a project. */
export interface Limits {
  max_instances: number;
  /** Series in one window. */
  max_series: number;
  /** Bytes of an upload as sent. */
  max_body_bytes: number;
}

/** The quotas in a row of `projects`. */
export function readQuotas(row: Row): Quotas {
  const quota = (name: keyof Quotas) => row[name] === null ? null : Number(row[name]);
  return {
    max_instances: quota("max_instances"),
    max_series: quota("max_series"),
    max_body_bytes: quota("max_body_bytes"),
  };
}

/** The limits of a project: its quotas, or the service's defaults. */
export function limitsOf({ quotas }: { quotas: Quotas }, defaults: Limits): Limits {
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
 * Check for new instances of projects. Caches the existing instances, and for a while their count, since
 * counting takes longer with more instances.
 */
export class InstanceRoom {
  readonly #now_ns: () => bigint;
  readonly #seen = new Lru<string, true>({ max: MAX_SEEN });
  readonly #counted = new Lru<bigint, Counted>({ max: MAX_SEEN });

  /** With empty caches. */
  constructor(now_ns: () => bigint) {
    this.#now_ns = now_ns;
  }

  /**
   * Refuses a new instance beyond the quota. Of several that start at once, a few may pass it.
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
    const { rows: [existing] } = await db.query(statement(EXISTS, name));
    if (!existing) await this.#expectOneMore(db, { project: project.id, max_instances });
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
        `Cannot accept a new instance: instance_id ${message}; an instance is deleted with its last window`,
        [{ parameter: "instance_id", message }],
      );
    }
    counted.instances++;
  }
}

const EXISTS = `/* is the instance known */ SELECT 1 FROM instances
  WHERE project = :project AND instance_id = :instance_id`;

const COUNT = `/* count the instances */ SELECT count(*) AS instances
  FROM (SELECT 1 FROM instances WHERE project = :project LIMIT :max_instances)`;

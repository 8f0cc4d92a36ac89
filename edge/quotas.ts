/** What a project may have, and the refusals of what is more. */

import { refuse, type Window } from "@service/core";
import type { Caller } from "./caller.ts";
import { statement } from "./database.ts";
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

/** Refuses new instances where a project has its full number; remembers those it saw. */
export class InstanceRoom {
  readonly #seen = new Set<string>();

  /**
   * Refuses an instance that would be one too many; among those that come at once, a few may pass.
   *
   * @throws {Refusal} 409.
   */
  async expectRoom(
    { db, project }: Caller,
    instance_id: string,
    { max_instances }: Limits,
  ): Promise<void> {
    const seen = `${project.id} ${instance_id}`;
    if (this.#seen.has(seen)) return;
    const { rows } = await db.query(
      statement(ROOM, { project: project.id, instance_id, max_instances }),
    );
    const { known, count } = rows[0]!;
    if (!known && Number(count) >= max_instances) {
      const message = `would be one more than ${max_instances}, the project's quota`;
      throw refuse(
        409,
        `Cannot take a new instance: instance_id ${message}; old ones leave with their windows`,
        [{ parameter: "instance_id", message }],
      );
    }
    if (this.#seen.size >= MAX_SEEN) this.#seen.clear();
    this.#seen.add(seen);
  }
}

const ROOM = `SELECT
  EXISTS (SELECT 1 FROM instances WHERE project = :project AND instance_id = :instance_id) AS known,
  (SELECT count(*) FROM (SELECT 1 FROM instances WHERE project = :project LIMIT :max_instances))
    AS count`;

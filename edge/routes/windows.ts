/** `GET /api/v1/windows`: windows of instances as a stream in the packed format. */

import { wholeSecond } from "@service/core/time";
import type { Selection, SteppedSpan } from "@service/core";
import {
  type InstanceHead,
  PACKED_TYPE,
  type PackedWindow,
  streamWindows,
  WindowPacker,
} from "@service/core/packed";
import { type Refusal, refuse } from "@service/core/problem";
import {
  type Format,
  names,
  optional,
  required,
  seconds,
  selectionParameters,
  step,
} from "@service/core/query";
import { BAD_QUERY, refusal } from "../http/answers.ts";
import { type Route, route } from "../http/route.ts";
import { respondStream } from "../http/stream.ts";
import type { StoredInstance } from "../windows/instance.ts";
import { StorageReader, type StoredWindow } from "../windows/reader.ts";

/** Most instances of one answer. */
const MAX_INSTANCES = 1_000;

const ids: Format<string[]> = {
  parse(text) {
    const ids = names.parse(text);
    if (ids.length <= MAX_INSTANCES && new Set(ids).size === ids.length) return ids;
    throw new RangeError(`must be at most ${MAX_INSTANCES} ids, each once: got ${ids.length}`);
  },
  schema: { ...names.schema, minItems: 1, maxItems: MAX_INSTANCES, uniqueItems: true },
};

/** `GET /api/v1/windows`: windows of instances, merged, as a stream. */
export const windows: Route = route({
  method: "GET",
  path: "/api/v1/windows",
  access: "read",
  summary: "Streams windows of instances: of each the merge over a span, or one for each step",
  description:
    "The frames are those of FORMAT.md: each block comes before its first window, and an " +
    "answer that does not end with an end frame is incomplete. The members of a window are " +
    "instance, payload_ns and gaps. Instances that are not known are left out.",
  query: {
    instance_id: required(
      ids,
      `Comma-separated ids of at most ${MAX_INSTANCES} instances, from the list of instances.`,
    ),
    start: required(
      seconds,
      "Epoch seconds, exclusive. What is older than the retention is left out.",
    ),
    end: optional(
      seconds,
      "Epoch seconds, inclusive. Where windows are still missing, an answer ends earlier, at its " +
        "payload_ns. Default: now.",
    ),
    step: optional(
      step,
      "Seconds. Windows end at multiples of it, and the last one at the end of the span. Where " +
        "only longer roll-ups are kept windows are longer. Default: one window for each instance.",
    ),
    ...selectionParameters,
  },
  answers: {
    200: {
      description: "Blocks and windows, and an end frame.",
      content: {
        type: PACKED_TYPE,
        shape: { schema: {}, check: (value) => value },
      },
    },
    400: refusal(`${BAD_QUERY.description} Or start is after end.`),
    422: refusal("The first window is too large for a frame."),
  },
  async handle({ c, service, query, client: { project } }) {
    const { instance_id, start, step, metrics, top } = query;
    const { databases, memory: { blocks }, retention_days, metrics: counters } = service;
    const now_ns = service.now_ns();
    const span = { from_ns: start, to_ns: query.end ?? wholeSecond(now_ns) };
    if (start > span.to_ns) {
      const message = "must not be after end";
      throw refuse(400, `Cannot read windows: start ${message}`, [{ parameter: "start", message }]);
    }
    async function* read() {
      // The client's lease ends when the answer begins.
      using db = await databases.lease(project);
      const reader = new StorageReader({ db, project, blocks, now_ns, retention_days });
      try {
        yield* step === undefined
          ? reader.windows(instance_id, span, { metrics, top })
          : stepsOfEach(reader, instance_id, { ...span, step_ns: step, metrics, top });
      } finally {
        counters.rows += db.rows;
      }
    }
    return await respondStream(
      c,
      streamWindows(packed(read(), { isWhole: metrics === undefined })),
      PACKED_TYPE,
    );
  },
});

async function* stepsOfEach(
  reader: StorageReader,
  ids: readonly string[],
  { metrics, top, ...span }: SteppedSpan & Selection,
) {
  for (const id of ids) yield* reader.steps(id, span, { metrics, top });
}

/**
 * The windows as frames, each with what is known of it beside the measurements. Whole ones name the
 * blocks that are stored; others have blocks of their own, since a stored one has far more in it.
 */
async function* packed(
  windows: AsyncIterable<StoredWindow>,
  { isWhole }: { isWhole: boolean },
): AsyncGenerator<PackedWindow> {
  let newest: { id: bigint; packer: WindowPacker } | undefined;
  for await (const { stored, block, window, final, ...members } of windows) {
    if (newest?.id !== stored.id) {
      const packer = new WindowPacker(headOf(stored), isWhole ? block : undefined);
      newest = { id: stored.id, packer };
    }
    const ended = final && stored.ended_ns !== null ? { ended_ns: stored.ended_ns } : {};
    try {
      yield await newest.packer.pack(window, { final, members: { ...members, ...ended } });
    } catch (error) {
      throw error instanceof RangeError ? tooLarge(stored) : error;
    }
  }
}

/** The refusal of a window that no frame can hold. */
function tooLarge({ instance_id }: StoredInstance): Refusal {
  const message = `of ${instance_id} has too much in it: select metrics, or a shorter span`;
  return refuse(422, `Cannot stream windows: the window ${message}`, [
    { parameter: "metrics", message },
  ]);
}

function headOf(instance: StoredInstance): InstanceHead {
  return { ...instance, tags: instance.uploaded_tags };
}

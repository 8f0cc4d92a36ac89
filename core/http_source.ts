/** The source over HTTP: requests, and answers in the packed format that are read as they arrive. */

import type { Interval } from "./gaps.ts";
import { decode } from "./json.ts";
import { open } from "./open_schema.ts";
import { PACKED_TYPE, readWindows } from "./packed/mod.ts";
import { instance, problem } from "./payload_schema.ts";
import { Refusal } from "./problem.ts";
import type { InstanceWindow } from "./reader.ts";
import { list, nanoseconds, object } from "./schema.ts";
import { selectIn, type Selection } from "./selection.ts";
import { secondsFromNs } from "./time.ts";

/** Where to read, and with what. */
export interface HttpSourceOptions {
  /** The local endpoint, such as `http://127.0.0.1:18259`, or the hosted API. */
  url: string | URL;
  /** A key of the hosted API; without one `url` is a local endpoint. */
  key?: string;
  /** The platform's `fetch`. */
  fetch: (url: URL, init: RequestInit) => Promise<Response>;
  /** Ends all reads when it is aborted. */
  signal?: AbortSignal;
}

/** Parameters of a request; those that are absent are left out. */
export type Query = Record<string, string | undefined>;

/** A span, and what to read of it. */
export interface SelectedSpan {
  /** The windows that end in it. */
  span: Interval;
  /** Their metrics and frames. */
  selection: Selection;
}

/** What a window of an answer has beside the measurements. */
const described = open(object<Omit<InstanceWindow, "window" | "final">>({
  instance,
  payload_ns: nanoseconds,
  gaps: list(object<Interval>({ from_ns: nanoseconds, to_ns: nanoseconds })),
}));

/** The requests to a URL, and their answers. */
export class HttpSource {
  readonly #url: string | URL;
  readonly #request: HttpSourceOptions["fetch"];
  readonly #init: RequestInit;

  /** Of a URL. */
  constructor({ url, key, fetch, signal }: HttpSourceOptions) {
    this.#url = url;
    this.#request = fetch;
    // Elsewhere the key would be told to a stranger.
    this.#init = {
      signal,
      headers: key === undefined ? {} : { "x-api-key": key },
      redirect: "error",
    };
  }

  /** The windows of an answer, each as soon as it has arrived. */
  async *windows(
    path: string,
    query: Query,
    { span, selection }: SelectedSpan,
  ): AsyncGenerator<InstanceWindow> {
    const response = await this.get(path, {
      ...query,
      ...spanQuery(span),
      ...selectionQuery(selection),
    });
    const type = response.headers.get("content-type");
    if (type !== PACKED_TYPE || !response.body) {
      await response.body?.cancel();
      throw new TypeError(`Cannot read ${path}: must be ${PACKED_TYPE}: got ${type}`);
    }
    for await (const { window, final, members } of readWindows(response.body)) {
      selectIn(window, selection);
      yield { ...described.check(members), window, final };
    }
  }

  /**
   * The answer 200 to a query.
   *
   * @throws {Refusal} If the answer is a problem document.
   */
  async get(path: string, query: Query): Promise<Response> {
    const url = new URL(path, this.#url);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    const request = this.#request;
    const response = await request(url, this.#init);
    if (response.ok) return response;
    const { status, headers } = response;
    const text = await response.text();
    if (!headers.get("content-type")?.startsWith("application/problem+json")) {
      throw new Error(`Cannot read ${url}: status ${status}: ${text.slice(0, 200)}`);
    }
    const wait = headers.get("retry-after");
    throw new Refusal(
      open(problem).check(decode(text)),
      wait === null ? {} : { "retry-after": wait },
    );
  }
}

/** A span as the parameters `start` and `end`. */
export function spanQuery({ from_ns, to_ns }: Interval): Query {
  return { start: secondsFromNs(from_ns), end: secondsFromNs(to_ns) };
}

/** The part of a selection that a query can hold; the rest is selected from the answer. */
function selectionQuery({ metrics, top }: Selection): Query {
  const names = metrics?.every((name) => /^[^,\s]+$/.test(name)) ? metrics.join() : "";
  return {
    metrics: names === "" ? undefined : names,
    top: top !== undefined && top > 0 ? String(top) : undefined,
  };
}

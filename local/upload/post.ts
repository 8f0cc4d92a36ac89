/** One attempt to send a window to the service, and its outcome. */

import { decode } from "@service/core";
import { PACKED_TYPE, type PackedWindow } from "@service/core/packed";
import { gzip } from "../base/gzip.ts";
import { errorText } from "../base/log.ts";

/** Where to send, and the signal that ends the attempt. */
export interface PostOptions {
  /** Base URL of the service. */
  base: string;
  key: string;
  /** The project of the window, if it is known: the service refuses a key of another one. */
  project?: string;
  /** Whether the window's block is sent before it; not where the service knows it. */
  withBlock: boolean;
  stop: AbortSignal;
}

/** The outcome of one attempt to send a window. */
export interface Outcome {
  /**
   * `refused`: the key may not send it. `blockless`: the block must be sent too. `unsupported`: the
   * service is older than the format, or has no projects to name.
   */
  kind: "stored" | "rejected" | "refused" | "failed" | "blockless" | "unsupported";
  /** The service's answer, or why there was none. */
  text: string;
  /** The project that has the window now. */
  project?: string;
  /** Hash of a block that the service knows now. */
  block?: string;
  /** End of the unbroken chain of windows that the service has. */
  watermark_ns?: bigint;
  /** Members of the window that the service does not know. */
  ignored?: string[];
  /** Whether the service has another window for this span. */
  conflict?: boolean;
  retryAfter_ms?: number;
}

/** A project's id, which becomes a part of a path. */
const PROJECT = /^[\w-]{1,64}$/;

const ANSWER_TIMEOUT_MS = 30_000;
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** Sends one window; an answer that does not come in time is a failure. */
export async function postWindow(
  window: PackedWindow,
  { base, key, project, withBlock, stop }: PostOptions,
): Promise<Outcome> {
  const url = `${base}/api/v1/ingest${project === undefined ? "" : `/${project}`}`;
  const attempt = new AbortController();
  const abort = () => attempt.abort(new Error("no answer in time"));
  const timer = setTimeout(abort, ANSWER_TIMEOUT_MS);
  stop.addEventListener("abort", abort);
  try {
    const { body, headers } = await bodyOf(window, withBlock);
    const response = await fetch(url, {
      method: "POST",
      body,
      headers: { "x-api-key": key, "content-type": PACKED_TYPE, ...headers },
      redirect: "manual",
      signal: attempt.signal,
    });
    return outcomeOf(response, await response.text());
  } catch (error) {
    return { kind: "failed", text: errorText(error) };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", abort);
  }
}

/** The body of an upload, compressed if it gets smaller. */
async function bodyOf(
  { frame, block }: PackedWindow,
  withBlock: boolean,
): Promise<{ body: Uint8Array<ArrayBuffer>; headers: Record<string, string> }> {
  const plain = new Blob([...(withBlock ? [block.frame.bytes] : []), frame.bytes]);
  const compressed = await gzip(plain);
  return compressed.length < plain.size
    ? { body: compressed, headers: { "content-encoding": "gzip" } }
    : { body: await plain.bytes(), headers: {} };
}

function outcomeOf({ ok, status, headers }: Response, body: string): Outcome {
  const text = `${status} ${body.slice(0, 4_096)}`;
  if (ok) return { kind: "stored", text, ...answered(body) };
  if (status === 401 || status === 403) return { kind: "refused", text };
  if (status === 424) return { kind: "blockless", text };
  if (status === 404 || status === 405 || status === 415) return { kind: "unsupported", text };
  if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
    return { kind: "rejected", text, conflict: status === 409 };
  }
  return { kind: "failed", text, retryAfter_ms: retryAfter(headers) };
}

/** What a service says of a window that it has stored. */
function answered(body: string): Pick<Outcome, "project" | "block" | "watermark_ns" | "ignored"> {
  try {
    const { project, block, watermark_ns, ignored } = decode(body) as Record<string, unknown>;
    return {
      ...(typeof project === "string" && PROJECT.test(project) && { project }),
      ...(typeof block === "string" && { block }),
      ...(typeof watermark_ns === "bigint" && { watermark_ns }),
      ...(Array.isArray(ignored) && { ignored: ignored.map(String) }),
    };
  } catch {
    return {};
  }
}

/** The pause that the service asks for: seconds or an HTTP date. */
function retryAfter(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS);
}

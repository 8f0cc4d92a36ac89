/** One attempt to send a window to the service, and its outcome. */

import { errorText } from "../base/log.ts";

/** The service, and the key for it. */
export interface Service {
  /** Base URL. */
  base: string;
  key: string;
}

/** Where to send, and the signal that ends the attempt. */
export interface PostOptions {
  service: Service;
  stop: AbortSignal;
}

/** The outcome of one attempt to send a window. */
export interface Outcome {
  kind: "stored" | "rejected" | "unauthorized" | "failed";
  /** The service's answer, or why there was none. */
  text: string;
  /** Whether the service has another window for this span. */
  conflict?: boolean;
  retryAfter_ms?: number;
}

const ANSWER_TIMEOUT_MS = 30_000;
const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** Sends one compressed window; an answer that does not come in time is a failure. */
export async function postWindow(
  body: Uint8Array<ArrayBuffer>,
  { service: { base, key }, stop }: PostOptions,
): Promise<Outcome> {
  const url = `${base.replace(/\/+$/, "")}/api/v1/ingest`;
  const attempt = new AbortController();
  const abort = () => attempt.abort(new Error("no answer in time"));
  const timer = setTimeout(abort, ANSWER_TIMEOUT_MS);
  stop.addEventListener("abort", abort);
  try {
    const response = await fetch(url, {
      method: "POST",
      body,
      headers: { "x-api-key": key, "content-type": "application/json", "content-encoding": "gzip" },
      redirect: "manual",
      signal: attempt.signal,
    });
    const text = `${response.status} ${(await response.text()).slice(0, 4_096)}`;
    const { status } = response;
    if (response.ok) return { kind: "stored", text };
    if (status === 401 || status === 403) return { kind: "unauthorized", text };
    if (status >= 400 && status < 500 && status !== 408 && status !== 429) {
      return { kind: "rejected", text, conflict: status === 409 };
    }
    return { kind: "failed", text, retryAfter_ms: retryAfter(response.headers) };
  } catch (error) {
    return { kind: "failed", text: errorText(error) };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", abort);
  }
}

/** The pause that the service asks for: seconds or an HTTP date. */
function retryAfter(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS);
}

/** The scrape: one read of a Prometheus endpoint, bounded in time and size. */

import { type Exposition, scan } from "./exposition.ts";

/** The outcome of a scrape. */
export type Scrape =
  | { state: "read"; exposition: Exposition }
  /** Nothing listens there, or the server is still loading. */
  | { state: "not up"; why: string }
  | { state: "failed"; why: string };

/** Client, key and limits of a scrape. */
export interface ScrapeOptions {
  client?: Deno.HttpClient;
  /** Key that the endpoint asks for. */
  key?: string;
  /** Ends the scrape. */
  signal: AbortSignal;
  /** Most bytes that are read, once inflated. */
  maxBytes?: number;
}

const MAX_BYTES = 16 * 2 ** 20;

const MAX_REDIRECTS = 3;

const NO_KEY = ", and no key is known: write it to a file that SERVICE_METRICS_KEY_FILE names";

/** Formats that Prometheus 3 accepts, without those that are not text. */
const ACCEPT = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.7," +
  "application/openmetrics-text;version=1.0.0;q=0.6," +
  "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.5," +
  "text/plain;version=0.0.4;q=0.4,*/*;q=0.1";

/** Reads what `url` exposes; never throws. */
export async function scrape(url: string, options: ScrapeOptions): Promise<Scrape> {
  try {
    const response = await get(url, options);
    if (!response.ok) {
      await response.body?.cancel();
      const isKeyMissing = !options.key && [401, 403].includes(response.status);
      const why = `it answers ${response.status}${isKeyMissing ? NO_KEY : ""}`;
      return { state: response.status === 503 ? "not up" : "failed", why };
    }
    const openMetrics = /^application\/openmetrics-text\b/i
      .test(response.headers.get("content-type") ?? "");
    const { text, cut } = await readBody(response, options);
    return { state: "read", exposition: scan(text, { openMetrics, cut }) };
  } catch (error) {
    const why = reason(error, options.signal);
    return { state: isRefused(error) ? "not up" : "failed", why };
  }
}

async function get(url: string, { client, key, signal }: ScrapeOptions): Promise<Response> {
  const { address, authorization = key && `Bearer ${key}` } = withoutLogin(url);
  let at = address;
  for (let redirects = 0;; redirects++) {
    const headers = { accept: ACCEPT, ...(authorization && { authorization }) };
    const response = await fetch(at, { client, signal, headers, redirect: "manual" });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    const next = URL.parse(location, at);
    if (next?.host !== new URL(address).host || !/^https?:$/.test(next.protocol)) {
      throw new Error("it redirects to another host, which is not followed");
    }
    if (redirects === MAX_REDIRECTS) throw new Error("it redirects again and again");
    at = next.href;
  }
}

/** The URL without its login, which a request must send as a header. */
function withoutLogin(url: string): { address: string; authorization?: string } {
  const parsed = new URL(url);
  const { username, password } = parsed;
  if (!username && !password) return { address: url };
  parsed.username = "";
  parsed.password = "";
  const login = new TextEncoder().encode(
    `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
  );
  return { address: parsed.href, authorization: `Basic ${login.toBase64()}` };
}

/** The body up to the failure; `cut` is the reason why the rest is missing. */
async function readBody(
  response: Response,
  { signal, maxBytes = MAX_BYTES }: ScrapeOptions,
): Promise<{ text: string; cut?: string }> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    for await (const part of response.body ?? []) {
      const room = maxBytes - bytes;
      bytes += part.length;
      text += decoder.decode(part.subarray(0, room), { stream: true });
      if (part.length > room) {
        return { text, cut: `the page is larger than ${maxBytes / 2 ** 20} MiB and was cut off` };
      }
    }
    return { text: text + decoder.decode() };
  } catch (error) {
    return { text, cut: `the page broke off: ${reason(error, signal)}` };
  }
}

/** Whether the connection was refused, or reset while the listener closed. */
function isRefused(error: unknown): boolean {
  return error instanceof TypeError &&
    /connection refused|os error 111|connect error: connection reset/i.test(causes(error));
}

function reason(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return String(signal.reason?.message ?? signal.reason);
  if (isRefused(error)) return "nothing listens there";
  return causes(error).split("\n")[0]!;
}

/** The innermost cause of an error, without addresses, which differ each time, and the URL, which may hold a secret. */
function causes(error: unknown): string {
  const messages: string[] = [];
  for (let at = error; at instanceof Error && messages.length < 5; at = at.cause) {
    messages.push(
      at.message.replace(/ from \S+ for \S+/, "").replace(/^.*client error \([^)]*\): /, ""),
    );
  }
  return messages.at(-1) ?? String(error);
}

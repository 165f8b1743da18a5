/**
 * Verifies that a webhook request is from Trawl, unchanged and recent. Uses Web Crypto, which compares in constant
 * time.
 */
import type { JobOut, RecordOut } from "./wire-types.ts";

export type WebhookEvent =
  | { type: "job.finished" | "job.failed" | "job.cancelled"; timestamp: string; data: { job: JobOut } }
  | {
      type: "records";
      timestamp: string;
      /** `after` and `upTo` are record ids. The ranges of a job's events have no gaps. */
      data: { job: string; after: number; upTo: number; records: RecordOut[] };
    };

export type VerifyOptions = {
  /** The largest accepted difference between the timestamp and this clock, including transport delay. Default: 300. */
  toleranceSeconds?: number;
  /** Epoch ms. Default: the current time. */
  now?: number;
};

type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request that is not authentic. Respond with 400. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
}

/** Verifies a request and returns its event. `body` is the raw request body. Throws WebhookError. */
export async function verifyWebhook(
  secret: string,
  headers: HeadersLike,
  body: string | Uint8Array,
  { toleranceSeconds = 300, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerOf(headers, name),
  ) as [string, string, string];
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError("webhook-timestamp is not a number of seconds");
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds) {
    const problem = `webhook-timestamp differs from the current time by more than ${toleranceSeconds} s`;
    throw new WebhookError(`${problem}: the request is old, or a clock is wrong`);
  }
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const key = await keyOf(secret);
  for (const signature of signatures.split(" ")) {
    const given = bytesOf(/^v1,(.+)$/.exec(signature)?.[1] ?? "");
    if (given !== undefined && (await crypto.subtle.verify("HMAC", key, given, signed))) return JSON.parse(text);
  }
  throw new WebhookError("webhook-signature is invalid: the secret is wrong, or the body is not the raw request body");
}

function headerOf(headers: HeadersLike, name: string): string {
  const value = typeof headers.get === "function" ? headers.get(name) : (headers as Record<string, unknown>)[name];
  if (typeof value === "string" && value !== "") return value;
  throw new WebhookError(`the header ${name} is missing`);
}

async function keyOf(secret: string): ReturnType<typeof crypto.subtle.importKey> {
  const bytes = secret.startsWith("whsec_") ? bytesOf(secret.slice("whsec_".length)) : undefined;
  if (bytes === undefined)
    throw new TypeError("the secret must be whsec_ followed by base64, as in the response to the submission");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return undefined; // not base64
  }
}

/** The contract of posters, which send data to a site instead of fetching a page. */
import type { DeadReason, RetryReason } from "../domain/task.ts";

type PostRequest = {
  url: string;
  site: string;
  /** From first byte sent to the last byte of the answer's headers. */
  timeoutMs: number;
  /** Added to the poster's own headers; names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string;
  signal: AbortSignal;
};

export type PostOutcome =
  /** Any status. Redirects are not followed. */
  | { kind: "answered"; status: number; retryAfterMs?: number }
  | { kind: "retry"; because: RetryReason; detail: string }
  | { kind: "dead"; because: DeadReason; detail: string };

export interface Poster {
  /** The request may arrive twice. Throws only when `signal` aborts, never because of the site. */
  post(request: PostRequest): Promise<PostOutcome>;
}

/** The contract of what sends something to a site, instead of asking for a page. */
import type { Slot } from "../domain/politeness.ts";
import type { DeadReason, RetryReason } from "../domain/task.ts";

export type PostRequest = {
  url: string;
  site: string;
  slot: Slot;
  /** From first byte sent to the last byte of the answer's headers. */
  timeoutMs: number;
  /** Sent on top of the poster's own; names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string;
  signal: AbortSignal;
};

export type PostOutcome =
  /** Whatever the status: redirects are not followed. */
  | { kind: "answered"; status: number; retryAfterMs?: number }
  | { kind: "retry"; because: RetryReason; detail: string }
  | { kind: "dead"; because: DeadReason; detail: string };

export interface Poster {
  /** May arrive twice. Never throws for what a site does; throws only when aborted by `signal`. */
  post(request: PostRequest): Promise<PostOutcome>;
}

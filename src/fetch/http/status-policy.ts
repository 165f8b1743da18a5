/** The table that maps an HTTP status to a verdict on a task. The first row that contains the status decides. */
import type { RetryReason } from "../../domain/task.ts";

type StatusVerdict =
  | { kind: "page"; hasBody: boolean }
  /** Not modified. Invalid as the response to an unconditional request. */
  | { kind: "unchanged" }
  | { kind: "redirect" }
  | { kind: "retry"; because: Extract<RetryReason, "throttled" | "server_error"> }
  | { kind: "dead" };

export const STATUS_POLICY: readonly { from: number; to: number; verdict: StatusVerdict }[] = [
  { from: 204, to: 205, verdict: { kind: "page", hasBody: false } },
  { from: 200, to: 299, verdict: { kind: "page", hasBody: true } },
  { from: 301, to: 303, verdict: { kind: "redirect" } },
  { from: 304, to: 304, verdict: { kind: "unchanged" } },
  { from: 307, to: 308, verdict: { kind: "redirect" } },
  { from: 408, to: 408, verdict: { kind: "retry", because: "server_error" } }, // request timeout
  { from: 425, to: 425, verdict: { kind: "retry", because: "server_error" } }, // too early
  { from: 429, to: 429, verdict: { kind: "retry", because: "throttled" } },
  { from: 501, to: 501, verdict: { kind: "dead" } }, // not implemented: a retry does not help
  { from: 503, to: 503, verdict: { kind: "retry", because: "throttled" } },
  { from: 505, to: 505, verdict: { kind: "dead" } }, // HTTP version not supported
  { from: 500, to: 599, verdict: { kind: "retry", because: "server_error" } },
  { from: 0, to: 999, verdict: { kind: "dead" } }, // other 4xx, unusual 3xx, and the non-standard 999 of some sites
];

const OUTSIDE: StatusVerdict = { kind: "dead" };

export function statusVerdict(status: number): StatusVerdict {
  return STATUS_POLICY.find(({ from, to }) => status >= from && status <= to)?.verdict ?? OUTSIDE;
}

/** Why something was given up on, in a sentence. A reason that the server adds does not compile here until it has one. */
import type { DeadOut } from "../../../src/api/wire-fleet.ts";

export type DeadReason = DeadOut["reason"];

export const DEAD_REASONS: Readonly<Record<DeadReason, string>> = {
  http_status: "The site answered with a status that is not worth repeating, such as 404.",
  retries_spent: "Every retry failed; the history says how.",
  redirect_loop: "More redirects than allowed.",
  too_big: "The body is over the job's limit.",
  bad_response: "The answer is not HTTP, or cannot be decoded.",
  egress_refused: "The address is private, loopback or metadata, and not allowed.",
  handler_failed: "The spider's handler threw.",
  body_missing: "Its page was fetched, but its body was not where the worker that was to parse it looked.",
  time_limit: "The spider's handler was still at it when the time limit of the task was over.",
  crashed_worker: "Three workers died while holding it.",
};

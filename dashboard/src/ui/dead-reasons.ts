/** One sentence per reason of a dead letter. This file does not compile if a reason of the API has no sentence. */
import type { DeadOut } from "../../../src/client/wire-types.ts";

export type DeadReason = DeadOut["reason"];

/** The reason with the cause of the last attempt or, if that only names the status or is unknown, with the status. */
export function reasonText(reason: DeadReason, status: number | null, cause: string | null | undefined): string {
  const isStatus = cause === null || cause === undefined || cause === `HTTP ${status}`;
  const detail = isStatus ? status : cause;
  return detail === null || detail === undefined ? reason : `${reason} (${detail})`;
}

export const DEAD_REASONS: Readonly<Record<DeadReason, string>> = {
  http_status: "The site returned a status that is not retried, such as 404.",
  retries_spent: "All retries failed. The list of attempts shows why.",
  blocked: "The site blocked every attempt. The list of attempts shows the name of the block.",
  redirect_loop: "The URL redirected more often than allowed.",
  too_big: "The body is larger than the limit of the job.",
  bad_response: "The response is not valid HTTP or cannot be decoded.",
  egress_refused: "The address is not allowed: it is private, loopback or a cloud metadata service.",
  handler_failed: "The handler of the spider threw an error.",
  body_missing: "The page was fetched, but the parse worker did not find its body.",
  time_limit: "The handler of the spider exceeded the time limit of the task.",
  bad_sitemap: "The file is not a sitemap, is damaged, or is an index nested too deeply.",
  not_repeated: "The request may have changed data on the site, and the job does not allow sending it again.",
  crashed_worker: "Three workers crashed while they processed the URL.",
};

/**
 * Sends a request at most once, for jobs with `retries.unsafe: false`. Before such a request is sent, the worker writes
 * a mark into the broker. A later attempt that finds the mark sends nothing: the first attempt may have changed data on
 * the site. The mark is removed if the request certainly had no effect.
 */
import type { FetchOutcome } from "../../fetch/fetcher.ts";
import type { Frontier, Grant } from "../../frontier/frontier.ts";

export type SentMarks = Pick<Frontier, "findValue" | "keepValue">;

/** A mark must exist for as long as a crashed attempt may be repeated. */
const MARK_MS = 30 * 24 * 3_600_000;

export async function sendOnce(
  marks: SentMarks,
  { taskId }: Grant,
  send: () => Promise<FetchOutcome>,
): Promise<FetchOutcome> {
  const key = `sent:${taskId}`;
  const version = await marks.keepValue(key, "", { version: 0, ttlMs: MARK_MS });
  if (version === undefined) {
    // Only an operator can run the task again, by a replay. Then it is sent.
    const before = await marks.findValue(key);
    if (before !== undefined) await marks.keepValue(key, "", { version: before.version, ttlMs: 1 });
    return notRepeated("an earlier attempt may have sent it");
  }
  const outcome = await send();
  if (outcome.kind === "page" || outcome.kind === "redirect" || outcome.kind === "unchanged") return outcome;
  await marks.keepValue(key, "", { version, ttlMs: 1 });
  if (outcome.kind === "dead" || hadNoEffect(outcome)) return outcome;
  return { ...notRepeated(outcome.detail), ...statusOf(outcome) };
}

/** Whether the request certainly changed nothing: it was not sent, or the site refused it without processing it. */
function hadNoEffect({ because, status }: FetchOutcome & { kind: "retry" }): boolean {
  return because === "dns" || because === "proxy" || because === "robots_unreachable" || status === 429;
}

function notRepeated(detail: string): FetchOutcome & { kind: "dead" } {
  return { kind: "dead", because: "not_repeated", detail };
}

function statusOf({ status }: FetchOutcome & { kind: "retry" }): { status?: number } {
  return status === undefined ? {} : { status };
}

/** Why an attempt failed, in a few words: `HTTP 503`, `timed out`, `connection refused`, `blocked (datadome)`. */
export function attemptCause({ because, status, detail }: FailedAttempt): string {
  const block = because === "blocked" ? BLOCK.exec(detail ?? "")?.[0] : undefined;
  if (block !== undefined) return block;
  if (typeof status === "number") return `HTTP ${status}`;
  if (because === "timeout") return "timed out";
  // The part in parentheses is the system's own message, such as "connect ECONNREFUSED 127.0.0.1:80".
  const summary = (detail ?? "").replace(/ \(.*\)$/s, "");
  return summary === "" ? because : summary;
}

const BLOCK = /blocked \([\w ]+\)/;

type FailedAttempt = { because: string; status?: number | null | undefined; detail?: string | null | undefined };

/**
 * The cause of the last attempt, if a task failed because all its retries failed or because it was blocked. Undefined
 * for other reasons, which already name the cause.
 */
export function lastCause(reason: string, history: readonly FailedAttempt[]): string | undefined {
  const last = history.at(-1);
  return last !== undefined && hasCause(reason) ? attemptCause(last) : undefined;
}

/** Whether the reason of a dead letter leaves open why the last attempt failed. */
export function hasCause(reason: string): boolean {
  return reason === "retries_spent" || reason === "blocked";
}

/** Why an attempt failed, in a few words: `HTTP 503`, `timed out`, `connection refused`. */
export function attemptCause({ because, status, detail }: FailedAttempt): string {
  if (typeof status === "number") return `HTTP ${status}`;
  if (because === "timeout") return "timed out";
  // The part in parentheses is the system's own message, such as "connect ECONNREFUSED 127.0.0.1:80".
  const summary = (detail ?? "").replace(/ \(.*\)$/s, "");
  return summary === "" ? because : summary;
}

type FailedAttempt = { because: string; status?: number | null | undefined; detail?: string | null | undefined };

/**
 * The cause of the last attempt, if a task failed because all its retries failed. Undefined for other reasons, which
 * already name the cause.
 */
export function lastCause(reason: string, history: readonly FailedAttempt[]): string | undefined {
  const last = history.at(-1);
  return reason !== "retries_spent" || last === undefined ? undefined : attemptCause(last);
}

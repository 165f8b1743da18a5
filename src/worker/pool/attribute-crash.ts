/**
 * Decides what happens to the tasks of a process that died. If the process was reading pages, the tasks of other pages
 * are returned, and no crash is counted for them. If only one task remains, it becomes a dead letter in two cases: it
 * blocked its process past the time limit, or its process died while the task ran alone (F6). For each task that is
 * neither returned nor a dead letter, one crash is counted. The tasks that had not started are returned.
 */
import { formatDuration } from "../../domain/duration.ts";
import type { DeadReason } from "../../domain/task.ts";
import { type Claim, claimOf, type Settlement } from "../../frontier/frontier.ts";
import type { ChildExit, HeldTask } from "./child-process.ts";
import { type ChildLimits, candidatesOf, type KillReason } from "./kill-reason.ts";

export type Death = {
  exit: Pick<ChildExit, "code" | "signal" | "isOutOfMemory">;
  /** Undefined if the supervisor did not kill it. */
  killed: KillReason | undefined;
  underWay: readonly HeldTask[];
};

export type CrashAttribution = {
  /** Dead letters. */
  failed: readonly Settlement[];
  /** Returned as if they had not been leased: without a crash. */
  returned: readonly Claim[];
  /** Tasks that may be the cause. One crash is counted for each of them. */
  crashed: readonly Claim[];
};

export function attributeCrash({ exit, killed, underWay }: Death, limits: ChildLimits): CrashAttribution {
  const candidates = candidatesOf(underWay);
  const returned = underWay.filter((task) => !candidates.includes(task)).map(claimOf);
  const [suspect] = candidates;
  // Any of several candidates may be the cause. Their crashes are counted, and later they run alone.
  const crashed = candidates.map(claimOf);
  if (suspect === undefined || candidates.length > 1) return { failed: [], returned, crashed };
  if (killed === "time_limit" || killed === "stuck") {
    return { failed: [deadLetter(suspect, "time_limit", overTime(killed, limits))], returned, crashed: [] };
  }
  if (!suspect.isAlone || killed === "stop_timeout") return { failed: [], returned, crashed };
  const detail = `the process that read it ${howItDied({ exit, killed }, limits)}, for the third time`;
  return { failed: [deadLetter(suspect, "crashed_worker", detail)], returned, crashed: [] };
}

/** How a process died, as the predicate of a sentence. */
export function howItDied({ exit, killed }: Omit<Death, "underWay">, limits: Pick<ChildLimits, "maxMemoryMb">): string {
  if (killed === "memory") return `used more than twice its memory limit (${limits.maxMemoryMb} MB) and was killed`;
  if (exit.isOutOfMemory) return "ran out of memory";
  if (killed !== undefined) return "was killed";
  if (exit.signal !== null) return `died (${exit.signal})`;
  return exit.code === null ? "could not be started" : `ended with exit code ${exit.code}`;
}

function overTime(killed: "time_limit" | "stuck", { timeLimitMs, stuckMs }: ChildLimits): string {
  return killed === "time_limit"
    ? `it blocked its process past the limit of ${formatDuration(timeLimitMs)}; the process was killed`
    : `it blocked its process for ${formatDuration(stuckMs)}, and leases were about to expire; the process was killed`;
}

function deadLetter(task: HeldTask, because: DeadReason, detail: string): Settlement {
  return {
    ...claimOf(task),
    outcome: { kind: "dead", because, detail },
    discovered: [],
    refusedLinks: 0,
    site: { kind: "unknown" },
    tally: { pages: 0, records: 0, invalid: 0, bytes: 0 },
  };
}

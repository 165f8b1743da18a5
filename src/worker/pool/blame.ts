/**
 * What becomes of the tasks that a process died with. Whoever was not being read goes back untouched. One that held its
 * process up past its limit is a dead letter, if it is known which; one that killed its process while it ran alone (F6)
 * is, too, and its letter says how. The others have a crash counted, by `abandon`.
 */
import { formatDuration } from "../../domain/duration.ts";
import type { DeadReason } from "../../domain/task.ts";
import { type Claim, claimOf, type Settlement } from "../../frontier/frontier.ts";
import type { ChildExit, HeldTask } from "./child-process.ts";
import { type ChildLimits, type KillReason, suspectsOf } from "./verdict.ts";

export type Death = {
  exit: Pick<ChildExit, "code" | "signal" | "isOutOfMemory">;
  /** Undefined: not by us. */
  killed: KillReason | undefined;
  underWay: readonly HeldTask[];
};

export type Blame = {
  /** Dead letters. */
  guilty: readonly Settlement[];
  /** To be returned as they were. */
  innocent: readonly Claim[];
};

export function blameFor({ exit, killed, underWay }: Death, limits: ChildLimits): Blame {
  const suspects = suspectsOf(underWay);
  const innocent = underWay.filter((task) => !suspects.includes(task)).map(claimOf);
  const [suspect] = suspects;
  // Of several that were being read any may be it: counted, they are soon run alone.
  if (suspect === undefined || suspects.length > 1) return { guilty: [], innocent };
  if (killed === "time_limit" || killed === "stuck") {
    return { guilty: [deadLetter(suspect, "time_limit", overTime(killed, limits))], innocent };
  }
  if (!suspect.isAlone || killed === "stop_timeout") return { guilty: [], innocent };
  const detail = `the process that read it ${howItDied({ exit, killed }, limits)}, for the third time`;
  return { guilty: [deadLetter(suspect, "crashed_worker", detail)], innocent };
}

/** How a process died, as the end of a sentence about it. */
export function howItDied({ exit, killed }: Omit<Death, "underWay">, limits: Pick<ChildLimits, "maxMemoryMb">): string {
  if (killed === "memory") return `took more than twice the memory it may (${limits.maxMemoryMb} MB) and was killed`;
  if (exit.isOutOfMemory) return "ran out of memory";
  if (killed !== undefined) return "was killed";
  if (exit.signal !== null) return `died (${exit.signal})`;
  return exit.code === null ? "could not be started" : `ended with exit code ${exit.code}`;
}

function overTime(killed: "time_limit" | "stuck", { timeLimitMs, stuckMs }: ChildLimits): string {
  return killed === "time_limit"
    ? `it held its process up past the limit of ${formatDuration(timeLimitMs)}; the process was killed`
    : `it held its process up for ${formatDuration(stuckMs)}, and leases were about to be lost; the process was killed`;
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

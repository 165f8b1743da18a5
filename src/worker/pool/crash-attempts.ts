/** The attempts of a process that died, as the store keeps them for `trawl trace`. */
import { claimKey } from "../../frontier/frontier.ts";
import type { AttemptWrite } from "../../store/store.ts";
import { type CrashAttribution, type Death, howItDied } from "./attribute-crash.ts";
import type { HeldTask } from "./child-process.ts";
import type { ChildLimits } from "./kill-reason.ts";

type Context = {
  worker: string;
  limits: ChildLimits;
  /** Now, on the watch clock of the supervisor. `beganAt` of the tasks uses the same clock. */
  watchedAt: number;
  endedAt: number;
};

export function crashAttempts(death: Death, attribution: CrashAttribution, context: Context): AttemptWrite[] {
  const died = `its process ${howItDied(death, context.limits)}`;
  const returned = new Set(attribution.returned.map(claimKey));
  const letters = new Map(attribution.failed.map((settlement) => [claimKey(settlement), settlement.outcome]));

  function endOf(key: string): Pick<AttemptWrite, "outcome" | "because" | "detail"> {
    const letter = letters.get(key);
    if (letter?.kind === "dead") return { outcome: "dead", because: letter.because, detail: letter.detail };
    if (returned.has(key)) return { outcome: "returned", because: died, detail: undefined };
    return { outcome: "retry", because: "crashed_worker", detail: died };
  }

  return death.underWay.map((task) => ({ ...leaseOf(task, context), ...endOf(claimKey(task)), status: undefined }));
}

type Lease = Pick<AttemptWrite, "jobId" | "taskId" | "token" | "url" | "run">;

function leaseOf(task: HeldTask, { worker, watchedAt, endedAt }: Context): Lease {
  const { jobId, taskId, token, url, step, attempt, beganAt } = task;
  const run = { worker, step, attempt, leasedAt: endedAt - (watchedAt - beganAt), endedAt };
  return { jobId, taskId, token, url, run };
}

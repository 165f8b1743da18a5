/** What the store is to keep of tasks that a process died with: who had them, and how that ended (`trawl trace`). */

import { claimKey } from "../../frontier/frontier.ts";
import type { TryWrite } from "../../store/store.ts";
import { type Blame, type Death, howItDied } from "./blame.ts";
import type { HeldTask } from "./child-process.ts";
import type { ChildLimits } from "./verdict.ts";

type Context = {
  worker: string;
  limits: ChildLimits;
  /** By the clock that the tasks' `beganAt` is of. */
  watchedAt: number;
  endedAt: number;
};

export function lastTries(death: Death, blame: Blame, context: Context): TryWrite[] {
  const died = `its process ${howItDied(death, context.limits)}`;
  const innocent = new Set(blame.innocent.map(claimKey));
  const letters = new Map(blame.guilty.map((settlement) => [claimKey(settlement), settlement.outcome]));

  function endOf(key: string): Pick<TryWrite, "fate" | "because" | "detail"> {
    const letter = letters.get(key);
    if (letter?.kind === "dead") return { fate: "dead", because: letter.because, detail: letter.detail };
    if (innocent.has(key)) return { fate: "returned", because: died, detail: undefined };
    return { fate: "retry", because: "crashed_worker", detail: died };
  }

  return death.underWay.map((task) => ({ ...leaseOf(task, context), ...endOf(claimKey(task)), status: undefined }));
}

type Lease = Pick<TryWrite, "jobId" | "taskId" | "token" | "url" | "run">;

function leaseOf(task: HeldTask, { worker, watchedAt, endedAt }: Context): Lease {
  const { jobId, taskId, token, url, step, attempt, beganAt } = task;
  const run = { worker, step, attempt, leasedAt: endedAt - (watchedAt - beganAt), endedAt };
  return { jobId, taskId, token, url, run };
}

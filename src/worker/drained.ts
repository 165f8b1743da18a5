/** Knows when a worker has nothing left to do, and no other worker of its queues will make more. */
import type { FrontierAdmin, JobView, QueueView } from "../frontier/frontier-admin.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Worker } from "./worker.ts";

type Deps = {
  frontier: Pick<FrontierAdmin, "listQueues" | "listHolders" | "listWorkers" | "listOpen">;
  worker: Pick<Worker, "idleRound">;
  clock: Clock;
  /** Called once, with their ids, when all that waits on any queue is of jobs that are paused: no worker will end it. */
  onHeldUp(jobIds: readonly string[]): void;
};

type Options = { queues: readonly string[]; everyMs: number };

/** `paused`: for nobody to work on; `busy`: not now, or not known; `working`: this worker is at it, nobody was asked. */
type Look = { kind: "drained" | "busy" | "working" } | { kind: "paused"; jobIds: readonly string[] };

/** Until a worker at work is looked at again: that costs nothing. */
const AT_WORK_MS = 50;

/** The newest jobs that have not ended, of which those that are paused are told. */
const JOBS_LOOKED_AT = 20;

/** Resolves when nothing waits on the queues and nobody who serves them holds a lease; or when `signal` aborts. */
export async function untilDrained(deps: Deps, options: Options, signal: AbortSignal): Promise<void> {
  let isTold = false;
  while (!signal.aborted) {
    // A failed look is no answer: a broker that is lost ends the worker by itself.
    const look: Look = await lookRound(deps, options.queues, isTold).catch((): Look => ({ kind: "busy" }));
    if (look.kind === "drained") return;
    if (look.kind === "paused") deps.onHeldUp(look.jobIds);
    isTold ||= look.kind === "paused";
    await deps.clock.sleep(look.kind === "working" ? Math.min(AT_WORK_MS, options.everyMs) : options.everyMs, signal);
  }
}

/**
 * Holders before queues: what a holder leaves behind when it ends is then seen waiting. Taken in between by another
 * worker, it is that worker's; taken by this one, its round has changed, and the look counts for nothing.
 */
async function lookRound({ frontier, worker }: Deps, queues: readonly string[], isTold: boolean): Promise<Look> {
  const round = worker.idleRound();
  if (round === undefined) return { kind: "working" };
  const [holders, workers] = await Promise.all([frontier.listHolders(), frontier.listWorkers()]);
  const strangers = new Set(
    workers.filter((other) => !other.queues.some((queue) => queues.includes(queue))).map((other) => other.worker),
  );
  if (holders.some((holder) => !strangers.has(holder.worker))) return { kind: "busy" };
  const waiting = await frontier.listQueues();
  if (worker.idleRound() !== round) return { kind: "busy" };
  if (!waiting.some(({ queue }) => queues.includes(queue))) return { kind: "drained" };
  return isTold ? { kind: "busy" } : lookForPaused(frontier, queues, waiting);
}

/**
 * A job's counts are over all queues, so they are held against what waits on all of them: on the served ones alone they
 * could hide a running job's URLs. Where a running job has some on other queues, nothing is told. Jobs submitted to the
 * served queues are named first: they are most likely what is waited for.
 */
async function lookForPaused(
  frontier: Deps["frontier"],
  served: readonly string[],
  queues: readonly QueueView[],
): Promise<Look> {
  const jobs = await frontier.listOpen(JOBS_LOOKED_AT);
  const paused = jobs.filter((job) => job.state === "paused" && waitingOf(job) > 0);
  const theirs = paused.reduce((sum, job) => sum + waitingOf(job), 0);
  const all = queues.reduce((sum, { waiting }) => sum + waiting, 0);
  if (theirs < all) return { kind: "busy" };
  const isServed = ({ queue }: JobView) => served.includes(queue);
  const named = [...paused.filter(isServed), ...paused.filter((job) => !isServed(job))];
  return { kind: "paused", jobIds: named.map(({ id }) => id) };
}

function waitingOf({ counts }: JobView): number {
  return counts.queued + counts.delayed;
}

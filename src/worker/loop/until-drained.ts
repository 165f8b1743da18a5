/** Detects that a worker has nothing left to do, and that no other worker of its queues will add tasks. */
import type { FrontierAdmin, JobView, QueueView } from "../../frontier/frontier-admin.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Worker } from "../worker.ts";

type Deps = {
  frontier: Pick<FrontierAdmin, "listQueues" | "listHolders" | "listWorkers" | "listOpen">;
  worker: Pick<Worker, "idleRound">;
  clock: Clock;
  /** Called once, with job ids, when all waiting tasks belong to paused jobs: no worker will run them. */
  onHeldUp(jobIds: readonly string[]): void;
};

type Options = { queues: readonly string[]; everyMs: number };

/**
 * `paused`: only tasks of paused jobs wait. `busy`: not drained, or not known. `working`: this worker runs tasks, so
 * the broker was not queried.
 */
type DrainState = { kind: "drained" | "busy" | "working" } | { kind: "paused"; jobIds: readonly string[] };

/** How often a busy worker is checked. The check does not query the broker. */
const WORKING_POLL_MS = 50;

/** How many of the newest open jobs are checked for being paused. */
const JOBS_CHECKED = 20;

/** Resolves when nothing waits on the queues and no worker that serves them holds a lease, or when `signal` aborts. */
export async function untilDrained(deps: Deps, options: Options, signal: AbortSignal): Promise<void> {
  let isReported = false;
  while (!signal.aborted) {
    // A failed check is ignored: if the broker is lost, the worker ends by itself.
    const state: DrainState = await check(deps, options.queues, isReported).catch((): DrainState => ({ kind: "busy" }));
    if (state.kind === "drained") return;
    if (state.kind === "paused") deps.onHeldUp(state.jobIds);
    isReported ||= state.kind === "paused";
    await deps.clock.sleep(
      state.kind === "working" ? Math.min(WORKING_POLL_MS, options.everyMs) : options.everyMs,
      signal,
    );
  }
}

/**
 * Determines the drain state. Reads lease holders before queues, so that tasks that a holder adds when its task ends
 * are found in the queues. If another worker leases them in between, that worker will run them. If this worker leases
 * them, its idle round changes, and the check is discarded.
 */
async function check({ frontier, worker }: Deps, queues: readonly string[], isReported: boolean): Promise<DrainState> {
  const round = worker.idleRound();
  if (round === undefined) return { kind: "working" };
  const [holders, workers] = await Promise.all([frontier.listHolders(), frontier.listWorkers()]);
  const unrelated = new Set(
    workers.filter((other) => !other.queues.some((queue) => queues.includes(queue))).map((other) => other.worker),
  );
  if (holders.some((holder) => !unrelated.has(holder.worker))) return { kind: "busy" };
  const waiting = await frontier.listQueues();
  if (worker.idleRound() !== round) return { kind: "busy" };
  if (!waiting.some(({ queue }) => queues.includes(queue))) return { kind: "drained" };
  return isReported ? { kind: "busy" } : findPaused(frontier, queues, waiting);
}

/**
 * Determines whether all waiting tasks belong to paused jobs. The counts of a job cover all queues, so they are
 * compared with the waiting tasks of all queues. A comparison with only the served queues could hide tasks of a running
 * job. If a running job has tasks on other queues, nothing is reported. Jobs of the served queues come first, since the
 * user most likely waits for those.
 */
async function findPaused(
  frontier: Deps["frontier"],
  served: readonly string[],
  queues: readonly QueueView[],
): Promise<DrainState> {
  const jobs = await frontier.listOpen(JOBS_CHECKED);
  const paused = jobs.filter((job) => job.state === "paused" && waitingOf(job) > 0);
  const pausedTasks = paused.reduce((sum, job) => sum + waitingOf(job), 0);
  const all = queues.reduce((sum, { waiting }) => sum + waiting, 0);
  if (pausedTasks < all) return { kind: "busy" };
  const isServed = ({ queue }: JobView) => served.includes(queue);
  const named = [...paused.filter(isServed), ...paused.filter((job) => !isServed(job))];
  return { kind: "paused", jobIds: named.map(({ id }) => id) };
}

function waitingOf({ counts }: JobView): number {
  return counts.queued + counts.delayed;
}

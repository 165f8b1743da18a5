/** Knows when a worker has nothing left to do, and no other worker of its queues will make more. */
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Worker } from "./worker.ts";

type Deps = {
  frontier: Pick<FrontierAdmin, "listQueues" | "listHolders" | "listWorkers">;
  worker: Pick<Worker, "idleRound">;
  clock: Clock;
};

type Options = { queues: readonly string[]; everyMs: number };

/** Resolves when nothing waits on the queues and nobody who serves them holds a lease; or when `signal` aborts. */
export async function untilDrained(deps: Deps, options: Options, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // A failed look is no answer: a broker that is lost ends the worker by itself.
    if (await isDrained(deps, options.queues).catch(() => false)) return;
    await deps.clock.sleep(options.everyMs, signal);
  }
}

/**
 * Holders before queues: what a holder leaves behind when it ends is then seen waiting. Taken in between by another
 * worker, it is that worker's; taken by this one, its round has changed, and the look counts for nothing.
 */
async function isDrained({ frontier, worker }: Deps, queues: readonly string[]): Promise<boolean> {
  const round = worker.idleRound();
  if (round === undefined) return false;
  const [holders, workers] = await Promise.all([frontier.listHolders(), frontier.listWorkers()]);
  const strangers = new Set(
    workers.filter((other) => !other.queues.some((queue) => queues.includes(queue))).map((other) => other.worker),
  );
  if (holders.some((holder) => !strangers.has(holder.worker))) return false;
  const waiting = await frontier.listQueues();
  return !waiting.some(({ queue }) => queues.includes(queue)) && worker.idleRound() === round;
}

import { mayBeAlive } from "../runtime/process-identity.ts";
import { type Recent, toOperatorCommand, type WorkerCommand } from "./frontier.ts";
import type { WorkerView } from "./frontier-admin.ts";

/** The state of a worker as JSON, for the API and for `--json`. */
export function workerFacts({ vitals, seenAt, command }: WorkerView) {
  return {
    concurrency: vitals?.concurrency ?? null,
    busy: vitals?.busy ?? null,
    done: vitals?.done ?? null,
    failed: vitals?.failed ?? null,
    rssBytes: vitals?.rssBytes ?? null,
    maxMemoryBytes: vitals?.maxMemoryBytes ?? null,
    maxTasks: vitals?.maxTasks ?? null,
    eventLoopUse: vitals?.eventLoopUse ?? null,
    recent: recentFacts(vitals?.recent),
    state: vitals?.state ?? null,
    command: command === undefined ? null : toOperatorCommand(command),
    commands: vitals?.commands === undefined ? [] : operatorCommands(vitals.commands),
    supervisor: vitals?.supervisor ?? null,
    startedAt: vitals === undefined ? null : new Date(seenAt - vitals.upMs).toISOString(),
    seenAt: new Date(seenAt).toISOString(),
  };
}

function recentFacts(recent: Recent | undefined) {
  if (recent === undefined) return null;
  const { ms, pages, done, failed } = recent;
  return { ms, pages, done, failed };
}

/** Workers announce themselves every 5 s. A worker without an announcement for twice as long counts as gone. */
const QUIET_MS = 10_000;

/** The recent activity of workers that are not gone. */
export function recentOf(workers: readonly WorkerView[], now: number): Recent[] {
  const present = workers.filter(({ seenAt }) => now - seenAt <= QUIET_MS);
  return present.map(({ vitals }) => vitals?.recent).filter((recent) => recent !== undefined);
}

/** How much the counter grows per second, summed over these workers. */
export function perSecond(counter: "pages" | "done" | "failed", recents: readonly Recent[]): number {
  return recents.reduce((sum, recent) => sum + (recent.ms > 0 ? (recent[counter] * 1000) / recent.ms : 0), 0);
}

/** Omits workers that are known to be dead. After a crash, their announcements stay valid for some seconds. */
export function livingWorkers<W extends Pick<WorkerView, "worker">>(workers: readonly W[]): W[] {
  return workers.filter(({ worker }) => mayBeAlive(worker));
}

/** The text for a crawl whose queue no living worker serves. `trawl worker` does not serve the queues of crawls. */
export function stoppedCrawlText(jobId: string): string {
  return `no process runs crawl ${jobId}; continue it with: trawl crawl --resume ${jobId}`;
}

/**
 * How many workers serve a queue, and how many tasks they can run: in addition to the current ones (`free`), and in
 * total.
 */
export function capacityOf(
  queue: string,
  workers: readonly WorkerView[],
): { serving: number; free: number; concurrency: number } {
  const serving = workers.filter(({ queues }) => queues.includes(queue));
  const sum = { serving: serving.length, free: 0, concurrency: 0 };
  for (const { vitals } of serving) {
    const { concurrency = 0, busy = 0 } = vitals ?? {};
    sum.free += Math.max(0, concurrency - busy);
    sum.concurrency += concurrency;
  }
  return sum;
}

/** The commands as operators know them, without duplicates. */
function operatorCommands(commands: readonly WorkerCommand[]): ReturnType<typeof toOperatorCommand>[] {
  return [...new Set(commands.map(toOperatorCommand))];
}

/** Runs one worker in this process until it is stopped, has retired or, with --drain, the queues are empty. */

import { composeRetention } from "../../compose/retention.ts";
import type { WorkerCommand } from "../../frontier/frontier.ts";
import { thisProcess } from "../../runtime/process-identity.ts";
import type { Service } from "../../runtime/service.ts";
import type { OnSelector } from "../../spider/spider-reader.ts";
import { untilDrained } from "../../worker/loop/until-drained.ts";
import type { TaskObserver } from "../../worker/observe/task-observer.ts";
import type { Worker } from "../../worker/worker.ts";
import type { CommandSession } from "../session.ts";
import type { Shutdown } from "../shutdown.ts";
import { aborted } from "../watch-job.ts";
import { createMemoryWatch } from "./memory-watch.ts";
import { servedQueues } from "./served-queues.ts";
import type { WorkerEnd, WorkerOutput } from "./worker-output.ts";

type WorkerRun = {
  queues: readonly string[];
  drain: boolean;
  /** An additional observer of every task. */
  observer?: TaskObserver | undefined;
  /** Creates a service that runs as long as the worker and reports its progress. */
  createMonitor(worker: Worker): Service;
  /** The identity of the supervisor process, if there is one. */
  supervisor?: string;
  onSelector?: OnSelector;
  /** Set if the worker belongs to a crawl: the hosts of the URLs that the user gave. */
  crawledHosts?: readonly string[] | undefined;
};

const DRAIN_POLL_MS = 500;
/**
 * A task may wait minutes for the rate of its site. After this many grace periods a draining worker returns its tasks.
 */
const OBEY_GRACES = 12;

/**
 * The commands that the worker follows. Without a supervisor, recycle is not possible. The processes of a crawl ignore
 * commands of operators.
 */
function acceptedCommands({ supervisor, crawledHosts }: WorkerRun): readonly WorkerCommand[] {
  if (crawledHosts !== undefined) return [];
  return supervisor === undefined ? ["drain", "drain-all"] : ["drain", "drain-all", "recycle"];
}

/** Runs a worker. Rejects if the broker or store is lost. */
export async function runWorker(
  session: CommandSession,
  shutdown: Shutdown,
  run: WorkerRun,
  output: WorkerOutput,
): Promise<WorkerEnd> {
  const { trawl, config } = session;
  const { crawledHosts, drain } = run;
  const queues = crawledHosts === undefined ? servedQueues(run.queues, config) : run.queues;
  const startedAt = trawl.clock.now();
  const over = new AbortController();
  const worker = await trawl.createWorker({
    queues,
    // In submitted jobs, access to private networks is allowed only by the settings.
    allowHosts: crawledHosts ?? [],
    mayUseAllSecrets: crawledHosts !== undefined,
    unreadableJob: crawledHosts === undefined ? "ends-task" : "ends-worker",
    onFinished: (jobId) => output.finished(jobId),
    onSelector: run.onSelector,
    observer: run.observer,
    maxTasks: config.maxTasksPerChild,
    supervisor: run.supervisor,
    commands: { accepted: acceptedCommands(run), received: obey },
    maxMemoryMb: config.maxMemoryPerChildMb,
  });
  /**
   * Follows a command. After any command, the worker leases no more tasks, and stops when its running tasks have ended.
   * Slow tasks are returned.
   */
  function obey(command: WorkerCommand): void {
    output.commandReceived(command);
    if (command === "drain") output.drained(); // the supervisor must not replace it
    worker.retire();
    void trawl.clock.sleep(config.graceMs * OBEY_GRACES, over.signal).then(() => over.abort());
  }
  const stopped = shutdown.onStop(() => {
    output.stopping();
    over.abort();
  });
  const handlerErrors = shutdown.onHandlerError(worker.currentHandlerPage);
  if (shutdown.isRequested) over.abort(); // a signal arrived while the session was opened
  output.started({ worker: thisProcess(), queues, drain });
  const services = [run.createMonitor(worker), createMemoryWatch(worker, { maxMb: config.maxMemoryPerChildMb })];
  // Shared workers remove old jobs. A crawl must not remove them: the user may want to resume or read another crawl.
  if (crawledHosts === undefined) services.push(composeRetention(config, trawl));
  for (const service of services) service.start();
  worker.start();
  try {
    await Promise.race([
      aborted(over.signal),
      worker.ended,
      ...(drain ? [drained(session, worker, { queues, output }, over)] : []),
    ]);
  } finally {
    over.abort();
    await worker.stop();
    stopped.remove();
    handlerErrors.remove();
    for (const service of services) await service.stop();
  }
  await worker.ended; // rejects if the broker or store was lost
  return { worker: thisProcess(), queues, ...worker.tally(), seconds: (trawl.clock.now() - startedAt) / 1000 };
}

async function drained(
  { trawl }: CommandSession,
  worker: Worker,
  { queues, output }: { queues: readonly string[]; output: WorkerOutput },
  over: AbortController,
): Promise<void> {
  const { frontier, clock } = trawl;
  const deps = { frontier, worker, clock, onHeldUp: output.heldUp };
  await untilDrained(deps, { queues, everyMs: DRAIN_POLL_MS }, over.signal);
  if (!over.signal.aborted) output.drained();
}

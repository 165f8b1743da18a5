/** Runs a worker as a child process: its messages go to the supervisor instead of the terminal. */

import { getKnownJob } from "../../control/catalogue.ts";
import { parentProcess, supervisedProcess } from "../../runtime/process-identity.ts";
import type { OnSelector } from "../../spider/spider-reader.ts";
import { createReporter } from "../../worker/pool/reporter.ts";
import { STOP_SLACK_MS } from "../../worker/pool/supervisor.ts";
import type { Worker, WorkerTally } from "../../worker/worker.ts";
import type { CommandSession } from "../session.ts";
import type { Shutdown } from "../shutdown.ts";
import { ownRssMb } from "./memory-watch.ts";
import { createOrphanWatch } from "./orphan-watch.ts";
import { runWorker } from "./run-worker.ts";
import type { SupervisorLink } from "./supervisor-link.ts";
import type { WorkerOutput } from "./worker-output.ts";

/** `crawl`: the job id, if the worker belongs to a crawl. */
type ChildRun = { queues: readonly string[]; drain: boolean; crawl: string | undefined };

/** Resolves with the tally when the worker has stopped. Rejects if the broker or store is lost. */
export async function runChild(
  session: CommandSession,
  shutdown: Shutdown,
  run: ChildRun,
  { send, onRetire }: SupervisorLink,
): Promise<WorkerTally> {
  const current: { worker?: Worker } = {};
  const tally = () => current.worker?.tally() ?? { tasks: 0, pages: 0, records: 0 };
  const isMeasured = Number.isFinite(session.config.metricsPort);
  const metrics = () => (isMeasured ? current.worker?.metrics() : undefined);
  const reporter = createReporter({ send, tally, rssMb: ownRssMb, metrics });
  function createMonitor(worker: Worker) {
    current.worker = worker;
    onRetire(worker.retire);
    worker.retiring.addEventListener("abort", reporter.retire, { once: true });
    return reporter;
  }
  send({ kind: "hello", worker: supervisedProcess() });
  const orphanWatch = createOrphanWatch({ afterMs: session.config.graceMs + STOP_SLACK_MS });
  orphanWatch.start();
  try {
    const crawledHosts = run.crawl === undefined ? undefined : await typedHosts(session, run.crawl);
    const onSelector: OnSelector = (selector, hasMatched) => send({ kind: "selector", selector, hasMatched });
    const own = { crawledHosts, createMonitor, observer: reporter.observer, supervisor: parentProcess() };
    const workerRun = { ...run, ...own, ...(run.crawl === undefined ? {} : { onSelector }) };
    const { tasks, pages, records } = await runWorker(session, shutdown, workerRun, outputTo(send));
    return { tasks, pages, records };
  } finally {
    await orphanWatch.stop();
  }
}

async function typedHosts(session: CommandSession, jobId: string): Promise<readonly string[]> {
  return (await getKnownJob(session.trawl.catalogue, jobId, "cli.worker")).spec.typedHosts;
}

function outputTo(send: SupervisorLink["send"]): WorkerOutput {
  return {
    started: () => {},
    measured: () => {},
    progress: () => {},
    stopping: () => {},
    stopped: () => {},
    finished: (jobId) => send({ kind: "finished", jobId }),
    heldUp: (jobIds) => send({ kind: "heldUp", jobIds }),
    drained: () => send({ kind: "drained" }),
    commandReceived: (command) => send({ kind: "command", command }),
  };
}

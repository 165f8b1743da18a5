/** Runs one worker in this process, until it is stopped, has retired, or nothing is left to do. */

import { composeRetention } from "../../compose-retention.ts";
import type { WorkerOrder } from "../../frontier/frontier.ts";
import { thisProcess } from "../../runtime/process-id.ts";
import type { Service } from "../../runtime/service.ts";
import { untilDrained } from "../../worker/drained.ts";
import type { TaskWatch } from "../../worker/task-watch.ts";
import type { Worker } from "../../worker/worker.ts";
import type { Session } from "../session.ts";
import type { Stops } from "../stops.ts";
import { aborted } from "../watch-job.ts";
import { createMemoryWatch } from "./memory-watch.ts";
import type { Voice, WorkerEnd } from "./voice.ts";

export type WorkerRun = {
  queues: readonly string[];
  drain: boolean;
  watch: TaskWatch;
  /** What runs beside it as long as it does, and tells of it. */
  attend(worker: Worker): Service;
  /** The process that looks after this one, if one does. */
  supervisor?: string;
  /** The hosts that a person typed, where this works for their crawl and nothing else. */
  crawledHosts?: readonly string[] | undefined;
};

const DRAIN_LOOK_MS = 500;
/** A task may have minutes to wait for its site's turn: whoever is to leave does not wait with it for ever. */
const OBEY_GRACES = 12;

/** A process of its own has nobody to take its place. A crawl is somebody's: nobody else ends it. */
function obeyedBy({ supervisor, crawledHosts }: WorkerRun): readonly WorkerOrder[] {
  if (crawledHosts !== undefined) return [];
  return supervisor === undefined ? ["drain", "drain-all"] : ["drain", "drain-all", "recycle"];
}

/** Rejects with what broke the worker: a broker or store that is lost. */
export async function runWorker(session: Session, stops: Stops, run: WorkerRun, voice: Voice): Promise<WorkerEnd> {
  const { trawl, config } = session;
  const { queues, drain, watch } = run;
  const startedAt = trawl.clock.now();
  const over = new AbortController();
  const { crawledHosts } = run;
  const worker = await trawl.createWorker({
    queues,
    // Where nobody has typed the URLs, private networks are the operator's to allow.
    allowHosts: crawledHosts ?? [],
    unreadableJob: crawledHosts === undefined ? "ends-task" : "ends-worker",
    onFinished: (jobId) => voice.finished(jobId),
    watch,
    maxTasks: config.maxTasksPerChild,
    supervisor: run.supervisor,
    orders: { obeys: obeyedBy(run), heard: obey },
    maxMemoryMb: config.maxMemoryPerChildMb,
  });
  /** Whatever is asked: it takes no more, and ends when what it has in hand is over; what takes too long is handed back. */
  function obey(order: WorkerOrder): void {
    voice.ordered(order);
    if (order === "drain") voice.drained(); // nobody is to take its place
    worker.retire();
    void trawl.clock.sleep(config.graceMs * OBEY_GRACES, over.signal).then(() => over.abort());
  }
  const stopped = stops.once(() => {
    voice.stopping();
    over.abort();
  });
  const strays = stops.onStray(worker.findCulprit);
  if (stops.isAsked) over.abort(); // while everything was being opened
  voice.started({ worker: thisProcess(), queues, drain });
  const beside = [run.attend(worker), createMemoryWatch(worker, { mostMb: config.maxMemoryPerChildMb })];
  // A crawl is somebody's own, to be resumed and looked at: only what serves many tidies up after them.
  if (crawledHosts === undefined) beside.push(composeRetention(config, trawl));
  for (const service of beside) service.start();
  worker.start();
  try {
    await Promise.race([
      aborted(over.signal),
      worker.ended,
      ...(drain ? [drained(session, worker, { queues, voice }, over)] : []),
    ]);
  } finally {
    over.abort();
    await worker.stop();
    stopped.forget();
    strays.forget();
    for (const service of beside) await service.stop();
  }
  await worker.ended; // throws what broke it
  return { worker: thisProcess(), queues, ...worker.tally(), seconds: (trawl.clock.now() - startedAt) / 1000 };
}

async function drained(
  { trawl }: Session,
  worker: Worker,
  { queues, voice }: { queues: readonly string[]; voice: Voice },
  over: AbortController,
): Promise<void> {
  const { frontier, clock } = trawl;
  const deps = { frontier, worker, clock, onHeldUp: voice.heldUp };
  await untilDrained(deps, { queues, everyMs: DRAIN_LOOK_MS }, over.signal);
  if (!over.signal.aborted) voice.drained();
}

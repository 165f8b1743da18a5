/** Runs one worker until it is stopped, or until nothing is left to do. */
import { clearInterval, setInterval } from "node:timers";
import type { Clock } from "../../runtime/clock.ts";
import { thisProcess } from "../../runtime/process-id.ts";
import { untilDrained } from "../../worker/drained.ts";
import type { Worker } from "../../worker/worker.ts";
import type { Session } from "../session.ts";
import type { Stops } from "../stops.ts";
import { aborted } from "../watch-job.ts";
import type { Voice, WorkerEnd } from "./voice.ts";

export type WorkerRun = { queues: readonly string[]; drain: boolean; quiet: boolean };

const DRAIN_LOOK_MS = 500;
const SHOW_MS = 1_000;

/** Rejects with what broke the worker: a broker or store that is lost. */
export async function runWorker(session: Session, stops: Stops, run: WorkerRun, voice: Voice): Promise<WorkerEnd> {
  const { trawl, screen } = session;
  const { queues, drain } = run;
  const startedAt = trawl.clock.now();
  const over = new AbortController();
  // Nobody has typed these URLs here: private networks are the operator's to allow.
  const worker = await trawl.createWorker({
    queues,
    allowHosts: [],
    unreadableJob: "ends-task",
    onFinished: (jobId) => voice.finished(jobId),
  });
  const stopped = stops.once(() => {
    voice.stopping();
    over.abort();
  });
  voice.started({ worker: thisProcess(), queues, drain });
  worker.start();
  const display = screen.isLive && !run.quiet ? startDisplay(worker, trawl.clock, voice) : undefined;
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
    display?.stop();
  }
  await worker.ended; // throws what broke it
  return { worker: thisProcess(), queues, ...worker.tally(), seconds: (trawl.clock.now() - startedAt) / 1000 };
}

function drained(
  { trawl }: Session,
  worker: Worker,
  { queues, voice }: { queues: readonly string[]; voice: Voice },
  over: AbortController,
): Promise<void> {
  const { frontier, clock } = trawl;
  const deps = { frontier, worker, clock, onHeldUp: voice.heldUp };
  return untilDrained(deps, { queues, everyMs: DRAIN_LOOK_MS }, over.signal);
}

function startDisplay(worker: Worker, clock: Clock, { progress }: Voice): { stop(): void } {
  let before = { at: clock.now(), tasks: 0 };
  const timer = setInterval(() => {
    const [at, tally] = [clock.now(), worker.tally()];
    const perSecond = ((tally.tasks - before.tasks) / Math.max(1, at - before.at)) * 1000;
    before = { at, tasks: tally.tasks };
    progress({ ...tally, perSecond, busy: worker.busy() });
  }, SHOW_MS);
  return { stop: () => clearInterval(timer) };
}

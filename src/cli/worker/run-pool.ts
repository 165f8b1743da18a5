/** Supervises worker processes until they are stopped or, with --drain, until the queues are empty. */

import type { App } from "../../compose/app.ts";
import type { Config } from "../../config/schema.ts";
import type { WorkerCommand } from "../../frontier/frontier.ts";
import { exposeBuild } from "../../runtime/build-metrics.ts";
import { deferred } from "../../runtime/deferred.ts";
import { expose } from "../../runtime/metrics.ts";
import { findRssMb, MB_BYTES } from "../../runtime/process-memory.ts";
import type { OnSelector } from "../../spider/spider-reader.ts";
import type { AttemptWrite } from "../../store/store.ts";
import { VERSION } from "../../version.ts";
import { CHILD_METRICS, POOL_METRICS } from "../../worker/observe/worker-metrics.ts";
import { type Launch, startChild } from "../../worker/pool/child-process.ts";
import type { ChildMessage } from "../../worker/pool/messages.ts";
import { createPoolMeter } from "../../worker/pool/pool-meter.ts";
import { createSupervisor, type Place, type Supervisor } from "../../worker/pool/supervisor.ts";
import type { WorkerTally } from "../../worker/worker.ts";
import type { Listening } from "../serve/run-server.ts";
import type { CommandSession } from "../session.ts";
import type { Shutdown } from "../shutdown.ts";
import { createDisplay, NO_DISPLAY } from "./display.ts";
import { withMetrics } from "./metrics-listener.ts";
import type { PoolOutput } from "./pool-output.ts";
import type { WorkerOutput } from "./worker-output.ts";

/** Processes with the same command line. */
export type PoolGroup = {
  /** Undefined if there is only one group. */
  name: string | undefined;
  processes: number;
  /** The arguments of `trawl`; `CHILD_FLAG` is added. */
  args: readonly string[];
  /** True for the API server. It runs no tasks, stops after the workers, and is exempt from their memory limit. */
  outlasts?: boolean;
};

type PoolRun = { groups: readonly PoolGroup[]; quiet: boolean };
/** `line` receives the output of the processes. */
type PoolOutputs = {
  output: Pick<WorkerOutput, "finished" | "heldUp" | "commandReceived">;
  pool: PoolOutput;
  line(place: Place, text: string): void;
  onSelector?: OnSelector;
  /** The API server listens at this URL. */
  listening?(at: Listening): void;
};

/** Marks a process as a child of a supervisor. */
export const CHILD_FLAG = "--pool-child";
/** Marks an API server that replaces an earlier process. */
export const RESTART_FLAG = "--again";

/**
 * A process renews its leases every third of `leaseMs`. After two thirds of `leaseMs` without a renewal, the first
 * lease is about to expire, so the process is killed. It is never killed before this time, because on a busy machine a
 * process may not run for several seconds.
 */
const STUCK_LEAST_MS = 10_000;

/**
 * Runs the processes. Resolves with the sum of their counts. Rejects with an error that prevents all processes from
 * working.
 */
export async function runPool(
  session: CommandSession,
  shutdown: Shutdown,
  { groups, quiet }: PoolRun,
  outputs: PoolOutputs & { output: WorkerOutput },
): Promise<WorkerTally & { seconds: number }> {
  const { trawl, screen, config } = session;
  const startedAt = trawl.clock.now();
  const isWorking = ({ group }: Place) => !groupsStoppedLast(groups).has(group);
  const meter = createPoolMeter({ maxMemoryMb: config.maxMemoryPerChildMb, isWorking });
  const supervisor = createPool(session, groups, { ...outputs, pool: meter.count(outputs.pool) });
  const stopped = shutdown.onStop(() => {
    outputs.output.stopping();
    void supervisor.stop();
  });
  const killed = shutdown.onKill(supervisor.killAll);
  const display = screen.isLive && !quiet ? createDisplay(supervisor, trawl.clock, outputs.output) : NO_DISPLAY;
  const text = () => {
    const own = meter.snapshot(supervisor.processes());
    return [expose(CHILD_METRICS, supervisor.metrics()), expose(POOL_METRICS, own), exposeBuild(VERSION)].join("");
  };
  try {
    await withMetrics({ config, output: outputs.output, text }, () => {
      supervisor.start();
      display.start();
      return supervisor.ended;
    });
  } finally {
    await display.stop();
    stopped.remove();
    killed.remove();
  }
  return { ...supervisor.tally(), seconds: (trawl.clock.now() - startedAt) / 1000 };
}

/** Creates a supervisor of these groups without starting it. */
export function createPool(
  { trawl, config }: CommandSession,
  groups: readonly PoolGroup[],
  { output, pool, line, listening, onSelector }: PoolOutputs,
): Supervisor {
  const { frontier, clock, log } = trawl;
  const forward = forwardTo(output);
  const launches = new Map(groups.map((group) => [group.name, launchOf(group, config)]));
  const leader = groups.some(({ outlasts }) => outlasts) ? deferred() : undefined;
  let isDraining = false;

  function onMessage(place: Place, message: ChildMessage): void {
    forward(message);
    if (message.kind === "command") follow(place, message.command);
    if (message.kind === "selector") onSelector?.(message.selector, message.hasMatched);
    if (message.kind !== "listening") return;
    const group = groups.find(({ name }) => name === place.group);
    // A replacement must listen on the same port, also if the first process had selected a free one.
    const args = [...(group?.args ?? []), "--port", new URL(message.url).port, RESTART_FLAG];
    launches.set(place.group, launchOf({ ...group, args }, config));
    listening?.(message);
    leader?.resolve();
  }

  /**
   * Every process receives and reports a command to drain all. Only the first report is printed. The supervisor then
   * drains all processes.
   */
  function follow(place: Place, command: WorkerCommand): void {
    if (isDraining) return;
    isDraining = command === "drain-all";
    if (isDraining) {
      output.commandReceived(command);
      supervisor.drain();
    } else pool.commandReceived({ ...place, command });
  }

  const supervisor = createSupervisor(
    {
      frontier,
      clock,
      log,
      findRssMb,
      storeAttempts: (attempts) => storeAttempts(trawl, attempts),
      events: { ...pool, finished: output.finished },
      startChild: (place, now) =>
        startChild(launches.get(place.group) as Launch, {
          now,
          onMessage: (message) => onMessage(place, message),
          onLine: (text) => line(place, text),
        }),
    },
    {
      stopLast: groupsStoppedLast(groups),
      // If the port is in use, the broker may belong to another installation. So workers start, and lease tasks, only
      // after the server listens.
      ...(leader === undefined ? {} : { startAfter: leader.promise }),
      places: groups.flatMap(({ name, processes }) => placesOf(name, processes)),
      graceMs: config.graceMs,
      timeLimitMs: config.timeLimitMs,
      maxMemoryMb: config.maxMemoryPerChildMb,
      stuckMs: Math.max(STUCK_LEAST_MS, (config.leaseMs * 2) / 3),
    },
  );
  return supervisor;
}

/** Stores the attempts of jobs that store pages. */
async function storeAttempts({ frontier, store }: App, attempts: readonly AttemptWrite[]): Promise<void> {
  const jobs = await Promise.all([...new Set(attempts.map(({ jobId }) => jobId))].map((id) => frontier.findJob(id)));
  const keeping = new Set(jobs.flatMap((job) => (job?.spec.keep.pages ? [job.id] : [])));
  const kept = attempts.filter(({ jobId }) => keeping.has(jobId));
  if (kept.length > 0) await store.write([], kept);
}

function placesOf(group: string | undefined, processes: number): Place[] {
  return Array.from({ length: processes }, (_, index) => ({ nth: index + 1, group }));
}

function groupsStoppedLast(groups: readonly PoolGroup[]): ReadonlySet<PoolGroup["name"]> {
  return new Set(groups.filter(({ outlasts }) => outlasts).map(({ name }) => name));
}

/** The command line of a child process. The heap limit makes V8 fail before the machine runs out of memory. */
function launchOf({ args, outlasts }: Pick<PoolGroup, "args" | "outlasts">, { maxMemoryPerChildMb }: Config): Launch {
  const [, script = ""] = process.argv;
  // V8 expects mebibytes.
  const maxHeap = Math.floor((maxMemoryPerChildMb * MB_BYTES) / 2 ** 20);
  const heap = !outlasts && Number.isFinite(maxHeap) ? [`--max-old-space-size=${maxHeap}`] : [];
  return { script, args: [...args, CHILD_FLAG], execArgs: [...process.execArgv, ...heap] };
}

/** Forwards messages of child processes. `heldUp` is printed once, although every process reports it. */
function forwardTo(output: PoolOutputs["output"]): (message: ChildMessage) => void {
  let isHeldUpPrinted = false;
  return (message) => {
    if (message.kind === "finished") output.finished(message.jobId);
    if (message.kind !== "heldUp" || isHeldUpPrinted) return;
    isHeldUpPrinted = true;
    output.heldUp(message.jobIds);
  };
}

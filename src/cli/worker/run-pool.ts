/** Supervises worker processes until they are stopped, or until nothing is left to do. */
import type { Trawl } from "../../compose.ts";
import type { Config } from "../../config/schema.ts";
import type { WorkerOrder } from "../../frontier/frontier.ts";
import { exposeBuild } from "../../runtime/build-metrics.ts";
import { deferred } from "../../runtime/deferred.ts";
import { expose } from "../../runtime/metrics.ts";
import { findRssMb, MB_BYTES } from "../../runtime/process-memory.ts";
import type { TryWrite } from "../../store/store.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { VERSION } from "../../version.ts";
import { type Launch, startChild } from "../../worker/pool/child-process.ts";
import type { ChildMessage } from "../../worker/pool/messages.ts";
import { createPoolMeter } from "../../worker/pool/pool-meter.ts";
import { createSupervisor, type Place, type Supervisor } from "../../worker/pool/supervisor.ts";
import type { WorkerTally } from "../../worker/worker.ts";
import { CHILD_METRICS, POOL_METRICS } from "../../worker/worker-metrics.ts";
import type { Listening } from "../serve/run-server.ts";
import type { Session } from "../session.ts";
import type { Stops } from "../stops.ts";
import { createDisplay, NO_DISPLAY } from "./display.ts";
import { withMetrics } from "./metrics-listener.ts";
import type { PoolVoice } from "./pool-voice.ts";
import type { Voice } from "./voice.ts";

/** Processes that do the same. */
export type PoolGroup = {
  /** Undefined where there is but one group. */
  name: string | undefined;
  processes: number;
  /** What `trawl` is called with; the flag that makes it a child is added. */
  words: readonly string[];
  /** It does no work, but shows how the others do: it goes on until these have gone, and their limits are not its own. */
  outlasts?: boolean;
};

type PoolRun = { groups: readonly PoolGroup[]; quiet: boolean };
/** `line`: what a process has printed by itself. */
type Voices = {
  voice: Pick<Voice, "finished" | "heldUp" | "ordered">;
  pool: PoolVoice;
  line(place: Place, text: string): void;
  /** The server among them, if there is one, is to be found there. */
  listening?(at: Listening): void;
};

/** The flag by which a process knows that it is a child of a supervisor. */
export const CHILD_FLAG = "--pool-child";
/** The flag by which a server knows that it takes the place of one that was there before. */
export const AGAIN_FLAG = "--again";

/**
 * Leases are renewed three times in their time: after two thirds of it without, the first is about to end. However short
 * they are, a busy machine may keep a process from its turn for a while.
 */
const STUCK_LEAST_MS = 10_000;

/** Resolves with what all of them have brought to an end. Rejects with what kept a process from working at all. */
export async function runPool(
  session: Session,
  stops: Stops,
  { groups, quiet }: PoolRun,
  voices: Voices & { voice: Voice },
): Promise<WorkerTally & { seconds: number }> {
  const { trawl, screen, config } = session;
  const startedAt = trawl.clock.now();
  const isWorking = ({ group }: Place) => !outlasting(groups).has(group);
  const meter = createPoolMeter({ maxMemoryMb: config.maxMemoryPerChildMb, isWorking });
  const supervisor = createPool(session, groups, { ...voices, pool: meter.heard(voices.pool) });
  const stopped = stops.once(() => {
    voices.voice.stopping();
    void supervisor.stop();
  });
  const killed = stops.atOnce(supervisor.killAll);
  const display = screen.isLive && !quiet ? createDisplay(supervisor, trawl.clock, voices.voice) : NO_DISPLAY;
  const text = () => {
    const own = meter.snapshot(supervisor.processes());
    return [expose(CHILD_METRICS, supervisor.metrics()), expose(POOL_METRICS, own), exposeBuild(VERSION)].join("");
  };
  try {
    await withMetrics({ config, voice: voices.voice, text }, () => {
      supervisor.start();
      display.start();
      return supervisor.ended;
    });
  } finally {
    await display.stop();
    stopped.forget();
    killed.forget();
  }
  return { ...supervisor.tally(), seconds: (trawl.clock.now() - startedAt) / 1000 };
}

/** A supervisor of these groups, not yet started. */
export function createPool(
  { trawl, config }: Session,
  groups: readonly PoolGroup[],
  { voice, pool, line, listening }: Voices,
): Supervisor {
  const { frontier, clock, log } = trawl;
  const tell = passOn(voice);
  const launches = new Map(groups.map((group) => [group.name, launchOf(group, config)]));
  const leader = groups.some(({ outlasts }) => outlasts) ? deferred() : undefined;
  let isDraining = false;

  function onMessage(place: Place, message: ChildMessage): void {
    tell(message);
    if (message.kind === "ordered") follow(place, message.order);
    if (message.kind !== "listening") return;
    const group = groups.find(({ name }) => name === place.group);
    // Whoever comes after it is to be found at the same place, also where it was free to choose one.
    const words = [...(group?.words ?? []), "--port", new URL(message.url).port, AGAIN_FLAG];
    launches.set(place.group, launchOf({ ...group, words }, config));
    listening?.(message);
    leader?.resolve();
  }

  /** What is asked of all each of them hears: the first speaks for those who have yet to. */
  function follow(place: Place, order: WorkerOrder): void {
    if (isDraining) return;
    isDraining = order === "drain-all";
    if (isDraining) {
      voice.ordered(order);
      supervisor.drain();
    } else pool.ordered({ ...place, order });
  }

  const supervisor = createSupervisor(
    {
      frontier,
      clock,
      log,
      findRssMb,
      keepTries: (tries) => keepTries(trawl, tries),
      events: { ...pool, finished: voice.finished },
      startChild: (place, now) =>
        startChild(launches.get(place.group) as Launch, {
          now,
          onMessage: (message) => onMessage(place, message),
          onLine: (text) => line(place, text),
        }),
    },
    {
      outlasting: outlasting(groups),
      // Whose port is taken may be on a broker of somebody else: nothing of that is leased before it is known.
      ...(leader === undefined ? {} : { led: leader.promise }),
      places: groups.flatMap(({ name, processes }) => placesOf(name, processes)),
      graceMs: config.graceMs,
      timeLimitMs: config.timeLimitMs,
      maxMemoryMb: config.maxMemoryPerChildMb,
      stuckMs: Math.max(STUCK_LEAST_MS, (config.leaseMs * 2) / 3),
    },
  );
  return supervisor;
}

/** Jobs that keep no pages keep no tries either. */
async function keepTries({ frontier, store }: Trawl, tries: readonly TryWrite[]): Promise<void> {
  const jobs = await Promise.all([...new Set(tries.map(({ jobId }) => jobId))].map((id) => frontier.findJob(id)));
  const keeping = new Set(jobs.flatMap((job) => ((job?.spec as JobSpec | undefined)?.keep.pages ? [job?.id] : [])));
  const kept = tries.filter(({ jobId }) => keeping.has(jobId));
  if (kept.length > 0) await store.write([], kept);
}

function placesOf(group: string | undefined, processes: number): Place[] {
  return Array.from({ length: processes }, (_, index) => ({ nth: index + 1, group }));
}

function outlasting(groups: readonly PoolGroup[]): ReadonlySet<PoolGroup["name"]> {
  return new Set(groups.filter(({ outlasts }) => outlasts).map(({ name }) => name));
}

/** This program again; V8 gives up before the machine's memory does. */
function launchOf({ words, outlasts }: Pick<PoolGroup, "words" | "outlasts">, { maxMemoryPerChildMb }: Config): Launch {
  const [, script = ""] = process.argv;
  // V8 counts in mebibytes.
  const heapMost = Math.floor((maxMemoryPerChildMb * MB_BYTES) / 2 ** 20);
  const heap = !outlasts && Number.isFinite(heapMost) ? [`--max-old-space-size=${heapMost}`] : [];
  return { script, args: [...words, CHILD_FLAG], execArgs: [...process.execArgv, ...heap] };
}

/** What children say to people, said once: all that wait for a paused job tell of it. */
function passOn(voice: Voices["voice"]): (message: ChildMessage) => void {
  let isHeldUpTold = false;
  return (message) => {
    if (message.kind === "finished") voice.finished(message.jobId);
    if (message.kind !== "heldUp" || isHeldUpTold) return;
    isHeldUpTold = true;
    voice.heldUp(message.jobIds);
  };
}

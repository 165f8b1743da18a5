/** Supervises worker processes until they are stopped, or until nothing is left to do. */
import type { Config } from "../../config/schema.ts";
import { thisProcess } from "../../runtime/process-id.ts";
import { findRssMb } from "../../runtime/process-memory.ts";
import { type Launch, startChild } from "../../worker/pool/child-process.ts";
import type { ChildMessage } from "../../worker/pool/messages.ts";
import { createSupervisor, type Supervisor } from "../../worker/pool/supervisor.ts";
import type { Session } from "../session.ts";
import type { Stops } from "../stops.ts";
import { createDisplay, NO_DISPLAY } from "./display.ts";
import type { PoolVoice } from "./pool-voice.ts";
import type { Voice, WorkerEnd } from "./voice.ts";

type PoolRun = { queues: readonly string[]; drain: boolean; quiet: boolean };
type Voices = { voice: Voice; pool: PoolVoice };

/**
 * Leases are renewed three times in their time: after two thirds of it without, the first is about to end. However short
 * they are, a busy machine may keep a process from its turn for a while.
 */
const STUCK_LEAST_MS = 10_000;

/** The flag by which a process knows that it is a child of a supervisor. */
export const CHILD_FLAG = "--pool-child";

export async function runPool(session: Session, stops: Stops, run: PoolRun, voices: Voices): Promise<WorkerEnd> {
  const { trawl, screen } = session;
  const { queues, drain } = run;
  const startedAt = trawl.clock.now();
  const supervisor = newSupervisor(session, voices);
  const stopped = stops.once(() => {
    voices.voice.stopping();
    void supervisor.stop();
  });
  const killed = stops.atOnce(supervisor.killAll);
  const display = screen.isLive && !run.quiet ? createDisplay(supervisor, trawl.clock, voices.voice) : NO_DISPLAY;
  voices.voice.started({ worker: thisProcess(), queues, drain });
  supervisor.start();
  display.start();
  await supervisor.ended;
  await display.stop();
  stopped.forget();
  killed.forget();
  return { worker: thisProcess(), queues, ...supervisor.tally(), seconds: (trawl.clock.now() - startedAt) / 1000 };
}

function newSupervisor({ trawl, config, screen }: Session, { voice, pool }: Voices): Supervisor {
  const { frontier, clock, log } = trawl;
  const launch = launchOf(config);
  const onMessage = passOn(voice);
  const onLine = (line: string) => screen.err(`${line}\n`);
  return createSupervisor(
    {
      frontier,
      clock,
      log,
      findRssMb,
      events: { ...pool, finished: voice.finished },
      startChild: (_place, now) => startChild(launch, { now, onMessage, onLine }),
    },
    {
      places: Array.from({ length: config.processes }, (_, index) => ({ nth: index + 1, group: undefined })),
      graceMs: config.graceMs,
      timeLimitMs: config.timeLimitMs,
      maxMemoryMb: config.maxMemoryPerChildMb,
      stuckMs: Math.max(STUCK_LEAST_MS, (config.leaseMs * 2) / 3),
    },
  );
}

/** This program with the same words; V8 gives up before the machine's memory does. */
function launchOf({ maxMemoryPerChildMb }: Config): Launch {
  const [, script = "", ...args] = process.argv;
  const heap = Number.isFinite(maxMemoryPerChildMb) ? [`--max-old-space-size=${maxMemoryPerChildMb}`] : [];
  return { script, args: [...args, CHILD_FLAG], execArgs: [...process.execArgv, ...heap] };
}

/** What children say to people, said once: all that wait for a paused job tell of it. */
function passOn(voice: Voice): (message: ChildMessage) => void {
  let isHeldUpTold = false;
  return (message) => {
    if (message.kind === "finished") voice.finished(message.jobId);
    if (message.kind !== "heldUp" || isHeldUpTold) return;
    isHeldUpTold = true;
    voice.heldUp(message.jobIds);
  };
}

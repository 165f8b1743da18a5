/** `trawl worker`: fetch what is submitted, until stopped. */
import { type Command, Option } from "commander";
import type { Config } from "../../config/schema.ts";
import { ERRORS, isTrawlError, TrawlError } from "../../errors.ts";
import { UNWATCHED } from "../../worker/task-watch.ts";
import { queueNames, secondsOrDuration, wholeNumber } from "../flags.ts";
import { inSession, type PlaceFlags, type Session, withPlaces } from "../session.ts";
import type { Stops } from "../stops.ts";
import { createDisplay, NO_DISPLAY } from "../worker/display.ts";
import { createPoolVoice } from "../worker/pool-voice.ts";
import { runChild } from "../worker/run-child.ts";
import { CHILD_FLAG, runPool } from "../worker/run-pool.ts";
import { runWorker } from "../worker/run-worker.ts";
import { linkToSupervisor } from "../worker/supervisor-link.ts";
import { createVoice, type Voice, type WorkerEnd } from "../worker/voice.ts";

type Flags = PlaceFlags & {
  queues: string[];
  concurrency?: number;
  processes?: number;
  pool?: string;
  maxTasksPerChild?: number;
  maxMemoryPerChild?: number;
  timeLimit?: string;
  softTimeLimit?: string;
  userAgent?: string;
  drain?: boolean;
  quiet?: boolean;
  poolChild?: boolean;
};

const EXAMPLES = `
Examples:
  trawl worker
  trawl worker --queues high_priority,fetch -c 64
  TRAWL_BROKER=redis://127.0.0.1:6379 trawl worker --processes 4
  trawl worker --processes 2 --time-limit 120 --max-memory-per-child 512
  trawl worker --drain          work off what is there, then end

Any number of workers may share a broker: start one per core, or one with a
process per core. With --processes or a limit it supervises its processes:
one that crashes, hangs or has done its share is replaced, and what it had in
hand goes back at once. Ctrl-C or SIGTERM lets running tasks finish, hands the
rest back and ends with 0; a second one ends at once with 130.
Exit codes: 0 stopped or drained, 2 usage, 3 broker or store lost.`;

export function addWorker(program: Command, stops: Stops): void {
  withPlaces(program.command("worker"))
    .description("fetch what is submitted to some queues, until stopped")
    .option("--queues <names>", "which queues to serve, with commas between", queueNames("--queues"), ["fetch"])
    .option("-c, --concurrency <n>", "tasks under way at once (default 32)", wholeNumber("--concurrency", 1))
    .option("--processes <n>", "work with so many processes (default 1)", wholeNumber("--processes", 1))
    .option("--max-tasks-per-child <n>", "replace a process after n tasks", wholeNumber("--max-tasks-per-child", 1))
    .option("--max-memory-per-child <MB>", "replace one that is larger", wholeNumber("--max-memory-per-child", 128))
    .option("--time-limit <time>", "kill one stuck in a task (seconds, or 2m)", secondsOrDuration)
    .option("--soft-time-limit <time>", "end tasks that take longer (seconds, or 2m)", secondsOrDuration)
    .option("--pool <kind>", "solo: no processes but this one (default auto)")
    .option("--user-agent <text>", "how to introduce ourselves; name a way to reach you")
    .option("--drain", "end when nothing waits on the queues and nothing is under way")
    .option("--quiet", "say nothing but errors")
    .addOption(new Option(CHILD_FLAG).hideHelp())
    .addHelpText("after", EXAMPLES)
    .action((flags: Flags) => (flags.poolChild === true ? workForSupervisor(flags, stops) : work(flags, stops)));
}

async function work(flags: Flags, stops: Stops): Promise<void> {
  await inSession({ flags, settings: settingsOf(flags), isPatient: true }, async (session) => {
    const { screen, config } = session;
    const voice = createVoice(flags.quiet === true ? muted(screen) : screen, config, flags.json === true);
    const run = isSupervised(config) ? workInPool : workHere;
    const end = await run(session, stops, flags, voice);
    voice.stopped(end);
    if (flags.json === true)
      await screen.out(`${JSON.stringify({ ...end, seconds: Number(end.seconds.toFixed(3)) })}\n`);
  });
}

function workHere(session: Session, stops: Stops, flags: Flags, voice: Voice): Promise<WorkerEnd> {
  const { trawl, screen } = session;
  const isShown = screen.isLive && flags.quiet !== true;
  const run = {
    queues: flags.queues,
    drain: flags.drain === true,
    watch: UNWATCHED,
    attend: (worker: Parameters<typeof createDisplay>[0]) =>
      isShown ? createDisplay(worker, trawl.clock, voice) : NO_DISPLAY,
  };
  return runWorker(session, stops, run, voice);
}

function workInPool(session: Session, stops: Stops, flags: Flags, voice: Voice): Promise<WorkerEnd> {
  const quiet = flags.quiet === true;
  const { maxMemoryPerChildMb } = session.config;
  const spoken = { isJson: flags.json === true, quiet, maxMemoryMb: maxMemoryPerChildMb };
  const pool = createPoolVoice(session.screen, spoken);
  return runPool(session, stops, { queues: flags.queues, drain: flags.drain === true, quiet }, { voice, pool });
}

/** As a process of `workInPool`. */
async function workForSupervisor(flags: Flags, stops: Stops): Promise<void> {
  const link = linkToSupervisor(stops);
  const run = { queues: flags.queues, drain: flags.drain === true };
  try {
    const opening = { flags, settings: settingsOf(flags), isPatient: true };
    const tally = await inSession(opening, (session) => runChild(session, stops, run, link));
    await link.close({ kind: "over", tally });
  } catch (error) {
    // The supervisor tells of what keeps everybody from working, and ends as it says.
    if (!isTrawlError(error) || error.exitCode === ERRORS.INTERNAL.exit) throw error;
    await link.close({ kind: "failed", failure: { code: error.code, message: error.message } });
    process.exitCode = error.exitCode;
  } finally {
    await link.close(undefined);
  }
}

function settingsOf(flags: Flags): Record<string, unknown> {
  return {
    concurrency: flags.concurrency,
    userAgent: flags.userAgent,
    processes: flags.processes,
    pool: flags.pool,
    maxTasksPerChild: flags.maxTasksPerChild,
    maxMemoryPerChildMb: flags.maxMemoryPerChild,
    timeLimitMs: flags.timeLimit,
    softTimeLimitMs: flags.softTimeLimit,
  };
}

/** A single process without limits needs nobody to look after it but whoever started it. */
function isSupervised({ pool, processes, ...config }: Config): boolean {
  const limits = [config.maxTasksPerChild, config.maxMemoryPerChildMb, config.timeLimitMs];
  if (pool === "auto") return processes > 1 || limits.some(Number.isFinite);
  if (processes === 1) return false;
  throw new TrawlError("BAD_CONFIG", {
    op: "cli.worker",
    message: `pool solo (TRAWL_POOL) is one process, not ${processes}; leave out --pool, or --processes`,
    detail: { pool, processes },
  });
}

function muted<S extends { err(text: string): void }>(screen: S): S {
  return { ...screen, err: () => {} };
}

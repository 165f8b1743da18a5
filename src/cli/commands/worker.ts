/** `trawl worker`: fetch what is submitted, until stopped. */
import { type Command, Option } from "commander";
import type { Config } from "../../config/schema.ts";
import { DELIVER_QUEUE } from "../../domain/webhook.ts";
import { TrawlError } from "../../errors.ts";
import { getChromium } from "../../fetch/browser/find-chromium.ts";
import { exposeBuild } from "../../runtime/build-metrics.ts";
import { expose } from "../../runtime/metrics.ts";
import { thisProcess } from "../../runtime/process-id.ts";
import { VERSION } from "../../version.ts";
import type { ChildMessage } from "../../worker/pool/messages.ts";
import { UNWATCHED } from "../../worker/task-watch.ts";
import type { Worker } from "../../worker/worker.ts";
import { CHILD_METRICS } from "../../worker/worker-metrics.ts";
import { queueNames, wholeNumber } from "../flags.ts";
import { linesTo } from "../log-lines.ts";
import { inSession, type PlaceFlags, type Session, withPlaces } from "../session.ts";
import type { Stops } from "../stops.ts";
import { asChild } from "../worker/as-child.ts";
import { createDisplay, NO_DISPLAY } from "../worker/display.ts";
import { withMetrics } from "../worker/metrics-listener.ts";
import { createPoolVoice } from "../worker/pool-voice.ts";
import { type ProcessFlags, settingsOf, withProcessFlags } from "../worker/process-flags.ts";
import { runChild } from "../worker/run-child.ts";
import { CHILD_FLAG, runPool } from "../worker/run-pool.ts";
import { runWorker } from "../worker/run-worker.ts";
import { createVoice, type Voice, type WorkerEnd } from "../worker/voice.ts";

type Flags = PlaceFlags &
  ProcessFlags & {
    queues: string[];
    processes?: number;
    pool?: string;
    drain?: boolean;
    quiet?: boolean;
    poolChild?: boolean;
    crawl?: string;
  };

const EXAMPLES = `
Examples:
  trawl worker
  trawl worker --queues high_priority,fetch -c 64
  trawl worker --queues fetch,render      with a browser, for jobs that render
  TRAWL_BROKER=redis://127.0.0.1:6379 trawl worker --processes 4
  trawl worker --processes 2 --time-limit 120 --max-memory-per-child 512
  trawl worker --drain          work off what is there, then end

Any number of workers may share a broker: start one per core, or one with a
process per core. The work is done by processes that it supervises: one that
crashes, hangs or has done its share is replaced, and what it had in hand goes
back at once. A page that hangs its handler past --time-limit, or kills three
processes, is a dead letter (trawl dead). Events of webhooks are tasks of the
queue deliver: with --queues, name it on some worker. Ctrl-C or SIGTERM lets
running tasks finish, hands the rest back and ends with 0; a second one ends at
once with 130.
Exit codes: 0 stopped or drained, 2 usage, 3 broker or store lost.`;

export function addWorker(program: Command, stops: Stops): void {
  withProcessFlags(
    withPlaces(program.command("worker"))
      .description("fetch what is submitted to some queues, until stopped")
      .option("--queues <names>", "which queues to serve, with commas between", queueNames("--queues"), [
        "fetch",
        DELIVER_QUEUE,
      ]),
  )
    .option("--processes <n>", "work with so many processes (default 1)", wholeNumber("--processes", 1))
    .option("--pool <kind>", "solo: no process but this one, one task at a time unless -c says more (default auto)")
    .option("--drain", "end when nothing waits on the queues and nothing is under way")
    .option("--quiet", "say nothing but errors")
    .addOption(new Option(CHILD_FLAG).hideHelp())
    .addOption(new Option("--crawl <job>").hideHelp())
    .addHelpText("after", EXAMPLES)
    .action((flags: Flags) => (flags.poolChild === true ? workForSupervisor(flags, stops) : work(flags, stops)));
}

async function work(flags: Flags, stops: Stops): Promise<void> {
  stops.mayEndEarly();
  await inSession({ flags, settings: allSettings(flags), isPatient: true }, async (session) => {
    const { screen, config } = session;
    // Said once and at once, and not by one process after another.
    if (flags.queues.includes("render")) getChromium(config.chromium);
    const voice = createVoice(flags.quiet === true ? muted(screen) : screen, config, flags.json === true);
    const run = isSupervised(config) ? workInPool : workHere;
    const end = await run(session, stops, flags, voice);
    voice.stopped(end);
    if (flags.json === true)
      await screen.out(`${JSON.stringify({ ...end, seconds: Number(end.seconds.toFixed(3)) })}\n`);
  });
}

function workHere(session: Session, stops: Stops, flags: Flags, voice: Voice): Promise<WorkerEnd> {
  const { trawl, screen, config } = session;
  const isShown = screen.isLive && flags.quiet !== true;
  const held: { worker?: Worker } = {};
  const run = {
    queues: flags.queues,
    drain: flags.drain === true,
    watch: UNWATCHED,
    attend(worker: Worker) {
      held.worker = worker;
      return isShown ? createDisplay(worker, trawl.clock, voice) : NO_DISPLAY;
    },
  };
  const text = () => expose(CHILD_METRICS, held.worker?.metrics() ?? {}) + exposeBuild(VERSION);
  return withMetrics({ config, voice, text }, () => runWorker(session, stops, run, voice));
}

async function workInPool(session: Session, stops: Stops, flags: Flags, voice: Voice): Promise<WorkerEnd> {
  const { screen, config } = session;
  const { queues, quiet = false, json: isJson = false, drain = false } = flags;
  const pool = createPoolVoice(screen, { isJson, quiet, maxMemoryMb: config.maxMemoryPerChildMb });
  const line = linesTo(screen, isJson);
  const worker = thisProcess();
  voice.started({ worker, queues, drain });
  // The same words again: what this process was told, each of them is.
  const groups = [{ name: undefined, processes: config.processes, words: process.argv.slice(2) }];
  return { worker, queues, ...(await runPool(session, stops, { groups, quiet }, { voice, pool, line })) };
}

/** As a process of `workInPool`, of `trawl up`, or of a crawl. */
function workForSupervisor(flags: Flags, stops: Stops): Promise<void> {
  const run = { queues: flags.queues, drain: flags.drain === true, crawl: flags.crawl };
  const opening = { flags, settings: allSettings(flags), isPatient: true };
  return asChild(
    stops,
    (link) => inSession(opening, (session) => runChild(session, stops, run, link)),
    (error) => lastWords(error, flags),
  );
}

function lastWords({ code, message }: TrawlError, { drain, crawl }: Flags): ChildMessage {
  // Others may do without a browser, and the next one may find it mended: but who only waits for the end waits in vain.
  const isPatient = drain !== true && crawl === undefined;
  if (code === "BROWSER_UNAVAILABLE" && isPatient) return { kind: "lacking", lack: { code, message } };
  return { kind: "failed", failure: { code, message } };
}

function allSettings(flags: Flags): Record<string, unknown> {
  return { ...settingsOf(flags), processes: flags.processes, pool: flags.pool };
}

/** Even one process: a handler that never lets go of it would leave nobody to hear Ctrl-C. */
function isSupervised({ pool, processes }: Config): boolean {
  if (pool === "auto") return true;
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

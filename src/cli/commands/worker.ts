/** `trawl worker`: runs the tasks of one or more queues until it is stopped. */
import { type Command, Option } from "commander";
import type { Config } from "../../config/schema.ts";
import { DELIVER_QUEUE } from "../../domain/webhook.ts";
import { TrawlError } from "../../errors.ts";
import { getChromium } from "../../fetch/browser/find-chromium.ts";
import { exposeBuild } from "../../runtime/build-metrics.ts";
import { expose } from "../../runtime/metrics.ts";
import { thisProcess } from "../../runtime/process-identity.ts";
import { VERSION } from "../../version.ts";
import { CHILD_METRICS } from "../../worker/observe/worker-metrics.ts";
import type { ChildMessage } from "../../worker/pool/messages.ts";
import type { Worker } from "../../worker/worker.ts";
import { queueNames, refuseCrawlQueues, wholeNumber } from "../flags.ts";
import { linesTo } from "../log-lines.ts";
import { type CommandSession, type ConnectionFlags, inSession, withConnectionFlags } from "../session.ts";
import type { Shutdown } from "../shutdown.ts";
import { asChild } from "../worker/as-child.ts";
import { createDisplay, NO_DISPLAY } from "../worker/display.ts";
import { withMetrics } from "../worker/metrics-listener.ts";
import { createPoolOutput } from "../worker/pool-output.ts";
import { type ProcessFlags, processSettings, withProcessFlags } from "../worker/process-flags.ts";
import { runChild } from "../worker/run-child.ts";
import { CHILD_FLAG, runPool } from "../worker/run-pool.ts";
import { runWorker } from "../worker/run-worker.ts";
import { servedQueues } from "../worker/served-queues.ts";
import { createWorkerOutput, type WorkerEnd, type WorkerOutput } from "../worker/worker-output.ts";

type Flags = ConnectionFlags &
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
  trawl worker --queues fetch,render      also render pages in a browser
  TRAWL_BROKER=redis://127.0.0.1:6379 trawl worker --processes 4
  trawl worker --processes 2 --time-limit 120 --max-memory-per-child 512
  trawl worker --drain          run all queued tasks, then exit

Any number of workers can share a broker: start one worker per core, or one
worker with --processes set to the number of cores. The worker supervises the
processes that run the tasks. It replaces a process that crashes, hangs or
reaches a limit, and returns the tasks of that process to the queue at once. A
page fails (trawl dead) if its handler exceeds --time-limit, or if it crashes
three processes. Webhook events are tasks of the queue deliver: if you set
--queues, at least one worker must serve deliver.
After Ctrl-C, SIGTERM or SIGHUP, the worker waits up to TRAWL_GRACE for running
tasks, returns unfinished tasks to the queue and exits with 0. After a second
signal, it exits at once with 130.
Exit codes: 0 stopped or drained, 2 invalid usage or metrics port in use,
3 broker, store or browser unavailable, 130 stopped by a second signal.`;

export function addWorker(program: Command, shutdown: Shutdown): void {
  withProcessFlags(
    withConnectionFlags(program.command("worker"))
      .description("run the tasks of one or more queues until stopped")
      .option(
        "--queues <names>",
        "queues to serve, comma-separated; the tasks of the queue deliver send webhook events",
        queueNames("--queues"),
        ["fetch", DELIVER_QUEUE],
      ),
  )
    .option("--processes <n>", "number of processes (default 1)", wholeNumber("--processes", 1))
    .option(
      "--pool <kind>",
      "auto: run tasks in supervised child processes; solo: run them in this process, one at a time unless -c is set (default auto)",
    )
    .option("--drain", "exit when no task of the queues is waiting or running; tasks of paused jobs count as waiting")
    .option("--quiet", "print errors only")
    .addOption(new Option(CHILD_FLAG).hideHelp())
    .addOption(new Option("--crawl <job>").hideHelp())
    .addHelpText("after", EXAMPLES)
    .action((flags: Flags) => (flags.poolChild === true ? workForSupervisor(flags, shutdown) : work(flags, shutdown)));
}

async function work(flags: Flags, shutdown: Shutdown): Promise<void> {
  refuseCrawlQueues(flags.queues);
  shutdown.exitZeroWhileStarting();
  await inSession({ flags, settings: allSettings(flags), waitsForBroker: true }, async (session) => {
    const { screen, config } = session;
    // Checked here so that a missing browser is reported once, before any process starts.
    if (flags.queues.includes("render")) getChromium(config.chromium);
    const output = createWorkerOutput(flags.quiet === true ? muted(screen) : screen, config, flags.json === true);
    const run = isSupervised(config) ? workInPool : workHere;
    const end = await run(session, shutdown, flags, output);
    output.stopped(end);
    if (flags.json === true)
      await screen.out(`${JSON.stringify({ ...end, seconds: Number(end.seconds.toFixed(3)) })}\n`);
  });
}

function workHere(session: CommandSession, shutdown: Shutdown, flags: Flags, output: WorkerOutput): Promise<WorkerEnd> {
  const { trawl, screen, config } = session;
  const isShown = screen.isLive && flags.quiet !== true;
  const current: { worker?: Worker } = {};
  const run = {
    queues: flags.queues,
    drain: flags.drain === true,
    createMonitor(worker: Worker) {
      current.worker = worker;
      return isShown ? createDisplay(worker, trawl.clock, output) : NO_DISPLAY;
    },
  };
  const text = () => expose(CHILD_METRICS, current.worker?.metrics() ?? {}) + exposeBuild(VERSION);
  return withMetrics({ config, output, text }, () => runWorker(session, shutdown, run, output));
}

async function workInPool(
  session: CommandSession,
  shutdown: Shutdown,
  flags: Flags,
  output: WorkerOutput,
): Promise<WorkerEnd> {
  const { screen, config } = session;
  const { quiet = false, json: isJson = false, drain = false } = flags;
  const queues = servedQueues(flags.queues, config);
  const pool = createPoolOutput(screen, { isJson, quiet, maxMemoryMb: config.maxMemoryPerChildMb });
  const line = linesTo(screen, isJson);
  const worker = thisProcess();
  output.started({ worker, queues, drain });
  // Each child process gets the arguments of this process.
  const groups = [{ name: undefined, processes: config.processes, args: process.argv.slice(2) }];
  return { worker, queues, ...(await runPool(session, shutdown, { groups, quiet }, { output, pool, line })) };
}

/** Runs as a child process of `workInPool`, `trawl up` or a crawl. */
function workForSupervisor(flags: Flags, shutdown: Shutdown): Promise<void> {
  const run = { queues: flags.queues, drain: flags.drain === true, crawl: flags.crawl };
  const opening = { flags, settings: allSettings(flags), waitsForBroker: true };
  return asChild(
    shutdown,
    (link) => inSession(opening, (session) => runChild(session, shutdown, run, link)),
    (error) => failureMessage(error, flags),
  );
}

function failureMessage({ code, message }: TrawlError, { drain, crawl }: Flags): ChildMessage {
  // A missing browser may be installed later, and other processes work without one, so the supervisor retries. With
  // --drain or in a crawl it would retry forever, so a missing browser is a failure there.
  const mayRetry = drain !== true && crawl === undefined;
  if (code === "BROWSER_UNAVAILABLE" && mayRetry) return { kind: "unavailable", problem: { code, message } };
  return { kind: "failed", failure: { code, message } };
}

function allSettings(flags: Flags): Record<string, unknown> {
  return { ...processSettings(flags), processes: flags.processes, pool: flags.pool };
}

/**
 * Whether a supervisor starts the workers as child processes. This is the default even for one process: a handler that
 * blocks the event loop must not block the process that handles Ctrl-C.
 */
function isSupervised({ pool, processes }: Config): boolean {
  if (pool === "auto") return true;
  if (processes === 1) return false;
  throw new TrawlError("BAD_CONFIG", {
    op: "cli.worker",
    message: `--pool solo (TRAWL_POOL) runs in one process, but --processes is ${processes}; remove one of the two`,
    detail: { pool, processes },
  });
}

function muted<S extends { err(text: string): void }>(screen: S): S {
  return { ...screen, err: () => {} };
}

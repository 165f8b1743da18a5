/** The messages of a worker on stderr, as text or as JSON lines. */
import { maskedUrl } from "../../config/connection-url.ts";
import type { Config } from "../../config/schema.ts";
import { formatDuration } from "../../domain/duration.ts";
import { formatCount, plural } from "../../domain/format-number.ts";
import { deliveryOfJob } from "../../domain/webhook.ts";
import { toOperatorCommand, type WorkerCommand } from "../../frontier/frontier.ts";
import { createLog } from "../../runtime/log.ts";
import { showable } from "../../runtime/showable.ts";
import type { ProcessStatus } from "../../worker/pool/supervisor.ts";
import type { WorkerTally } from "../../worker/worker.ts";
import { type Screen, shorten, table } from "../terminal.ts";

type WorkerStart = { worker: string; queues: readonly string[]; drain: boolean };
/** `processes` is empty if this process runs the tasks itself. */
type WorkerSample = WorkerTally & { busy: number; perSecond: number; processes: readonly ProcessStatus[] };
export type WorkerEnd = WorkerTally & { worker: string; queues: readonly string[]; seconds: number };

export type WorkerOutput = {
  started(start: WorkerStart): void;
  /** Metrics are served at this URL. */
  measured(url: string): void;
  finished(jobId: string): void;
  progress(sample: WorkerSample): void;
  /** With --drain: only paused jobs are left. */
  heldUp(jobIds: readonly string[]): void;
  /** With --drain: the queues are empty. */
  drained(): void;
  /** An operator sent a command. */
  commandReceived(command: WorkerCommand): void;
  stopping(): void;
  stopped(end: WorkerTally & { seconds: number }): void;
};

export function createWorkerOutput(screen: Screen, config: Config, isJson: boolean): WorkerOutput {
  const output = isJson ? jsonOutput(screen, config) : textOutput(screen, config);
  // The end of a webhook delivery job is not printed.
  return { ...output, finished: (jobId) => deliveryOfJob(jobId) === undefined && output.finished(jobId) };
}

function jsonOutput(screen: Screen, { processes, concurrency, broker, store }: Config): WorkerOutput {
  // The user asked for these lines with --json, so --log-level does not apply.
  const log = createLog("info", screen.err);
  return {
    started: (start) =>
      log.info("worker.started", {
        ...start,
        processes,
        concurrency,
        broker: maskedUrl(broker),
        store: maskedUrl(store),
      }),
    measured: (url) => log.info("worker.metrics", { url }),
    finished: (jobId) => log.info("worker.job_finished", { jobId }),
    progress: () => {},
    heldUp: (jobIds) => log.info("worker.held_up", { paused: jobIds }),
    drained: () => {},
    commandReceived: (command) => log.info("worker.command_received", { command }),
    stopping: () => log.info("worker.stopping"),
    stopped: (end) => log.info("worker.stopped", end),
  };
}

const NAMED = 3;

function concurrencyText({ processes, concurrency }: Config): string {
  const tasks = plural(concurrency, "task");
  return processes === 1 ? tasks : `${tasks} in each of ${plural(processes, "process", "processes")}`;
}

/** Variants for the progress line, the longest first: each process with tasks and memory, their sum, nothing. */
function processVariants(processes: readonly ProcessStatus[]): string[][] {
  const size = (rssMb: number) => `${formatCount(Math.round(rssMb))} MB`;
  const sumMb = size(processes.reduce((sum, { rssMb }) => sum + rssMb, 0));
  if (processes.length === 0) return [[]];
  if (processes.length === 1) return [[sumMb], []];
  const each = processes.map(({ nth, group = "", busy, rssMb }) => `${group}#${nth}: ${busy}, ${size(rssMb)}`);
  return [each, [`${plural(processes.length, "process", "processes")}, ${sumMb}`], []];
}

function textOutput(screen: Screen, config: Config): WorkerOutput {
  const { paint } = screen;
  const grace = formatDuration(config.graceMs);
  return {
    started({ worker, queues, drain }) {
      const rows = [
        ["  queues", queues.join(", ")],
        ["  concurrency", concurrencyText(config)],
        ["  broker", maskedUrl(config.broker)],
        ["  store", maskedUrl(config.store)],
        ["  stop", `${drain ? "when the queues are empty, or with " : ""}Ctrl-C; running tasks get ${grace} to finish`],
      ];
      screen.err(`${paint.bold("worker")} ${showable(worker)}\n${table(rows)}`);
    },
    measured: (url) => screen.err(`metrics at ${url}\n`),
    finished: (jobId) =>
      screen.err(`${showable(`job ${jobId} has ended; show it with: ${screen.command} job ${jobId}`)}\n`),
    progress({ busy, tasks, records, perSecond, processes }) {
      const sums = [`${formatCount(busy)} running`, `${perSecond.toFixed(1)}/s`, plural(tasks, "task")];
      const width = screen.columns() - 1;
      const lines = processVariants(processes).map((parts) =>
        [...sums, plural(records, "record"), ...parts].join(" · "),
      );
      const line = lines.find(({ length }) => length <= width) ?? shorten(lines.at(-1) ?? "", width);
      screen.live(`${paint.dim(line)}\n`);
    },
    heldUp(jobIds) {
      const [first = ""] = jobIds;
      const jobs = jobIds.length === 1 ? "one paused job is" : "paused jobs are";
      const names = jobIds.length > NAMED ? [...jobIds.slice(0, NAMED), "…"] : jobIds;
      const message = `only ${jobs} left: ${names.join(", ")}; resume with: ${screen.command} resume ${first}`;
      screen.err(`${showable(message)}\n`);
    },
    drained: () => {},
    commandReceived: (command) =>
      screen.err(
        `${toOperatorCommand(command)} requested by an operator: the worker finishes its running tasks and leases no more\n`,
      ),
    stopping: () => screen.err("\nstopping: waiting for running tasks (press Ctrl-C again to stop now)\n"),
    stopped({ tasks, pages, records, seconds }) {
      const results = [plural(tasks, "task"), plural(pages, "page"), plural(records, "record")].join(", ");
      screen.err(`stopped after ${formatDuration(seconds * 1000)}: ${results}\n`);
    },
  };
}

/** What a worker tells of itself on stderr: words for a person, or JSON lines for a machine. */

import { shownPlace } from "../../config/place.ts";
import type { Config } from "../../config/schema.ts";
import { formatCount, plural } from "../../domain/counted.ts";
import { formatDuration } from "../../domain/duration.ts";
import { toldJobId } from "../../domain/webhook.ts";
import { shownOrder, type WorkerOrder } from "../../frontier/frontier.ts";
import { createLog } from "../../runtime/log.ts";
import { showable } from "../../runtime/showable.ts";
import type { ProcessStatus } from "../../worker/pool/supervisor.ts";
import type { WorkerTally } from "../../worker/worker.ts";
import { type Screen, shorten, table } from "../terminal.ts";

export type WorkerStart = { worker: string; queues: readonly string[]; drain: boolean };
/** `processes`: of a supervisor; none where this process does the work itself. */
export type WorkerSample = WorkerTally & { busy: number; perSecond: number; processes: readonly ProcessStatus[] };
export type WorkerEnd = WorkerTally & { worker: string; queues: readonly string[]; seconds: number };

export type Voice = {
  started(start: WorkerStart): void;
  /** Where its metrics are to be had. */
  measured(url: string): void;
  finished(jobId: string): void;
  progress(sample: WorkerSample): void;
  /** Draining, it waits for jobs that are paused. */
  heldUp(jobIds: readonly string[]): void;
  /** Draining, it has found that nothing is left. */
  drained(): void;
  /** An operator asks something of it. */
  ordered(order: WorkerOrder): void;
  stopping(): void;
  stopped(end: WorkerTally & { seconds: number }): void;
};

export function createVoice(screen: Screen, config: Config, isJson: boolean): Voice {
  const voice = isJson ? jsonVoice(screen, config) : plainVoice(screen, config);
  // That a webhook has nothing more to tell is no news to whoever looks after a worker.
  return { ...voice, finished: (jobId) => toldJobId(jobId) === undefined && voice.finished(jobId) };
}

function jsonVoice(screen: Screen, { processes, concurrency, broker, store }: Config): Voice {
  // These were asked for: the level of the log does not hide them.
  const log = createLog("info", screen.err);
  return {
    started: (start) =>
      log.info("worker.started", {
        ...start,
        processes,
        concurrency,
        broker: shownPlace(broker),
        store: shownPlace(store),
      }),
    measured: (url) => log.info("worker.metrics", { url }),
    finished: (jobId) => log.info("worker.job_finished", { jobId }),
    progress: () => {},
    heldUp: (jobIds) => log.info("worker.held_up", { paused: jobIds }),
    drained: () => {},
    ordered: (order) => log.info("worker.ordered", { order }),
    stopping: () => log.info("worker.stopping"),
    stopped: (end) => log.info("worker.stopped", end),
  };
}

const NAMED = 3;

function atOnce({ processes, concurrency }: Config): string {
  const tasks = plural(concurrency, "task");
  return processes === 1 ? tasks : `${tasks} in each of ${plural(processes, "process", "processes")}`;
}

/** What each has in hand and in memory; then, for a line that this is too long for, their sum; then nothing. */
function processesInWords(processes: readonly ProcessStatus[]): string[][] {
  const size = (rssMb: number) => `${formatCount(Math.round(rssMb))} MB`;
  const sumMb = size(processes.reduce((sum, { rssMb }) => sum + rssMb, 0));
  if (processes.length === 0) return [[]];
  if (processes.length === 1) return [[sumMb], []];
  const each = processes.map(({ nth, group = "", busy, rssMb }) => `${group}#${nth}: ${busy}, ${size(rssMb)}`);
  return [each, [`${plural(processes.length, "process", "processes")}, ${sumMb}`], []];
}

function plainVoice(screen: Screen, config: Config): Voice {
  const { paint } = screen;
  const grace = formatDuration(config.graceMs);
  return {
    started({ worker, queues, drain }) {
      const rows = [
        ["  serves", queues.join(", ")],
        ["  at once", atOnce(config)],
        ["  broker", shownPlace(config.broker)],
        ["  store", shownPlace(config.store)],
        [
          "  stop",
          `${drain ? "by itself when nothing is left, or with " : ""}Ctrl-C: what runs gets ${grace} to finish`,
        ],
      ];
      screen.err(`${paint.bold("worker")} ${showable(worker)}\n${table(rows)}`);
    },
    measured: (url) => screen.err(`metrics at ${url}\n`),
    finished: (jobId) =>
      screen.err(`${showable(`job ${jobId} has ended; look at it with: ${screen.command} job ${jobId}`)}\n`),
    progress({ busy, tasks, records, perSecond, processes }) {
      const sums = [`${formatCount(busy)} running`, `${perSecond.toFixed(1)}/s`, plural(tasks, "task")];
      const width = screen.columns() - 1;
      const lines = processesInWords(processes).map((words) =>
        [...sums, plural(records, "record"), ...words].join(" · "),
      );
      const line = lines.find(({ length }) => length <= width) ?? shorten(lines.at(-1) ?? "", width);
      screen.live(`${paint.dim(line)}\n`);
    },
    heldUp(jobIds) {
      const [first = ""] = jobIds;
      const [are, one] = jobIds.length === 1 ? ["a paused job is", "it"] : ["paused jobs are", "one"];
      const names = jobIds.length > NAMED ? [...jobIds.slice(0, NAMED), "…"] : jobIds;
      const words = `only ${are} left: ${names.join(", ")}; let ${one} go on with: ${screen.command} resume ${first}`;
      screen.err(`${showable(words)}\n`);
    },
    drained: () => {},
    ordered: (order) =>
      screen.err(`an operator has asked to ${shownOrder(order)}: taking no more tasks, ending those under way\n`),
    stopping: () => screen.err("\nstopping: letting running requests finish (again to stop at once)\n"),
    stopped({ tasks, pages, records, seconds }) {
      const brought = [plural(tasks, "task"), plural(pages, "page"), plural(records, "record")].join(", ");
      screen.err(`stopped after ${formatDuration(seconds * 1000)}: ${brought}\n`);
    },
  };
}

/**
 * A worker process, as seen by its supervisor. The supervisor knows the process only from its messages. The process may
 * get stuck or die at any moment. If it dies, the tasks that it last reported count as its running tasks.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { claimKey } from "../../frontier/frontier.ts";
import type { Snapshot } from "../../runtime/metrics.ts";
import type { WorkerTally } from "../worker.ts";
import type { ChildFailure, ChildMessage, SupervisorMessage, TaskUnderWay } from "./messages.ts";

/** How worker processes are started: the same program with other arguments. */
export type Launch = { script: string; args: readonly string[]; execArgs: readonly string[] };

export type HeldTask = TaskUnderWay & {
  beganAt: number;
  /** According to the last message, a handler is reading its page. */
  isReading: boolean;
};

export type ChildExit = {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The process reported a regular end. If a handler calls process.exit(), there is no such report. */
  isClean: boolean;
  /** The process ran out of memory: V8 printed that before the end. */
  isOutOfMemory: boolean;
  /** Set if the process ended for a reason that would stop every other process too. */
  failure: ChildFailure | undefined;
  /** Set if the process ended because something is unavailable now, such as a browser. A later process may succeed. */
  problem: ChildFailure | undefined;
};

export type PoolChild = {
  readonly pid: number;
  /** Undefined until its first message. Until then it holds no tasks. */
  readonly worker: string | undefined;
  readonly startedAt: number;
  readonly lastMessageAt: number;
  readonly tally: WorkerTally;
  readonly tasksEnded: number;
  readonly rssMb: number;
  /** As last reported; undefined if the process reports no metrics. */
  readonly metrics: Snapshot | undefined;
  readonly isDrained: boolean;
  underWay(): readonly HeldTask[];
  /** Resolves when the process retires by itself. */
  retiring: Promise<void>;
  ended: Promise<ChildExit>;
  stop(): void;
  /** Makes it lease no more tasks, and end when its running tasks have ended. */
  retire(): void;
  kill(): void;
};

type Deps = {
  now(): number;
  /** Called for every message. */
  onMessage(message: ChildMessage): void;
  /** Called for every line that the process prints. */
  onLine(line: string): void;
};

export function startChild(launch: Launch, { now, onMessage, onLine }: Deps): PoolChild {
  const forked = fork(launch.script, [...launch.args], {
    execArgv: [...launch.execArgs],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const tasks = new Map<string, HeldTask>();
  const known = { worker: undefined as string | undefined, tasksEnded: 0, rssMb: 0, isDrained: false };
  const last: Pick<ChildExit, "isOutOfMemory" | "failure" | "problem"> & { isOver: boolean } = {
    ...{ isOver: false, isOutOfMemory: false, failure: undefined, problem: undefined },
  };
  let lastMessageAt = now();
  let metrics: Snapshot | undefined;
  let tally: WorkerTally = { tasks: 0, pages: 0, records: 0 };
  let retire = () => {};
  const retiring = new Promise<void>((resolve) => {
    retire = resolve;
  });

  function receive(message: ChildMessage): void {
    lastMessageAt = now();
    switch (message.kind) {
      case "hello":
        known.worker = message.worker;
        break;
      case "tasks":
        for (const task of message.began)
          tasks.set(claimKey(task), { ...task, beganAt: lastMessageAt, isReading: false });
        for (const key of message.reading) markReading(tasks, key);
        for (const key of message.ended) tasks.delete(key);
        known.tasksEnded += message.ended.length;
        ({ tally } = message);
        break;
      case "pulse":
        known.rssMb = message.rssMb;
        metrics = message.metrics;
        break;
      case "over":
        ({ tally } = message);
        last.isOver = true;
        break;
      case "failed":
        last.failure = message.failure;
        break;
      case "unavailable":
        last.problem = message.problem;
        break;
      case "drained":
        known.isDrained = true;
        break;
      case "retiring":
        retire();
        break;
      case "command":
      case "finished":
      case "heldUp":
      case "listening":
        break;
    }
    onMessage(message);
  }

  function readLine(line: string): void {
    if (OUT_OF_MEMORY.test(line)) last.isOutOfMemory = true;
    onLine(line);
  }

  forked.on("error", () => {}); // handled by exitOf; a signal to a dead process does not matter
  forked.on("message", (message) => receive(message as ChildMessage));
  for (const stream of [forked.stdout, forked.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on("line", readLine);
  }
  return {
    pid: forked.pid ?? 0,
    startedAt: now(),
    get worker() {
      return known.worker;
    },
    get lastMessageAt() {
      return lastMessageAt;
    },
    get tally() {
      return tally;
    },
    get tasksEnded() {
      return known.tasksEnded;
    },
    get rssMb() {
      return known.rssMb;
    },
    get metrics() {
      return metrics;
    },
    get isDrained() {
      return known.isDrained;
    },
    underWay: () => [...tasks.values()],
    retiring,
    ended: exitOf(forked).then((exit) => {
      const { isOver, ...reported } = last;
      return { ...exit, ...reported, isClean: isOver && exit.code === 0 };
    }),
    stop: () => send(forked, { kind: "stop" }),
    retire: () => send(forked, { kind: "retire" }),
    kill: () => void forked.kill("SIGKILL"),
  };
}

const OUT_OF_MEMORY = /FATAL ERROR: .*(?:heap|memory)/i;

function markReading(tasks: Map<string, HeldTask>, key: string): void {
  const task = tasks.get(key);
  if (task !== undefined) tasks.set(key, { ...task, isReading: true });
}

/**
 * How long to wait for the end of the output after the exit. A process that the child started may keep the streams
 * open.
 */
const LAST_OUTPUT_MS = 500;

/** The last messages of a process may arrive after its exit. The channel disconnects after the last message. */
async function exitOf(forked: ChildProcess): Promise<Pick<ChildExit, "code" | "signal">> {
  const left = forked.connected ? once(forked, "disconnect") : undefined;
  left?.catch(() => {}); // a process that could not be started has an error, which is handled below
  const closed = once(forked, "close");
  closed.catch(() => {}); // the same
  try {
    const [code, signal] = (await once(forked, "exit")) as [number | null, NodeJS.Signals | null];
    await left;
    await Promise.race([closed, setTimeout(LAST_OUTPUT_MS, undefined, { ref: false })]);
    return { code, signal };
  } catch {
    return { code: null, signal: null }; // it could not be started: not enough memory, or too many processes
  }
}

function send(forked: ChildProcess, message: SupervisorMessage): void {
  if (forked.connected) forked.send(message, () => {});
}

/**
 * One worker process as its supervisor knows it: by what it has said. It may be stuck or gone at any moment; what it was
 * last heard to have in hand is then what it died with.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { claimKey } from "../../frontier/frontier.ts";
import type { Snapshot } from "../../runtime/metrics.ts";
import type { WorkerTally } from "../worker.ts";
import type { ChildFailure, ChildMessage, SupervisorMessage, TaskUnderWay } from "./messages.ts";

/** How worker processes are started: this program again. */
export type Launch = { script: string; args: readonly string[]; execArgs: readonly string[] };

export type HeldTask = TaskUnderWay & {
  beganAt: number;
  /** Its page was with a handler when last heard of. */
  isReading: boolean;
};

export type ChildExit = {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** It ended because it was to: it has said so. A handler that calls process.exit() has not. */
  isClean: boolean;
  /** It had no memory left: V8 has said so with its last words. */
  isOutOfMemory: boolean;
  /** It ended because nobody can work here. */
  failure: ChildFailure | undefined;
  /** It ended because it lacks something: a later one may find it. */
  lack: ChildFailure | undefined;
};

export type PoolChild = {
  readonly pid: number;
  /** Undefined until it has said so: until then it holds nothing. */
  readonly worker: string | undefined;
  readonly startedAt: number;
  readonly heardAt: number;
  readonly tally: WorkerTally;
  readonly tasksEnded: number;
  readonly rssMb: number;
  /** As last told; undefined where it tells none. */
  readonly metrics: Snapshot | undefined;
  readonly isDrained: boolean;
  underWay(): readonly HeldTask[];
  /** Resolves when it takes no more tasks of its own accord; if it never does, never. */
  retiring: Promise<void>;
  ended: Promise<ChildExit>;
  stop(): void;
  /** It is to take no more tasks, and end when those it has are over. */
  retire(): void;
  kill(): void;
};

type Deps = {
  now(): number;
  /** What it says that is not about itself. */
  onMessage(message: ChildMessage): void;
  /** A line it has printed. */
  onLine(line: string): void;
};

export function startChild(launch: Launch, { now, onMessage, onLine }: Deps): PoolChild {
  const forked = fork(launch.script, [...launch.args], {
    execArgv: [...launch.execArgs],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const tasks = new Map<string, HeldTask>();
  const known = { worker: undefined as string | undefined, tasksEnded: 0, rssMb: 0, isDrained: false };
  const last: Pick<ChildExit, "isOutOfMemory" | "failure" | "lack"> & { isOver: boolean } = {
    ...{ isOver: false, isOutOfMemory: false, failure: undefined, lack: undefined },
  };
  let heardAt = now();
  let metrics: Snapshot | undefined;
  let tally: WorkerTally = { tasks: 0, pages: 0, records: 0 };
  let retire = () => {};
  const retiring = new Promise<void>((resolve) => {
    retire = resolve;
  });

  function take(message: ChildMessage): void {
    heardAt = now();
    switch (message.kind) {
      case "hello":
        known.worker = message.worker;
        break;
      case "tasks":
        for (const task of message.began) tasks.set(claimKey(task), { ...task, beganAt: heardAt, isReading: false });
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
      case "lacking":
        last.lack = message.lack;
        break;
      case "drained":
        known.isDrained = true;
        break;
      case "retiring":
        retire();
        break;
      case "ordered":
      case "finished":
      case "heldUp":
      case "listening":
        break;
    }
    onMessage(message);
  }

  function hear(line: string): void {
    if (OUT_OF_MEMORY.test(line)) last.isOutOfMemory = true;
    onLine(line);
  }

  forked.on("error", () => {}); // heard by exitOf; a signal that came too late is nothing
  forked.on("message", (message) => take(message as ChildMessage));
  for (const stream of [forked.stdout, forked.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on("line", hear);
  }
  return {
    pid: forked.pid ?? 0,
    startedAt: now(),
    get worker() {
      return known.worker;
    },
    get heardAt() {
      return heardAt;
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
      const { isOver, ...words } = last;
      return { ...exit, ...words, isClean: isOver && exit.code === 0 };
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

/** Its last words are there when its streams are closed, which a process of its own may keep from happening. */
const LAST_WORDS_MS = 500;

/** What it said last may be read only after it is gone: the end of the channel comes after all of it. */
async function exitOf(forked: ChildProcess): Promise<Pick<ChildExit, "code" | "signal">> {
  const left = forked.connected ? once(forked, "disconnect") : undefined;
  left?.catch(() => {}); // a process that could not be started has an error, which is heard below
  const closed = once(forked, "close");
  closed.catch(() => {}); // the same
  try {
    const [code, signal] = (await once(forked, "exit")) as [number | null, NodeJS.Signals | null];
    await left;
    await Promise.race([closed, setTimeout(LAST_WORDS_MS, undefined, { ref: false })]);
    return { code, signal };
  } catch {
    return { code: null, signal: null }; // it could not even be started: memory, or too many processes
  }
}

function send(forked: ChildProcess, message: SupervisorMessage): void {
  // One that is gone needs no telling.
  if (forked.connected) forked.send(message, () => {});
}

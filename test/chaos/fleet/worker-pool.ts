/**
 * Keeps a number of worker processes running. A worker that the test kills is replaced at once, under a new name. A
 * worker that exits unexpectedly is replaced and reported.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

export type WorkerPool = {
  /** Kills the worker of this slot. Resolves when it has ended and its replacement has started. */
  kill(slot: number): Promise<void>;
  /** Sends SIGTERM to all. Resolves when they have ended. A second call does nothing. */
  stop(): Promise<void>;
  /** Kills all, for the clean-up after an error. */
  abort(): void;
  kills: readonly { worker: string; at: number }[];
  /** Messages about workers that exited unexpectedly, or with an error when they were stopped. */
  unexpectedExits: readonly string[];
};

type Running = { name: string; child: ChildProcess; isExpected: boolean };

/** A worker that cannot start exits repeatedly. After this many unexpected exits, workers are no longer replaced. */
const UNEXPECTED_EXITS_MAX = 20;
/** A worker that takes longer to stop is killed. */
const STOP_TIMEOUT_MS = 30_000;

export function startPool(spawnWorker: (name: string, slot: number) => ChildProcess, workers: number): WorkerPool {
  const kills: { worker: string; at: number }[] = [];
  const unexpectedExits: string[] = [];
  let isStopping = false;
  let started = 0;
  const slots = Array.from({ length: workers }, (_, slot) => start(slot));

  function start(slot: number): Running {
    const name = `fleet-${slot}/${++started}`;
    const running: Running = { name, child: spawnWorker(name, slot), isExpected: false };
    running.child.once("exit", (code, signal) => {
      if (running.isExpected) return;
      unexpectedExits.push(`${name} exited unexpectedly: ${code ?? signal}`);
      if (!isStopping && unexpectedExits.length < UNEXPECTED_EXITS_MAX) slots[slot] = start(slot);
    });
    return running;
  }

  return {
    kills,
    unexpectedExits,
    async kill(slot) {
      const running = slots[slot];
      if (running === undefined || isStopping || hasEnded(running.child)) return;
      running.isExpected = true;
      const exit = once(running.child, "exit");
      kills.push({ worker: running.name, at: performance.timeOrigin + performance.now() });
      running.child.kill("SIGKILL");
      await exit;
      slots[slot] = start(slot);
    },
    async stop() {
      isStopping = true;
      const left = slots.filter(({ child }) => !hasEnded(child));
      unexpectedExits.push(...(await Promise.all(left.map(stopped))).filter((message) => message !== ""));
    },
    abort() {
      isStopping = true;
      for (const { child } of slots) child.kill("SIGKILL");
    },
  };
}

async function stopped(running: Running): Promise<string> {
  running.isExpected = true;
  const exit = once(running.child, "exit");
  running.child.kill("SIGTERM");
  const timer = setTimeout(() => running.child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  const [code, signal] = (await exit) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  return code === 0 ? "" : `${running.name} was stopped and ended with ${code ?? signal}`;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

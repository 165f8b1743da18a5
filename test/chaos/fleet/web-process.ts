/** Starts the process that serves the sites of a fleet. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, setPriority } from "node:os";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { WebOptions } from "./sites.ts";

export type WebProcess = {
  port: number;
  /** The number of requests so far. */
  arrived(): number;
  onProgress(listener: (arrived: number) => void): void;
  /** Resolves when the log is complete. A second call does nothing. */
  stop(): Promise<void>;
};

const SERVE = fileURLToPath(new URL("./serve-web.mjs", import.meta.url));

export async function startWebProcess(web: WebOptions, log: string): Promise<WebProcess> {
  const args = [SERVE, JSON.stringify({ log, web })];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  raisePriority(child);
  const listeners: ((arrived: number) => void)[] = [];
  let latest = 0;
  const lines = createInterface({ input: child.stdout });
  const exit = once(child, "exit");
  const first = await Promise.race([once(lines, "line"), exit.then(() => undefined)]);
  if (first === undefined) throw new Error("the sites could not be served; see the output of their process");
  const { port } = JSON.parse(first[0] as string) as { port: number };
  lines.on("line", (line) => {
    latest = (JSON.parse(line) as { arrived: number }).arrived;
    for (const listener of listeners) listener(latest);
  });
  return {
    port,
    arrived: () => latest,
    onProgress: (listener) => void listeners.push(listener),
    async stop() {
      child.stdin.end();
      await exit;
    },
  };
}

/** A site process that waits for a CPU would log requests late, and closer together than they arrived. */
function raisePriority({ pid = 0 }: ChildProcess): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_HIGHEST);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_SYSTEM_ERROR") throw error; // only root can raise a priority
  }
}

/** Reads the log lines of a pool about its processes. */
import { expect, onTestFinished } from "vitest";
import { isRunning } from "../../services/is-running.ts";
import { waitUntil } from "../../services/wait-until.ts";
import type { CliEnd } from "../cli.ts";

export type PoolLine = {
  event: string;
  group?: string;
  process?: number;
  pid?: number;
  killed?: string;
  code?: number | null;
  signal?: string | null;
  underWay?: { url: string; isReading: boolean }[];
  returned?: number;
};

const EXIT_TIMEOUT_MS = 30_000;

/** The JSON lines of stderr. V8 prints messages about a crash between them. */
export function poolLines({ stderr }: Pick<CliEnd, "stderr">): PoolLine[] {
  const lines = stderr.split("\n").filter((line) => line.startsWith('{"at"'));
  return lines.map((line) => JSON.parse(line) as PoolLine);
}

export function started(lines: readonly PoolLine[]): number[] {
  return lines.filter(({ event }) => event === "pool.process_started").map(({ pid = 0 }) => pid);
}

export async function untilEnded(pids: readonly number[]): Promise<void> {
  onTestFinished(() => {
    for (const pid of pids.filter(isRunning)) process.kill(pid, "SIGKILL");
  });
  const haveEnded = await waitUntil(() => !pids.some(isRunning), EXIT_TIMEOUT_MS, 50);
  expect(haveEnded, `still running: ${pids.filter(isRunning).join(", ")}`).toBe(true);
}

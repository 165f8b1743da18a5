/** What a pool says of its processes, and looking at them from outside. */
import { expect, onTestFinished } from "vitest";
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
  handedBack?: number;
};

const GONE_MS = 30_000;

/** The JSON lines on stderr: what V8 says of its own end stands between them. */
export function poolLines({ stderr }: Pick<CliEnd, "stderr">): PoolLine[] {
  const lines = stderr.split("\n").filter((line) => line.startsWith('{"at"'));
  return lines.map((line) => JSON.parse(line) as PoolLine);
}

export function started(lines: readonly PoolLine[]): number[] {
  return lines.filter(({ event }) => event === "pool.process_started").map(({ pid = 0 }) => pid);
}

/** Whether a process is there, and not only its entry in the table, which waits for somebody to ask. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export async function untilGone(pids: readonly number[]): Promise<void> {
  onTestFinished(() => {
    for (const pid of pids.filter(isRunning)) process.kill(pid, "SIGKILL");
  });
  const isGone = await waitUntil(() => !pids.some(isRunning), GONE_MS, 50);
  expect(isGone, `still there: ${pids.filter(isRunning).join(", ")}`).toBe(true);
}

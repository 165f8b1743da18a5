import { readFileSync } from "node:fs";

/** A megabyte, wherever one is set, counted or shown. */
export const MB_BYTES = 1_000_000;

/** Megabytes that a process has in memory, seen from outside; undefined where the system does not tell. */
export function findRssMb(pid: number): number | undefined {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kilobytes === undefined ? undefined : (Number(kilobytes) * 1024) / MB_BYTES;
  } catch {
    return undefined; // gone, or no /proc here
  }
}

import { readFileSync } from "node:fs";

/** Bytes per megabyte, in all settings and outputs. */
export const MB_BYTES = 1_000_000;

/** Resident memory of another process in megabytes; undefined if the system does not provide it. */
export function findRssMb(pid: number): number | undefined {
  try {
    const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return kilobytes === undefined ? undefined : (Number(kilobytes) * 1024) / MB_BYTES;
  } catch {
    return undefined; // the process has ended, or the system has no /proc
  }
}

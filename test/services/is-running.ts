import { existsSync, readFileSync } from "node:fs";

/**
 * Whether a process runs. A zombie has ended: it stays in the process table until its parent reads its exit code, which
 * the first process of a container may never do.
 */
export function isRunning(pid: number): boolean {
  if (!existsSync("/proc/self")) return answersSignal(pid);
  try {
    const state = /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
    return state !== "Z" && state !== "X";
  } catch {
    return false; // no such process
  }
}

function answersSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // no such process
  }
}

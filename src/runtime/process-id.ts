/** Names a process so that others on the same machine can tell for certain when it is dead. */
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** `host/pid/start`: a process id alone may be given out again. */
export function thisProcess(): string {
  return [hostname(), process.pid, startOf(process.pid) ?? 0].join("/");
}

/** False only for a process of this machine that certainly no longer runs. */
export function mayBeAlive(name: string): boolean {
  const [host, pidText, start] = name.split("/");
  const pid = Number(pidText);
  if (host !== hostname() || !Number.isInteger(pid) || pid <= 0) return true;
  if (!isRunning(pid)) return false;
  const now = startOf(pid);
  return now === undefined || start === "0" || String(now) === start;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** When a process began, in clock ticks since boot; undefined where the system does not tell. A zombie never began. */
function startOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the command in brackets and may hold anything: count from after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? -1 : Number(fields[19]);
  } catch {
    return undefined; // no /proc here: the process id has to do
  }
}

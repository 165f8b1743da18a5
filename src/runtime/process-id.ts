/** Names a process so that others that see the same processes can tell for certain when it is dead. */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** `host/pid/start/view`: a process id alone may be given out again, and a host name to two machines. */
export function thisProcess(): string {
  return nameOf(process.pid);
}

/** This process, by a name that says who looks after it: `host/pid/start/view/pid-start`. */
export function supervisedProcess(): string {
  return `${thisProcess()}/${process.ppid}-${startOf(process.ppid) ?? 0}`;
}

/** The process that started this one. */
export function parentProcess(): string {
  return nameOf(process.ppid);
}

/** Where a process runs and its number there; no number where the name is not one of these. */
export function placeOfProcess(name: string): { host: string; pid: number | undefined } {
  const [host = "", pid] = name.split("/");
  return { host, pid: /^\d+$/.test(pid ?? "") ? Number(pid) : undefined };
}

/** `host/pid`, for people: when a process began and who looks after it only machines care for. */
export function shortProcess(name: string): string {
  const { host, pid } = placeOfProcess(name);
  return pid === undefined ? name : `${host}/${pid}`;
}

function nameOf(pid: number): string {
  return [hostname(), pid, startOf(pid) ?? 0, ownView()].join("/");
}

/**
 * False only for a process that would be seen from here if it still ran; and not as long as its supervisor does, which
 * knows what it died of and sees to what it held.
 */
export function mayBeAlive(name: string): boolean {
  const [host, pid, start, view, supervisor = ""] = name.split("/");
  if (host !== hostname() || view !== ownView() || !/^[1-9]\d*$/.test(pid ?? "")) return true;
  if (isStill(pid, start)) return true;
  return supervisor !== "" && isStill(...(supervisor.split("-") as [string, string]));
}

/** Whether the process with this number is the one that began then. */
function isStill(pid: string | undefined, start: string | undefined): boolean {
  if (!isRunning(Number(pid))) return false;
  const now = startOf(Number(pid));
  return now === undefined || start === "0" || String(now) === start;
}

/**
 * Which processes can be seen from here: those of this boot of this machine, in this container. Two machines made from
 * one image share a host name; containers on the host's network share it with each other.
 */
function ownView(): string {
  const boot = readOr(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8));
  const container = readOr(() => readlinkSync("/proc/self/ns/pid").replace(/\D/g, ""));
  return `${boot}-${container}`;
}

/** Empty where the system does not tell: the host name has to do. */
function readOr(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
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

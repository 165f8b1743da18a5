/**
 * Process identities. With the identity of a process, other processes on the same machine can check whether it has
 * ended.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * The identity of this process: `host/pid/start/view`. Host and pid are not enough: a pid may be reused, and two
 * machines may have the same host name.
 */
export function thisProcess(): string {
  return nameOf(process.pid);
}

/** This process, with its supervisor: `host/pid/start/view/pid-start`. */
export function supervisedProcess(): string {
  return `${thisProcess()}/${process.ppid}-${startOf(process.ppid) ?? 0}`;
}

/** The process that started this one. */
export function parentProcess(): string {
  return nameOf(process.ppid);
}

/** Host and pid of an identity. The pid is undefined if the name is not an identity. */
export function parseProcessIdentity(name: string): { host: string; pid: number | undefined } {
  const [host = "", pid] = name.split("/");
  return { host, pid: /^\d+$/.test(pid ?? "") ? Number(pid) : undefined };
}

/** `host/pid`, for output. */
export function shortProcess(name: string): string {
  const { host, pid } = parseProcessIdentity(name);
  return pid === undefined ? name : `${host}/${pid}`;
}

function nameOf(pid: number): string {
  return [hostname(), pid, startOf(pid) ?? 0, ownView()].join("/");
}

/**
 * Whether a process may still run. False only if it would be visible from this process and is not. A dead process whose
 * supervisor is running counts as alive, because the supervisor knows why it ended and returns its leases.
 */
export function mayBeAlive(name: string): boolean {
  const [host, pid, start, view, supervisor = ""] = name.split("/");
  if (host !== hostname() || view !== ownView() || !/^[1-9]\d*$/.test(pid ?? "")) return true;
  if (isStill(pid, start)) return true;
  return supervisor !== "" && isStill(...(supervisor.split("-") as [string, string]));
}

/** Whether the process with this pid is the one that started at that time. */
function isStill(pid: string | undefined, start: string | undefined): boolean {
  if (!isRunning(Number(pid))) return false;
  const now = startOf(Number(pid));
  return now === undefined || start === "0" || String(now) === start;
}

/**
 * Identifies the set of processes that are visible here: the boot id of the machine and the pid namespace of the
 * container. The host name is not enough: machines created from one image share it, and so do containers on the host's
 * network.
 */
function ownView(): string {
  const boot = readOr(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").slice(0, 8));
  const container = readOr(() => readlinkSync("/proc/self/ns/pid").replace(/\D/g, ""));
  return `${boot}-${container}`;
}

/** The value that `read` returns; empty if the system does not provide it. */
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

/** Start time of a process in clock ticks since boot; undefined if unavailable. -1 for a zombie. */
function startOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the command in parentheses and may contain any character, so fields are counted after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" ? -1 : Number(fields[19]);
  } catch {
    return undefined; // no /proc: only the pid is compared
  }
}

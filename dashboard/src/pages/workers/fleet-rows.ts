/**
 * The rows of the worker table: workers by machine and supervisor, and workers that disappeared recently. No side
 * effects.
 */
import type { WorkerOut } from "../../../../src/client/wire-types.ts";

/**
 * A worker that is no longer listed. `lost`: its heartbeats had stopped before it disappeared. `replaced`: its
 * supervisor started another process without a command to recycle. `left`: a clean shutdown.
 */
export type GoneWorker = { worker: WorkerOut; goneAt: number; how: "lost" | "replaced" | "left" };

/** A supervisor with its processes, one worker, or a worker that is gone. */
export type FleetRow =
  | { kind: "group"; key: string; supervisor: string; members: readonly WorkerOut[] }
  | { kind: "worker"; key: string; worker: WorkerOut; isMember: boolean }
  | { kind: "gone"; key: string; gone: GoneWorker };

/** When each worker last sent a new heartbeat, by the clock of the browser: the clock of the broker may differ. */
type LastSeen = ReadonlyMap<string, { seenAt: string; at: number }>;

export type WorkersSnapshot = {
  at: number;
  workers: readonly WorkerOut[];
  lastSeen: LastSeen;
  /** Tasks per second of each worker, between its last two heartbeats. */
  paces: ReadonlyMap<string, number>;
  gone: readonly GoneWorker[];
};

/** Workers send a heartbeat every 5 seconds; this is two missed heartbeats. */
export const SILENT_AFTER_MS = 11_000;
const GONE_SHOWN_MS = 120_000;
const NEAR_LIMIT = 0.8;
const SAME_WITHIN_MS = 2_000;
/** An older snapshot is not compared: the tab was hidden in between. */
const SNAPSHOT_MAX_AGE_MS = 60_000;

/** Combines the previous snapshot with a new response. Workers that disappeared stay listed for a while. */
export function nextSnapshot(
  last: WorkersSnapshot | undefined,
  workers: readonly WorkerOut[],
  at: number,
): WorkersSnapshot {
  const before = last !== undefined && at - last.at < SNAPSHOT_MAX_AGE_MS ? last : undefined;
  const names = new Set(workers.map(({ worker }) => worker));
  const lastSeen = new Map(workers.map((one) => [one.worker, lastSeenOf(before?.lastSeen.get(one.worker), one, at)]));
  const left = (before?.workers ?? []).filter(({ worker }) => !names.has(worker));
  const fresh = left.map((worker): GoneWorker => {
    return { worker, goneAt: at, how: silentMsOf(before, worker, at) > SILENT_AFTER_MS ? "lost" : "left" };
  });
  const kept = (before?.gone ?? []).filter(
    ({ goneAt, worker }) => at - goneAt < GONE_SHOWN_MS && !names.has(worker.worker),
  );
  const gone = [...fresh, ...kept].map((one) =>
    isReplaced(one, workers) ? { ...one, how: "replaced" as const } : one,
  );
  return { at, workers, lastSeen, paces: pacesOf(before, workers), gone };
}

/** Workers without a clean shutdown, as far as is known: killed, crashed or disconnected. */
export function lostWorkers({ gone }: WorkersSnapshot): GoneWorker[] {
  return gone.filter(({ how }) => how !== "left");
}

/**
 * Whether the supervisor has replaced the worker without a command. False for a worker with a task limit or near its
 * memory limit: it may have stopped because of the limit.
 */
function isReplaced({ worker, how }: GoneWorker, workers: readonly WorkerOut[]): boolean {
  const { supervisor, command, state, maxTasks, maxMemoryBytes, rssBytes, seenAt } = worker;
  const mayRetire = maxTasks !== null || (rssBytes ?? 0) > (maxMemoryBytes ?? Number.POSITIVE_INFINITY) * NEAR_LIMIT;
  if (how !== "left" || supervisor === null || command !== null || state === "draining" || mayRetire) return false;
  const queues = worker.queues.join();
  return workers.some(
    (one) => one.supervisor === supervisor && one.queues.join() === queues && (one.startedAt ?? "") > seenAt,
  );
}

/** Tasks done between two heartbeats of a worker, divided by the time between them. */
function pacesOf(before: WorkersSnapshot | undefined, workers: readonly WorkerOut[]): Map<string, number> {
  const old = new Map(before?.workers.map((worker) => [worker.worker, worker]));
  const paces = new Map<string, number>();
  for (const { worker, seenAt, done } of workers) {
    const last = old.get(worker);
    const known = before?.paces.get(worker);
    if (last !== undefined && !isSameHeartbeat(last.seenAt, seenAt)) {
      const seconds = (Date.parse(seenAt) - Date.parse(last.seenAt)) / 1000;
      paces.set(worker, ((done ?? 0) - (last.done ?? 0)) / Math.max(seconds, 0.1));
    } else if (known !== undefined) paces.set(worker, known);
  }
  return paces;
}

/** Each server converts the times of the broker with its own clock, so the same heartbeat may differ slightly. */
function isSameHeartbeat(one: string, other: string): boolean {
  return Math.abs(Date.parse(one) - Date.parse(other)) < SAME_WITHIN_MS;
}

/** Time since the last new heartbeat. */
export function silentMsOf(snapshot: WorkersSnapshot | undefined, { worker }: WorkerOut, at: number): number {
  const seen = snapshot?.lastSeen.get(worker);
  return seen === undefined ? 0 : at - seen.at;
}

function lastSeenOf(before: { seenAt: string; at: number } | undefined, { seenAt }: WorkerOut, at: number) {
  return before !== undefined && isSameHeartbeat(before.seenAt, seenAt) ? before : { seenAt, at };
}

/** By machine: first workers without a supervisor, then supervisors with their processes. Gone workers come last. */
export function rowsOf({ workers, gone }: WorkersSnapshot): FleetRow[] {
  const ordered = [...workers].sort((one, other) => compare(sortKeyOf(one), sortKeyOf(other)));
  const rows: FleetRow[] = [];
  for (let at = 0; at < ordered.length; ) {
    const first = ordered[at] as WorkerOut;
    const { supervisor } = first;
    const members = supervisor === null ? [first] : ordered.slice(at).filter((one) => one.supervisor === supervisor);
    if (supervisor !== null) rows.push({ kind: "group", key: supervisor, supervisor, members });
    for (const worker of members) {
      rows.push({ kind: "worker", key: worker.worker, worker, isMember: supervisor !== null });
    }
    at += members.length;
  }
  return [...rows, ...gone.map((one): FleetRow => ({ kind: "gone", key: `gone ${one.worker.worker}`, gone: one }))];
}

/** `host/pid`, as in the CLI. */
export function shortName(process: string): string {
  return process.split("/").slice(0, 2).join("/");
}

/** Keeps the processes of a supervisor together, after workers without one. */
function sortKeyOf({ host, supervisor, pid }: WorkerOut): [string, string, number] {
  return [host, supervisor ?? "", pid ?? 0];
}

function compare(one: [string, string, number], other: [string, string, number]): number {
  return one[0].localeCompare(other[0]) || one[1].localeCompare(other[1]) || one[2] - other[2];
}

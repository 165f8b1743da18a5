/** Workers as the page shows them: by machine and supervisor, with those that have gone lately. Pure. */
import type { WorkerOut } from "../../../../src/api/wire-fleet.ts";

/**
 * A worker that was there and is not any more. `lost`: it had not been heard of for a while, so nobody has stopped it;
 * `replaced`: its supervisor has another in its place, and nobody was seen to ask for that.
 */
export type Gone = { worker: WorkerOut; goneAt: number; how: "lost" | "replaced" | "left" };

/** Several processes with one supervisor, or one worker; or one that has gone. */
export type FleetRow =
  | { kind: "group"; key: string; supervisor: string; members: readonly WorkerOut[] }
  | { kind: "worker"; key: string; worker: WorkerOut; isInside: boolean }
  | { kind: "gone"; key: string; gone: Gone };

/** When each was last heard to say something new, by this browser's clock: the broker's may differ. */
export type Heard = ReadonlyMap<string, { seenAt: string; at: number }>;

export type Watched = {
  at: number;
  workers: readonly WorkerOut[];
  heard: Heard;
  /** Tasks a second of each, between its last two words. */
  paces: ReadonlyMap<string, number>;
  gone: readonly Gone[];
};

/** Workers tell of themselves every 5 seconds: one that is late twice has something. */
export const SILENT_AFTER_MS = 11_000;
const GONE_FOR_MS = 120_000;
const NEAR_LIMIT = 0.8;
const SAME_WITHIN_MS = 2_000;
/** Nobody has looked for so long that nothing can be compared. */
const LONG_AGO_MS = 60_000;

/** What is known after another look: who has gone meanwhile stays for a while. */
export function watchedAfter(last: Watched | undefined, workers: readonly WorkerOut[], at: number): Watched {
  const before = last !== undefined && at - last.at < LONG_AGO_MS ? last : undefined;
  const names = new Set(workers.map(({ worker }) => worker));
  const heard = new Map(workers.map((one) => [one.worker, heardOf(before?.heard.get(one.worker), one, at)]));
  const left = (before?.workers ?? []).filter(({ worker }) => !names.has(worker));
  const fresh = left.map((worker): Gone => {
    return { worker, goneAt: at, how: silenceOf(before, worker, at) > SILENT_AFTER_MS ? "lost" : "left" };
  });
  const kept = (before?.gone ?? []).filter(
    ({ goneAt, worker }) => at - goneAt < GONE_FOR_MS && !names.has(worker.worker),
  );
  const gone = [...fresh, ...kept].map((one) =>
    isReplaced(one, workers) ? { ...one, how: "replaced" as const } : one,
  );
  return { at, workers, heard, paces: pacesOf(before, workers), gone };
}

/** Those that have not taken their leave: killed, crashed or cut off, as far as can be told. */
export function missed({ gone }: Watched): Gone[] {
  return gone.filter(({ how }) => how !== "left");
}

/** One that may retire by itself, after so many tasks or past so much memory, may have done just that. */
function isReplaced({ worker, how }: Gone, workers: readonly WorkerOut[]): boolean {
  const { supervisor, order, state, tasksMost, memoryMostBytes, rssBytes, seenAt } = worker;
  const mayRetire = tasksMost !== null || (rssBytes ?? 0) > (memoryMostBytes ?? Number.POSITIVE_INFINITY) * NEAR_LIMIT;
  if (how !== "left" || supervisor === null || order !== null || state === "draining" || mayRetire) return false;
  const queues = worker.queues.join();
  return workers.some(
    (one) => one.supervisor === supervisor && one.queues.join() === queues && (one.startedAt ?? "") > seenAt,
  );
}

/** Each tells of itself at another time: what it has done since its last word, by the time between the two. */
function pacesOf(before: Watched | undefined, workers: readonly WorkerOut[]): Map<string, number> {
  const old = new Map(before?.workers.map((worker) => [worker.worker, worker]));
  const paces = new Map<string, number>();
  for (const { worker, seenAt, done } of workers) {
    const last = old.get(worker);
    const known = before?.paces.get(worker);
    if (last !== undefined && !isSameWord(last.seenAt, seenAt)) {
      const seconds = (Date.parse(seenAt) - Date.parse(last.seenAt)) / 1000;
      paces.set(worker, ((done ?? 0) - (last.done ?? 0)) / Math.max(seconds, 0.1));
    } else if (known !== undefined) paces.set(worker, known);
  }
  return paces;
}

/** Servers tell the broker's instants by clocks of their own: the same one may differ a little from look to look. */
function isSameWord(one: string, other: string): boolean {
  return Math.abs(Date.parse(one) - Date.parse(other)) < SAME_WITHIN_MS;
}

/** For how long nothing new was heard of it. */
export function silenceOf(watched: Watched | undefined, { worker }: WorkerOut, at: number): number {
  const heard = watched?.heard.get(worker);
  return heard === undefined ? 0 : at - heard.at;
}

function heardOf(before: { seenAt: string; at: number } | undefined, { seenAt }: WorkerOut, at: number) {
  return before !== undefined && isSameWord(before.seenAt, seenAt) ? before : { seenAt, at };
}

/** By machine; in it those that work alone, then supervisors with theirs; at the end who has gone. */
export function rowsOf({ workers, gone }: Watched): FleetRow[] {
  const byPlace = [...workers].sort((one, other) => compare(placeOf(one), placeOf(other)));
  const rows: FleetRow[] = [];
  for (let at = 0; at < byPlace.length; ) {
    const first = byPlace[at] as WorkerOut;
    const { supervisor } = first;
    const members = supervisor === null ? [first] : byPlace.slice(at).filter((one) => one.supervisor === supervisor);
    if (supervisor !== null) rows.push({ kind: "group", key: supervisor, supervisor, members });
    for (const worker of members) {
      rows.push({ kind: "worker", key: worker.worker, worker, isInside: supervisor !== null });
    }
    at += members.length;
  }
  return [...rows, ...gone.map((one): FleetRow => ({ kind: "gone", key: `gone ${one.worker.worker}`, gone: one }))];
}

/** `host/pid`, as the command line names it. */
export function shortName(process: string): string {
  return process.split("/").slice(0, 2).join("/");
}

/** Members of one supervisor stand together, and after those that have none. */
function placeOf({ host, supervisor, pid }: WorkerOut): [string, string, number] {
  return [host, supervisor ?? "", pid ?? 0];
}

function compare(one: [string, string, number], other: [string, string, number]): number {
  return one[0].localeCompare(other[0]) || one[1].localeCompare(other[1]) || one[2] - other[2];
}

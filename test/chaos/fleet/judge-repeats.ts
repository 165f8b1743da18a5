/** Finds repeated requests, and judges whether a killed worker or a broker outage explains each of them. Pure. */
import type { Visit } from "./fleet-log.ts";

/** The kills of a run, and the settings that limit their effect. Instants are epoch ms. */
export type Disruptions = {
  /** The name of each killed worker process, as in its user agent, and the time of the kill. */
  kills: readonly { worker: string; at: number }[];
  /** When the broker was down. */
  outages: readonly { from: number; to: number }[];
  workers: number;
  /** The maximum number of tasks that a worker runs at once. */
  concurrency: number;
  leaseMs: number;
};

export type Repeats = {
  repeated: number;
  /** Requests that were repeated although neither a worker nor the broker was killed. */
  unexplained: number;
  maxOfOneKill: number;
};

/** A worker settles a page within this time. If it is killed later, the page must not be requested again. */
const SETTLED_AFTER_MS = 3_000;
/** The time after an outage in which workers reconnect and settle the tasks that waited for the broker. */
const RECOVERY_MS = 2_000;

export function judgeRepeats(visits: readonly Visit[], disruptions: Disruptions): Repeats & { problems: string[] } {
  const { kills, outages, workers, concurrency } = disruptions;
  const pairs = repeatsOf(visits);
  const killedAt = new Map(kills.map(({ worker, at }) => [worker, at]));
  const ofKill = new Map<string, number>();
  const unexplained: Visit[] = [];
  for (const { before, again } of pairs) {
    if (isExplainedByKill(before, again, killedAt.get(before.worker)))
      ofKill.set(before.worker, (ofKill.get(before.worker) ?? 0) + 1);
    else if (!isExplainedByOutage(before, again, disruptions)) unexplained.push(again);
  }
  const maxOfOneKill = Math.max(0, ...ofKill.values());
  const max = kills.length * concurrency + outages.length * workers * concurrency;
  const [first] = unexplained;
  return {
    repeated: pairs.length,
    unexplained: unexplained.length,
    maxOfOneKill,
    problems: [
      ...(pairs.length <= max ? [] : [`${pairs.length} requests were repeated; the kills allow ${max}`]),
      ...(maxOfOneKill <= concurrency
        ? []
        : [`one kill caused ${maxOfOneKill} requests to be repeated; a worker has ${concurrency} at once`]),
      ...(first === undefined
        ? []
        : [
            `${unexplained.length} requests were repeated without a kill or outage that explains it, such as ${first.site}${first.path}`,
          ]),
    ],
  };
}

/** Each request for a URL that was requested before, including robots.txt, with the previous request for it. */
function repeatsOf(visits: readonly Visit[]): { before: Visit; again: Visit }[] {
  const latest = new Map<string, Visit>();
  const pairs: { before: Visit; again: Visit }[] = [];
  for (const again of [...visits].sort((one, other) => one.arrivedAt - other.arrivedAt)) {
    const before = latest.get(again.site + again.path);
    if (before !== undefined) pairs.push({ before, again });
    latest.set(again.site + again.path, again);
  }
  return pairs;
}

/** Whether the worker was killed before it could settle the page, and before the page was requested again. */
function isExplainedByKill(before: Visit, again: Visit, killedAt: number | undefined): boolean {
  const endedAt = before.endedAt ?? Number.POSITIVE_INFINITY;
  return killedAt !== undefined && killedAt <= again.arrivedAt && killedAt - endedAt < SETTLED_AFTER_MS;
}

/** Whether the broker was down while the first request was under way or being settled: its lease may have expired. */
function isExplainedByOutage(before: Visit, again: Visit, { outages, leaseMs }: Disruptions): boolean {
  return outages.some(
    ({ from, to }) =>
      from <= again.arrivedAt && before.arrivedAt <= to + RECOVERY_MS && from - before.arrivedAt < leaseMs,
  );
}

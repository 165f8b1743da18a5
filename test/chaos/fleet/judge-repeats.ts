/** Judges which requests were made again, and whether somebody's death explains each of them. Pure. */
import type { Visit } from "./fleet-log.ts";

/** What was done to the fleet. Instants are epoch ms. */
export type Deaths = {
  /** Worker processes that were killed, by the name they gave themselves, and when. */
  kills: readonly { worker: string; at: number }[];
  /** When the broker was dead. */
  outages: readonly { from: number; to: number }[];
  workers: number;
  /** Tasks a worker has under way at once, at most. */
  concurrency: number;
  leaseMs: number;
};

export type Repeats = {
  repeated: number;
  /** Made again although whoever asked before lived on, and the broker too. */
  unexplained: number;
  mostOfOneKill: number;
};

/** A page that its worker had so long before it died was settled, and is not asked for again. */
const SETTLED_AFTER_MS = 3_000;
/** After an outage: reconnecting, and settling what had waited for it. */
const AFTERMATH_MS = 2_000;

export function judgeRepeats(visits: readonly Visit[], deaths: Deaths): Repeats & { problems: string[] } {
  const { kills, outages, workers, concurrency } = deaths;
  const pairs = repeatsOf(visits);
  const killedAt = new Map(kills.map(({ worker, at }) => [worker, at]));
  const ofKill = new Map<string, number>();
  const unexplained: Visit[] = [];
  for (const { before, again } of pairs) {
    if (diedWithIt(before, again, killedAt.get(before.worker)))
      ofKill.set(before.worker, (ofKill.get(before.worker) ?? 0) + 1);
    else if (!wasDisturbed(before, again, deaths)) unexplained.push(again);
  }
  const mostOfOneKill = Math.max(0, ...ofKill.values());
  const most = kills.length * concurrency + outages.length * workers * concurrency;
  const [first] = unexplained;
  return {
    repeated: pairs.length,
    unexplained: unexplained.length,
    mostOfOneKill,
    problems: [
      ...(pairs.length <= most ? [] : [`${pairs.length} requests were repeated; the kills allow ${most}`]),
      ...(mostOfOneKill <= concurrency
        ? []
        : [`one kill caused ${mostOfOneKill} requests to be repeated; a worker has ${concurrency} at once`]),
      ...(first === undefined
        ? []
        : [
            `${unexplained.length} requests were repeated and no death explains it, such as ${first.site}${first.path}`,
          ]),
    ],
  };
}

/** Each request for what had been asked for before, robots.txt too, with the one just before it. */
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

/** Whether its worker was killed before it can have settled it, and that before it was asked for again. */
function diedWithIt(before: Visit, again: Visit, killedAt: number | undefined): boolean {
  const endedAt = before.endedAt ?? Number.POSITIVE_INFINITY;
  return killedAt !== undefined && killedAt <= again.arrivedAt && killedAt - endedAt < SETTLED_AFTER_MS;
}

/** Whether the broker was dead while the first request was under way or to be settled: its lease may have run out. */
function wasDisturbed(before: Visit, again: Visit, { outages, leaseMs }: Deaths): boolean {
  return outages.some(
    ({ from, to }) =>
      from <= again.arrivedAt && before.arrivedAt <= to + AFTERMATH_MS && from - before.arrivedAt < leaseMs,
  );
}

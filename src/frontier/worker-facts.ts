import { type Recent, shownOrder, type WorkerOrder } from "./frontier.ts";
import type { WorkerView } from "./frontier-admin.ts";

/** How a worker is doing, as JSON has it: to the API and to whoever reads `--json` alike. */
export function workerFacts({ vitals, seenAt, order }: WorkerView) {
  return {
    concurrency: vitals?.concurrency ?? null,
    busy: vitals?.busy ?? null,
    done: vitals?.done ?? null,
    failed: vitals?.failed ?? null,
    rssBytes: vitals?.rssBytes ?? null,
    memoryMostBytes: vitals?.memoryMostBytes ?? null,
    tasksMost: vitals?.tasksMost ?? null,
    loopUse: vitals?.loopUse ?? null,
    recent: recentFacts(vitals?.recent),
    state: vitals?.state ?? null,
    order: order === undefined ? null : shownOrder(order),
    obeys: vitals?.obeys === undefined ? [] : shownOrders(vitals.obeys),
    supervisor: vitals?.supervisor ?? null,
    startedAt: vitals === undefined ? null : new Date(seenAt - vitals.upMs).toISOString(),
    seenAt: new Date(seenAt).toISOString(),
  };
}

function recentFacts(recent: Recent | undefined) {
  if (recent === undefined) return null;
  const { ms, pages, done, failed } = recent;
  return { ms, pages, done, failed };
}

/** Workers tell of themselves every 5 s: who has not for twice as long has gone, whatever it did last. */
const QUIET_MS = 10_000;

/** What those who are still heard of have lately done. */
export function recentOf(workers: readonly WorkerView[], now: number): Recent[] {
  const heard = workers.filter(({ seenAt }) => now - seenAt <= QUIET_MS);
  return heard.map(({ vitals }) => vitals?.recent).filter((recent) => recent !== undefined);
}

/** Of all of these together. */
export function perSecond(what: "pages" | "done" | "failed", recents: readonly Recent[]): number {
  return recents.reduce((sum, recent) => sum + (recent.ms > 0 ? (recent[what] * 1000) / recent.ms : 0), 0);
}

/** Who serves a queue, and how many tasks they could take on, now and in all, as last heard. */
export function placesOn(
  queue: string,
  workers: readonly WorkerView[],
): { serving: number; free: number; places: number } {
  const serving = workers.filter(({ queues }) => queues.includes(queue));
  const sum = { serving: serving.length, free: 0, places: 0 };
  for (const { vitals } of serving) {
    const { concurrency = 0, busy = 0 } = vitals ?? {};
    sum.free += Math.max(0, concurrency - busy);
    sum.places += concurrency;
  }
  return sum;
}

/** Each once. */
function shownOrders(orders: readonly WorkerOrder[]): ReturnType<typeof shownOrder>[] {
  return [...new Set(orders.map(shownOrder))];
}

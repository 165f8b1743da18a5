import { shownOrder, type WorkerOrder } from "./frontier.ts";
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
    state: vitals?.state ?? null,
    order: order === undefined ? null : shownOrder(order),
    obeys: vitals?.obeys === undefined ? [] : shownOrders(vitals.obeys),
    supervisor: vitals?.supervisor ?? null,
    startedAt: vitals === undefined ? null : new Date(seenAt - vitals.upMs).toISOString(),
    seenAt: new Date(seenAt).toISOString(),
  };
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

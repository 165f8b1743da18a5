import { baseQueue } from "./frontier.ts";
import type { QueueView } from "./frontier-admin.ts";

/** What waits on each queue, its suspects counted in, by name. */
export function foldQueues(views: readonly QueueView[]): QueueView[] {
  const totals = new Map<string, number>();
  for (const { queue, waiting } of views) {
    const name = baseQueue(queue);
    totals.set(name, (totals.get(name) ?? 0) + waiting);
  }
  return [...totals]
    .map(([queue, waiting]) => ({ queue, waiting }))
    .sort((one, other) => (one.queue < other.queue ? -1 : 1));
}

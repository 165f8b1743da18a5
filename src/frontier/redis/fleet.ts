/** Who works on this broker, and what waits for them. */
import { foldQueues } from "../fold-queues.ts";
import type { Presence } from "../frontier.ts";
import type { QueueView, WorkerView } from "../frontier-admin.ts";
import type { BrokerTime } from "./broker-time.ts";
import type { Shards } from "./shards.ts";

export type Fleet = {
  announce(presence: Presence, ttlMs: number): Promise<void>;
  withdraw(worker: string): Promise<void>;
  workers(): Promise<WorkerView[]>;
  queues(): Promise<QueueView[]>;
  holders(): Promise<{ worker: string; leases: number }[]>;
};

type Deps = { shards: Shards; time: BrokerTime };

export function createFleet({ shards, time }: Deps): Fleet {
  /** Workers tell the first shard. */
  const [desk] = shards.all;
  if (desk === undefined) throw new Error("a broker has at least one shard");

  /** A hash of counts, added up over the shards, by name. */
  async function counts(name: string): Promise<{ name: string; count: number }[]> {
    const totals = new Map<string, number>();
    for (const shard of shards.all) {
      const words = (await shard.ask("HGETALL", shard.key(name))) as string[];
      for (let at = 0; at < words.length; at += 2) {
        const of = words[at] ?? "";
        totals.set(of, (totals.get(of) ?? 0) + Number(words[at + 1]));
      }
    }
    const found = [...totals].map(([of, count]) => ({ name: of, count }));
    return found.filter(({ count }) => count > 0).sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  return {
    async announce(presence, ttlMs) {
      await desk.run("announce", presence.worker, ttlMs, JSON.stringify(presence));
    },
    async withdraw(worker) {
      await desk.run("withdraw", worker);
    },
    async workers() {
      const [, ...words] = (await desk.run("list-workers")).map(String);
      const found: WorkerView[] = [];
      for (let at = 0; at < words.length; at += 2) {
        const presence = JSON.parse(words[at + 1] ?? "{}") as Presence;
        found.push({ ...presence, seenAt: time.toHere(Number(words[at])) });
      }
      return found.sort((one, other) => (one.worker < other.worker ? -1 : 1));
    },
    queues: async () =>
      foldQueues((await counts("waiting")).map(({ name, count }) => ({ queue: name, waiting: count }))),
    holders: async () => (await counts("holders")).map(({ name, count }) => ({ worker: name, leases: count })),
  };
}

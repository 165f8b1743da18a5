/** Who works on this broker, and what waits for them. */
import { foldQueues } from "../fold-queues.ts";
import type { Presence, WorkerOrder } from "../frontier.ts";
import type { QueueView, WorkerView } from "../frontier-admin.ts";
import type { Word } from "./broker.ts";
import type { BrokerTime } from "./broker-time.ts";
import type { Shards } from "./shards.ts";

export type Fleet = {
  announce(presence: Presence, ttlMs: number): Promise<WorkerOrder | undefined>;
  order(worker: string, order: WorkerOrder): Promise<boolean>;
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
      const [, order] = await desk.run("announce", presence.worker, ttlMs, JSON.stringify(presence));
      return orderIn(order);
    },
    async order(worker, order) {
      const [, isThere] = await desk.run("order-worker", worker, order);
      return Number(isThere) === 1;
    },
    async withdraw(worker) {
      await desk.run("withdraw", worker);
    },
    async workers() {
      const [, ...words] = (await desk.run("list-workers")).map(String);
      const found: WorkerView[] = [];
      for (let at = 0; at < words.length; at += 3) {
        const presence = JSON.parse(words[at + 2] ?? "{}") as Presence;
        const order = orderIn(words[at + 1]);
        const seenAt = time.toHere(Number(words[at]));
        found.push({ ...presence, seenAt, ...(order === undefined ? {} : { order }) });
      }
      return found.sort((one, other) => (one.worker < other.worker ? -1 : 1));
    },
    queues: async () =>
      foldQueues((await counts("waiting")).map(({ name, count }) => ({ queue: name, waiting: count }))),
    holders: async () => (await counts("holders")).map(({ name, count }) => ({ worker: name, leases: count })),
  };
}

/** An order as the scripts tell it; none is an empty word. */
function orderIn(word: Word | undefined): WorkerOrder | undefined {
  return word === undefined || word === "" ? undefined : (String(word) as WorkerOrder);
}

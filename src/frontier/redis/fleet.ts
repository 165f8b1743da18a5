/** The workers of this broker, the commands to them, and the tasks that wait on their queues (F6, F22). */
import type { Presence, WorkerCommand } from "../frontier.ts";
import { mergeSuspectQueues, type QueueView, type WorkerView } from "../frontier-admin.ts";
import type { Shards } from "./cluster/shards.ts";
import type { ScriptArg } from "./connection/broker-client.ts";
import type { BrokerClock } from "./connection/broker-clock.ts";

type Fleet = {
  announce(presence: Presence, ttlMs: number): Promise<WorkerCommand | undefined>;
  command(worker: string, command: WorkerCommand): Promise<boolean>;
  withdraw(worker: string): Promise<void>;
  workers(): Promise<WorkerView[]>;
  queues(): Promise<QueueView[]>;
  holders(): Promise<{ worker: string; leases: number }[]>;
};

type Deps = { shards: Shards; time: BrokerClock };

export function createFleet({ shards, time }: Deps): Fleet {
  /** Workers announce themselves on the first shard. */
  const [first] = shards.all;
  if (first === undefined) throw new Error("a broker has at least one shard");

  /** Adds up the counts in a hash of each shard. Returns counts above 0, sorted by name. */
  async function counts(name: string): Promise<{ name: string; count: number }[]> {
    const totals = new Map<string, number>();
    for (const shard of shards.all) {
      const fields = (await shard.read("HGETALL", shard.key(name))) as string[];
      for (let at = 0; at < fields.length; at += 2) {
        const of = fields[at] ?? "";
        totals.set(of, (totals.get(of) ?? 0) + Number(fields[at + 1]));
      }
    }
    const found = [...totals].map(([of, count]) => ({ name: of, count }));
    return found.filter(({ count }) => count > 0).sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  return {
    async announce(presence, ttlMs) {
      const [, command] = await first.run("announce", presence.worker, ttlMs, JSON.stringify(presence));
      return decodeCommand(command);
    },
    async command(worker, command) {
      const [, isAnnounced] = await first.run("command-worker", worker, command);
      return Number(isAnnounced) === 1;
    },
    async withdraw(worker) {
      await first.run("withdraw", worker);
    },
    async workers() {
      const [, ...fields] = (await first.run("list-workers")).map(String);
      const found: WorkerView[] = [];
      for (let at = 0; at < fields.length; at += 3) {
        const presence = JSON.parse(fields[at + 2] ?? "{}") as Presence;
        const command = decodeCommand(fields[at + 1]);
        const seenAt = time.toLocal(Number(fields[at]));
        found.push({ ...presence, seenAt, ...(command === undefined ? {} : { command }) });
      }
      return found.sort((one, other) => (one.worker < other.worker ? -1 : 1));
    },
    queues: async () =>
      mergeSuspectQueues((await counts("waiting")).map(({ name, count }) => ({ queue: name, waiting: count }))),
    holders: async () => (await counts("holders")).map(({ name, count }) => ({ worker: name, leases: count })),
  };
}

/** Decodes a command in a reply. Scripts reply "" if there is none. */
function decodeCommand(text: ScriptArg | undefined): WorkerCommand | undefined {
  return text === undefined || text === "" ? undefined : (String(text) as WorkerCommand);
}

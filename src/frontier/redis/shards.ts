/**
 * The shards of a broker: a site and all that waits there live on one, which scripts change in one step. A job lives on
 * all of them, each counting its own part; its home shard has the last word on its state.
 */
import type { Clock } from "../../runtime/clock.ts";
import type { Broker, Reply, Word } from "./broker.ts";
import type { BrokerTime } from "./broker-time.ts";
import { shardKey } from "./keys.ts";

export type Shard = {
  index: number;
  /** Of the server that has it. */
  time: BrokerTime;
  key(name: string, of?: string | number): string;
  /** Runs a script with the time in front. */
  run(script: string, ...words: readonly Word[]): Promise<Reply>;
  /** The same; `again` tells that an earlier try, whose answer was lost, may have been carried out. */
  tryRun(script: string, ...words: readonly Word[]): Promise<{ reply: Reply; again: boolean }>;
  /** The same; where there are several shards, and this one is out of reach, it fails at once (see lostMsOf). */
  runNow: Shard["tryRun"];
  /**
   * Runs a script that keeps a receipt (lib/receipt.lua): one whose answer was lost is told the same when it is made
   * again, and is carried out once.
   */
  runOnce(script: string, ...words: readonly Word[]): Promise<Reply>;
  ask(command: string, key: string, ...words: readonly Word[]): Promise<unknown>;
};

export type Shards = {
  all: readonly Shard[];
  ofSite(site: string): Shard;
  /** Undefined for what names no task. */
  ofTask(taskId: string): Shard | undefined;
  home(jobId: string): Shard;
};

type Deps = { broker: Broker; clock: Clock; timeOf(shard: string): BrokerTime; caller: string };
export type ShardOptions = {
  prefix: string;
  shards: number;
  time: "broker" | "caller";
};

/** `caller` is a name that no other process has. */
export function createShards({ broker, clock, timeOf, caller }: Deps, { prefix, shards, time }: ShardOptions): Shards {
  const now = (): Word => (time === "broker" ? "" : clock.now());
  const all = Array.from({ length: shards }, (_, index): Shard => {
    const own = shardKey(prefix, index);
    const desks: { name: string; calls: number }[] = [];
    let desksMade = 0;
    const tryRun: Shard["tryRun"] = (script, ...words) => broker.run(script, own, () => [now(), ...words]);
    return {
      index,
      time: timeOf(own),
      key: (name, of) => (of === undefined ? `${own}:${name}` : `${own}:${name}:${of}`),
      run: async (script, ...words) => (await tryRun(script, ...words)).reply,
      tryRun,
      runNow: (script, ...words) => broker.run(script, own, () => [now(), ...words], { isHasty: shards > 1 }),
      async runOnce(script, ...words) {
        const desk = desks.pop() ?? { name: `${caller}:${++desksMade}`, calls: 0 };
        desk.calls += 1;
        const call = (again: boolean): Word[] => [now(), ...words, desk.name, again ? -desk.calls : desk.calls];
        const { reply } = await broker.run(script, own, call);
        // A desk whose call failed is given up: the call may still be on its way.
        desks.push(desk);
        return reply;
      },
      ask: (command, key, ...words) => broker.ask(command, key, ...words),
    };
  });
  const at = (index: number): Shard => {
    const shard = all[index];
    if (shard === undefined) throw new Error(`no shard ${index} of ${shards}`);
    return shard;
  };
  return {
    all,
    ofSite: (site) => at(spread(site, shards)),
    ofTask(taskId) {
      const id = Number(taskId);
      return Number.isSafeInteger(id) && id > 0 ? at(id % shards) : undefined;
    },
    home: (jobId) => at(spread(jobId, shards)),
  };
}

/** What all of them come to. One that fails keeps none of the others from its end; its failure is thrown after that. */
export async function allDone<Calls extends readonly unknown[] | []>(calls: Calls) {
  await Promise.allSettled(calls);
  return Promise.all(calls);
}

/** Which of so many a name belongs to: FNV-1a, the same in every version and on every machine. */
function spread(name: string, among: number): number {
  if (among === 1) return 0;
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % among;
}

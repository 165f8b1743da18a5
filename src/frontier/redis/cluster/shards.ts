/**
 * The shards of a broker: one on a single server, several on a cluster. A site and all its tasks are on one shard, so a
 * script changes them atomically. A job exists on all shards, and each shard counts its own part. One of them, the
 * job's owner shard, has the authoritative state of the job.
 */
import type { Clock } from "../../../runtime/clock.ts";
import type { BrokerClient, Reply, ScriptArg, TimedReply } from "../connection/broker-client.ts";
import type { BrokerClock } from "../connection/broker-clock.ts";
import { shardKey } from "../keys.ts";

export type Shard = {
  index: number;
  /** The clock of the server that holds the shard. */
  time: BrokerClock;
  key(name: string, of?: string | number): string;
  /** Runs a script with the time as its first argument. */
  run(script: string, ...args: readonly ScriptArg[]): Promise<Reply>;
  /** Like `run`. `isRepeat`: an earlier attempt, whose reply was lost, may have been executed. */
  tryRun(script: string, ...args: readonly ScriptArg[]): Promise<TimedReply>;
  /** Like `tryRun`, but with several shards it fails at once if this one is unreachable (see lostMsOf). */
  runFailFast: Shard["tryRun"];
  /** Runs a script with durations in its arguments, which must be computed for every attempt. */
  runTimed(script: string, args: () => readonly ScriptArg[], options?: { failFast: boolean }): Promise<TimedReply>;
  /**
   * Runs a script that stores a receipt (lib/receipt.lua): after a lost reply, a retry returns that reply without new
   * work.
   */
  runOnce(script: string, ...args: readonly ScriptArg[]): Promise<Reply>;
  /** Runs a command that only reads. */
  read(command: string, key: string, ...args: readonly ScriptArg[]): Promise<unknown>;
};

export type Shards = {
  all: readonly Shard[];
  ofSite(site: string): Shard;
  /** Undefined if the id is not a valid task id. */
  ofTask(taskId: string): Shard | undefined;
  ownerOf(jobId: string): Shard;
};

type Deps = { broker: BrokerClient; clock: Clock; timeOf(shard: string): BrokerClock; caller: string };
type ShardOptions = {
  prefix: string;
  shards: number;
  time: "broker" | "caller";
};

/** `caller`: a name that no other process has. */
export function createShards({ broker, clock, timeOf, caller }: Deps, { prefix, shards, time }: ShardOptions): Shards {
  const now = (): ScriptArg => (time === "broker" ? "" : clock.now());
  const all = Array.from({ length: shards }, (_, index): Shard => {
    const own = shardKey(prefix, index);
    /** Idle caller names for `runOnce`: each makes one call at a time. */
    const callers: { name: string; calls: number }[] = [];
    let callersCreated = 0;
    const runTimed: Shard["runTimed"] = (script, args, { failFast } = { failFast: false }) =>
      broker.run(script, own, () => [now(), ...args()], { failFast: failFast && shards > 1 });
    const tryRun: Shard["tryRun"] = (script, ...args) => runTimed(script, () => args);
    return {
      index,
      time: timeOf(own),
      key: (name, of) => (of === undefined ? `${own}:${name}` : `${own}:${name}:${of}`),
      run: async (script, ...args) => (await tryRun(script, ...args)).reply,
      tryRun,
      runFailFast: (script, ...args) => runTimed(script, () => args, { failFast: true }),
      runTimed,
      async runOnce(script, ...args) {
        const from = callers.pop() ?? { name: `${caller}:${++callersCreated}`, calls: 0 };
        from.calls += 1;
        const withReceipt = (isRepeat: boolean): ScriptArg[] => [
          now(),
          ...args,
          from.name,
          isRepeat ? -from.calls : from.calls,
        ];
        const { reply } = await broker.run(script, own, withReceipt);
        // A name whose call failed is not used again, because that call may still be running.
        callers.push(from);
        return reply;
      },
      read: (command, key, ...args) => broker.read(command, key, ...args),
    };
  });
  const at = (index: number): Shard => {
    const shard = all[index];
    if (shard === undefined) throw new Error(`no shard ${index} of ${shards}`);
    return shard;
  };
  return {
    all,
    ofSite: (site) => at(hashTo(site, shards)),
    ofTask(taskId) {
      const id = Number(taskId);
      return Number.isSafeInteger(id) && id > 0 ? at(id % shards) : undefined;
    },
    ownerOf: (jobId) => at(hashTo(jobId, shards)),
  };
}

/** Like Promise.all, but waits until every call has settled before it throws the first failure. */
export async function allDone<Calls extends readonly unknown[] | []>(calls: Calls) {
  await Promise.allSettled(calls);
  return Promise.all(calls);
}

/** The shard of a name: FNV-1a, the same in every version and on every machine. */
function hashTo(name: string, shards: number): number {
  if (shards === 1) return 0;
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % shards;
}

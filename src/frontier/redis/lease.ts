/**
 * Grants tasks with one script per shard (F1, F2). The workers of this process call it, several at a time. A lost reply
 * may have contained grants. This process knows the claims it received, and releases all others. A crash leaves leases
 * that expire.
 *
 * If one of several shards is unreachable, callers still get the grants of the others. The call fails only after the
 * shard has been unreachable for `retryForMs`.
 */
import type { Clock } from "../../runtime/clock.ts";
import { type Grant, type LeaseAnswer, type LeaseRequest, MAX_BATCH } from "../frontier.ts";
import type { JobCompletion } from "./cluster/job-completion.ts";
import type { Shard, Shards } from "./cluster/shards.ts";
import { decodeGrants } from "./codec/codec.ts";
import type { ScriptArg } from "./connection/broker-client.ts";
import type { BrokerClock } from "./connection/broker-clock.ts";
import { lostMsOf } from "./connection/broker-errors.ts";
import type { HeldClaims } from "./held-claims.ts";

/** `pollAt`: when this process should call `lease` again if nothing wakes it. */
type TimedAnswer = LeaseAnswer & { pollAt: number | undefined };

type Deps = {
  shards: Shards;
  completion: JobCompletion;
  held: HeldClaims;
  clock: Pick<Clock, "now">;
  /** The channel on which scripts wake this process. */
  wakeChannel: string;
};

/** An unreachable shard is called again after this time, if nothing else wakes the worker. */
const UNREACHABLE_RETRY_MS = 250;

export function createLease(deps: Deps, { retryForMs }: { retryForMs: number }) {
  const { shards, completion, held, clock, wakeChannel } = deps;
  /** "shard worker" of the last lease calls that got no reply. */
  const unanswered = new Set<string>();
  let firstShard = 0;

  /**
   * Calls all shards at once, each for its part of `max`. If they grant less than `max`, it calls the shards that were
   * not called yet, or that may have more tasks. Each lease starts with another shard, so that no shard is always the
   * last one.
   */
  async function lease(request: LeaseRequest): Promise<TimedAnswer> {
    const grants: Grant[] = [];
    const answers = new Map<Shard, TimedAnswer>();
    const max = Math.min(request.max, MAX_BATCH);
    let remaining = shards.all.map((_, nth) => shards.all[(firstShard + nth) % shards.all.length] as Shard);
    firstShard += 1;

    async function leaseUpTo(shard: Shard, count: number): Promise<readonly Grant[]> {
      const answer = await leaseFrom(shard, { ...request, max: count });
      answers.set(shard, answer);
      if (count > 0 && answer.grants.length === count) remaining.push(shard);
      return answer.grants;
    }

    for (let left = max; remaining.length > 0; left = max - grants.length) {
      // Once `max` is reached, shards that were not called yet still report when they have tasks due.
      const called = left === 0 ? remaining.filter((shard) => !answers.has(shard)) : remaining.slice(0, left);
      remaining = left === 0 ? [] : remaining.slice(left);
      const results = await Promise.allSettled(
        called.map((shard, nth) => leaseUpTo(shard, shareOf(left, called.length, nth))),
      );
      for (const one of results) if (one.status === "fulfilled") grants.push(...one.value);
      const failed = results.find((one) => one.status === "rejected");
      // Grants of the other shards must reach the caller; the next call reports the failure.
      if (failed !== undefined && grants.length === 0) throw failed.reason;
    }
    const all = [...answers.values()];
    return {
      grants,
      nextDueAt: earliest(all, "nextDueAt"),
      aloneDueAt: earliest(all, "aloneDueAt"),
      pollAt: earliest(all, "pollAt"),
    };
  }

  async function leaseFrom(shard: Shard, request: LeaseRequest): Promise<TimedAnswer> {
    const { worker } = request;
    const { time } = shard;
    const called = await callScript(shard, request).catch((cause: unknown) => noteUnreachable(worker, shard, cause));
    if (called === "unreachable") {
      const pollAt = clock.now() + UNREACHABLE_RETRY_MS;
      return { grants: [], nextDueAt: pollAt, aloneDueAt: undefined, pollAt };
    }
    const lostReply = unanswered.delete(`${shard.index} ${worker}`);
    const [now, dueAt, pollAt] = called.reply;
    const [nextDueAt, aloneDueAt] = String(dueAt)
      .split(" ")
      .map((text) => callTime(text, time));
    const grants = decodeGrants(called.reply, { now: Number(now), leadMs: called.leadMs }, time.toLocalSlot);
    for (const grant of grants) held.add(grant, worker, grant.jobId);
    if (grants.length > 0) time.recordGrant(Number(now));
    if (called.isRepeat || lostReply) await releaseUnknown(shard, worker);
    return { grants, nextDueAt, aloneDueAt, pollAt: callTime(pollAt, time) };
  }

  async function callScript(shard: Shard, { worker, queues, max, leaseMs }: LeaseRequest) {
    // If the clock difference is inaccurate, slots could overlap with those of other workers.
    while (!shard.time.isAccurate()) await shard.runFailFast("read-clock");
    const leadMs = shard.time.leadMs();
    const args: ScriptArg[] = [worker, wakeChannel, max, leaseMs, leadMs, ...queues];
    return { ...(await shard.runFailFast("lease", ...args)), leadMs };
  }

  /** Throws if the shard has been unreachable for `retryForMs`, and for errors that a retry does not fix. */
  function noteUnreachable(worker: string, shard: Shard, cause: unknown): "unreachable" {
    const lostMs = lostMsOf(cause);
    if (lostMs === undefined || lostMs >= retryForMs) throw cause;
    unanswered.add(`${shard.index} ${worker}`);
    return "unreachable";
  }

  async function releaseUnknown(shard: Shard, worker: string): Promise<void> {
    const reply = await shard.run("release-unknown", worker, ...held.tasksOf(worker));
    await completion.end(reply.slice(1).map(String));
  }

  return lease;
}

/**
 * When to call `lease` for a task that is due at `dueAt`: earlier by the lead time, so that the reply arrives in time.
 */
function callTime(dueAt: ScriptArg | undefined, time: BrokerClock): number | undefined {
  return dueAt === "" || dueAt === undefined ? undefined : time.toLocal(Number(dueAt)) - time.leadMs();
}

/** The nth part of `total` divided into `parts`. */
function shareOf(total: number, parts: number, nth: number): number {
  return Math.floor(total / parts) + (nth < total % parts ? 1 : 0);
}

function earliest(answers: readonly TimedAnswer[], of: "nextDueAt" | "aloneDueAt" | "pollAt"): number | undefined {
  const instants = answers.flatMap((answer) => answer[of] ?? []);
  return instants.length === 0 ? undefined : Math.min(...instants);
}

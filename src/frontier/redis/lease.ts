/**
 * Grants tasks with one script per shard (F1, F2). The workers of this process call it, several at a time. A lost reply
 * may have contained grants. So after the next reply of the shard, this process releases all leases of the worker whose
 * claims it has not received. A lost reply may also have contained terms: their sites wait until the terms end. After a
 * crash, the leases expire.
 *
 * If one of several shards is unreachable, callers still get the grants of the others. The call fails only after the
 * shard has been unreachable for `retryForMs`.
 */
import type { ReturnedTerm, Term } from "../../domain/politeness.ts";
import type { Clock } from "../../runtime/clock.ts";
import { type Grant, type LeaseAnswer, type LeaseRequest, MAX_BATCH } from "../frontier.ts";
import type { JobCompletion } from "./cluster/job-completion.ts";
import type { Shard, Shards } from "./cluster/shards.ts";
import { decodeGrants, encodeReturned } from "./codec/codec.ts";
import type { ScriptArg, TimedReply } from "./connection/broker-client.ts";
import type { BrokerClock } from "./connection/broker-clock.ts";
import { lostMsOf } from "./connection/broker-errors.ts";
import type { HeldClaims } from "./held-claims.ts";
import { returnTermsOn, termsByShard } from "./terms.ts";

/** `pollAt`: when this process should call `lease` again if nothing wakes it. */
type TimedAnswer = LeaseAnswer & { pollAt: number | undefined };

/** The answer of one shard, and how many tasks it granted at sites without a rate. */
type ShardAnswer = TimedAnswer & { grantedNow: number };

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
  /** One entry, "shard worker", for each shard and worker whose last lease call got no reply. */
  const unanswered = new Set<string>();
  let firstShard = 0;

  /**
   * Calls all shards at once, each for its part of `max` and `maxNow`. If they grant fewer tasks, it calls the shards
   * that were not called yet, or that may have more tasks. Each lease starts with another shard, so that no shard is
   * always the last one.
   *
   * The first call to a shard returns the terms that the worker held at the sites of the shard. A further call returns
   * the terms that the shard has just granted. The shard can then grant them again with more tasks, because other
   * shards did not use their part of `max`.
   */
  async function lease(request: LeaseRequest): Promise<TimedAnswer> {
    const grants: Grant[] = [];
    const terms = new Map<string, Term>();
    const answers = new Map<Shard, ShardAnswer>();
    const returned = termsByShard(shards, request.returned);
    const max = Math.min(request.max, MAX_BATCH);
    let leftNow = request.maxNow;
    let remaining = shards.all.map((_, nth) => shards.all[(firstShard + nth) % shards.all.length] as Shard);
    firstShard += 1;

    async function leasePart(shard: Shard, part: Pick<LeaseRequest, "max" | "maxNow">) {
      const before = answers.get(shard);
      const own = before === undefined ? returned.get(shard) : renewals(before.terms, grants, request.returned);
      const answer = await leaseFrom(shard, { ...request, ...part, returned: own ?? [] });
      answers.set(shard, answer);
      // A shard that granted its whole part may have more tasks.
      const isFull = part.max > 0 && answer.grants.length === part.max;
      const isFullNow = answer.grantedNow === part.maxNow && (answer.nextDueAt ?? Infinity) <= clock.now();
      return { shard, answer, isFull, isFullNow };
    }

    for (let left = max; remaining.length > 0; left = max - grants.length) {
      // Once `max` is reached, shards that were not called yet are called for 0 tasks: they report when tasks are due.
      const called = left === 0 ? remaining.filter((shard) => !answers.has(shard)) : remaining.slice(0, left);
      remaining = left === 0 ? [] : remaining.slice(left);
      const share = (total: number, nth: number) => shareOf(total, called.length, nth);
      const results = await Promise.allSettled(
        called.map((shard, nth) => leasePart(shard, { max: share(left, nth), maxNow: share(leftNow, nth) })),
      );
      const parts = results.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      for (const { answer } of parts) {
        grants.push(...answer.grants);
        for (const term of answer.terms) terms.set(term.site, term);
        leftNow -= answer.grantedNow;
      }
      remaining.push(...parts.filter((one) => one.isFull || (one.isFullNow && leftNow > 0)).map(({ shard }) => shard));
      const failed = results.find((one) => one.status === "rejected");
      // Grants of the other shards must reach the caller; the next call reports the failure.
      if (failed !== undefined && grants.length === 0) throw failed.reason;
    }
    const all = [...answers.values()];
    return {
      grants,
      terms: [...terms.values()],
      nextDueAt: earliest(all, "nextDueAt"),
      aloneDueAt: earliest(all, "aloneDueAt"),
      pollAt: earliest(all, "pollAt"),
    };
  }

  async function leaseFrom(shard: Shard, request: LeaseRequest): Promise<ShardAnswer> {
    const { worker } = request;
    const { time } = shard;
    const called = await callScript(shard, request).catch((cause: unknown) => noteUnreachable(worker, shard, cause));
    if (called === "unreachable") {
      const pollAt = clock.now() + UNREACHABLE_RETRY_MS;
      return { grants: [], terms: [], grantedNow: 0, nextDueAt: pollAt, aloneDueAt: undefined, pollAt };
    }
    const lostReply = unanswered.delete(`${shard.index} ${worker}`);
    const [, dueAt, pollAt] = called.reply;
    const [nextDueAt, aloneDueAt] = String(dueAt)
      .split(" ")
      .map((text) => toLocalTime(text, time));
    const { grants, terms } = decodeGrants(called.reply);
    for (const grant of grants) held.add(grant, worker, grant.jobId);
    if (called.isRepeat || lostReply) await releaseUnknown(shard, worker);
    return {
      grants,
      terms: terms.map((term) => time.toLocalTerm(term, called.trip)),
      grantedNow: countUnpaced(grants, terms),
      nextDueAt,
      aloneDueAt,
      pollAt: toLocalTime(pollAt, time),
    };
  }

  async function callScript(shard: Shard, request: LeaseRequest): Promise<TimedReply> {
    const { worker, queues, max, maxNow, leaseMs, lookaheadMs } = request;
    const returned = await returnExcess(shard, request.returned);
    const args: ScriptArg[] = [worker, wakeChannel, max, maxNow, leaseMs, lookaheadMs, queues.length, ...queues];
    const encode = (term: ReturnedTerm) => [term.site, ...encodeReturned(term, shard.time.fromNow), term.unstarted];
    return shard.runTimed("lease", () => [...args, ...returned.flatMap(encode)], { failFast: true });
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
 * The lease script takes at most MAX_BATCH terms (F17). Returns further terms to the shard before the lease call,
 * except terms with unstarted tasks: the worker keeps these terms and gets no further term at their sites. The result
 * is the terms for the lease call.
 */
async function returnExcess(shard: Shard, returned: readonly ReturnedTerm[]): Promise<readonly ReturnedTerm[]> {
  if (returned.length <= MAX_BATCH) return returned;
  const excess = returned.slice(MAX_BATCH).filter(({ unstarted }) => unstarted === 0);
  await returnTermsOn(shard, excess);
  return returned.slice(0, MAX_BATCH);
}

/** Converts granted terms to returned terms. `unstarted`: all tasks of the site that the worker has not started. */
function renewals(terms: readonly Term[], grants: readonly Grant[], returned: readonly ReturnedTerm[]): ReturnedTerm[] {
  return terms.map((term) => {
    const before = returned.find(({ site }) => site === term.site)?.unstarted ?? 0;
    return {
      ...term,
      slowdownCause: undefined,
      unstarted: before + grants.filter(({ site }) => site === term.site).length,
    };
  });
}

/** The number of grants at sites without a term. */
function countUnpaced(grants: readonly Grant[], terms: readonly Term[]): number {
  if (terms.length === 0) return grants.length;
  const paced = new Set(terms.map(({ site }) => site));
  return grants.filter(({ site }) => !paced.has(site)).length;
}

/** Converts a time in a reply to the local clock. Scripts reply "" if there is no such time. */
function toLocalTime(at: ScriptArg | undefined, time: BrokerClock): number | undefined {
  return at === "" || at === undefined ? undefined : time.toLocal(Number(at));
}

/** The nth part of `total` divided into `parts`. */
function shareOf(total: number, parts: number, nth: number): number {
  return Math.floor(total / parts) + (nth < total % parts ? 1 : 0);
}

function earliest(answers: readonly TimedAnswer[], of: "nextDueAt" | "aloneDueAt" | "pollAt"): number | undefined {
  const instants = answers.flatMap((answer) => answer[of] ?? []);
  return instants.length === 0 ? undefined : Math.min(...instants);
}

/**
 * What may be fetched now is granted by one script on each shard (F1, F2). Called by this process's workers, several at a
 * time. An answer that was lost on its way may have carried grants: this process remembers what it holds, and hands back
 * the rest untouched. A crash leaves leases that run out.
 *
 * Of several shards one may be out of reach: it keeps nobody waiting for what the others grant, and nobody gives up before
 * it has been away for `patienceMs`.
 */
import type { Clock } from "../../runtime/clock.ts";
import { BATCH_MOST, type Grant, type LeaseAnswer, type LeaseRequest } from "../frontier.ts";
import type { Word } from "./broker.ts";
import { lostMsOf } from "./broker-errors.ts";
import type { BrokerTime } from "./broker-time.ts";
import type { Endings } from "./endings.ts";
import type { Holdings } from "./holdings.ts";
import type { Shard, Shards } from "./shards.ts";
import { readGrants } from "./words.ts";

/** `lookAt`: when this process should look again by itself, if nobody wakes it. */
export type TimedAnswer = LeaseAnswer & { lookAt: number | undefined };

type Deps = {
  shards: Shards;
  endings: Endings;
  holdings: Holdings;
  clock: Pick<Clock, "now">;
  /** Where this process is told of new work. */
  ear: string;
};

/** A shard that is out of reach is asked again after this, if nothing else happens. */
const AWAY_MS = 250;

export function createGranting(deps: Deps, { patienceMs }: { patienceMs: number }) {
  const { shards, endings, holdings, clock, ear } = deps;
  /** Who was left without an answer by which shard, when it last asked there. */
  const unanswered = new Set<string>();
  let firstShard = 0;

  /**
   * Asks the shards at once, each for its share of the room there is; then, of what is left, those that had not been
   * asked and those that may have more. Starts at another shard each time, so that none is always served last.
   */
  async function lease(request: LeaseRequest): Promise<TimedAnswer> {
    const grants: Grant[] = [];
    const answers = new Map<Shard, TimedAnswer>();
    const most = Math.min(request.max, BATCH_MOST);
    let waiting = shards.all.map((_, nth) => shards.all[(firstShard + nth) % shards.all.length] as Shard);
    firstShard += 1;

    async function ask(shard: Shard, max: number): Promise<readonly Grant[]> {
      const answer = await leaseFrom(shard, { ...request, max });
      answers.set(shard, answer);
      if (max > 0 && answer.grants.length === max) waiting.push(shard);
      return answer.grants;
    }

    for (let room = most; waiting.length > 0; room = most - grants.length) {
      // With no room left, those that were not asked yet still tell when they have something.
      const asked = room === 0 ? waiting.filter((shard) => !answers.has(shard)) : waiting.slice(0, room);
      waiting = room === 0 ? [] : waiting.slice(room);
      const given = await Promise.allSettled(asked.map((shard, nth) => ask(shard, shareOf(room, asked.length, nth))));
      for (const one of given) if (one.status === "fulfilled") grants.push(...one.value);
      const failed = given.find((one) => one.status === "rejected");
      // What others have granted is not lost with one that fails for good: the next call will tell.
      if (failed !== undefined && grants.length === 0) throw failed.reason;
    }
    const all = [...answers.values()];
    return {
      grants,
      nextDueAt: least(all, "nextDueAt"),
      aloneDueAt: least(all, "aloneDueAt"),
      lookAt: least(all, "lookAt"),
    };
  }

  async function leaseFrom(shard: Shard, request: LeaseRequest): Promise<TimedAnswer> {
    const { worker } = request;
    const { time } = shard;
    const called = await leaseCall(shard, request).catch((cause: unknown) => awayFor(worker, shard, cause));
    if (called === "away") {
      const lookAt = clock.now() + AWAY_MS;
      return { grants: [], nextDueAt: lookAt, aloneDueAt: undefined, lookAt };
    }
    const wasAway = unanswered.delete(`${shard.index} ${worker}`);
    const [now, dueAt, lookAt] = called.reply;
    const [nextDueAt, aloneDueAt] = String(dueAt)
      .split(" ")
      .map((word) => whenToAsk(word, time));
    const grants = readGrants(called.reply, { now: Number(now), leadMs: called.leadMs }, time.slotHere);
    for (const grant of grants) holdings.add(grant, worker, grant.jobId);
    if (grants.length > 0) time.sold(Number(now));
    if (called.again || wasAway) await disown(shard, worker);
    return { grants, nextDueAt, aloneDueAt, lookAt: whenToAsk(lookAt, time) };
  }

  async function leaseCall(shard: Shard, { worker, queues, max, leaseMs }: LeaseRequest) {
    // Slots that are sold on a poor comparison of the clocks may come too close to those of others.
    while (!shard.time.isSure()) await shard.runNow("tell-time");
    const leadMs = shard.time.leadMs();
    const words: Word[] = [worker, ear, max, leaseMs, leadMs, ...queues];
    return { ...(await shard.runNow("lease", ...words)), leadMs };
  }

  /** Throws what has gone on for too long, and what waiting does not help. */
  function awayFor(worker: string, shard: Shard, cause: unknown): "away" {
    const lostMs = lostMsOf(cause);
    if (lostMs === undefined || lostMs >= patienceMs) throw cause;
    unanswered.add(`${shard.index} ${worker}`);
    return "away";
  }

  async function disown(shard: Shard, worker: string): Promise<void> {
    const reply = await shard.run("disown", worker, ...holdings.tasksOf(worker));
    await endings.end(reply.slice(1).map(String));
  }

  return lease;
}

/** So much sooner that the answer is there in time. */
function whenToAsk(word: Word | undefined, time: BrokerTime): number | undefined {
  return word === "" || word === undefined ? undefined : time.toHere(Number(word)) - time.leadMs();
}

/** Of `room`, what the nth of so many gets. */
function shareOf(room: number, among: number, nth: number): number {
  return Math.floor(room / among) + (nth < room % among ? 1 : 0);
}

function least(answers: readonly TimedAnswer[], of: "nextDueAt" | "aloneDueAt" | "lookAt"): number | undefined {
  const instants = answers.flatMap((answer) => answer[of] ?? []);
  return instants.length === 0 ? undefined : Math.min(...instants);
}

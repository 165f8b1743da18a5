/**
 * Dead letters (F15): list, group, replay at a rate, discard. Each script reads up to MAX_BATCH letters of one shard.
 * With several shards, the owner shards reopen the jobs before another shard queues their tasks. A crash in between
 * leaves an open job with nothing to do, which reapers end.
 */
import { onlineSite } from "../../domain/offline-site.ts";
import type { DeadReason } from "../../domain/task.ts";
import { MAX_BATCH } from "../frontier.ts";
import {
  type DeadFilter,
  type DeadGroup,
  type DeadGroups,
  type DeadLetter,
  type FailedAttempt,
  normalizeTaskIds,
  type ReplayResult,
} from "../frontier-admin.ts";
import type { Shard, Shards } from "./cluster/shards.ts";
import { decodeBody } from "./codec/task-body.ts";
import type { Reply, ScriptArg } from "./connection/broker-client.ts";
import type { BrokerClock } from "./connection/broker-clock.ts";
import type { Jobs } from "./jobs.ts";

export type DeadLetters = {
  list(filter: DeadFilter, limit: number, after: string): Promise<DeadLetter[]>;
  /** The dead letter of a URL. If the task id is unknown (""), this reads all letters of the job at the site. */
  find(
    shard: Shard,
    jobId: string,
    target: { url: string; site: string; taskId: string },
  ): Promise<DeadLetter | undefined>;
  group(filter: DeadFilter, limit: number): Promise<DeadGroups>;
  count(): Promise<number>;
  replay(filter: DeadFilter, limit: number, perSecond: number): Promise<ReplayResult>;
  discard(filter: DeadFilter, limit: number): Promise<number>;
};

type Deps = { shards: Shards; time: BrokerClock; jobs: Pick<Jobs, "reopen" | "end"> };

export function createDeadLetters({ shards, time, jobs }: Deps): DeadLetters {
  async function* letters(shard: Shard, filter: DeadFilter, limit: number, from: string): AsyncGenerator<DeadLetter> {
    let left = limit;
    for (let after = from; left > 0; ) {
      const reply = await shard.run("list-dead", ...filterArgs(filter, after, left));
      const page = decodeLetters(reply, time);
      yield* page;
      left -= page.length;
      after = String(reply[1]);
      if (after === "") return;
    }
  }

  /**
   * Calls `work` for every shard until no letter is left or `limit` is reached. The reply of `work` contains the task
   * to continue after, and the number of processed letters.
   */
  async function inBatches(
    limit: number,
    work: (shard: Shard, after: string, max: number, done: number) => Promise<Reply>,
  ): Promise<number> {
    let total = 0;
    for (const shard of shards.all) {
      for (let after = "0"; after !== "" && total < limit; ) {
        const reply = await work(shard, after, Math.min(MAX_BATCH, limit - total), total);
        after = String(reply[1]);
        total += Number(reply[2]);
      }
    }
    return total;
  }

  /** Replays one batch: `filter` selects the letters, `pace` their due times. */
  async function replayBatch(shard: Shard, filter: readonly ScriptArg[], pace: readonly ScriptArg[]): Promise<Reply> {
    if (shards.all.length === 1) return shard.runOnce("replay-dead", ...filter, ...pace);
    const [now = 0, after = "", ...wanted] = await shard.run("find-replayable", ...filter);
    const open = await jobs.reopen(wanted.map(String));
    if (open.length === 0) return [now, after, 0];
    const reply = await shard.runOnce("replay-dead", ...filter, ...pace, ...open);
    const replayed = reply.slice(3).map(String);
    // Another process may have ended a reopened job again before its tasks were queued.
    await jobs.reopen(replayed);
    // These jobs were reopened, but another process has replayed their letters.
    await jobs.end(open.filter((jobId) => !replayed.includes(jobId)));
    return reply;
  }

  async function list(filter: DeadFilter, limit: number, after: string): Promise<DeadLetter[]> {
    const found: DeadLetter[] = [];
    for (const shard of shards.all) for await (const letter of letters(shard, filter, limit, after)) found.push(letter);
    return found.sort((one, other) => Number(one.taskId) - Number(other.taskId)).slice(0, limit);
  }

  return {
    list,
    async find(shard, jobId, { url, site, taskId }) {
      const filter = taskId === "" ? { jobId, site } : { jobId, taskIds: [taskId] };
      for await (const letter of letters(shard, filter, Number.MAX_SAFE_INTEGER, "0")) {
        if (letter.url === url) return letter;
      }
      return undefined;
    },
    async group(filter, limit) {
      const groups = new Map<string, DeadGroup>();
      for (const shard of shards.all) {
        for await (const letter of letters(shard, filter, Number.MAX_SAFE_INTEGER, "0")) count(groups, letter);
      }
      const all = [...groups.values()].sort(byCount);
      return { groups: all.slice(0, limit), letters: all.reduce((sum, group) => sum + group.count, 0) };
    },
    async count() {
      const all = ["-inf", "+inf"] as const;
      const counts = await Promise.all(
        shards.all.map((shard) => shard.read("ZCOUNT", shard.key("dead-order"), ...all)),
      );
      return counts.reduce<number>((sum, count) => sum + Number(count), 0);
    },
    async replay(filter, limit, perSecond) {
      const jobIds = new Set<string>();
      const replayed = await inBatches(limit, async (shard, after, max, done) => {
        const reply = await replayBatch(shard, filterArgs(filter, after, max), [perSecond, done]);
        for (const jobId of reply.slice(3)) jobIds.add(String(jobId));
        return reply;
      });
      return { replayed, jobIds: [...jobIds].sort() };
    },
    discard: (filter, limit) =>
      inBatches(limit, (shard, after, max) => shard.runOnce("discard-dead", ...filterArgs(filter, after, max))),
  };
}

function filterArgs(filter: DeadFilter, after: string, max: number): ScriptArg[] {
  const { jobId, reason, site, status, taskIds } = filter;
  const ids = taskIds === undefined ? "" : taskIdsArg(taskIds);
  return [jobId ?? "", reason ?? "", onlineSite(site ?? ""), status ?? "", after, max, ids];
}

/** "" means all tasks, so an empty list is sent as 0, which is never the id of a task. */
function taskIdsArg(taskIds: readonly string[]): string {
  const ids = normalizeTaskIds(taskIds);
  return ids.length === 0 ? "0" : ids.join(" ");
}

const FIELDS = 8;

function decodeLetters(reply: Reply, time: BrokerClock): DeadLetter[] {
  const found: DeadLetter[] = [];
  for (let at = 2; at + FIELDS <= reply.length; at += FIELDS) {
    const [taskId = "", jobId = "", site = "", reason = "", status = "", diedAt = "", history = "[]", body = ""] = reply
      .slice(at, at + FIELDS)
      .map(String);
    found.push({
      ...{ taskId, jobId, site: onlineSite(site) },
      url: decodeBody(body, site).url,
      reason: reason as DeadReason,
      status: status === "" ? undefined : Number(status),
      diedAt: time.toLocal(Number(diedAt)),
      history: decodeHistory(history, time),
    });
  }
  return found;
}

/** The attempts of a task, as the scripts store them. */
export function decodeHistory(text: string, time: Pick<BrokerClock, "toLocal">): FailedAttempt[] {
  return (JSON.parse(text) as FailedAttempt[]).map((attempt) => ({
    ...attempt,
    at: time.toLocal(attempt.at),
  }));
}

function count(groups: Map<string, DeadGroup>, { reason, site, status, url }: DeadLetter): void {
  const name = [reason, site, status].join(" ");
  const group = groups.get(name);
  if (group === undefined) groups.set(name, { reason, site, status, count: 1, sample: url });
  else groups.set(name, { ...group, count: group.count + 1, sample: url < group.sample ? url : group.sample });
}

/** Largest first, then by reason, site and status. */
function byCount(one: DeadGroup, other: DeadGroup): number {
  if (one.count !== other.count) return other.count - one.count;
  const [mine, theirs] = [one, other].map(({ reason, site, status }) => [
    reason,
    site,
    String(status ?? 0).padStart(3, "0"),
  ]);
  return (mine ?? []).join(" ") < (theirs ?? []).join(" ") ? -1 : 1;
}

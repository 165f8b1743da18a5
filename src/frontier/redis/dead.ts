/**
 * Dead letters as a query: list, group, replay at a rate, discard (F15). Each step looks at BATCH_MOST letters, on one
 * shard. Before one of several shards takes letters back, the home shards of their jobs open these again; a crash in
 * between leaves a job open with nothing to do, which reapers end.
 */
import { onlineSite } from "../../domain/offline-site.ts";
import type { DeadReason } from "../../domain/task.ts";
import { chosenTasks } from "../chosen-tasks.ts";
import { BATCH_MOST } from "../frontier.ts";
import type { DeadFilter, DeadGroup, DeadGroups, DeadLetter, Misfortune, Replayed } from "../frontier-admin.ts";
import type { Reply, Word } from "./broker.ts";
import type { BrokerTime } from "./broker-time.ts";
import type { Jobs } from "./jobs.ts";
import type { Shard, Shards } from "./shards.ts";
import { decodeBody } from "./task-body.ts";

export type DeadLetters = {
  list(filter: DeadFilter, limit: number, after: string): Promise<DeadLetter[]>;
  /** The letter of a URL, by its task where that is known (not ""); else those of its site are looked through. */
  find(
    shard: Shard,
    jobId: string,
    sought: { url: string; site: string; taskId: string },
  ): Promise<DeadLetter | undefined>;
  group(filter: DeadFilter, limit: number): Promise<DeadGroups>;
  count(): Promise<number>;
  replay(filter: DeadFilter, limit: number, perSecond: number): Promise<Replayed>;
  discard(filter: DeadFilter, limit: number): Promise<number>;
};

type Deps = { shards: Shards; time: BrokerTime; jobs: Pick<Jobs, "reopen" | "end"> };

export function createDeadLetters({ shards, time, jobs }: Deps): DeadLetters {
  async function* letters(shard: Shard, filter: DeadFilter, limit: number, from: string): AsyncGenerator<DeadLetter> {
    let left = limit;
    for (let after = from; left > 0; ) {
      const reply = await shard.run("list-dead", ...filterWords(filter, after, left));
      const page = readLetters(reply, time);
      yield* page;
      left -= page.length;
      after = String(reply[1]);
      if (after === "") return;
    }
  }

  /** Works through what the filter finds on every shard; `step` answers how many it dealt with and where to go on. */
  async function inSteps(
    limit: number,
    step: (shard: Shard, after: string, most: number, done: number) => Promise<Reply>,
  ): Promise<number> {
    let total = 0;
    for (const shard of shards.all) {
      for (let after = "0"; after !== "" && total < limit; ) {
        const reply = await step(shard, after, Math.min(BATCH_MOST, limit - total), total);
        after = String(reply[1]);
        total += Number(reply[2]);
      }
    }
    return total;
  }

  /** One step of a replay: `which` letters, and `pace` how soon. */
  async function revive(shard: Shard, which: readonly Word[], pace: readonly Word[]): Promise<Reply> {
    if (shards.all.length === 1) return shard.runOnce("replay-dead", ...which, ...pace);
    const [now = 0, after = "", ...wanted] = await shard.run("find-revivable", ...which);
    const open = await jobs.reopen(wanted.map(String));
    if (open.length === 0) return [now, after, 0];
    const reply = await shard.runOnce("replay-dead", ...which, ...pace, ...open);
    const served = reply.slice(3).map(String);
    // One that had nothing to do for an instant may have been ended meanwhile.
    await jobs.reopen(served);
    // Another has taken the letters of these.
    await jobs.end(open.filter((jobId) => !served.includes(jobId)));
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
      const counts = await Promise.all(shards.all.map((shard) => shard.ask("ZCOUNT", shard.key("dead-order"), ...all)));
      return counts.reduce<number>((sum, count) => sum + Number(count), 0);
    },
    async replay(filter, limit, perSecond) {
      const jobIds = new Set<string>();
      const replayed = await inSteps(limit, async (shard, after, most, done) => {
        const reply = await revive(shard, filterWords(filter, after, most), [perSecond, done]);
        for (const jobId of reply.slice(3)) jobIds.add(String(jobId));
        return reply;
      });
      return { replayed, jobIds: [...jobIds].sort() };
    },
    discard: (filter, limit) =>
      inSteps(limit, (shard, after, most) => shard.runOnce("discard-dead", ...filterWords(filter, after, most))),
  };
}

function filterWords(filter: DeadFilter, after: string, most: number): Word[] {
  const { jobId, reason, site, status, taskIds } = filter;
  const chosen = taskIds === undefined ? "" : chosenWord(taskIds);
  return [jobId ?? "", reason ?? "", onlineSite(site ?? ""), status ?? "", after, most, chosen];
}

/** None at all is not the same as no word of them: 0 is nobody's. */
function chosenWord(taskIds: readonly string[]): string {
  const ids = chosenTasks(taskIds);
  return ids.length === 0 ? "0" : ids.join(" ");
}

const FIELDS = 8;

function readLetters(reply: Reply, time: BrokerTime): DeadLetter[] {
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
      diedAt: time.toHere(Number(diedAt)),
      history: readHistory(history, time),
    });
  }
  return found;
}

/** A task's past tries, as the scripts keep them. */
export function readHistory(text: string, time: Pick<BrokerTime, "toHere">): Misfortune[] {
  return (JSON.parse(text) as Misfortune[]).map((misfortune) => ({ ...misfortune, at: time.toHere(misfortune.at) }));
}

function count(groups: Map<string, DeadGroup>, { reason, site, status, url }: DeadLetter): void {
  const name = [reason, site, status].join(" ");
  const group = groups.get(name);
  if (group === undefined) groups.set(name, { reason, site, status, count: 1, sample: url });
  else groups.set(name, { ...group, count: group.count + 1, sample: url < group.sample ? url : group.sample });
}

/** The largest first; of equal ones by reason, site and status. */
function byCount(one: DeadGroup, other: DeadGroup): number {
  if (one.count !== other.count) return other.count - one.count;
  const [mine, theirs] = [one, other].map(({ reason, site, status }) => [
    reason,
    site,
    String(status ?? 0).padStart(3, "0"),
  ]);
  return (mine ?? []).join(" ") < (theirs ?? []).join(" ") ? -1 : 1;
}

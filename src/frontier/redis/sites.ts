/** What sites have left to spend, their robots.txt, and the operator's word on them. */
import { readyAt, type SitePolicy, type Slot, takeSlot } from "../../domain/politeness.ts";
import type { SiteFacts } from "../explain.ts";
import type { RobotsFile } from "../frontier.ts";
import {
  SITE_JOBS_LOOKED_AT,
  SITE_JOBS_MOST,
  type SiteDetail,
  type SiteJobView,
  type SiteView,
} from "../frontier-admin.ts";
import type { Reply, Word } from "./broker.ts";
import type { BrokerTime } from "./broker-time.ts";
import type { Shard, Shards } from "./shards.ts";

export type Sites = {
  spend(site: string, unused: Slot | undefined): Promise<Slot>;
  findRobots(site: string): Promise<RobotsFile | undefined>;
  keepRobots(site: string, robots: RobotsFile, crawlDelayMs: number): Promise<void>;
  markScripted(site: string, forMs: number): Promise<void>;
  isScripted(site: string): Promise<boolean>;
  setPolicy(site: string, policy: SitePolicy | undefined): Promise<void>;
  list(limit: number, from: { after: string; part: string }): Promise<SiteView[]>;
  listBusy(limit: number, part: string): Promise<SiteView[]>;
  find(site: string): Promise<SiteDetail | undefined>;
  facts(shard: Shard, by: "names" | "numbers", which: readonly Word[]): Promise<NumberedFacts[]>;
};

export type NumberedFacts = SiteFacts & { n: number; incidents: number; operator: SitePolicy | undefined };

type Deps = { shards: Shards };

/** Names looked at in one go. */
const PAGE = 1000;

export function createSites({ shards }: Deps): Sites {
  async function facts(shard: Shard, by: "names" | "numbers", which: readonly Word[]): Promise<NumberedFacts[]> {
    return which.length === 0 ? [] : readFacts(await shard.run("site-facts", by, ...which), shard.time);
  }

  /** All of a hash of words and numbers, which Redis keeps in no order: each once. */
  async function scan(shard: Shard, name: "sites" | "site-waiting"): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for (let cursor = "0"; ; ) {
      const [next, page] = (await shard.ask("HSCAN", shard.key(name), cursor, "COUNT", PAGE)) as [string, string[]];
      for (let at = 0; at < page.length; at += 2) found.set(page[at] ?? "", Number(page[at + 1]));
      cursor = next;
      if (cursor === "0") return found;
    }
  }

  /** Of the sites of a shard the `limit` for which most waits. */
  async function busiestOf(shard: Shard, limit: number, part: string): Promise<SiteView[]> {
    const waiting = [...(await scan(shard, "site-waiting"))].filter(([, count]) => count > 0);
    const wanted = part === "" ? undefined : await numbersOf(shard, part);
    const busiest = waiting
      .filter(([number]) => wanted?.has(Number(number)) ?? true)
      .sort(([, one], [, other]) => other - one);
    // Those that come to as much as the last are let in as well: names decide between them.
    const least = busiest[limit - 1]?.[1] ?? 0;
    const numbers = busiest.filter(([, count], nth) => nth < limit || count === least).map(([number]) => number);
    return (await factsInPages(shard, "numbers", numbers)).map(viewOf);
  }

  async function numbersOf(shard: Shard, part: string): Promise<Set<number>> {
    const named = [...(await scan(shard, "sites"))].filter(([name]) => name.includes(part));
    return new Set(named.map(([, number]) => number));
  }

  async function factsInPages(shard: Shard, by: "names" | "numbers", which: readonly Word[]): Promise<NumberedFacts[]> {
    const found: NumberedFacts[] = [];
    for (let from = 0; from < which.length; from += PAGE) {
      found.push(...(await facts(shard, by, which.slice(from, from + PAGE))));
    }
    return found;
  }

  return {
    facts,
    async spend(site, unused) {
      const shard = shards.ofSite(site);
      const { time } = shard;
      const reply = await shard.run("spend", site, unused?.arrivalAt ?? "", time.leadMs());
      const [now, from, arrivalAt, intervalMs, burst] = reply.map(Number) as [number, number, number, number, number];
      time.sold(now);
      return time.slotHere(takeSlot(from, arrivalAt, { intervalMs, burst, perSite: 0 }));
    },
    async findRobots(site) {
      const shard = shards.ofSite(site);
      const fields = ["kind", "text", "fetchedAt", "freshUntil"];
      const words = (await shard.ask("HMGET", shard.key("robots", site), ...fields)) as (string | null)[];
      const [kind, text, fetchedAt, freshUntil] = words;
      if (kind === null) return undefined;
      return {
        kind: kind as RobotsFile["kind"],
        text: text ?? "",
        fetchedAt: shard.time.toHere(Number(fetchedAt)),
        freshUntil: shard.time.toHere(Number(freshUntil)),
      };
    },
    async keepRobots(site, { kind, text, fetchedAt, freshUntil }, crawlDelayMs) {
      const shard = shards.ofSite(site);
      const [fetched, fresh] = [shard.time.toBroker(fetchedAt), shard.time.toBroker(freshUntil)];
      const words = [site, kind, text, fetched, fresh, crawlDelayMs];
      await shard.run("keep-robots", ...words);
    },
    async markScripted(site, forMs) {
      await shards.ofSite(site).run("mark-scripted", site, forMs);
    },
    async isScripted(site) {
      const [, answer] = await shards.ofSite(site).run("is-scripted", site);
      return Number(answer) === 1;
    },
    async setPolicy(site, policy) {
      const words = policy === undefined ? ["", "", ""] : [policy.intervalMs, policy.burst, policy.perSite];
      await shards.ofSite(site).run("set-site-policy", site, ...words);
    },
    async list(limit, { after, part }) {
      const found = await Promise.all(
        shards.all.map(async (shard) => [...(await scan(shard, "sites")).keys()].map((name) => ({ name, shard }))),
      );
      const page = found
        .flat()
        .filter(({ name }) => name > after && name.includes(part))
        .sort((one, other) => (one.name < other.name ? -1 : 1))
        .slice(0, limit);
      const views: SiteView[] = [];
      for (const shard of shards.all) {
        const own = page.filter((one) => one.shard === shard).map(({ name }) => name);
        views.push(...(await factsInPages(shard, "names", own)).map(viewOf));
      }
      return views.sort(byName);
    },
    async listBusy(limit, part) {
      const found = await Promise.all(shards.all.map((shard) => busiestOf(shard, limit, part)));
      return found
        .flat()
        .sort((one, other) => other.waiting - one.waiting || byName(one, other))
        .slice(0, limit);
    },
    async find(site) {
      const shard = shards.ofSite(site);
      const [found] = await facts(shard, "names", [site]);
      if (found === undefined) return undefined;
      const { operator, incidents, isAskingRobots } = found;
      const jobs = readSiteJobs(await shard.run("site-jobs", site, SITE_JOBS_LOOKED_AT));
      return { ...viewOf(found), operator, incidents, isAskingRobots, jobs: jobs.slice(0, SITE_JOBS_MOST) };
    },
  };
}

function byName(one: SiteView, other: SiteView): number {
  return one.site < other.site ? -1 : 1;
}

const JOB_FIELDS = 8;

/** Of site-jobs, the most first. */
function readSiteJobs(reply: Reply): SiteJobView[] {
  const found: SiteJobView[] = [];
  for (let at = 1; at + JOB_FIELDS <= reply.length; at += JOB_FIELDS) {
    const [jobId = "", name = "", state = ""] = reply.slice(at, at + 3).map(String);
    const [waiting = 0, inFlight = 0, ...asked] = reply.slice(at + 3, at + JOB_FIELDS).map(Number);
    const policy = policyFrom(asked);
    found.push({ jobId, name, state: state as SiteJobView["state"], waiting, inFlight, policy });
  }
  return found.sort(
    (one, other) => other.waiting - one.waiting || other.inFlight - one.inFlight || (one.jobId < other.jobId ? -1 : 1),
  );
}

function policyFrom([intervalMs = 0, burst = 1, perSite = 1]: readonly number[]): SitePolicy {
  return { intervalMs, burst, perSite };
}

const FIELDS = 13;

function readFacts(reply: Reply, time: BrokerTime): NumberedFacts[] {
  const found: NumberedFacts[] = [];
  for (let at = 1; at + FIELDS <= reply.length; at += FIELDS) {
    const site = String(reply[at + 1]);
    const numbers = reply.slice(at + 2, at + FIELDS).map(Number);
    const [arrivalAt = 0, inFlight = 0, blockedUntil = 0, intervalMs = 0, burst = 1, perSite = 1] = numbers;
    const [crawlDelayMs = 0, isAsking = 0, waiting = 0, incidents = 0] = numbers.slice(6);
    const word = String(reply[at + FIELDS - 1]);
    const policy = { intervalMs, burst, perSite };
    found.push({
      n: Number(reply[at]),
      ...{ site, policy, inFlight, crawlDelayMs, waiting, incidents },
      operator: word === "" ? undefined : policyFrom(word.split(" ").map(Number)),
      rateReadyAt: instantHere(readyAt(arrivalAt, policy), time),
      blockedUntil: instantHere(blockedUntil, time),
      isAskingRobots: isAsking === 1,
    });
  }
  return found;
}

/** 0 and what lies before it stand for "never was". */
function instantHere(at: number, time: BrokerTime): number {
  return at <= 0 ? at : time.toHere(at);
}

function viewOf({ site, policy, inFlight, waiting, rateReadyAt, blockedUntil, crawlDelayMs }: NumberedFacts): SiteView {
  return {
    ...{ site, policy, inFlight, waiting, blockedUntil, crawlDelayMs },
    readyAt: Math.max(rateReadyAt, blockedUntil),
  };
}

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
import { createSiteNames, type NamedSite, scanHash } from "./site-names.ts";

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
  /** Those of the newest with something there, the most first. */
  jobsAt(site: string): Promise<SiteJobView[]>;
};

export type NumberedFacts = Omit<SiteFacts, "jobs"> & { n: number; incidents: number };

type Deps = { shards: Shards };

type Placed = { shard: Shard; number: number };

/** Sites told of by one script, which nobody else is served beside (F17). */
const FACTS_PAGE = 100;

export function createSites({ shards }: Deps): Sites {
  const names = createSiteNames();

  async function facts(shard: Shard, by: "names" | "numbers", which: readonly Word[]): Promise<NumberedFacts[]> {
    return which.length === 0 ? [] : readFacts(await shard.run("site-facts", by, ...which), shard.time);
  }

  /** The `limit` for which most waits; between those that come to as much, names decide. No others are asked about. */
  async function busiest(limit: number, part: string): Promise<Placed[]> {
    const waiting = (await Promise.all(shards.all.map((shard) => waitingAt(shard, part)))).flat();
    waiting.sort((one, other) => other.count - one.count);
    const least = waiting[limit - 1]?.count ?? 0;
    const sure = waiting.filter(({ count }, nth) => nth < limit && count > least);
    const tied = waiting.filter(({ count }) => count === least);
    const room = Math.min(limit, waiting.length) - sure.length;
    return [...sure, ...(tied.length <= room ? tied : await firstByName(tied, room))];
  }

  async function waitingAt(shard: Shard, part: string): Promise<(Placed & { count: number })[]> {
    const wanted =
      part === ""
        ? undefined
        : new Set((await names.of(shard)).filter(({ name }) => name.includes(part)).map(({ number }) => number));
    return [...(await scanHash(shard, "site-waiting"))]
      .map(([number, count]) => ({ shard, number: Number(number), count }))
      .filter(({ number, count }) => count > 0 && (wanted?.has(number) ?? true));
  }

  async function firstByName(sites: readonly Placed[], count: number): Promise<(Placed & NamedSite)[]> {
    const found = await Promise.all(
      shards.all.map(async (shard) => {
        const own = new Set(sites.filter((site) => site.shard === shard).map(({ number }) => number));
        const named = own.size === 0 ? [] : await names.of(shard);
        return firstOf(named, count, ({ number }) => own.has(number)).map((site) => ({ ...site, shard }));
      }),
    );
    return found.flat().sort(byName).slice(0, count);
  }

  async function viewsOf(sites: readonly Placed[]): Promise<SiteView[]> {
    const found = await Promise.all(
      shards.all.map((shard) => {
        const own = sites.filter((site) => site.shard === shard).map(({ number }) => number);
        return factsInPages(shard, own);
      }),
    );
    return found.flat().map(viewOf);
  }

  async function factsInPages(shard: Shard, numbers: readonly number[]): Promise<NumberedFacts[]> {
    const found: NumberedFacts[] = [];
    for (let from = 0; from < numbers.length; from += FACTS_PAGE) {
      found.push(...(await facts(shard, "numbers", numbers.slice(from, from + FACTS_PAGE))));
    }
    return found;
  }

  async function jobsAt(site: string): Promise<SiteJobView[]> {
    return readSiteJobs(await shards.ofSite(site).run("site-jobs", site, SITE_JOBS_LOOKED_AT));
  }

  return {
    facts,
    jobsAt,
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
      const isWanted = ({ name }: NamedSite) => name > after && name.includes(part);
      const found = await Promise.all(
        shards.all.map(async (shard) =>
          firstOf(await names.of(shard), limit, isWanted).map((site) => ({ ...site, shard })),
        ),
      );
      return (await viewsOf(found.flat().sort(byName).slice(0, limit))).sort(bySite);
    },
    async listBusy(limit, part) {
      const found = await viewsOf(await busiest(limit, part));
      return found.sort((one, other) => other.waiting - one.waiting || bySite(one, other));
    },
    async find(site) {
      const shard = shards.ofSite(site);
      const [found] = await facts(shard, "names", [site]);
      if (found === undefined) return undefined;
      const { operator, incidents, isAskingRobots } = found;
      const jobs = await jobsAt(site);
      return { ...viewOf(found), operator, incidents, isAskingRobots, jobs: jobs.slice(0, SITE_JOBS_MOST) };
    },
  };
}

/** The first of those that are wanted; the others are not gone through. */
function firstOf(sites: readonly NamedSite[], count: number, isWanted: (site: NamedSite) => boolean): NamedSite[] {
  const found: NamedSite[] = [];
  for (const site of sites) {
    if (found.length >= count) break;
    if (isWanted(site)) found.push(site);
  }
  return found;
}

function byName(one: NamedSite, other: NamedSite): number {
  return one.name < other.name ? -1 : 1;
}

function bySite(one: SiteView, other: SiteView): number {
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

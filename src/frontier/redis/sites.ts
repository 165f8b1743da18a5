/** What sites have left to spend, their robots.txt, and the operator's word on them. */
import { readyAt, type SitePolicy, type Slot, takeSlot } from "../../domain/politeness.ts";
import type { SiteFacts } from "../explain.ts";
import type { RobotsFile } from "../frontier.ts";
import type { SiteView } from "../frontier-admin.ts";
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
  list(limit: number, after: string): Promise<SiteView[]>;
  facts(shard: Shard, by: "names" | "numbers", which: readonly Word[]): Promise<NumberedFacts[]>;
};

export type NumberedFacts = SiteFacts & { n: number };

type Deps = { shards: Shards };

/** Names looked at in one go. */
const PAGE = 1000;

export function createSites({ shards }: Deps): Sites {
  async function facts(shard: Shard, by: "names" | "numbers", which: readonly Word[]): Promise<NumberedFacts[]> {
    return which.length === 0 ? [] : readFacts(await shard.run("site-facts", by, ...which), shard.time);
  }

  /** Every site's name; Redis keeps them in no order. */
  async function names(shard: Shard): Promise<string[]> {
    const found = new Set<string>();
    for (let cursor = "0"; ; ) {
      const [next, page] = (await shard.ask("HSCAN", shard.key("sites"), cursor, "COUNT", PAGE)) as [string, string[]];
      for (let at = 0; at < page.length; at += 2) found.add(page[at] ?? "");
      cursor = next;
      if (cursor === "0") return [...found];
    }
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
    async list(limit, after) {
      const found = await Promise.all(
        shards.all.map(async (shard) => (await names(shard)).map((name) => ({ name, shard }))),
      );
      const page = found
        .flat()
        .filter(({ name }) => name > after)
        .sort((one, other) => (one.name < other.name ? -1 : 1))
        .slice(0, limit);
      const views: SiteView[] = [];
      for (const shard of shards.all) {
        const own = page.filter((one) => one.shard === shard).map(({ name }) => name);
        for (let from = 0; from < own.length; from += PAGE) {
          views.push(...(await facts(shard, "names", own.slice(from, from + PAGE))).map(viewOf));
        }
      }
      return views.sort((one, other) => (one.site < other.site ? -1 : 1));
    },
  };
}

const FIELDS = 11;

function readFacts(reply: Reply, time: BrokerTime): NumberedFacts[] {
  const found: NumberedFacts[] = [];
  for (let at = 1; at + FIELDS <= reply.length; at += FIELDS) {
    const site = String(reply[at + 1]);
    const numbers = reply.slice(at + 2, at + FIELDS).map(Number);
    const [arrivalAt = 0, inFlight = 0, blockedUntil = 0, intervalMs = 0, burst = 1, perSite = 1] = numbers;
    const [crawlDelayMs = 0, isAsking = 0, waiting = 0] = numbers.slice(6);
    const policy = { intervalMs, burst, perSite };
    found.push({
      n: Number(reply[at]),
      ...{ site, policy, inFlight, crawlDelayMs, waiting },
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

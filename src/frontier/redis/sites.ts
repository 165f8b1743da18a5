/**
 * Operations on sites other than leases and terms: robots.txt, scripted sites, the operator's policy, listings (F2, F3,
 * F12).
 */
import { readyAt, type SitePolicy } from "../../domain/politeness.ts";
import { areIsolated } from "../../domain/throttling.ts";
import type { SiteFacts } from "../explain.ts";
import type { RobotsFile } from "../frontier.ts";
import {
  type AdaptiveView,
  SITE_JOBS_MAX,
  SITE_JOBS_SCANNED,
  type SiteDetail,
  type SiteJobView,
  type SiteView,
} from "../frontier-admin.ts";
import type { Shard, Shards } from "./cluster/shards.ts";
import { decodeCause } from "./codec/codec.ts";
import type { Reply, ScriptArg } from "./connection/broker-client.ts";
import type { BrokerClock } from "./connection/broker-clock.ts";
import { createSiteNames, type NamedSite, scanHash } from "./site-names.ts";

export type Sites = {
  findRobots(site: string): Promise<RobotsFile | undefined>;
  keepRobots(site: string, robots: RobotsFile, crawlDelayMs: number): Promise<void>;
  markScripted(site: string, forMs: number): Promise<void>;
  isScripted(site: string): Promise<boolean>;
  setPolicy(site: string, policy: SitePolicy | undefined): Promise<void>;
  list(limit: number, from: { after: string; part: string }): Promise<SiteView[]>;
  listBusy(limit: number, part: string): Promise<SiteView[]>;
  find(site: string): Promise<SiteDetail | undefined>;
  facts(shard: Shard, by: "names" | "numbers", which: readonly ScriptArg[]): Promise<SiteRecord[]>;
  /** Jobs with tasks waiting or leased at the site, most waiting first. Searches only the newest jobs. */
  jobsAt(site: string): Promise<SiteJobView[]>;
};

export type SiteRecord = Omit<SiteFacts, "jobs"> & { n: number };

type Deps = { shards: Shards };

type SiteRef = { shard: Shard; number: number };

/** Max sites per script call, because Redis runs nothing else during a script (F17). */
const PAGE = 100;

export function createSites({ shards }: Deps): Sites {
  const names = createSiteNames();

  async function facts(shard: Shard, by: "names" | "numbers", which: readonly ScriptArg[]): Promise<SiteRecord[]> {
    return which.length === 0 ? [] : decodeSites(await shard.run("describe-sites", by, ...which), shard.time);
  }

  /** The `limit` sites with the most waiting tasks; ties are sorted by name. Reads details of no other site. */
  async function busiest(limit: number, part: string): Promise<SiteRef[]> {
    const waiting = (await Promise.all(shards.all.map((shard) => waitingAt(shard, part)))).flat();
    waiting.sort((one, other) => other.count - one.count);
    const least = waiting[limit - 1]?.count ?? 0;
    const above = waiting.filter(({ count }, nth) => nth < limit && count > least);
    const tied = waiting.filter(({ count }) => count === least);
    const free = Math.min(limit, waiting.length) - above.length;
    return [...above, ...(tied.length <= free ? tied : await firstByName(tied, free))];
  }

  async function waitingAt(shard: Shard, part: string): Promise<(SiteRef & { count: number })[]> {
    const wanted =
      part === ""
        ? undefined
        : new Set((await names.of(shard)).filter(({ name }) => name.includes(part)).map(({ number }) => number));
    return [...(await scanHash(shard, "site-waiting"))]
      .map(([number, count]) => ({ shard, number: Number(number), count }))
      .filter(({ number, count }) => count > 0 && (wanted?.has(number) ?? true));
  }

  async function firstByName(sites: readonly SiteRef[], count: number): Promise<(SiteRef & NamedSite)[]> {
    const found = await Promise.all(
      shards.all.map(async (shard) => {
        const own = new Set(sites.filter((site) => site.shard === shard).map(({ number }) => number));
        const named = own.size === 0 ? [] : await names.of(shard);
        return firstOf(named, count, ({ number }) => own.has(number)).map((site) => ({ ...site, shard }));
      }),
    );
    return found.flat().sort(byName).slice(0, count);
  }

  async function viewsOf(sites: readonly SiteRef[]): Promise<SiteView[]> {
    const found = await Promise.all(
      shards.all.map((shard) => {
        const own = sites.filter((site) => site.shard === shard).map(({ number }) => number);
        return factsInPages(shard, own);
      }),
    );
    return found.flat().map(viewOf);
  }

  async function factsInPages(shard: Shard, numbers: readonly number[]): Promise<SiteRecord[]> {
    const found: SiteRecord[] = [];
    for (let from = 0; from < numbers.length; from += PAGE) {
      found.push(...(await facts(shard, "numbers", numbers.slice(from, from + PAGE))));
    }
    return found;
  }

  async function jobsAt(site: string): Promise<SiteJobView[]> {
    return decodeSiteJobs(await shards.ofSite(site).run("list-site-jobs", site, SITE_JOBS_SCANNED));
  }

  return {
    facts,
    jobsAt,
    async findRobots(site) {
      const shard = shards.ofSite(site);
      const fields = ["kind", "text", "fetchedAt", "freshUntil"];
      const values = (await shard.read("HMGET", shard.key("robots", site), ...fields)) as (string | null)[];
      const [kind, text, fetchedAt, freshUntil] = values;
      if (kind === null) return undefined;
      return {
        kind: kind as RobotsFile["kind"],
        text: text ?? "",
        fetchedAt: shard.time.toLocal(Number(fetchedAt)),
        freshUntil: shard.time.toLocal(Number(freshUntil)),
      };
    },
    async keepRobots(site, { kind, text, fetchedAt, freshUntil }, crawlDelayMs) {
      const shard = shards.ofSite(site);
      const [fetched, fresh] = [shard.time.toBroker(fetchedAt), shard.time.toBroker(freshUntil)];
      await shard.run("keep-robots", site, kind, text, fetched, fresh, crawlDelayMs);
    },
    async markScripted(site, forMs) {
      await shards.ofSite(site).run("mark-scripted", site, forMs);
    },
    async isScripted(site) {
      const [, answer] = await shards.ofSite(site).run("is-scripted", site);
      return Number(answer) === 1;
    },
    async setPolicy(site, policy) {
      const args = policy === undefined ? ["", "", ""] : [policy.intervalMs, policy.burst, policy.perSite];
      await shards.ofSite(site).run("set-site-policy", site, ...args);
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
      const { operator, incidents, isFetchingRobots } = found;
      const jobs = await jobsAt(site);
      return { ...viewOf(found), operator, incidents, isFetchingRobots, jobs: jobs.slice(0, SITE_JOBS_MAX) };
    },
  };
}

/** The first `count` wanted sites; stops reading after them. */
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

/** Decodes a reply of list-site-jobs; most waiting first. */
function decodeSiteJobs(reply: Reply): SiteJobView[] {
  const found: SiteJobView[] = [];
  for (let at = 1; at + JOB_FIELDS <= reply.length; at += JOB_FIELDS) {
    const [jobId = "", name = "", state = ""] = reply.slice(at, at + 3).map(String);
    const [waiting = 0, inFlight = 0, ...wanted] = reply.slice(at + 3, at + JOB_FIELDS).map(Number);
    const policy = policyFrom(wanted);
    found.push({ jobId, name, state: state as SiteJobView["state"], waiting, inFlight, policy });
  }
  return found.sort(
    (one, other) => other.waiting - one.waiting || other.inFlight - one.inFlight || (one.jobId < other.jobId ? -1 : 1),
  );
}

function policyFrom([intervalMs = 0, burst = 1, perSite = 1]: readonly number[]): SitePolicy {
  return { intervalMs, burst, perSite };
}

const FIELDS = 19;

function decodeSites(reply: Reply, time: BrokerClock): SiteRecord[] {
  const found: SiteRecord[] = [];
  for (let at = 1; at + FIELDS <= reply.length; at += FIELDS) {
    const site = String(reply[at + 1]);
    const numbers = reply.slice(at + 2, at + FIELDS).map(Number);
    const [arrivalAt = 0, inFlight = 0, blockedUntil = 0, intervalMs = 0, burst = 1, perSite = 1] = numbers;
    const [crawlDelayMs = 0, isFetchingRobots = 0, waiting = 0, incidents = 0, termEndsAt = 0] = numbers.slice(6);
    const [worker = "", cause = "", operator = "", slowdown, slowdownCause = "", isolated] = reply
      .slice(at + 13, at + FIELDS)
      .map(String);
    const policy = { intervalMs, burst, perSite };
    found.push({
      n: Number(reply[at]),
      ...{ site, policy, inFlight, crawlDelayMs, waiting, incidents },
      operator: operator === "" ? undefined : policyFrom(operator.split(" ").map(Number)),
      rateReadyAt: toLocalInstant(readyAt(arrivalAt, policy), time),
      blockedUntil: toLocalInstant(blockedUntil, time),
      backoffCause: decodeCause(cause),
      term: worker === "" ? undefined : { worker, endsAt: time.toLocal(termEndsAt) },
      isFetchingRobots: isFetchingRobots === 1,
      ...decodeAdaptive(Number(slowdown), slowdownCause, Number(isolated)),
    });
  }
  return found;
}

function decodeAdaptive(slowdown: number, cause: string, isolated: number): AdaptiveView {
  const isKnown = slowdown !== 1 && cause !== "";
  return {
    slowdown,
    slowdownCause: isKnown ? (JSON.parse(cause) as AdaptiveView["slowdownCause"]) : undefined,
    hasIsolatedErrors: areIsolated({ isolated, isGood: true }),
  };
}

/** Converts a time in a reply to the local clock. 0 and below mean that there is no such time, and stay unchanged. */
function toLocalInstant(at: number, time: BrokerClock): number {
  return at <= 0 ? at : time.toLocal(at);
}

function viewOf({
  site,
  policy,
  inFlight,
  waiting,
  rateReadyAt,
  blockedUntil,
  backoffCause,
  crawlDelayMs,
  slowdown,
  slowdownCause,
  hasIsolatedErrors,
}: SiteRecord): SiteView {
  return {
    ...{ site, policy, inFlight, waiting, blockedUntil, backoffCause, crawlDelayMs },
    ...{ slowdown, slowdownCause, hasIsolatedErrors },
    readyAt: Math.max(rateReadyAt, blockedUntil),
  };
}

/** How the health of exits is stored in shared values: one per site, and a list of the sites. */
import type { Frontier } from "../../frontier/frontier.ts";
import type { Health } from "./health.ts";

/** The health of exits at one site. The key is the id of the exit. */
export type SiteHealth = Map<string, Health>;

/** The health of the exits themselves is stored under this name, as if it were a site. */
export const ALL_SITES = "*";

const SITES_KEY = "exit-sites";

/** Limits of the size of the values. The exits and sites that were used last are kept. */
const MAX_EXITS = 300;
const MAX_SITES = 500;
const KEPT_MS = 7 * 24 * 3_600_000;
const REASONS = ["failed", "blocked", "down"] as const;

type Values = Pick<Frontier, "findValue" | "keepValue">;

export function healthKey(site: string): string {
  return `exits:${site}`;
}

export function encodeHealth(health: SiteHealth): string {
  const newest = [...health].sort(([, one], [, other]) => other.changedAt - one.changedAt).slice(0, MAX_EXITS);
  const rows = newest.map(([id, at]) => [
    ...[id, at.requests, at.ok, at.blocked, Math.round(at.tookMs), at.cost, at.recent, at.recentOk],
    ...[
      at.streak,
      at.ejections,
      Math.round(at.ejectedUntil),
      REASONS.indexOf(at.because),
      Math.round(at.changedAt),
      at.bytes,
    ],
  ]);
  return JSON.stringify(rows);
}

export function decodeHealth(text: string): SiteHealth {
  const rows = JSON.parse(text) as (readonly [string, ...number[]])[];
  return new Map(rows.map(([id, ...numbers]) => [id, fromNumbers(numbers)]));
}

function fromNumbers(numbers: readonly number[]): Health {
  const at = (index: number): number => numbers[index] ?? 0;
  return {
    ...{ requests: at(0), ok: at(1), blocked: at(2), tookMs: at(3), cost: at(4), recent: at(5), recentOk: at(6) },
    ...{ streak: at(7), ejections: at(8), ejectedUntil: at(9), because: REASONS[at(10)] ?? "failed" },
    changedAt: at(11),
    bytes: at(12),
  };
}

/** Adds sites to the list of sites. If another process is faster, they are added after their next requests. */
export async function addSites(values: Values, sites: readonly string[]): Promise<void> {
  const found = await values.findValue(SITES_KEY);
  const known = found === undefined ? [] : (JSON.parse(found.value) as string[]);
  if (sites.every((site) => known.includes(site))) return;
  const next = [...new Set([...sites, ...known])].slice(0, MAX_SITES);
  await values.keepValue(SITES_KEY, JSON.stringify(next), { version: found?.version ?? 0, ttlMs: KEPT_MS });
}

/** The health of all exits at the sites of the list, and at ALL_SITES. */
export async function readAllHealth(values: Pick<Values, "findValue">): Promise<Map<string, SiteHealth>> {
  const found = await values.findValue(SITES_KEY);
  const sites = [ALL_SITES, ...(found === undefined ? [] : (JSON.parse(found.value) as string[]))];
  const all = new Map<string, SiteHealth>();
  for (const site of sites) {
    const health = await values.findValue(healthKey(site));
    if (health !== undefined) all.set(site, decodeHealth(health.value));
  }
  return all;
}

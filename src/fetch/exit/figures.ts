/**
 * The figures of proxies for users: success, response time and cost by provider and site, from the health that the fleet
 * shares.
 */
import type { Exit } from "../../domain/exit.ts";
import { type Health, NO_HEALTH, type Standing, standingOf } from "./health.ts";
import { ALL_SITES, type SiteHealth } from "./health-codec.ts";

export type Figures = {
  requests: number;
  /** Share of the requests, from 0 to 1; null without requests. */
  success: number | null;
  blocked: number;
  averageMs: number | null;
  bytes: number;
  cost: number;
};

export type ProviderFigures = Figures & {
  provider: string;
  site: string;
  /** How many proxies of the provider were used at the site, and how many of them are ejected there or at all sites. */
  proxies: number;
  ejected: number;
  /** When the first of them is tried again, as ISO 8601; null if none is ejected. */
  ejectedUntil: string | null;
};
export type ProxyFigures = Figures & {
  id: string;
  proxy: string;
  provider: string;
  tags: readonly string[];
  state: Standing;
  /** When the ejection at all sites ends, as ISO 8601; null if it is not ejected. */
  ejectedUntil: string | null;
  /** The sites where it is ejected or on probation. */
  ejectedAt: string[];
};

/** The provider of proxies that the fleet has used, and that are not in the settings of this process. */
const UNKNOWN = "(not in proxies)";

/** Success, latency and cost, by proxy and by provider and site. Contains no credentials. */
export function figuresOf(
  health: ReadonlyMap<string, SiteHealth>,
  exits: readonly Exit[],
  now: number,
): { proxies: ProxyFigures[]; providers: ProviderFigures[] } {
  const known = new Map(exits.map((exit) => [exit.id, exit]));
  const all: SiteHealth = health.get(ALL_SITES) ?? new Map();
  const ids = new Set([...known.keys(), ...all.keys()]);
  const sites = [...health].filter(([site]) => site !== ALL_SITES);
  const proxies = [...ids].map((id) => {
    const { label = id, provider = UNKNOWN, tags = [] } = known.get(id) ?? {};
    const own = all.get(id) ?? NO_HEALTH;
    const isBad = (at: SiteHealth) => standingOf(at.get(id) ?? NO_HEALTH, now) !== "healthy";
    const ejectedAt = sites.filter(([, at]) => isBad(at)).map(([site]) => site);
    const sum = summed(sites.flatMap(([, at]) => at.get(id) ?? []));
    const ejectedUntil = firstEnd([own], now);
    return { id, proxy: label, provider, tags, state: standingOf(own, now), ejectedUntil, ejectedAt, ...sum };
  });
  const providers = sites.flatMap(([site, at]) => {
    const providerOf = (id: string) => known.get(id)?.provider ?? UNKNOWN;
    return [...new Set([...at.keys()].map(providerOf))].map((provider) => {
      const rows = [...at].filter(([id]) => providerOf(id) === provider);
      const ejections = rows.map(([id, one]) => longerEjection(one, all.get(id) ?? NO_HEALTH));
      const ejected = ejections.filter((one) => standingOf(one, now) === "ejected").length;
      const state = { proxies: rows.length, ejected, ejectedUntil: firstEnd(ejections, now) };
      return { provider, site, ...state, ...summed(rows.map(([, one]) => one)) };
    });
  });
  const order = (one: ProviderFigures, other: ProviderFigures) =>
    one.provider.localeCompare(other.provider) || one.site.localeCompare(other.site);
  return { proxies, providers: providers.sort(order) };
}

/** An exit that is ejected at a site and at all sites is used again when both ejections have ended. */
function longerEjection(atSite: Health, atAll: Health): Health {
  return atSite.ejectedUntil >= atAll.ejectedUntil ? atSite : atAll;
}

function firstEnd(ejections: readonly Health[], now: number): string | null {
  const ends = ejections.filter((one) => standingOf(one, now) === "ejected").map(({ ejectedUntil }) => ejectedUntil);
  return ends.length === 0 ? null : new Date(Math.min(...ends)).toISOString();
}

function summed(rows: readonly Health[]): Figures {
  const total = (key: "requests" | "ok" | "blocked" | "tookMs" | "bytes" | "cost") =>
    rows.reduce((sum, row) => sum + row[key], 0);
  const [requests, ok] = [total("requests"), total("ok")];
  return {
    requests,
    success: requests === 0 ? null : rounded(ok / requests),
    blocked: total("blocked"),
    averageMs: ok === 0 ? null : Math.round(total("tookMs") / ok),
    bytes: total("bytes"),
    cost: rounded(total("cost")),
  };
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

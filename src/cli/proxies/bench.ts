/**
 * `trawl proxies bench`: sends the same requests through every proxy, and names the best proxy for each URL. The
 * requests are interleaved: each round sends one request per proxy and URL, so that a site that becomes slower is slower
 * for all proxies.
 */
import { networksFrom } from "../../compose/app.ts";
import type { Config } from "../../config/schema.ts";
import { type Exit, priceOf } from "../../domain/exit.ts";
import { siteOf } from "../../domain/site.ts";
import { createEgressGate } from "../../fetch/egress/gate.ts";
import { afterResult, type ExitResult, type Health, NO_HEALTH, scoreOf } from "../../fetch/exit/health.ts";
import type { Allowance } from "../../fetch/fetcher.ts";
import { findBlock } from "../../fetch/http/block-signatures.ts";
import { createHttpClient, type HttpClient } from "../../fetch/http/http-client.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { table } from "../terminal.ts";

type ProxyResult = {
  proxy: string;
  provider: string;
  requests: number;
  ok: number;
  blocked: number;
  /** null without a success. */
  averageMs: number | null;
  costPerSuccess: number | null;
};

export type TargetResult = {
  url: string;
  /** The best by success per cost; null if no proxy was successful. */
  winner: { proxy: string; provider: string } | null;
  proxies: ProxyResult[];
};

type Bench = { urls: readonly string[]; exits: readonly Exit[]; rounds: number; signal: AbortSignal };

const KEEP_ALIVE_MS = 10_000;

export async function benchProxies(config: Config, { urls, exits, rounds, signal }: Bench): Promise<TargetResult[]> {
  const clock = systemClock();
  const allowHosts = urls.map((url) => new URL(url).hostname);
  const gate = createEgressGate({}, { allowHosts, allowNetworks: networksFrom(config), connectMs: config.idleMs });
  const options = { userAgent: config.userAgent, connectionsPerSite: 1, keepAliveMs: KEEP_ALIVE_MS };
  const client = createHttpClient({ gate, allowance: pacedAllowance(config.rate, clock), clock }, options);
  const results = new Map<string, Health>();
  try {
    for (let round = 0; round < rounds; round++) {
      for (const exit of exits) {
        // The URLs have different sites as a rule, so they do not wait for each other.
        await Promise.all(
          urls.map(async (url) => {
            const result = await measure({ client, config, clock }, url, exit, signal);
            const key = `${exit.id} ${url}`;
            results.set(key, afterResult(results.get(key) ?? NO_HEALTH, result, clock.now()));
          }),
        );
      }
    }
  } finally {
    await client.close();
  }
  return urls.map((url) => targetResult(url, exits, results));
}

export function benchText(results: readonly TargetResult[]): string {
  return results
    .map(({ url, winner, proxies }) => {
      const rows = proxies.map((row) => [
        ...[row.proxy, row.provider, String(row.requests)],
        ...[`${Math.round((1000 * row.ok) / Math.max(1, row.requests)) / 10} %`, String(row.blocked)],
        ...[row.averageMs === null ? "–" : `${row.averageMs} ms`, row.costPerSuccess ?? "–"].map(String),
        row.proxy === winner?.proxy ? "use this" : "",
      ]);
      const head = ["PROXY", "PROVIDER", "REQUESTS", "SUCCESS", "BLOCKED", "AVERAGE", "COST PER SUCCESS", ""];
      const best = winner === null ? "no proxy was successful" : `use ${winner.proxy} (${winner.provider})`;
      return `${url}: ${best}\n${table([head, ...rows], { right: [2, 3, 4, 5, 6] })}`;
    })
    .join("\n");
}

type MeasureDeps = { client: HttpClient; config: Config; clock: Clock };

async function measure(
  { client, config, clock }: MeasureDeps,
  url: string,
  exit: Exit,
  signal: AbortSignal,
): Promise<ExitResult> {
  const { totalMs, idleMs, bodyBytes, siteGrouping } = config;
  const limits = { totalMs, idleMs, bodyBytes };
  const startedAt = clock.now();
  const site = siteOf(url, siteGrouping);
  const answer = await client.send({ url, site, limits, overflow: "cut", headers: {}, signal, exit });
  // The time since the request was sent, without the wait for the rate of the site.
  const tookMs = answer.kind === "answer" ? answer.endedAt - answer.sentAt : clock.now() - startedAt;
  const bytes = answer.receivedBytes ?? 0;
  if (answer.kind !== "answer" || answer.status >= 500 || answer.status === 407) {
    return { kind: "failed", tookMs, bytes, cost: answer.kind === "answer" ? priceOf(exit, bytes) : 0 };
  }
  const kind = (await findBlock(answer)) === undefined ? "ok" : "blocked";
  return { kind, tookMs, bytes, cost: priceOf(exit, bytes) };
}

function targetResult(url: string, exits: readonly Exit[], results: ReadonlyMap<string, Health>): TargetResult {
  const rows = exits.map((exit) => ({ exit, health: results.get(`${exit.id} ${url}`) ?? NO_HEALTH }));
  const successful = rows.filter(({ health }) => health.ok > 0);
  const [best] = successful.sort((one, other) => scoreOf(other.health, other.exit) - scoreOf(one.health, one.exit));
  return {
    url,
    winner: best === undefined ? null : { proxy: best.exit.label, provider: best.exit.provider },
    proxies: rows.map(({ exit: { label, provider }, health: { requests, ok, blocked, tookMs, cost } }) => ({
      ...{ proxy: label, provider, requests, ok, blocked },
      averageMs: ok === 0 ? null : Math.round(tookMs / ok),
      costPerSuccess: ok === 0 ? null : Math.round((10_000 * cost) / ok) / 10_000,
    })),
  };
}

/** Sends requests to one site at the rate of the settings. */
function pacedAllowance(intervalMs: number, clock: Clock): Allowance {
  const nextAt = new Map<string, number>();
  return {
    turn(site, signal) {
      const at = Math.max(clock.now(), nextAt.get(site) ?? 0);
      nextAt.set(site, at + intervalMs);
      return at <= clock.now() ? undefined : clock.sleep(at - clock.now(), signal);
    },
    trySend: () => true,
    unsent: () => {},
  };
}

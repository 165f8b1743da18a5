/** Writes the health of proxies as workers do: three providers at four sites, with blocks and ejections. */
import { join } from "node:path";
import { resolveConfig } from "../../src/config/resolve.ts";
import { describeExits } from "../../src/config/resolve-exits.ts";
import { afterResult, type ExitResult, type Health, NO_HEALTH } from "../../src/fetch/exit/health.ts";
import { ALL_SITES, addSites, encodeHealth, healthKey } from "../../src/fetch/exit/health-codec.ts";
import { openSqliteFrontier } from "../../src/frontier/sqlite/open.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { Stage } from "./stage.ts";

/** The proxies of the server of the stage. No worker uses them. */
export const STAGE_PROXIES = [
  { url: "http://dc1.acme.example:8080", tags: ["dc"], provider: "acme", region: "us", cost: 1 },
  { url: "http://dc2.acme.example:8080", tags: ["dc"], provider: "acme", region: "us", cost: 1 },
  { url: "http://dc3.acme.example:8080", tags: ["dc"], provider: "acme", region: "eu", cost: 1 },
  { url: "socks5://eu.bee.example:1080", tags: ["residential"], provider: "bee", region: "eu", cost: 8 },
  { gateway: "https://api.gate.example/?url={url}", tags: ["api"], provider: "gate", cost: 5 },
];

type Results = readonly (readonly [kind: ExitResult["kind"], times: number])[];

/** The results of each proxy, in the order of the list, at each site. */
const RESULTS: Readonly<Record<string, readonly Results[]>> = {
  "books.example": [
    [["ok", 412]],
    [
      ["failed", 2],
      ["ok", 398],
    ],
    [["ok", 377]],
  ],
  "shop.example": [
    [
      ["ok", 120],
      ["blocked", 7],
    ],
    [
      ["blocked", 1],
      ["ok", 160],
    ],
    [
      ["ok", 80],
      ["blocked", 2],
    ],
    [["ok", 64]],
  ],
  "news.example": [
    [
      ["ok", 30],
      ["blocked", 9],
    ],
    [
      ["ok", 28],
      ["blocked", 6],
    ],
    [
      ["ok", 31],
      ["blocked", 8],
    ],
    [["ok", 97]],
    [["ok", 24]],
  ],
  "weather.example": [
    [["ok", 12]],
    [],
    [
      ["ok", 4],
      ["down", 6],
    ],
  ],
  [ALL_SITES]: [[["ok", 1]], [["ok", 1]], [["down", 9]], [["ok", 1]], [["ok", 1]]],
};
/** The average response time of each proxy. */
const TOOK_MS = [180, 210, 240, 890, 1_400];

export async function fillProxies({ folder }: Pick<Stage, "folder">, now = Date.now()): Promise<void> {
  const exits = describeExits(resolveConfig([{ from: "stage", values: { proxies: STAGE_PROXIES } }]).proxies);
  const frontier = openSqliteFrontier(
    join(folder, ".trawl/broker.db"),
    { clock: systemClock() },
    { busyMs: 10_000, maxPending: 1_000_000, pollMs: 100 },
  );
  for (const [site, results] of Object.entries(RESULTS)) {
    const rows = results.flatMap((ofExit, nth) => {
      const { id = "", cost = 0 } = exits[nth] ?? {};
      return ofExit.length === 0 ? [] : [[id, healthOf(ofExit, TOOK_MS[nth] ?? 0, cost, now)] as const];
    });
    await frontier.keepValue(healthKey(site), encodeHealth(new Map(rows)), { version: 0, ttlMs: 3_600_000 });
  }
  await addSites(
    frontier,
    Object.keys(RESULTS).filter((site) => site !== ALL_SITES),
  );
  await frontier.close();
}

function healthOf(results: Results, tookMs: number, cost: number, now: number): Health {
  const kinds = results.flatMap(([kind, times]) => Array.from({ length: times }, () => kind));
  // Long enough apart that each failure after an ejection ejects the proxy again, for longer.
  const SPAN_MS = 60_000;
  return kinds.reduce(
    (health, kind, nth) =>
      afterResult(health, { kind, tookMs, bytes: 20_000, cost }, now - (kinds.length - 1 - nth) * SPAN_MS),
    NO_HEALTH,
  );
}

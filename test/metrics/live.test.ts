/** Scrapes of a server and of a pool of workers, under work: read strictly, bounded, and what deploy/ asks for is there. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createServerMeter } from "../../src/api/metrics/server-meter.ts";
import { ALL_SERVER_METRICS } from "../../src/api/metrics/server-metrics.ts";
import { withMetrics } from "../../src/cli/worker/metrics-listener.ts";
import { BUILD_METRICS } from "../../src/runtime/build-metrics.ts";
import type { Declarations } from "../../src/runtime/metrics.ts";
import { CHILD_METRICS, POOL_METRICS } from "../../src/worker/observe/worker-metrics.ts";
import { closeLater } from "../api/harness.ts";
import { startKeyedApi } from "../api/keyed.ts";
import { ended, startWorking } from "../api/work.ts";
import { startTrawl } from "../e2e/cli.ts";
import { newFolder } from "../e2e/folder.ts";
import { waitUntil } from "../services/wait-until.ts";
import { parseMetrics, type Scrape } from "./parse-metrics.ts";

const DEPLOY = resolve(import.meta.dirname, "../../deploy");
const SERVER: Declarations = { ...ALL_SERVER_METRICS, ...BUILD_METRICS };
const WORKERS: Declarations = { ...CHILD_METRICS, ...POOL_METRICS, ...BUILD_METRICS };
/** More than any scrape of ours should ever have. */
const SAMPLES_MOST = 3_000;

async function scrape(url: string, declared: Declarations, headers: Record<string, string> = {}): Promise<Scrape> {
  const answer = await fetch(url, { headers });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const scraped = parseMetrics(await answer.text());
  expect(scraped.problems).toEqual([]);
  expect(unbounded(scraped, declared)).toEqual([]);
  return scraped;
}

/** Labels with values that are not declared, or more than are; and what is not declared at all. */
function unbounded({ families }: Scrape, declared: Declarations): string[] {
  const samples = [...families.values()].reduce((sum, family) => sum + family.samples.length, 0);
  const wrong = [...families.values()].flatMap(({ name, samples: own }) => {
    const { labels, type } = declared[name] ?? {};
    if (type === undefined) return [`${name} is not declared`];
    const names = new Set(own.flatMap((sample) => Object.keys(sample.labels)).filter((label) => label !== "le"));
    return [...names].flatMap((label) => {
      const values = new Set(own.map((sample) => sample.labels[label] ?? "").filter((value) => value !== "other"));
      const allowed = labels?.[label];
      if (allowed === undefined) return [`${name} has a label ${label}`];
      if ("most" in allowed) return values.size <= allowed.most ? [] : [`${name}{${label}} has ${values.size} values`];
      return [...values].filter((value) => !allowed.includes(value)).map((value) => `${name}{${label}="${value}"}`);
    });
  });
  return samples > SAMPLES_MOST ? [...wrong, `${samples} samples`] : wrong;
}

function reading({ families }: Scrape, name: string, labels: Record<string, string> = {}): number {
  const family = families.get(name.replace(/_(bucket|sum|count)$/, "")) ?? families.get(name);
  const found = (family?.samples ?? []).filter(
    (sample) =>
      sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  return found.reduce((sum, { value }) => sum + value, 0);
}

function namesIn({ families }: Scrape): string[] {
  return [...families.values()].flatMap(({ samples }) => samples.map(({ name }) => name));
}

function readDeploy(): { queries: string[]; alerts: string } {
  const { panels } = JSON.parse(readFileSync(join(DEPLOY, "grafana/trawl.json"), "utf8")) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  return { queries, alerts: readFileSync(join(DEPLOY, "prometheus/alerts.yml"), "utf8") };
}

function metricsIn(text: string): string[] {
  return [...new Set(text.match(/\btrawl_\w+/g))];
}

/** Every metric that a query of deploy/ names. */
function askedFor(): string[] {
  const { queries, alerts } = readDeploy();
  return metricsIn([...queries, alerts].join("\n"));
}

const OF_THE_FLEET = new Set([
  ...["TrawlNoWorkers", "TrawlQueueNotDraining", "TrawlDeadLettersRising", "TrawlMostlyFailing"],
]);

describe("metrics", () => {
  const killing: (() => void)[] = [];
  afterEach(() => {
    for (const kill of killing.splice(0)) kill();
  });

  it("of a pool and a server under work are well formed, bounded, and add up over processes that die", async () => {
    const folder = newFolder();
    const places = { broker: `sqlite:${join(folder, "b.db")}`, store: `sqlite:${join(folder, "s.db")}` };
    const working = await startWorking(
      { "/robots.txt": "User-agent: *\nDisallow: /private\n", "/": "<h1>one</h1><a href='/2'>", "/2": "<h1>two</h1>" },
      { ...places, bodies: "none" },
    );
    const { ask, site, url } = working;
    const env = { TRAWL_BROKER: places.broker, TRAWL_STORE: places.store, TRAWL_BODIES: "none" };
    const pool = startTrawl(
      [...["worker", "--queues", "fetch,odd.name:with-marks", "--processes", "2", "--metrics-port", "0"], ...LIMITS],
      { cwd: folder, env: { ...env, TRAWL_ALLOW_PRIVATE: "127.0.0.0/8", TRAWL_RATE: "unlimited" } },
    );
    killing.push(() => pool.kill("SIGKILL"));
    await pool.prints(/metrics at \S+/);
    const metricsAt = /metrics at (\S+)/.exec(pool.output().stderr)?.[1] ?? "";
    const submit = (paths: string[], more: object = {}) =>
      ask("POST", "/v1/jobs", { urls: paths.map((path) => site.url + path), extract: { title: "h1" }, ...more });
    await ended(working, (await submit(["/", "/2", "/missing", "/private/x"], { follow: {} })).json.id);
    expect(await submit(["/never"], { queue: 'nobody-serves.this"' })).toMatchObject({ status: 400 });
    await submit(["/never"], { queue: "nobody" });

    const told = await untilTold(metricsAt, (scraped) => reading(scraped, "trawl_tasks_total") >= 4);
    expect(reading(told, "trawl_tasks_total", { outcome: "dead" })).toBe(1);
    expect(reading(told, "trawl_refused_total", { reason: "robots" })).toBe(1);
    expect(reading(told, "trawl_pages_total")).toBe(2);
    expect(reading(told, "trawl_fetches_total", { of: "robots", status: "2xx" })).toBe(1);
    expect(reading(told, "trawl_fetches_total", { of: "page" })).toBe(3);
    expect(reading(told, "trawl_task_seconds_count", { kind: "fetch" })).toBe(4);
    expect(reading(told, "trawl_worker_processes")).toBe(2);
    expect(reading(told, "trawl_worker_memory_limit_bytes")).toBe(512_000_000);

    // Workers write it every few seconds; what they wrote outlives all of them.
    const pagesKept = async () => {
      const { points } = (await ask("GET", "/v1/history?step=1h")).json as unknown as { points: { pages: number }[] };
      return points.reduce((sum, { pages }) => sum + pages, 0);
    };
    expect(await waitUntil(async () => (await pagesKept()) === 2, 20_000, 100)).toBe(true);

    // One dies: what it had counted stays, and the next begins at nothing.
    const { json } = await ask("GET", "/v1/workers");
    const [one] = json.workers as unknown as { pid: number }[];
    process.kill(Number(one?.pid), "SIGKILL");
    const after = await untilTold(metricsAt, (scraped) => reading(scraped, "trawl_worker_process_starts_total") === 3);
    expect(reading(after, "trawl_tasks_total")).toBeGreaterThanOrEqual(4);
    expect(reading(after, "trawl_worker_process_ends_total", { how: "crashed" })).toBe(1);

    const server = await scrape(`${url}/metrics`, SERVER);
    expect(reading(server, "trawl_http_requests_total", { method: "POST", route: "/v1/jobs", status: "2xx" })).toBe(2);
    expect(reading(server, "trawl_submitted_urls_total", { outcome: "queued" })).toBe(5);
    expect(reading(server, "trawl_queue_waiting", { queue: "nobody" })).toBe(1);
    expect(reading(server, "trawl_dead_letters")).toBe(1);
    expect([reading(server, "trawl_broker_up"), reading(server, "trawl_store_up")]).toEqual([1, 1]);
    pool.kill("SIGKILL");
    await pool.ended;
    expect(await pagesKept()).toBe(2);

    const known = new Set([told, server].flatMap(namesIn));
    expect(askedFor().filter((name) => !known.has(name))).toEqual([]);
  });

  it("are asked for by Grafana and alerts as they are declared, and every alert says what to do", () => {
    const { queries, alerts } = readDeploy();
    const rules = alerts.split(/^ {6}- alert: /m).slice(1);

    expect(queries.length).toBeGreaterThan(50);
    const declared = { ...SERVER, ...WORKERS };
    const names = askedFor().map((name) => name.replace(/_(bucket|sum|count)$/, ""));
    expect(names.filter((name) => !(name in declared))).toEqual([]);
    expect(rules.length).toBeGreaterThan(9);
    for (const rule of rules) {
      const name = rule.split("\n", 1)[0] ?? "";
      // Those have to be heard where workers have gone, and all that these told with them.
      if (OF_THE_FLEET.has(name)) expect(metricsIn(rule).filter((metric) => !(metric in SERVER))).toEqual([]);
      const missing = ["expr: ", "severity: ", 'summary: "', 'action: "'].filter((part) => !rule.includes(part));
      expect([name, missing]).toEqual([name, []]);
    }
  });

  it("of a server with keys are for keys of no tenant, and for everybody only where the settings say so", async () => {
    const { url, person } = await startKeyedApi();
    const [reader, tenant] = [await person({ scopes: ["read"] }), await person({ tenant: "one", scopes: ["read"] })];
    const bearer = ({ key }: { key: string }) => ({ authorization: `Bearer ${key}` });

    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    expect((await fetch(`${url}/metrics`, { headers: bearer(tenant) })).status).toBe(403);
    await scrape(`${url}/metrics`, SERVER, bearer(reader));
    const open = await startKeyedApi({ metricsOpen: true });
    await scrape(`${open.url}/metrics`, SERVER);
  });

  it("are looked for once however many ask, and say what is away", async () => {
    const { url, trawl } = await startWorking({});
    const { listQueues } = trawl.frontier;
    let looks = 0;
    trawl.frontier.listQueues = () => {
      looks += 1;
      return listQueues();
    };
    const meter = createServerMeter(trawl);
    await Promise.all(Array.from({ length: 20 }, () => meter.text()));
    expect(looks).toBe(1);
    expect(reading(await scrape(`${url}/metrics`, SERVER), "trawl_broker_up")).toBe(1);

    trawl.frontier.countDead = async () => Promise.reject(new Error("it cannot be counted"));
    const isUncounted = async () => {
      const scraped = await scrape(`${url}/metrics`, SERVER);
      expect(reading(scraped, "trawl_broker_up")).toBe(1);
      return !scraped.families.has("trawl_dead_letters");
    };
    expect(await waitUntil(isUncounted, 5_000, 100)).toBe(true);

    trawl.frontier.listQueues = async () => Promise.reject(new Error("it is away"));
    trawl.store.countRecords = async () => Promise.reject(new Error("it is away, too"));
    const isAway = async () => reading(await scrape(`${url}/metrics`, SERVER), "trawl_broker_up") === 0;
    expect(await waitUntil(isAway, 5_000, 100)).toBe(true);
    const away = await scrape(`${url}/metrics`, SERVER);
    expect(reading(away, "trawl_store_up")).toBe(0);
    expect(away.families.has("trawl_fleet_workers")).toBe(false);
  });

  it("have a listener of their own that answers nothing else, and says whose port it cannot have", async () => {
    const urls: string[] = [];
    const measuring = (metricsPort: number) => ({
      config: { metricsHost: "127.0.0.1", metricsPort },
      output: { measured: (url: string) => void urls.push(url) },
      text: () => "# HELP a What.\n# TYPE a gauge\na 1\n",
    });
    await withMetrics(measuring(0), async () => {
      const base = new URL(urls[0] ?? "");
      const status = async (path: string, method = "GET") => (await fetch(new URL(path, base), { method })).status;
      expect([await status("/metrics?x=1"), await status("/metrics", "HEAD")]).toEqual([200, 200]);
      expect([await status("/"), await status("/metrics/x"), await status("/metrics", "POST")]).toEqual([
        404, 404, 405,
      ]);
      const second = withMetrics(measuring(Number(base.port)), async () => {});
      await expect(second).rejects.toMatchObject({
        code: "ADDRESS_TAKEN",
        message: expect.stringContaining("--metrics-port"),
      });
    });
    await expect(fetch(urls[0] ?? "")).rejects.toThrow();
    expect(await withMetrics(measuring(Number.POSITIVE_INFINITY), async () => "no port")).toBe("no port");
    expect(urls).toHaveLength(1);
  });

  it("count a server's followers and unknown paths, and never have a path for a label", async () => {
    const { url } = await startWorking({});
    const leaving = new AbortController();
    closeLater(async () => leaving.abort());
    await fetch(`${url}/v1/events`, { signal: leaving.signal });
    for (const path of ["/nope", "/v1/nope?secret=1", "/v1/jobs/j-not-there", "/%ff"]) await fetch(url + path);

    const scraped = await scrape(`${url}/metrics`, SERVER);
    expect(reading(scraped, "trawl_event_followers")).toBe(1);
    expect(reading(scraped, "trawl_http_requests_total", { route: "/v1/jobs/:id", status: "4xx" })).toBe(1);
    const text = JSON.stringify([...scraped.families.values()]);
    for (const word of ["nope", "secret", "not-there", "%ff"]) expect(text).not.toContain(word);
  });
});

const LIMITS = ["--max-memory-per-child", "512"];

async function untilTold(url: string, isTold: (scraped: Scrape) => boolean): Promise<Scrape> {
  let last = await scrape(url, WORKERS);
  const look = async () => {
    last = await scrape(url, WORKERS);
    return isTold(last);
  };
  expect(await waitUntil(look, 20_000)).toBe(true);
  return last;
}

/** Scrapes of a server and a worker pool under load: valid and bounded, with every metric that deploy/ uses. */
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
import { startKeyedApi } from "../api/keyed-api.ts";
import { ended, startWorking } from "../api/working-api.ts";
import { startTrawl } from "../e2e/cli.ts";
import { newFolder } from "../e2e/folder.ts";
import { waitUntil } from "../services/wait-until.ts";
import { parseMetrics, type Scrape } from "./parse-metrics.ts";

const DEPLOY = resolve(import.meta.dirname, "../../deploy");
const SERVER: Declarations = { ...ALL_SERVER_METRICS, ...BUILD_METRICS };
const WORKERS: Declarations = { ...CHILD_METRICS, ...POOL_METRICS, ...BUILD_METRICS };
/** No scrape may have more samples. */
const MAX_SAMPLES = 3_000;

async function scrape(url: string, declared: Declarations, headers: Record<string, string> = {}): Promise<Scrape> {
  const answer = await fetch(url, { headers });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const scraped = parseMetrics(await answer.text());
  expect(scraped.problems).toEqual([]);
  expect(unbounded(scraped, declared)).toEqual([]);
  return scraped;
}

/** Undeclared metrics and labels, and labels with undeclared or too many values. */
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
      if ("max" in allowed) return values.size <= allowed.max ? [] : [`${name}{${label}} has ${values.size} values`];
      return [...values].filter((value) => !allowed.includes(value)).map((value) => `${name}{${label}="${value}"}`);
    });
  });
  return samples > MAX_SAMPLES ? [...wrong, `${samples} samples`] : wrong;
}

function sumOf({ families }: Scrape, name: string, labels: Record<string, string> = {}): number {
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
function metricsInDeploy(): string[] {
  const { queries, alerts } = readDeploy();
  return metricsIn([...queries, alerts].join("\n"));
}

const FLEET_ALERTS = new Set([
  ...["TrawlNoWorkers", "TrawlQueueNotDraining", "TrawlDeadLettersRising", "TrawlMostlyFailing"],
]);

describe("metrics", () => {
  const killing: (() => void)[] = [];
  afterEach(() => {
    for (const kill of killing.splice(0)) kill();
  });

  it("of a pool and a server under load are valid and bounded, and keep the counts of killed processes", async () => {
    const folder = newFolder();
    const places = { broker: `sqlite:${join(folder, "b.db")}`, store: `sqlite:${join(folder, "s.db")}` };
    const working = await startWorking(
      { "/robots.txt": "User-agent: *\nDisallow: /private\n", "/": "<h1>one</h1><a href='/2'>", "/2": "<h1>two</h1>" },
      { ...places, bodies: "none" },
    );
    const { request, site, url } = working;
    const env = { TRAWL_BROKER: places.broker, TRAWL_STORE: places.store, TRAWL_BODIES: "none" };
    const pool = startTrawl(
      [...["worker", "--queues", "fetch,odd.name:with-marks", "--processes", "2", "--metrics-port", "0"], ...LIMITS],
      { cwd: folder, env: { ...env, TRAWL_ALLOW_PRIVATE: "127.0.0.0/8", TRAWL_RATE: "unlimited" } },
    );
    killing.push(() => pool.kill("SIGKILL"));
    await pool.prints(/metrics at \S+/);
    const metricsAt = /metrics at (\S+)/.exec(pool.output().stderr)?.[1] ?? "";
    const submit = (paths: string[], more: object = {}) =>
      request("POST", "/v1/jobs", { urls: paths.map((path) => site.url + path), extract: { title: "h1" }, ...more });
    await ended(working, (await submit(["/", "/2", "/missing", "/private/x"], { follow: {} })).json.id);
    expect(await submit(["/never"], { queue: 'not-served.this"' })).toMatchObject({ status: 400 });
    await submit(["/never"], { queue: "unserved" });

    const before = await scrapeUntil(metricsAt, (scraped) => sumOf(scraped, "trawl_tasks_total") >= 4);
    expect(sumOf(before, "trawl_tasks_total", { outcome: "dead" })).toBe(1);
    expect(sumOf(before, "trawl_refused_total", { reason: "robots" })).toBe(1);
    expect(sumOf(before, "trawl_pages_total")).toBe(2);
    expect(sumOf(before, "trawl_fetches_total", { of: "robots", status: "2xx" })).toBe(1);
    expect(sumOf(before, "trawl_fetches_total", { of: "page" })).toBe(3);
    expect(sumOf(before, "trawl_task_seconds_count", { kind: "fetch" })).toBe(4);
    expect(sumOf(before, "trawl_worker_processes")).toBe(2);
    expect(sumOf(before, "trawl_worker_memory_limit_bytes")).toBe(512_000_000);

    // Workers write the history every few seconds. It remains after all of them have ended.
    const pagesInHistory = async () => {
      const { points } = (await request("GET", "/v1/history?step=1h")).json as unknown as {
        points: { pages: number }[];
      };
      return points.reduce((sum, { pages }) => sum + pages, 0);
    };
    expect(await waitUntil(async () => (await pagesInHistory()) === 2, 20_000, 100)).toBe(true);

    // A process is killed: its counts stay, and the next process starts at zero.
    const { json } = await request("GET", "/v1/workers");
    const [one] = json.workers as unknown as { pid: number }[];
    process.kill(Number(one?.pid), "SIGKILL");
    const after = await scrapeUntil(metricsAt, (scraped) => sumOf(scraped, "trawl_worker_process_starts_total") === 3);
    expect(sumOf(after, "trawl_tasks_total")).toBeGreaterThanOrEqual(4);
    expect(sumOf(after, "trawl_worker_process_ends_total", { how: "crashed" })).toBe(1);

    const server = await scrape(`${url}/metrics`, SERVER);
    expect(sumOf(server, "trawl_http_requests_total", { method: "POST", route: "/v1/jobs", status: "2xx" })).toBe(2);
    expect(sumOf(server, "trawl_submitted_urls_total", { outcome: "queued" })).toBe(5);
    expect(sumOf(server, "trawl_queue_waiting", { queue: "unserved" })).toBe(1);
    expect(sumOf(server, "trawl_dead_letters")).toBe(1);
    expect([sumOf(server, "trawl_broker_up"), sumOf(server, "trawl_store_up")]).toEqual([1, 1]);
    pool.kill("SIGKILL");
    await pool.ended;
    expect(await pagesInHistory()).toBe(2);

    const known = new Set([before, server].flatMap(namesIn));
    expect(metricsInDeploy().filter((name) => !known.has(name))).toEqual([]);
  });

  it("are used by Grafana and alerts under their declared names, and every alert has an action", () => {
    const { queries, alerts } = readDeploy();
    const rules = alerts.split(/^ {6}- alert: /m).slice(1);

    expect(queries.length).toBeGreaterThan(50);
    const declared = { ...SERVER, ...WORKERS };
    const names = metricsInDeploy().map((name) => name.replace(/_(bucket|sum|count)$/, ""));
    expect(names.filter((name) => !(name in declared))).toEqual([]);
    expect(rules.length).toBeGreaterThan(9);
    for (const rule of rules) {
      const name = rule.split("\n", 1)[0] ?? "";
      // These alerts must also fire when all workers are gone, and their metrics with them.
      if (FLEET_ALERTS.has(name)) expect(metricsIn(rule).filter((metric) => !(metric in SERVER))).toEqual([]);
      const missing = ["expr: ", "severity: ", 'summary: "', 'action: "'].filter((part) => !rule.includes(part));
      expect([name, missing]).toEqual([name, []]);
    }
  });

  it("of a server with keys require a key without a tenant, unless the settings make them public", async () => {
    const { url, newCaller } = await startKeyedApi();
    const [reader, tenant] = [
      await newCaller({ scopes: ["read"] }),
      await newCaller({ tenant: "one", scopes: ["read"] }),
    ];
    const bearer = ({ key }: { key: string }) => ({ authorization: `Bearer ${key}` });

    expect((await fetch(`${url}/metrics`)).status).toBe(401);
    expect((await fetch(`${url}/metrics`, { headers: bearer(tenant) })).status).toBe(403);
    await scrape(`${url}/metrics`, SERVER, bearer(reader));
    const open = await startKeyedApi({ metricsOpen: true });
    await scrape(`${open.url}/metrics`, SERVER);
  });

  it("are read once for concurrent scrapes, and report a broker or store that is unreachable", async () => {
    const { url, trawl } = await startWorking({});
    const { listQueues } = trawl.frontier;
    let reads = 0;
    trawl.frontier.listQueues = () => {
      reads += 1;
      return listQueues();
    };
    const meter = createServerMeter(trawl);
    await Promise.all(Array.from({ length: 20 }, () => meter.text()));
    expect(reads).toBe(1);
    expect(sumOf(await scrape(`${url}/metrics`, SERVER), "trawl_broker_up")).toBe(1);

    trawl.frontier.countDead = async () => Promise.reject(new Error("the count failed"));
    const isUncounted = async () => {
      const scraped = await scrape(`${url}/metrics`, SERVER);
      expect(sumOf(scraped, "trawl_broker_up")).toBe(1);
      return !scraped.families.has("trawl_dead_letters");
    };
    expect(await waitUntil(isUncounted, 5_000, 100)).toBe(true);

    trawl.frontier.listQueues = async () => Promise.reject(new Error("unreachable"));
    trawl.store.countRecords = async () => Promise.reject(new Error("unreachable, too"));
    const isDown = async () => sumOf(await scrape(`${url}/metrics`, SERVER), "trawl_broker_up") === 0;
    expect(await waitUntil(isDown, 5_000, 100)).toBe(true);
    const down = await scrape(`${url}/metrics`, SERVER);
    expect(sumOf(down, "trawl_store_up")).toBe(0);
    expect(down.families.has("trawl_fleet_workers")).toBe(false);
  });

  it("have a separate listener that serves nothing else, and reports a port that is in use", async () => {
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

  it("count the followers of a server and unknown paths, and never use a path as a label", async () => {
    const { url } = await startWorking({});
    const controller = new AbortController();
    closeLater(async () => controller.abort());
    await fetch(`${url}/v1/events`, { signal: controller.signal });
    for (const path of ["/nope", "/v1/nope?secret=1", "/v1/jobs/j-not-there", "/%ff"]) await fetch(url + path);

    const scraped = await scrape(`${url}/metrics`, SERVER);
    expect(sumOf(scraped, "trawl_event_followers")).toBe(1);
    expect(sumOf(scraped, "trawl_http_requests_total", { route: "/v1/jobs/:id", status: "4xx" })).toBe(1);
    const text = JSON.stringify([...scraped.families.values()]);
    for (const part of ["nope", "secret", "not-there", "%ff"]) expect(text).not.toContain(part);
  });
});

const LIMITS = ["--max-memory-per-child", "512"];

async function scrapeUntil(url: string, condition: (scraped: Scrape) => boolean): Promise<Scrape> {
  let last = await scrape(url, WORKERS);
  const poll = async () => {
    last = await scrape(url, WORKERS);
    return condition(last);
  };
  expect(await waitUntil(poll, 20_000)).toBe(true);
  return last;
}

/** The history of the fleet over HTTP, from the store, and its current throughput, as reported by workers. */
import { describe, expect, it } from "vitest";
import { latencyBucket } from "../../src/domain/latency.ts";
import { BUCKET_WIDTHS_MS, bucketStart, noWork, type WorkCounts } from "../../src/store/history-store.ts";
import { startApi } from "./harness.ts";
import { ended, startWorking } from "./working-api.ts";

type Point = Record<string, number | string | null>;

const [FINE, MEDIUM, COARSE] = BUCKET_WIDTHS_MS;
const DAY = 24 * COARSE;

function work(counts: Partial<WorkCounts>, tookMs = 100): WorkCounts {
  const all = { ...noWork(), ...counts };
  all.latencies[latencyBucket(tookMs)] = all.done + all.failed;
  return all;
}

describe("history", () => {
  it("has a point for every interval, with null where no worker reported", async () => {
    const { request, trawl } = await startApi();
    const at = bucketStart(Date.now(), COARSE) - COARSE;
    await trawl.store.history.add([{ at, counts: work({ pages: 30, done: 30, failed: 10, dead: 1, records: 60 }) }]);
    await trawl.store.history.setGauges(at + 2 * FINE, { waiting: 7, inFlight: 2, workers: 1 });
    const iso = (ms: number) => new Date(ms).toISOString();

    const { json } = await request("GET", `/v1/history?from=${iso(at)}&to=${iso(at + 4 * FINE)}&step=10s`);

    expect(json).toMatchObject({ from: iso(at), to: iso(at + 4 * FINE), stepSeconds: 10 });
    const points = json.points as unknown as Point[];
    expect(points.map((point) => point.at)).toEqual([0, 1, 2, 3].map((nth) => iso(at + nth * FINE)));
    expect(points[0]).toMatchObject({ pages: 30, done: 30, failed: 10, dead: 1, records: 60, pagesPerSecond: 3 });
    expect(points[0]).toMatchObject({ success: 0.75, waiting: null, inFlight: null, workers: null });
    for (const name of ["p50Ms", "p95Ms", "p99Ms"]) {
      expect(Number(points[0]?.[name])).toBeGreaterThan(79);
      expect(Number(points[0]?.[name])).toBeLessThan(127);
    }
    expect(points[1]).toMatchObject({ pages: null, pagesPerSecond: null, success: null, p50Ms: null, waiting: null });
    expect(points[2]).toMatchObject({
      pages: 0,
      pagesPerSecond: 0,
      success: null,
      p50Ms: null,
      waiting: 7,
      workers: 1,
    });
    const minute = await request("GET", `/v1/history?from=${iso(at)}&to=${iso(at + 1)}&step=1m`);
    expect(minute.json.points).toMatchObject([{ pages: 30, pagesPerSecond: 0.5, success: 0.75, waiting: 7 }]);
  });

  it("uses the finest interval that fits, and refuses too many points", async () => {
    const { request } = await startApi();
    const since = async (ms: number) =>
      (await request("GET", `/v1/history?from=${new Date(Date.now() - ms).toISOString()}`)).json;

    expect(await since(10 * MEDIUM)).toMatchObject({ stepSeconds: 10 });
    expect((await request("GET", "/v1/history")).json).toMatchObject({ stepSeconds: 10 });
    expect(await since(6 * COARSE)).toMatchObject({ stepSeconds: 60 });
    expect(await since(DAY - 1)).toMatchObject({ stepSeconds: 300 });
    expect(await since(3 * DAY)).toMatchObject({ stepSeconds: 1_800 });
    expect(await since(15 * DAY)).toMatchObject({ stepSeconds: 3_600 });
    expect(await since(399 * DAY)).toMatchObject({ stepSeconds: 86_400 });
    const many = await request("GET", `/v1/history?from=${new Date(Date.now() - DAY).toISOString()}&step=10s`);
    expect(many).toMatchObject({ status: 400, json: { code: "BAD_REQUEST" } });
    expect(String(many.json.detail)).toMatch(/864\d points/);
    const now = new Date().toISOString();
    expect(await request("GET", `/v1/history?from=${now}&to=${now}`)).toMatchObject({ status: 400 });
    expect(await request("GET", "/v1/history?step=7s")).toMatchObject({ status: 400 });
  });

  it("reads every bucket of its points, however many there are", async () => {
    const { request, trawl } = await startApi();
    const { read } = trawl.store.history;
    const limits: number[] = [];
    trawl.store.history.read = (...args) => {
      limits.push(args[3]);
      return read(...args);
    };
    const from = new Date(Date.now() - 1_498 * DAY).toISOString();
    expect(await request("GET", `/v1/history?from=${from}&step=1d`)).toMatchObject({ status: 200 });
    expect(limits[0]).toBeGreaterThanOrEqual(1_498 * 24);
  });

  it("contains the work of a worker after the worker and the server have ended", async () => {
    const working = await startWorking({ "/": "<h1>one</h1>", "/2": "<h1>two</h1>" });
    const { request, site, trawl } = working;
    const worker = await trawl.createWorker({
      queues: ["fetch"],
      ...{ allowHosts: [], mayUseAllSecrets: false, unreadableJob: "ends-task", onFinished: () => {} },
      maxTasks: Number.POSITIVE_INFINITY,
    });
    worker.start();
    const urls = ["/", "/2", "/missing"].map((path) => site.url + path);
    const { json } = await request("POST", "/v1/jobs", {
      urls,
      extract: { title: "h1" },
      politeness: { robots: false },
    });
    await ended(working, json.id);
    await worker.stop();

    const points = (await request("GET", "/v1/history?step=1h")).json.points as unknown as Point[];
    const sum = (name: string) => points.reduce((total, point) => total + Number(point[name]), 0);
    expect(["pages", "done", "failed", "dead", "records"].map(sum)).toEqual([2, 2, 1, 1, 2]);
    expect(sum("p50Ms")).toBeGreaterThan(0);
  });

  it("is removed after its retention time", async () => {
    const { trawl, retention } = await startApi();
    const { history } = trawl.store;
    const old = bucketStart(Date.now() - 15 * DAY, COARSE);
    await history.add([
      { at: old, counts: work({ done: 1 }) },
      { at: old + 14.9 * DAY, counts: work({ done: 1 }) },
    ]);

    await retention.sweep();

    const left = async (width: typeof FINE | typeof MEDIUM | typeof COARSE) =>
      (await history.read(width, 0, Date.now(), 100)).length;
    expect([await left(FINE), await left(MEDIUM), await left(COARSE)]).toEqual([1, 1, 2]);
  });
});

it("reports the current throughput of all workers to operators", async () => {
  const { trawl, url, request } = await startApi();
  await request("POST", "/v1/jobs", { urls: ["https://a.example/", "https://a.example/2"], open: true });
  const vitals = { concurrency: 8, busy: 3, done: 100, failed: 1, rssBytes: 1, upMs: 60_000 };
  const recent = { ms: 8_000, pages: 16, done: 15, failed: 5, latencies: [[latencyBucket(200), 20]] as const };
  for (const worker of ["host/1/1", "host/2/2"]) {
    const presence = { worker, queues: ["fetch"], unknownSpiders: [], version: "1.0.0", vitals: { ...vitals, recent } };
    await trawl.frontier.announce(presence, 60_000);
  }
  // A worker that has ended but is still listed: its last report does not count.
  const listed = trawl.frontier.listWorkers;
  trawl.frontier.listWorkers = async () => {
    const views = await listed();
    return [...views, ...views.slice(0, 1).map((view) => ({ ...view, worker: "gone", seenAt: Date.now() - 11_000 }))];
  };
  await trawl.frontier.announce({ worker: "old", queues: [], unknownSpiders: [], version: "0.9.0" }, 60_000);

  const controller = new AbortController();
  const answer = await fetch(`${url}/v1/events`, { signal: controller.signal });
  let text = "";
  for await (const chunk of (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (/event: fleet\n.*\n\n/.test(text)) break;
  }
  controller.abort();

  const fleet = JSON.parse(/event: fleet\ndata: (.*)\n/.exec(text)?.[1] ?? "{}");
  expect(fleet).toMatchObject({ workers: 4, pace: { pagesPerSecond: 4, success: 0.75, waiting: 2, inFlight: 9 } });
  expect(fleet.pace.p50Ms).toBeGreaterThan(150);
  expect(fleet.pace.p95Ms).toBeLessThan(260);
});

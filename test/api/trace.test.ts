/** Traces over HTTP: they show the same as `trawl trace`, and only to the owner of the job. */
import { expect, it } from "vitest";
import { connect } from "../../src/client/client.ts";
import { jobsIn } from "../../src/trace/find-traced.ts";
import { trace } from "../../src/trace/trace.ts";
import { aRequest } from "../contracts/frontier/makers.ts";
import { anAttemptWrite, aPageWrite } from "../contracts/store/page-write.ts";
import { OPERATOR, requestWithKey, startKeyedApi } from "./keyed-api.ts";
import { ended, startWorking } from "./working-api.ts";

const NOT_FOUND = { status: 404, json: { code: "NOT_FOUND" } };

it("finds a page by URL, task, job and request, as text and as fields, without secrets", async () => {
  const working = await startWorking({ "/": { status: 404 } });
  const url = `${working.site.url}/?api_key=hunter2-s3cret`;
  const trawl = connect(working.url);
  const job = await trawl.submit({ urls: [url], politeness: { robots: false } }, { requestId: "order-4711" });
  const before = await trawl.trace({ url });
  await working.startWorker();
  await ended(working, job.id);

  const byUrl = await trawl.trace({ url });

  const [timeline] = byUrl.timelines;
  expect(before.timelines[0]).toMatchObject({ state: "queued", lines: [{ kind: "submitted" }, { kind: "waits" }] });
  expect(timeline).toMatchObject({
    ...{ job: job.id, jobState: "failed", requestId: "order-4711", state: "dead" },
    tasks: [
      { step: "fetch", leases: [{ kind: "attempt", token: 1, outcome: "dead", because: "http_status", status: 404 }] },
    ],
  });
  expect(timeline?.lines.map(({ kind, text }) => [kind, text])).toEqual([
    ["submitted", "submitted by request order-4711 to queue fetch"],
    ["leased", expect.stringMatching(/^attempt 1: leased by \S+$/)],
    ["dead", expect.stringMatching(/^failed permanently after \d+ms: http_status, status 404/)],
    ["waits", expect.stringMatching(/^failed \S+ ago after 1 attempt: http_status: answered 404/)],
  ]);
  expect(JSON.stringify(byUrl)).not.toContain("hunter2");
  const task = timeline?.tasks[0]?.taskId ?? "";
  const targets = [{ url, job: job.id }, { task }, { job: job.id }, { request: "order-4711" }];
  const texts = [url, task, job.id, "order-4711"].map((what) => ({ what }));
  for (const target of [...targets, ...texts]) {
    expect((await trawl.trace(target)).timelines).toMatchObject([{ job: job.id, tasks: timeline?.tasks }]);
  }
  expect(await working.request("GET", "/v1/trace?what=unknown")).toMatchObject(NOT_FOUND);
  expect(await working.request("GET", `/v1/trace?task=${job.id}`)).toMatchObject(NOT_FOUND);
  for (const query of ["", `?url=${url}&task=1`, "?job=j1&task=1", "?url=nonsense"]) {
    expect(await working.request("GET", `/v1/trace${query}`)).toMatchObject({ status: 400 });
  }
});

it("shows a replay between attempts, and explains where the count of attempts starts", async () => {
  const working = await startWorking({ "/": { status: 404 } });
  const [trawl, url] = [connect(working.url), `${working.site.url}/`];
  const job = await trawl.submit({ urls: [url], politeness: { robots: false } });
  await working.startWorker();
  await ended(working, job.id);
  expect((await trawl.explain({ url })).reasons).toHaveLength(1);

  await working.request("POST", "/v1/dead/replay", { job: job.id });
  await ended(working, job.id);

  const { timelines } = await trawl.trace({ url });
  const kinds = ["submitted", "leased", "dead", "replayed", "leased", "dead", "waits"];
  expect(timelines[0]?.lines.map(({ kind }) => kind)).toEqual(kinds);
  expect(timelines[0]?.lines[3]).toEqual({
    at: null,
    kind: "replayed",
    text: "replayed: the count of attempts starts again at 1",
  });
  expect((await trawl.explain({ url })).reasons).toEqual([
    expect.stringMatching(/failed \S+ ago after 1 attempt/),
    `in job ${job.id}: the URL was replayed 1 time; attempts are counted from the last replay`,
  ]);
});

it("summarises a job of several pages", async () => {
  const working = await startWorking({ "/": "<h1>one</h1>", "/gone": { status: 404 } });
  const urls = ["/", "/gone"].map((path) => working.site.url + path);
  const { json } = await working.request("POST", "/v1/jobs", { urls, politeness: { robots: false } });
  await working.startWorker();
  await ended(working, json.id);

  const { jobs, timelines } = await connect(working.url).trace({ job: String(json.id) });

  expect(timelines).toEqual([]);
  expect(jobs).toMatchObject([
    {
      job: { id: json.id, state: "finished", counts: { done: 1, dead: 1 } },
      waits: [],
      attempts: [{ outcome: "dead", because: "http_status", status: 404, count: 1, sample: urls[1] }],
      slowest: [{ url: urls[0], status: 200 }],
      dead: [{ url: urls[1], reason: "http_status" }],
    },
  ]);
});

it("returns 20 jobs of a request and the number of others, and queries the broker once per URL", async () => {
  const working = await startWorking({});
  const [url, headers] = ["https://a.example/same", { "x-request-id": "nightly" }];
  const submit = () => working.request("POST", "/v1/jobs", { urls: [url, "https://a.example/other"] }, headers);
  const ids: unknown[] = [];
  for (let nth = 0; nth < 23; nth += 1) ids.push((await submit()).json.id);

  const byRequest = await connect(working.url).trace({ request: "nightly" });
  expect(byRequest).toMatchObject({ timelines: [], more: 3 });
  expect(byRequest.jobs.map(({ job }) => job.id)).toEqual(ids.slice(3).reverse());

  const { frontier, catalogue } = working.trawl;
  const queried: string[] = [];
  const explain: typeof frontier.explain = (target, visibility) => {
    queried.push(JSON.stringify(target));
    return frontier.explain(target, visibility);
  };
  const { listDead, listWorkers } = frontier;
  const deps = { ...working.trawl, frontier: { listDead, listWorkers, explain }, visibility: "all" as const };
  const all = { ...deps, listJobs: () => jobsIn(catalogue), maySee: () => true };
  const byUrl = await trace(all, { kind: "url", query: url });
  expect(byUrl.timelines).toHaveLength(20);
  expect(queried).toEqual([...new Set(queried)]);
});

it("returns nothing about other tenants and workers to a tenant, whatever parameter it uses", async () => {
  const api = await startKeyedApi();
  const [acme, other] = [await api.newCaller({ tenant: "acme" }), await api.newCaller({ tenant: "other" })];
  const body = { urls: ["https://a.example/x"] };
  const { json } = await acme.request("POST", "/v1/jobs", body, { "x-request-id": "order-1" });
  await other.request("POST", "/v1/jobs", { urls: ["https://b.example/"] });

  const targets = ["url=https://a.example/x", `url=https://a.example/x&job=${json.id}`, `job=${json.id}`];
  const texts = ["request=order-1", "what=order-1", `what=${json.id}`];
  for (const query of [...targets, ...texts]) {
    expect(await other.request("GET", `/v1/trace?${query}`)).toMatchObject(NOT_FOUND);
    expect(await acme.request("GET", `/v1/trace?${query}`)).toMatchObject({ json: { timelines: [{ job: json.id }] } });
  }
  const noWorker = "no worker serves queue fetch; start one with: trawl worker --queues fetch";
  expect((await acme.request("GET", `/v1/explain?job=${json.id}`)).json.reasons).toContain(noWorker);
  const vitals = { concurrency: 16, busy: 3, done: 9, failed: 0, rssBytes: 1, upMs: 1 };
  const worker = { worker: "w1", queues: ["fetch"], unknownSpiders: [], version: "1", vitals };
  await api.trawl.frontier.announce(worker, 60_000);
  const counted = "1 worker serves queue fetch: it can run 13 more tasks (limit 16); 2 tasks wait";
  for (const query of [`job=${json.id}`, "url=https://a.example/x"]) {
    const operators = (await requestWithKey(api, OPERATOR)("GET", `/v1/explain?${query}`)).json.reasons;
    expect(operators).toContain(counted);
    expect(JSON.stringify((await acme.request("GET", `/v1/explain?${query}`)).json)).not.toContain("more tasks");
  }
});

it("shows worker names and the waiting URLs of other tenants only to operators", async () => {
  const api = await startKeyedApi();
  const [acme, other] = [await api.newCaller({ tenant: "acme" }), await api.newCaller({ tenant: "other" })];
  const urls = ["x", "y"].map((name) => `https://a.example/${name}`);
  const body = { urls, politeness: { rate: "1/m", robots: false } };
  const [{ json }] = [await acme.request("POST", "/v1/jobs", body), await other.request("POST", "/v1/jobs", body)];
  const lease = aRequest({ worker: "secret-host/17", max: 1 });
  const { grants } = await api.trawl.frontier.lease(lease);
  const run = { worker: lease.worker, step: "fetch" as const, attempt: 1, leasedAt: 1, endedAt: 2 };
  await api.trawl.store.write(
    [aPageWrite({ jobId: String(json.id), taskId: "900", page: { url: "https://a.example/z" }, run })],
    grants.map(({ jobId, taskId, url }) => anAttemptWrite({ jobId, taskId, url, run })),
  );

  const queries = [`trace?job=${json.id}`, ...urls.flatMap((url) => [`trace?url=${url}`, `explain?url=${url}`])];
  const responses = async (request: typeof acme.request) =>
    (
      await Promise.all(queries.map(async (query) => JSON.stringify((await request("GET", `/v1/${query}`)).json)))
    ).join();
  expect(await responses(requestWithKey(api, OPERATOR))).toMatch(/secret-host.*tasks wait/);
  expect(await responses(acme.request)).not.toMatch(/secret-host|tasks wait|waiting at/);
  expect(await responses(acme.request)).toMatch(/"worker":null.*a worker sends requests/);
});

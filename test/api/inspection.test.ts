/** Inspecting jobs over HTTP: search, errors, one page, trying extraction rules, running a job again. */
import { describe, expect, it } from "vitest";
import { createDirectPlane } from "../../src/cli/plane/direct-plane.ts";
import { createRemotePlane } from "../../src/cli/plane/remote-plane.ts";
import { connect } from "../../src/client/client.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import type { JobFilter } from "../../src/control/list-jobs.ts";
import { anAttemptWrite, aPageWrite } from "../contracts/store/page-write.ts";
import { startApi } from "./harness.ts";
import { startKeyedApi } from "./keyed-api.ts";
import { startWorking } from "./working-api.ts";

describe("the list of jobs", () => {
  it("is filtered by state and text, within the tenant, and continues from a cursor", async () => {
    const api = await startKeyedApi();
    const one = await api.newCaller({ tenant: "one" });
    const two = await api.newCaller({ tenant: "two" });
    const names = ["Red shoes", "blue shoes", "red hats"];
    const ids: string[] = [];
    for (const [nth, name] of names.entries()) {
      const { json } = await one.request("POST", "/v1/jobs", { name, urls: [`https://shop${nth}.example/`] });
      ids.push(String(json.id));
    }
    await two.request("POST", "/v1/jobs", { name: "red wine", urls: ["https://shop9.example/"] });
    await one.request("POST", `/v1/jobs/${ids[1]}/pause`);

    const found = async (request: typeof one.request, query: string) => {
      const { json } = await request("GET", `/v1/jobs?${query}`);
      return (json.jobs as unknown as { name: string }[]).map(({ name }) => name);
    };
    expect(await found(one.request, "q=RED")).toEqual(["red hats", "Red shoes"]);
    expect(await found(one.request, "q=shoes%20red")).toEqual(["Red shoes"]);
    expect(await found(one.request, `q=${ids[2]}`)).toEqual(["red hats"]);
    expect(await found(one.request, "q=shop1.example")).toEqual(["blue shoes"]);
    expect(await found(one.request, "state=paused")).toEqual(["blue shoes"]);
    expect(await found(one.request, "state=running&q=blue")).toEqual([]);
    expect(await found(api.operator, "q=red")).toEqual(["red wine", "red hats", "Red shoes"]);
    expect((await one.request("GET", "/v1/jobs?state=lost")).status).toBe(400);

    const client = connect(api.url, { key: one.key });
    const first = await client.listJobs({ q: "red", limit: 1 });
    const second = await client.listJobs({ q: "red", limit: 1, cursor: first.next ?? "" });
    const last = await client.listJobs({ q: "red", limit: 1, cursor: second.next ?? "" });
    expect([first, second, last].map(({ jobs }) => jobs.map(({ name }) => name))).toEqual([
      ...[["red hats"], ["Red shoes"]],
      [],
    ]);
    expect(last.next).toBeNull();
    const all: string[] = [];
    for await (const { name } of client.jobs({ q: "red", page: 1 })) all.push(name);
    expect(all).toEqual(["red hats", "Red shoes"]);
  });
});

describe("trawl jobs", () => {
  it("finds the same jobs directly and through a server", async () => {
    const { url, trawl, request } = await startApi();
    for (const name of ["Red shoes", "blue shoes"]) await request("POST", "/v1/jobs", { name, open: true });
    const direct = createDirectPlane(trawl, resolveConfig([]));
    const remote = createRemotePlane({ url, key: undefined, tries: 1, onWait: () => {} });

    for (const plane of [direct, remote]) {
      const names = async (limit: number, filter: JobFilter) =>
        (await plane.listJobs(limit, filter)).map(({ name }) => name);
      expect(await names(10, {})).toEqual(["blue shoes", "Red shoes"]);
      expect(await names(10, { q: "RED" })).toEqual(["Red shoes"]);
      expect(await names(1, { q: "shoes", state: "running" })).toEqual(["blue shoes"]);
      expect(await names(10, { state: "paused" })).toEqual([]);
    }
  });
});

describe("the results of a job", () => {
  it("are searched page by page and in one stream", async () => {
    const { url, trawl, request } = await startApi();
    const { json } = await request("POST", "/v1/jobs", { urls: ["https://a.example/"], open: true });
    const id = String(json.id);
    const writes = Array.from({ length: 12 }, (_, page) =>
      aPageWrite({
        ...{ jobId: id, taskId: String(page) },
        records: Array.from({ length: 500 }, (__, nth) => ({ title: `t${page * 500 + nth}` })),
        page: { status: page === 3 ? 404 : 200 },
      }),
    );
    await trawl.store.write(writes);
    const job = connect(url).job(id);

    const first = await job.listRecords({ q: "T5999" });
    expect(first).toMatchObject({ records: [], searched: 5_000 });
    const second = await job.listRecords({ q: "T5999", cursor: first.next ?? "" });
    expect(second).toMatchObject({ records: [{ title: "t5999" }], searched: 1_000, next: null });
    const lines = await new Response(await job.download("ndjson", { q: "T5999" })).text();
    expect(
      lines
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).title),
    ).toEqual(["t5999"]);
    const [page] = (await job.listPages({ status: "4xx" })).pages;
    expect(page).toMatchObject({ status: 404, taskId: "3" });
    expect((await job.listPages({ status: "404", q: "nothing" })).pages).toEqual([]);
    expect((await job.listPages({ q: "A.test/11" })).pages).toMatchObject([{ taskId: "11" }]);
    const csv = String((await request("GET", `/v1/jobs/${id}/pages?format=csv&status=404`)).json.text);
    expect(csv.trim().split("\r\n")).toHaveLength(2);
    const { records, jobId } = await connect(url)
      .page(page?.id ?? 0)
      .get();
    expect([jobId, records.length, records[0]?.title]).toEqual([id, 100, "t1500"]);
  });

  it("include errors grouped by reason", async () => {
    const { url, trawl, request } = await startApi();
    const { json } = await request("POST", "/v1/jobs", { urls: ["https://a.example/"], open: true });
    const id = String(json.id);
    const invalid = ["no price", "no title", "no price"].map((reason) => ({ fields: {}, reason }));
    await trawl.store.write(
      [aPageWrite({ jobId: id, invalid })],
      ["2", "3"].map((taskId) => anAttemptWrite({ jobId: id, taskId })),
    );

    expect(await connect(url).job(id).errors()).toEqual({
      attempts: [{ outcome: "retry", because: "server_error", status: 500, count: 2, sample: "https://a.test/task" }],
      dead: [],
      invalid: {
        ...{ total: 3, searched: 3 },
        groups: [
          { reason: "no price", count: 2, sample: "https://a.test/task" },
          { reason: "no title", count: 1, sample: "https://a.test/task" },
        ],
      },
    });
  });
});

describe("a stored page", () => {
  it("is extracted with other rules without another request", async () => {
    const body = `<h1>Sea</h1><p>4,50</p><a href="/next">n</a>`;
    const { url, site, startWorker } = await startWorking({ "/": body });
    await startWorker();
    const trawl = connect(url);
    const { page } = await trawl.scrape({ url: `${site.url}/`, keep: { bodies: true } });
    const requestsBefore = site.log.length;
    const kept = trawl.page(page?.id ?? 0);

    const read = await kept.extract({ extract: { title: "h1", price: { select: "p", type: "number" } }, links: "a" });
    expect(read).toMatchObject({
      ...{ records: [{ title: "Sea", price: 4.5 }], recordCount: 1, invalid: [] },
      links: [`${site.url}/next`],
    });
    const incomplete = await kept.extract({ extract: { no: { select: "h9", required: true } } });
    expect(incomplete).toMatchObject({ records: [], invalid: [{ reason: expect.stringContaining("h9") }] });
    const problems = { code: "BAD_SELECTOR", problem: { owner: 'field "x"' } };
    await expect(kept.extract({ extract: { x: "a[" } })).rejects.toMatchObject(problems);
    expect(site.log.length).toBe(requestsBefore);

    const bare = await trawl.scrape(`${site.url}/`);
    await expect(trawl.page(bare.page?.id ?? 0).extract({})).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("a job that is to run again", () => {
  it("is returned as submitted, without secrets, and creates the same job", async () => {
    const { url, request } = await startApi();
    const written = {
      name: "shop",
      urls: ["https://a.example/"],
      extract: { title: "h1" },
      politeness: { rate: "2/s" },
    };
    const webhook = { url: "https://hook.example/" };
    const { json } = await request("POST", "/v1/jobs", { ...written, headers: { cookie: "secret" }, webhook });
    const trawl = connect(url);

    const { job, missing } = await trawl.job(String(json.id)).spec();

    expect(job).toEqual(written);
    expect(missing).toEqual(["headers.cookie", "webhook"]);
    const again = await trawl.submit(job);
    expect((await trawl.job(again.id).spec()).job).toEqual(written);
  });

  it("returns `urls` as missing if the URLs were sent separately", async () => {
    const { url, request } = await startApi();
    const { json } = await request("POST", "/v1/jobs", { name: "list", open: true });
    await request("POST", `/v1/jobs/${json.id}/urls?last=true`, {
      urls: ["https://a.example/1", "https://a.example/2"],
    });

    const { job, missing } = await connect(url).job(String(json.id)).spec();

    expect([job.urls, missing]).toEqual([[], ["urls"]]);
  });
});

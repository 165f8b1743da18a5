/** Operations over HTTP: dead letters, explanations, sites, workers. */
import { describe, expect, it } from "vitest";
import type { Vitals } from "../../src/frontier/frontier.ts";
import { waitUntil } from "../services/wait-until.ts";
import { startProxy } from "../site/proxy.ts";
import { closeLater, startApi } from "./harness.ts";
import { ended, startWorking } from "./working-api.ts";

const PAGES = { "/": "<h1>one</h1>", "/gone": { status: 404 }, "/lost": { status: 404 }, "/shut": { status: 403 } };

async function withDead() {
  const working = await startWorking(PAGES);
  const { request, site } = working;
  const urls = ["/", "/gone", "/lost", "/shut"].map((path) => site.url + path);
  const { json } = await request("POST", "/v1/jobs", { urls, politeness: { robots: false } });
  await working.startWorker();
  expect(await ended(working, json.id)).toMatchObject({ state: "finished", counts: { done: 1, dead: 3 } });
  return { ...working, id: json.id };
}

describe("a job's sites", () => {
  it("are listed by name, page by page, with their waiting, done and failed tasks", async () => {
    const { request, site, id } = await withDead();
    const more = await request("POST", "/v1/jobs", {
      urls: ["https://b.example/", "https://a.example/", "https://a.example/2"],
      queue: "later", // no worker serves this queue
    });

    const { json } = await request("GET", `/v1/jobs/${id}/sites`);
    const first = await request("GET", `/v1/jobs/${more.json.id}/sites?limit=1`);
    const rest = await request("GET", `/v1/jobs/${more.json.id}/sites?limit=5&cursor=${first.json.next}`);

    expect(json).toMatchObject({
      sites: [{ site: site.site, waiting: 0, inFlight: 0, pages: 1, records: 1, bytes: 12, dead: 3, why: null }],
      next: null,
    });
    expect((json.sites as unknown as { lastPageAt: string }[])[0]?.lastPageAt).toMatch(/^20.*Z$/);
    expect(first.json.sites).toMatchObject([{ site: "a.example", waiting: 2, pages: 0, lastPageAt: null }]);
    expect(rest.json).toMatchObject({ sites: [{ site: "b.example", waiting: 1 }], next: null });
    await request("POST", `/v1/jobs/${more.json.id}/pause`);
    expect((await request("GET", `/v1/jobs/${more.json.id}/sites?limit=1`)).json).toMatchObject({
      sites: [{ why: "the job is paused" }],
    });
    expect(await request("GET", "/v1/jobs/j1/sites")).toMatchObject({ status: 404 });
  });
});

describe("dead letters", () => {
  it("are listed by cursor, filtered, and grouped by reason", async () => {
    const { request, id, site } = await withDead();

    const first = await request("GET", `/v1/dead?job=${id}&limit=2`);
    const rest = await request("GET", `/v1/dead?job=${id}&limit=2&cursor=${first.json.next}`);
    const letters = [first, rest].flatMap(({ json }) => json.dead as unknown as Record<string, unknown>[]);
    const groups = await request("GET", "/v1/dead?group=true");
    const shut = await request("GET", "/v1/dead?status=403&reason=http_status");

    expect(letters.map(({ url }) => url).sort()).toEqual(["/gone", "/lost", "/shut"].map((path) => site.url + path));
    expect(letters[0]).toMatchObject({
      jobId: id,
      site: site.site,
      reason: "http_status",
      history: [{ detail: expect.anything() }],
    });
    expect(groups.json.groups).toMatchObject([
      { reason: "http_status", status: 404, count: 2, sample: `${site.url}/gone` },
      { reason: "http_status", status: 403, count: 1 },
    ]);
    expect(shut.json.dead).toHaveLength(1);
  });

  it("are replayed or discarded by filter", async () => {
    const working = await withDead();
    const { request, id } = working;

    const replayed = await request("POST", "/v1/dead/replay", { job: id, status: 404, perSecond: 1_000 });
    expect(replayed).toMatchObject({ status: 200, json: { replayed: 2 } });
    expect(await ended(working, id)).toMatchObject({ state: "finished", counts: { dead: 3 } });
    const discarded = await request("POST", "/v1/dead/discard", { job: id });
    expect(discarded).toMatchObject({ status: 200, json: { discarded: 3 } });
    expect((await request("GET", `/v1/dead?job=${id}`)).json.dead).toEqual([]);
  });

  it("are replayed or discarded one by one, and their job counts as open again", async () => {
    const working = await withDead();
    const { request, id, trawl } = working;
    const letters = (await request("GET", "/v1/dead?status=404")).json.dead as unknown as { taskId: string }[];
    const [first = "", second = ""] = letters.map(({ taskId }) => taskId);
    const opened: string[][] = [];
    const { setOpen } = trawl.store.owners;
    trawl.store.owners.setOpen = (jobIds, isOpen) => {
      if (isOpen) opened.push([...jobIds]);
      return setOpen.call(trawl.store.owners, jobIds, isOpen);
    };

    expect((await request("POST", "/v1/dead/replay", { tasks: [first, "999999"] })).json).toEqual({ replayed: 1 });
    expect(opened.flat()).toEqual([id]);
    expect(await ended(working, id)).toMatchObject({ counts: { dead: 3 } });
    expect((await request("POST", "/v1/dead/discard", { tasks: [second] })).json).toEqual({ discarded: 1 });
    expect((await request("GET", `/v1/dead?job=${id}`)).json.dead).toHaveLength(2);
    expect(await request("POST", "/v1/dead/discard", { tasks: [] })).toMatchObject({ status: 400 });
    expect(await request("POST", "/v1/dead/discard", { tasks: ["x"] })).toMatchObject({ status: 400 });
  });

  it("are not all selected by an empty filter", async () => {
    const { request } = await startApi();

    for (const verb of ["replay", "discard"]) {
      const answer = await request("POST", `/v1/dead/${verb}`, {});
      expect(answer).toMatchObject({ status: 400, json: { code: "BAD_REQUEST" } });
    }
  });
});

describe("an explanation", () => {
  it("returns why a URL, a site and a job wait", async () => {
    const { request } = await startApi();
    const { json } = await request("POST", "/v1/jobs", { urls: ["https://a.example/x"] });
    await request("POST", `/v1/jobs/${json.id}/pause`);

    const url = await request("GET", `/v1/explain?url=${encodeURIComponent("https://A.example/x#top")}`);
    const job = await request("GET", `/v1/explain?job=${json.id}`);
    const site = await request("GET", "/v1/explain?site=a.example");
    const unknown = await request("GET", "/v1/explain?url=https://b.example/");

    expect(url.json).toMatchObject({
      about: "https://a.example/x",
      reasons: [expect.stringContaining("paused")],
      tasks: [{ jobId: json.id, state: "queued" }],
    });
    expect(job.json).toMatchObject({
      reasons: [expect.stringContaining("paused"), "its tasks use queue fetch, priority 5"],
      until: null,
    });
    expect(site.json).toMatchObject({ about: "a.example" });
    expect(unknown.json.reasons).toEqual(["no job has seen this URL"]);
    expect(await request("GET", "/v1/explain")).toMatchObject({ status: 400 });
    expect(await request("GET", "/v1/explain?url=x")).toMatchObject({ status: 400, json: { code: "BAD_URL" } });
  });
});

describe("the fleet", () => {
  it("shows the health of its proxies, without credentials", async () => {
    const proxy = await startProxy({ username: "user", password: "canary-password" });
    closeLater(() => proxy.close());
    const settings = { proxies: [{ url: proxy.url, provider: "acme", cost: 2 }] };
    const working = await startWorking({ "/": "<h1>page</h1>" }, { ...settings, robots: false });
    await working.startWorker();
    const { json: job } = await working.request("POST", "/v1/jobs", { urls: [`${working.site.url}/`] });
    await ended(working, job.id);

    let answer = await working.request("GET", "/v1/proxies");
    await waitUntil(async () => {
      answer = await working.request("GET", "/v1/proxies");
      return JSON.stringify(answer.json.providers) !== "[]";
    }, 20_000);

    expect(answer.json.providers).toMatchObject([
      { provider: "acme", site: working.site.site, requests: 1, success: 1, blocked: 0, cost: 2 },
    ]);
    const label = proxy.url.replace("user:canary-password@", "");
    expect(answer.json.proxies).toMatchObject([{ proxy: label, state: "healthy", ejectedAt: [] }]);
    expect(JSON.stringify(answer.json)).not.toContain("canary");

    let detail = await working.request("GET", `/v1/jobs/${job.id}`);
    await waitUntil(async () => {
      detail = await working.request("GET", `/v1/jobs/${job.id}`);
      return detail.json.proxies !== null;
    }, 20_000);
    const [{ bytes }] = answer.json.providers as unknown as [{ bytes: number }];
    expect(detail.json.proxies).toEqual({
      ...{ budget: null, fallbackRequests: 0, requests: 1, bytes, cost: 2 },
      providers: { acme: { requests: 1, bytes, cost: 2 } },
    });
  });

  it("lists its workers, and the backlog and the workers of each queue", async () => {
    const working = await withDead();
    await working.request("POST", "/v1/jobs", { urls: ["https://a.example/"], queue: "later" });

    const workers = await working.request("GET", "/v1/workers");
    const queues = await working.request("GET", "/v1/queues");

    expect(workers.json.workers).toMatchObject([{ queues: ["fetch", "deliver"], pid: process.pid, busy: 0 }]);
    expect(queues.json.queues).toMatchObject([
      { queue: "deliver", waiting: 0, workers: 1 },
      { queue: "fetch", waiting: 0, workers: 1 },
      { queue: "later", waiting: 1, workers: 0, free: 0 },
    ]);
  });

  it("keeps an operator's rate override for a site until it is removed", async () => {
    const { request } = await startApi();
    await request("POST", "/v1/jobs", { urls: ["https://b.example/", "https://a.example/"] });
    const ratesNow = async () => {
      const { json } = await request("GET", "/v1/sites");
      return (json.sites as unknown as { site: string; rate: string }[]).map(({ site, rate }) => [site, rate]);
    };

    expect(await ratesNow()).toEqual([
      ["a.example", "4/s"],
      ["b.example", "4/s"],
    ]);
    const changed = await request("PUT", "/v1/sites/B.example:443", { rate: "10/m" });
    expect(changed).toMatchObject({ status: 200, json: { site: "b.example", rate: "10/m", perSite: 4 } });
    expect(await ratesNow()).toEqual([
      ["a.example", "4/s"],
      ["b.example", "10/m"],
    ]);
    expect(await request("DELETE", "/v1/sites/b.example")).toMatchObject({ status: 200 });
    expect(await ratesNow()).toEqual([
      ["a.example", "4/s"],
      ["b.example", "4/s"],
    ]);
    expect(await request("PUT", "/v1/sites/a%2Fb", { rate: "1/s" })).toMatchObject({ status: 400 });
    const first = await request("GET", "/v1/sites?limit=1");
    expect((await request("GET", `/v1/sites?limit=1&cursor=${first.json.next}`)).json.sites).toMatchObject([
      { site: "b.example" },
    ]);
  });

  it("returns the details of a site, and finds sites by name and backlog", async () => {
    const { request, trawl } = await startApi();
    const job = { urls: ["https://b.example/", "https://b.example/2", "https://shop.example/"], name: "two" };
    const { json } = await request("POST", "/v1/jobs", { ...job, politeness: { rate: "10/m" } });
    const text = "User-agent: *\nDisallow: /\nCrawl-delay: 30\nSitemap: https://b.example/map.xml\n";
    const robots = { kind: "file" as const, text, fetchedAt: Date.now(), freshUntil: Date.now() + 60_000 };

    const byJobs = await request("GET", "/v1/sites/b.example");
    await trawl.frontier.keepRobots("b.example", robots, 30_000);
    const byRobots = await request("GET", "/v1/sites/b.example");
    await request("PUT", "/v1/sites/b.example", { rate: "1/s" });
    const byOperator = await request("GET", "/v1/sites/b.example");

    expect(byJobs.json).toMatchObject({
      ...{ site: "b.example", setBy: "jobs", rate: "10/m", operator: null, robots: null, waiting: 2 },
      ...{ circuit: "closed", incidents: 0, isFetchingRobots: false },
      jobs: [{ jobId: json.id, name: "two", state: "running", waiting: 2, rate: "10/m", isStrictest: true }],
    });
    expect(byRobots.json).toMatchObject({
      ...{ setBy: "robots", rate: "2/m", crawlDelayMs: 30_000 },
      robots: { kind: "file", allows: "nothing", crawlDelayMs: 30_000, sitemaps: ["https://b.example/map.xml"], text },
      jobs: [{ isStrictest: false }],
    });
    expect(byOperator.json).toMatchObject({ setBy: "operator", rate: "1/s", operator: { rate: "1/s", burst: 1 } });
    expect(await request("GET", "/v1/sites/nowhere.example")).toMatchObject({
      status: 404,
      json: { code: "NOT_FOUND" },
    });

    const names = async (query: string) =>
      ((await request("GET", `/v1/sites?${query}`)).json.sites as unknown as { site: string }[]).map(
        ({ site }) => site,
      );
    expect(await names("sort=waiting")).toEqual(["b.example", "shop.example"]);
    expect(await names("sort=waiting&q=SHOP")).toEqual(["shop.example"]);
    expect(await names("q=b.ex")).toEqual(["b.example"]);
  });

  it("drains and recycles workers, and returns why a worker cannot do so", async () => {
    const { request, trawl } = await startApi();
    const { frontier } = trawl;
    const usual = { queues: ["fetch"], unknownSpiders: [], version: "0.9.0" };
    const vitals = { concurrency: 8, busy: 0, done: 0, failed: 0, rssBytes: 1, upMs: 1, state: "working" as const };
    const announce = (worker: string, more?: Partial<Vitals>) =>
      frontier.announce({ ...usual, worker, ...(more && { vitals: { ...vitals, ...more } }) }, 60_000);
    const commands = ["drain", "drain-all", "recycle"] as const;
    for (const pid of [2, 3]) await announce(`a/${pid}/1/1`, { commands, supervisor: "a/1/1/1" });
    await announce("b/1/1/1", { commands: ["drain", "drain-all"] });
    await announce("old/1/1/1");
    await announce("crawl/1/1/1", { commands: [] });
    const command = (name: string, what: string) => request("POST", `/v1/workers/${encodeURIComponent(name)}/${what}`);

    expect(await command("a/2", "recycle")).toMatchObject({ status: 202, json: { workers: ["a/2/1/1"] } });
    expect(await announce("a/2/1/1", { commands, supervisor: "a/1/1/1" })).toBe("recycle");
    const all = await command("a/1/1/1", "drain");
    expect(all).toMatchObject({ status: 202, json: { command: "drain", workers: ["a/2/1/1", "a/3/1/1"] } });
    expect(await announce("a/3/1/1", { commands, supervisor: "a/1/1/1" })).toBe("drain-all");
    const { json } = await request("GET", "/v1/workers");
    expect((json.workers as unknown as { command: string }[]).map((one) => one.command)).toEqual([
      ...["drain", "drain", null, null, null],
    ]);

    const refusals = [
      ["b/1", "recycle"],
      ["old/1", "drain"],
      ["crawl/1", "drain"],
    ] as const;
    for (const [name, what] of refusals)
      expect(await command(name, what)).toMatchObject({ status: 409, json: { code: "COMMAND_REFUSED" } });
    expect((await command("b/1", "recycle")).json.detail).toContain("no supervisor");
    expect((await command("old/1", "drain")).json.detail).toContain("Trawl 0.9.0, which does not support commands");
    expect(await command("unknown/1", "drain")).toMatchObject({ status: 404 });
    await announce("a/2/9/9", { commands });
    expect(await command("a/2", "drain")).toMatchObject({ status: 400, json: { code: "BAD_REQUEST" } });
  });
});

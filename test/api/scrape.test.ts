/** One page over HTTP: the response contains the result, or the id of the job that will have it. */
import { describe, expect, it } from "vitest";
import { retentionDeps } from "../../src/compose/retention.ts";
import { archiveEnded } from "../../src/retain/archive-ended.ts";
import { startWorking } from "./working-api.ts";

const HTML = '<h1>one</h1><p class="price">12</p>';
const QUICK = { politeness: { robots: false } };

describe("a scrape", () => {
  it("returns the page with its records, ahead of tasks that were queued before", async () => {
    const { request, site, startWorker } = await startWorking(
      { "/": HTML, "/from": { status: 302, headers: { location: "/" } } },
      { rate: "20/s", perSite: 1 },
    );
    const urls = Array.from({ length: 200 }, (_, nth) => `${site.url}/other/${nth}`);
    const before = await request("POST", "/v1/jobs", { urls, ...QUICK });
    await startWorker();

    const answer = await request("POST", "/v1/scrape", { url: `${site.url}/from`, extract: { title: "h1" }, ...QUICK });

    expect(answer).toMatchObject({
      status: 200,
      json: { outcome: "page", page: { url: `${site.url}/`, status: 200 }, records: [{ title: "one" }], dead: null },
    });
    const { counts } = (await request("GET", `/v1/jobs/${before.json.id}`)).json as unknown as {
      counts: { queued: number };
    };
    expect(counts.queued).toBeGreaterThan(0);
  });

  it("returns why the page failed or may not be fetched", async () => {
    const robots = "User-agent: *\nDisallow: /private/";
    const { request, site, startWorker } = await startWorking({ "/robots.txt": { body: robots } });
    await startWorker();

    const gone = await request("POST", "/v1/scrape", { url: `${site.url}/gone` });
    const disallowed = await request("POST", "/v1/scrape", { url: `${site.url}/private/x` });

    expect(gone).toMatchObject({
      status: 200,
      json: { outcome: "dead", page: null, records: [], dead: { reason: "http_status", status: 404 } },
    });
    expect(disallowed).toMatchObject({ status: 200, json: { outcome: "refused", page: null, dead: null } });
  });

  it("continues after a timeout; the client finds it by its job or by repeating the request", async () => {
    const { request, site, startWorker } = await startWorking({ "/": HTML });
    const key = { "idempotency-key": "one page" };
    const body = { url: `${site.url}/`, extract: { title: "h1" }, ...QUICK };

    const late = await request("POST", "/v1/scrape", { ...body, timeoutSeconds: 0.2 }, key);
    expect(late).toMatchObject({ status: 504, json: { code: "SCRAPE_TIMEOUT", id: expect.any(String) } });
    await startWorker();
    const again = await request("POST", "/v1/scrape", { ...body, timeoutSeconds: 20 }, key);

    expect(again).toMatchObject({ status: 200, json: { id: late.json.id, records: [{ title: "one" }] } });
    expect((await request("GET", "/v1/jobs")).json.jobs).toHaveLength(1);
  });

  it("returns the same result after its job was archived", async () => {
    const { request, site, startWorker, trawl } = await startWorking({ "/": HTML });
    await startWorker();
    for (const [path, outcome] of [
      ["/", "page"],
      ["/gone", "dead"],
    ] as const) {
      const key = { "idempotency-key": path };
      const body = { url: site.url + path, extract: { title: "h1" }, ...QUICK };
      const first = await request("POST", "/v1/scrape", body, key);
      await archiveEnded(retentionDeps(trawl), Number.POSITIVE_INFINITY, new AbortController().signal);
      expect(await trawl.frontier.findJob(String(first.json.id))).toBeUndefined();

      const again = await request("POST", "/v1/scrape", { ...body, timeoutSeconds: 5 }, key);

      expect(again).toMatchObject({ status: 200, json: { id: first.json.id, outcome, records: first.json.records } });
    }
  });

  it("is refused for an invalid URL and for options that one page cannot have", async () => {
    const { request } = await startWorking({});

    expect(await request("POST", "/v1/scrape", { url: "x" })).toMatchObject({ status: 400, json: { code: "BAD_URL" } });
    expect(await request("POST", "/v1/scrape", { url: "https://a.example/", follow: {} })).toMatchObject({
      status: 400,
    });
    expect((await request("GET", "/v1/jobs")).json.jobs).toEqual([]);
  });
});

/** Sitemaps of jobs that are submitted over HTTP. */
import { describe, expect, it } from "vitest";
import { connect } from "../../src/client/client.ts";
import type { Handler } from "../site/origin.ts";
import { ended, startWorking } from "./working-api.ts";

/** Each sitemap `/NAME.xml` lists the page `/NAME`. */
function recordInto(received: string[]): Handler {
  return ({ url = "", headers }, response) => {
    if (url !== "/robots.txt") received.push(url);
    if (url === "/robots.txt") response.end("Sitemap: /named.xml");
    else if (!url.endsWith(".xml")) response.end("<h1>page</h1>");
    else response.end(`<urlset><url><loc>http://${headers.host}${url.slice(0, -4)}</loc></url></urlset>`);
  };
}

describe("sitemaps over HTTP", () => {
  it("are a key of the job, and entries of its list; the job can be submitted again", async () => {
    const received: string[] = [];
    const api = await startWorking(recordInto(received));
    const { url } = api.site;
    const sitemaps = { from: [`${url}/a.xml`], since: "7d" };

    const bad = await api.request("POST", "/v1/jobs", { sitemaps: { from: ["a.xml"] } });
    const none = await api.request("POST", "/v1/jobs", { sitemaps: true });
    const job = await connect(api.url).submit({ sitemaps, open: true });
    const added = await job.add(
      [
        { url: `${url}/b.xml`, sitemap: true },
        { url: `${url}/a.xml`, sitemap: true },
      ],
      { last: true },
    );
    const spec = await api.request("GET", `/v1/jobs/${job.id}/spec`);
    await api.startWorker();
    await ended(api, job.id);

    expect([bad.status, JSON.stringify(bad.json)]).toEqual([
      400,
      expect.stringContaining("takes the absolute http(s) URL"),
    ]);
    expect([none.status, JSON.stringify(none.json)]).toEqual([400, expect.stringContaining("the job has no URLs")]);
    expect(added).toMatchObject({ accepted: 1, duplicates: 1 });
    expect(spec.json).toMatchObject({ job: { sitemaps } });
    expect(received.sort()).toEqual(["/a", "/a.xml", "/b", "/b.xml"]);
  });

  it("are found by robots.txt of the sites of its URLs, which does not count as accepted", async () => {
    const received: string[] = [];
    const api = await startWorking(recordInto(received));
    await api.startWorker();

    const { json } = await api.request("POST", "/v1/jobs", { urls: [`${api.site.url}/x`], sitemaps: true });
    const { tally } = await ended(api, json.id);
    const schedule = await api.request("POST", "/v1/schedules", {
      cron: "0 6 * * *",
      job: { sitemaps: [api.site.url] },
    });

    expect(json).toMatchObject({ accepted: 1, taken: 1 });
    expect(received.sort()).toEqual(["/named", "/named.xml", "/x"]);
    expect(tally).toMatchObject({ pages: 2 });
    expect(schedule.status).toBe(201);
  });
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { duplicates, missing } from "../../site/loss-checker.ts";
import { jsonLines, lastJson } from "../cli.ts";
import { FAST, type FleetBroker, newFleet } from "../fleet/fleet.ts";
import type { Summary } from "../ledger.ts";
import { linkedSite, originOf, pagesRequested } from "../sites.ts";

/** Tests a crawl with child processes. */
export function crawling(broker: FleetBroker): void {
  it("crawls with several processes, each page once, also on a private host that the user names", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 80 })];
    const env = { TRAWL_ALLOW_PRIVATE: "" };

    const end = await fleet.run(["crawl", `${site.url}/`, ...FAST, "--processes", "2"], { env });

    expect(end, end.stderr).toMatchObject({ code: 0 });
    const records = jsonLines<{ _url: string }>(end.stdout).map(({ _url }) => _url);
    expect(missing(site.expectedPages(), records)).toEqual([]);
    expect(duplicates(pagesRequested(site))).toEqual(new Map());
    expect(end.stderr).toMatch(/^process 2 \(\d+\) started$/m);
  });

  it("stops at Ctrl-C with all its processes, and can be resumed", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 60 })];
    const crawl = fleet.start(["crawl", `${site.url}/`, "--rate", "40/s", "--processes", "2", "--json"]);
    await site.waitForRequests(15);
    crawl.kill("SIGINT");

    const end = await crawl.ended;
    expect(end, end.stderr).toMatchObject({ code: 130 });
    expect(lastJson<Summary>(end)).toMatchObject({ state: "paused", counts: { leased: 0 } });
    const rest = await fleet.run(["crawl", "--resume", "--processes", "2", "--json", "--quiet"]);
    expect(lastJson<Summary>(rest)).toMatchObject({ state: "finished", pages: 60 });
    expect(duplicates(pagesRequested(site))).toEqual(new Map());
  });

  it("survives a handler that kills its process, and reports an invalid spider", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf((_, response) => void response.end("<h1>x</h1>"))];
    const spider = (body: string) => `export default {
      name: "deadly", start: ["${site.url}/good", "${site.url}/bad"], politeness: { rate: "unlimited", robots: false },
      ${body}
    };`;
    const deadly = `page({ url, emit }) { if (url.endsWith("/bad")) process.abort(); emit({ url }); }`;
    writeFileSync(join(fleet.cwd, "deadly.mjs"), spider(deadly));

    const end = await fleet.run(["crawl", "deadly.mjs", "--processes", "1", "--json"]);

    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(lastJson<Summary>(end)).toMatchObject({ state: "finished", counts: { done: 1, dead: 1 } });
    expect(end.stderr.match(/died \(SIGABRT\); it was processing [^\n]*\/bad/g)).toHaveLength(3);
    writeFileSync(join(fleet.cwd, "deadly.mjs"), spider(""));
    const odd = await fleet.run(["crawl", "deadly.mjs", "--processes", "2"]);
    expect(odd).toMatchObject({ code: 2, stderr: expect.stringContaining("BAD_SPIDER") });
  });
}

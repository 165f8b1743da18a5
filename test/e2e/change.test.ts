/** Changes the rate and the limits of a job while it runs, and checks the log of the site. */
import { describe, expect, it } from "vitest";
import { TERM_MS } from "../../src/domain/politeness.ts";
import { rateExcessMs, SUSPENDED_MS } from "../chaos/rate-excess.ts";
import { lastJson, startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linkedSite, pagesRequested, recordArrivals } from "./sites.ts";

type Changed = Summary & { politeness: { rate: string }; limits: { pages: number | null; seconds: number | null } };

describe("a job that is changed while it runs", () => {
  it("uses the new rate after each change", async () => {
    const [cwd, { options, arrivals }] = [newFolder(), recordArrivals()];
    const site = await linkedSite({ pages: 90 }, options);
    const crawl = startTrawl(["crawl", `${site.url}/`, "--rate", "20/s", "--per-site", "1", "--json"], { cwd });
    await site.waitForRequests(10);
    const { jobs } = lastJson<{ jobs: Summary[] }>(await trawl(["jobs", "--json"], { cwd }));
    const id = jobs[0]?.id ?? "";

    const slow = lastJson<Changed>(await trawl(["change", id, "--rate", "2/s", "--json"], { cwd }));
    expect(slow).toMatchObject({ id, state: "running", politeness: { rate: "2/s" } });
    // The current term of the site keeps the old rate (F23). 20 of its requests fit into a second.
    await site.waitForRequests(arrivals.length + 1);
    const [{ arrivedAt: changedAt = 0 } = {}] = arrivals.slice(-1);
    const underNewRate = () => arrivals.filter(({ arrivedAt }) => arrivedAt > changedAt + TERM_MS);
    for (let missing = 6; missing > 0; missing = 6 - underNewRate().length) {
      await site.waitForRequests(arrivals.length + missing);
    }
    const slowed = underNewRate();
    const changed = await trawl(["change", id, "--rate", "unlimited", "--priority", "2"], { cwd });
    expect(changed).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("unlimited per site") });

    const end = lastJson<Changed>(await crawl.ended);
    expect(end).toMatchObject({ state: "finished", pages: 90, politeness: { rate: "unlimited" }, priority: 2 });
    expect(rateExcessMs(slowed, 2)).toBeLessThan(SUSPENDED_MS);
  });

  it("accepts more pages after its limit was raised, stops at the new limit, and loses nothing", async () => {
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 60 })];
    await trawl(["submit", `${site.url}/`, "--max-pages", "5", "--rate", "unlimited"], { cwd });
    const { jobs } = lastJson<{ jobs: Summary[] }>(await trawl(["jobs", "--json"], { cwd }));
    const id = jobs[0]?.id ?? "";

    const raised = lastJson<Changed>(await trawl(["change", id, "--max-pages", "12", "--json"], { cwd }));
    expect(raised.limits).toEqual({ pages: 12, seconds: null });
    const env = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" };
    expect((await trawl(["worker", "--drain"], { cwd, env })).code).toBe(0);

    const end = lastJson<Changed>(await trawl(["job", id, "--json"], { cwd }));
    expect(end).toMatchObject({ state: "finished", counts: { done: 12 } });
    expectBalanced(end.counts);
    expect(pagesRequested(site)).toHaveLength(12);
    for (const change of ["--max-pages=20", "--rate=1/s", "--priority=2"]) {
      expect(await trawl(["change", id, change], { cwd })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("JOB_ENDED"),
      });
    }
  });

  it("reports which values it accepts if a flag is missing or invalid", async () => {
    const cwd = newFolder();

    expect((await trawl(["change", "j1"], { cwd })).stderr).toContain("BAD_USAGE: nothing to change");
    expect((await trawl(["change", "j1", "--rate", "fast"], { cwd })).stderr).toContain(
      "--rate must be a rate such as 4/s or 10/m",
    );
    expect(await trawl(["change", "j1", "--max-pages", "none"], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("NOT_FOUND"),
    });
  });
});

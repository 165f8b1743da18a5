/** Tests recrawls: on the command line, after kill -9, and by a schedule of `trawl serve`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ChangingPage, type ChangingSite, startChangingSite } from "../recrawl/changing-site.ts";
import { waitUntil } from "../services/wait-until.ts";
import { jsonLines, lastJson, startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";

const PAGES = 60;
const NDJSON = { accept: "application/x-ndjson" };

async function startSite(): Promise<ChangingSite> {
  const leaves = Array.from({ length: PAGES }, (_, n) => [`/${n}`, { title: `page ${n}` }] as const);
  const home: ChangingPage = { title: "home", links: leaves.map(([path]) => path) };
  const site = await startChangingSite({ "/": home, ...Object.fromEntries(leaves) });
  onTestFinished(() => site.origin.close());
  return site;
}

const titlesIn = (text: string) => jsonLines<{ title: string }>(text).map(({ title }) => title);

describe("trawl crawl --recrawl", () => {
  it("reports unchanged pages, writes only changed ones, and loses none after kill -9", async () => {
    const site = await startSite();
    const cwd = newFolder();
    const flags = ["-e", "title=h1", "--rate", "100/s", "--recrawl", "shop", "--changed-only"];
    const crawl = ["crawl", site.url, ...flags];
    const first = await trawl([...crawl, "--out", "1.jsonl"], { cwd });
    expect(first.stderr).toMatch(/pages +61, 0 unchanged/);
    const changed = Array.from({ length: PAGES / 3 }, (_, n) => n * 3);
    for (const n of changed) site.pages.set(`/${n}`, { title: `page ${n} again` });
    site.takeVisits();

    const second = startTrawl([...crawl, "--out", "2.jsonl"], { cwd });
    const requests = site.origin.log.length;
    expect(await waitUntil(() => site.origin.log.length >= requests + 20, 60_000)).toBe(true);
    second.kill("SIGKILL");
    expect((await second.ended).signal).toBe("SIGKILL");
    const resumed = await trawl(["crawl", "--resume", "--out", "2.jsonl"], { cwd });

    expect(resumed.code).toBe(0);
    const titles = titlesIn(readFileSync(join(cwd, "2.jsonl"), "utf8"));
    expect(titles.sort()).toEqual(changed.map((n) => `page ${n} again`).sort());
    expect(resumed.stderr).toMatch(/pages +61, 41 unchanged/);
    const third = await trawl(["crawl", site.url, ...flags, "--json"], { cwd });
    expect(lastJson(third)).toMatchObject({ pages: 61, records: 0 });
  });

  it("reports missing and invalid arguments of --recrawl and --changed-only", async () => {
    const cwd = newFolder();
    const noSet = await trawl(["crawl", "http://127.0.0.1:9/", "--recrawl"], { cwd });
    expect([noSet.code, noSet.stderr]).toEqual([
      2,
      expect.stringMatching(/BAD_JOB.*recrawl\.set: is missing; name the set/s),
    ]);
    const alone = await trawl(["crawl", "http://127.0.0.1:9/", "--changed-only"], { cwd });
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining("--changed-only needs --recrawl SET")]);
    const swallowed = await trawl(["crawl", "--recrawl", "http://127.0.0.1:9/"], { cwd });
    expect([swallowed.code, swallowed.stderr]).toEqual([2, expect.stringContaining("put the URL first")]);
    const odd = await trawl(["crawl", "http://127.0.0.1:9/", "--recrawl", "a/b"], { cwd });
    expect([odd.code, odd.stderr]).toEqual([2, expect.stringContaining("recrawl.set: takes letters, digits")]);
  });
});

describe("a schedule with recrawl", () => {
  it("is fired repeatedly by trawl serve, and each change is in the records once", async () => {
    const site = await startSite();
    const cwd = newFolder();
    const env = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" };
    const server = startTrawl(["serve", "--port", "0", "--json"], { cwd, env, hangsAfterMs: 170_000 });
    await server.prints(/"url"/);
    const { url } = JSON.parse(server.output().stdout) as { url: string };
    const worker = startTrawl(["worker", "--quiet"], { cwd, env, hangsAfterMs: 170_000 });
    onTestFinished(() => {
      for (const cli of [server, worker]) cli.kill("SIGKILL"); // if the test fails before it stops them
    });
    const get = async <T>(path: string) => (await (await fetch(url + path)).json()) as T;
    const flags = ["-e", "title=h1", "--rate", "unlimited", "--recrawl", "--changed-only"];
    const made = await trawl(["schedule", "add", site.url, "--every", "1s", ...flags, "--json"], { cwd, env });
    const { id } = lastJson<{ id: string }>(made);

    /** The finished jobs of the schedule, the oldest first. */
    async function endedJobs(): Promise<string[]> {
      const { runs } = await get<{ runs: { jobId: string | null }[] }>(`/v1/schedules/${id}/runs`);
      const jobs = await Promise.all(
        runs.flatMap(({ jobId }) => (jobId === null ? [] : [get<{ id: string; state: string }>(`/v1/jobs/${jobId}`)])),
      );
      return jobs
        .filter(({ state }) => state === "finished")
        .map(({ id: jobId }) => jobId)
        .reverse();
    }
    async function titlesOf(jobIds: readonly string[]): Promise<string[]> {
      const texts = jobIds.map(async (jobId) =>
        (await fetch(`${url}/v1/jobs/${jobId}/records`, { headers: NDJSON })).text(),
      );
      return (await Promise.all(texts)).flatMap(titlesIn);
    }

    expect(await waitUntil(async () => (await endedJobs()).length >= 2, 90_000, 200)).toBe(true);
    site.pages.set("/7", { title: "page 7 again" });
    const hasChange = async () => (await titlesOf(await endedJobs())).includes("page 7 again");
    expect(await waitUntil(hasChange, 60_000, 200)).toBe(true);
    const before = (await endedJobs()).length;
    expect(await waitUntil(async () => (await endedJobs()).length > before, 60_000, 200)).toBe(true);

    const all = Array.from({ length: PAGES }, (_, n) => `page ${n}`);
    expect((await titlesOf(await endedJobs())).sort()).toEqual(["home", ...all, "page 7 again"].sort());
    expect((await trawl(["schedule", "remove", id], { cwd, env })).code).toBe(0);
    for (const cli of [server, worker]) {
      cli.kill("SIGTERM");
      expect((await cli.ended).code).toBe(0);
    }
  });
});

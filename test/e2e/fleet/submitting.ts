import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { jsonLines, lastJson } from "../cli.ts";
import { linkedSite, originOf } from "../sites.ts";
import { FAST, type FleetBroker, newFleet, type Submitted } from "./fleet.ts";

/** Tests a submission to a full broker. */
export function fullBroker(broker: FleetBroker): void {
  it("waits while the broker is full, and continues as workers catch up", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 120, disallowedEvery: 0 })];
    await fleet.worker();
    const args = ["submit", "-", "--follow", "none", "--wait", "--json", ...FAST];

    const end = await fleet.run(args, { input: site.expectedPages().join("\n"), env: { TRAWL_MAX_PENDING: "50" } });

    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(lastJson<Submitted>(end)).toMatchObject({ accepted: 120, duplicates: 0, refused: [], pages: 120 });
    expect(end.stderr).toMatch(/50 URLs processed; the broker is full/);
  });
}

/** Tests lists, job files and messages of submit, which are the same on every broker. */
export function submitting(broker: FleetBroker): void {
  it("submits lists: accepts good URLs, and reports each refused one once by its position", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 10 })];
    const list = `# pages\n${site.url}/page/1\nnonsense\n\n${site.url}/page/1\nftp://x.test/\n${site.url}/page/2\n`;
    writeFileSync(join(fleet.cwd, "urls.txt"), list);

    const fromFile = await fleet.submit(["urls.txt", "--follow", "none"]);
    const fromInput = await fleet.submit(["-", "--follow", "none"], { input: list });

    for (const answer of [fromFile, fromInput]) {
      expect(answer).toMatchObject({ accepted: 2, duplicates: 1, requestId: expect.stringMatching(/\S/) });
      expect(answer.refused).toMatchObject([
        { index: 1, url: "nonsense" },
        { index: 3, url: "ftp://x.test/" },
      ]);
      expect(await fleet.job(answer.id)).toMatchObject({ state: "running", counts: { queued: 2, duplicate: 1 } });
    }
    const bad = await fleet.run(["submit", "nonsense", "--json"]);
    expect(bad).toMatchObject({ code: 2, stdout: "" });
    expect(bad.stderr).toMatch(/^trawl: BAD_URL: "nonsense"/);
    expect(lastJson<{ jobs: [] }>(await fleet.run(["jobs", "--json"])).jobs).toHaveLength(2);
    expect((await fleet.run(["jobs", "--limit", "1"])).stderr).toBe(
      "1 more running; list them with: npx trawl jobs --state running\n",
    );
    expect(await fleet.run(["submit", "urls.txt", "--strict", "--quiet"])).toMatchObject({ code: 1 });
  });

  it("creates no job from a list without a good URL, reports the lines, and exits with 1", async () => {
    const fleet = await newFleet(broker);
    const long = Array.from({ length: 1500 }, (_, nth) => `garbage-${nth + 1}`).join("\n");

    const short = await fleet.run(["submit", "-"], { input: "nonsense\nftp://x.test/\n" });
    const json = await fleet.run(["submit", "-", "--json"], { input: long });

    expect(short).toMatchObject({ code: 1, stdout: "" });
    expect(short.stderr).toMatch(/^none of 2 lines is a URL .*: nothing was submitted\n.*\n +1 .*nonsense\n +2 .*ftp:/);
    expect(json).toMatchObject({ code: 1 });
    expect(lastJson(json)).toMatchObject({ id: null, accepted: 0, refusedCount: 1500 });
    expect(lastJson<{ jobs: [] }>(await fleet.run(["jobs", "--json"])).jobs).toEqual([]);
  });

  it("reports that a job has no records yet", async () => {
    const fleet = await newFleet(broker);
    const { id } = await fleet.submit(["http://127.0.0.1:9/"]);

    const message = `job ${id} has no records in this store (running, 0 pages fetched)\n`;
    expect(await fleet.run(["records", id])).toMatchObject({ code: 0, stdout: "", stderr: message });
    expect((await fleet.run(["records", id, "--invalid"])).stderr).toMatch(/^job \w+ has no invalid records/);
  });

  it("submits a job file to its queue, and reports that no worker serves it", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 10 })];
    const job = { name: "shop", urls: [`${site.url}/page/1`], queue: "shops", extract: { title: "h1" } };
    writeFileSync(join(fleet.cwd, "job.json"), JSON.stringify(job));

    const end = await fleet.run(["submit", "job.json"]);

    expect(end.code).toBe(0);
    expect(end.stdout).toMatch(/^job j\w+ {2}shop\n {2}accepted +1\n {2}duplicates +0\n {2}refused +0\n$/);
    expect(end.stderr).toMatch(/no worker serves the queue shops; start one with: .*trawl worker --queues shops/);
    await (await fleet.worker(["--queues", "shops", "--drain"])).ended;
    const [id = ""] = /j\w+/.exec(end.stdout.slice(4)) ?? [];
    expect(jsonLines((await fleet.run(["records", id])).stdout)).toMatchObject([{ title: "Page 1" }]);
  });

  it("reports how many URLs it queued when it is interrupted, and continues from there", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 30, disallowedEvery: 0 })];
    writeFileSync(join(fleet.cwd, "urls.txt"), site.expectedPages().join("\n"));
    const args = ["submit", "urls.txt", "--follow", "none", "--json", ...FAST];
    const interrupted = fleet.start(args, { env: { TRAWL_MAX_PENDING: "10" } });
    await interrupted.prints(/the broker is full/);
    interrupted.kill("SIGINT");
    const end = await interrupted.ended;

    expect(end.code).toBe(130);
    const { id, ...rest } = lastJson<Submitted>(end);
    expect(rest).toMatchObject({ accepted: 10, taken: 10, interrupted: true });
    expect(end.stderr).toMatch(new RegExp(`stopped after 10 URLs[\\s\\S]*submit --resume ${id}`));
    const resumed = await fleet.submit(["urls.txt", "--resume", id]);
    expect(resumed).toMatchObject({ id, accepted: 20, duplicates: 10 });
    // A list without a good URL creates no job, but this job exists already.
    const nothing = await fleet.run(["submit", "-", "--resume", id, "--json"], { input: "nonsense\n" });
    expect(lastJson<Submitted>(nothing)).toMatchObject({ id, accepted: 0 });
    await (await fleet.worker(["--drain"])).ended;
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 30 } });
    expect((await fleet.run(["crawl", "--resume", id])).stderr).toMatch(/BAD_USAGE: .*trawl worker --queues fetch/);
  });

  it("warns that workers need TRAWL_ALLOW_PRIVATE, and --wait exits with the code of the job", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/": "<h1>home</h1>" })];
    const env = { TRAWL_ALLOW_PRIVATE: "" };
    await fleet.worker([], env);

    const end = await fleet.run(["submit", `${site.url}/`, "--ignore-robots", "--wait", "--json", "--quiet"], { env });

    expect(end.code).toBe(1);
    expect(end.stderr).toMatch(/private network: .*TRAWL_ALLOW_PRIVATE=127\.0\.0\.0\/8/);
    expect(lastJson<Submitted>(end)).toMatchObject({ state: "failed", counts: { dead: 1 } });
    expect(site.log).toEqual([]);
  });
}

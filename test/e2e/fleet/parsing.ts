import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { duplicates, missing } from "../../site/loss-checker.ts";
import { jsonLines, lastJson } from "../cli.ts";
import type { Summary } from "../ledger.ts";
import { linkedSite, linksTo, originOf, pagesRequested } from "../sites.ts";
import { FAST, type Fleet, type FleetBroker, newFleet } from "./fleet.ts";

type Job = Summary & { tally: Record<string, number> };
type Line = Record<string, unknown> & { _url: string };

/** Tests fetch workers and parse workers: pages are fetched by some workers and parsed by others. */
export function parsing(broker: FleetBroker): void {
  it("parses on workers of the parse queue, and reports if there are none", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 30 })];
    const submitted = await fleet.run(["submit", `${site.url}/`, "--parse", "queue", "--json", ...FAST]);
    const { id } = lastJson<Summary>(submitted);
    expect(submitted.stderr).toMatch(/no worker serves the queues fetch, parse;.* worker --queues fetch,parse/);
    await drain(fleet, ["fetch"]);

    expect(pagesRequested(site)).toEqual(["/"]);
    expect(await fleet.job(id)).toMatchObject({ state: "running", counts: { queued: 1, done: 1 } });
    const why = await fleet.run(["explain", `${site.url}/`]);
    expect(why.stdout).toMatch(
      /has ended \(done, refused or cancelled\)\n.*may be parsed now; waits for a free worker on queue parse .*\(parse\)/,
    );

    const fetching = await fleet.worker(["--queues", "fetch"]);
    const parsers = await Promise.all([1, 2].map(() => fleet.worker(["--queues", "parse", "-c", "2"])));
    await ended(fleet, id);
    for (const worker of [fetching, ...parsers]) worker.kill("SIGTERM");

    expect(lastJson(await fetching.ended)).toMatchObject({ tasks: 29, pages: 0, records: 0 });
    const lines = await recordsOf(fleet, id);
    expect(lines.map(({ _url }) => _url).sort()).toEqual(site.expectedPages().sort());
    expect(missing(site.disallowedPages(), pagesRequested(site)).length).toBe(site.disallowedPages().length);
    expect(spooledPagesOf(fleet)).toEqual([]);
  });

  it("loses and duplicates nothing when workers of both kinds are killed", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 120, delayMs: 20 })];
    const { id } = await fleet.submit([`${site.url}/`, "--parse", "queue", ...FAST]);
    for (const until of [25, 60]) {
      const workers = await Promise.all(["fetch", "parse"].map((queue) => fleet.worker(["--queues", queue])));
      await site.waitForRequests(until);
      for (const worker of workers) worker.kill("SIGKILL");
      await Promise.all(workers.map((worker) => worker.ended));
    }
    const workers = await Promise.all(["fetch", "parse"].map((queue) => fleet.worker(["--queues", queue])));
    const job = await ended(fleet, id);
    for (const worker of workers) worker.kill("SIGTERM");
    await Promise.all(workers.map((worker) => worker.ended));

    const urls = (await recordsOf(fleet, id)).map(({ _url }) => _url);
    expect([missing(site.expectedPages(), urls), missing(urls, site.expectedPages())]).toEqual([[], []]);
    expect(duplicates(urls)).toEqual(new Map());
    expect(job).toMatchObject({ state: "finished", counts: { dead: 0 }, tally: { pages: urls.length } });
  });
}

/** Tests how pages are passed to parse workers: through the body store, not through the broker. */
export function passingPages(broker: FleetBroker): void {
  it("extracts the same records on fetch workers and on parse workers", async () => {
    const [fleet, site] = [await newFleet(broker), await shop()];
    writeFileSync(join(fleet.cwd, "shop.mjs"), spider(`${site.url}/`));
    const drained = async (how: string) => {
      const { id } = await fleet.submit(["shop.mjs", "--parse", how, "--max-pages", "5"]);
      await drain(fleet, ["fetch", "parse"]);
      return { job: (await fleet.job(id)) as Job, lines: await recordsOf(fleet, id) };
    };

    const inline = await drained("inline");
    const queued = await drained("queue");

    expect(inline.job).toMatchObject({ state: "finished", tally: { pages: 4, records: 4 }, counts: { refused: 1 } });
    expect(queued.job).toMatchObject({ state: "finished", tally: inline.job.tally, counts: { refused: 1 } });
    expect(queued.lines.map(plain)).toEqual(inline.lines.map(plain));
    expect(spooledPagesOf(fleet)).toEqual([]);
  });

  it("explains the step at which a page waits, as text and JSON", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/": "<h1>home</h1>" })];
    const job = { urls: [`${site.url}/`], parse: "queue", dedup: { scope: "shelf" }, politeness: { robots: false } };
    writeFileSync(join(fleet.cwd, "job.json"), JSON.stringify(job));
    const { id } = await fleet.submit(["job.json"]);
    await drain(fleet, ["fetch"]);

    const why = await fleet.run(["explain", `${site.url}/`]);
    expect(why.stdout).toMatch(
      /has ended \(done, refused or cancelled\)\n.*may be parsed now; .* on queue parse .*\(parse\)\n.*no worker serves queue parse; .*\n$/,
    );
    const explained = lastJson<{ tasks: unknown[] }>(await fleet.run(["explain", `${site.url}/`, "--json"]));
    expect(explained.tasks).toEqual([
      { jobId: id, state: "ended" },
      { jobId: id, state: "queued", step: "parse" },
    ]);
  });

  it("keeps a page whose handler fails, to parse it again without another request", async () => {
    const [fleet, site] = [await newFleet(broker), await shop()];
    writeFileSync(join(fleet.cwd, "shop.mjs"), spider(`${site.url}/`));
    writeFileSync(join(fleet.cwd, "broken"), "");
    const { id } = await fleet.submit(["shop.mjs", "--parse", "queue"]);
    await drain(fleet, ["fetch", "parse"]);
    const requested = pagesRequested(site);

    const dead = lastJson<{ dead: { history: unknown[] }[] }>(await fleet.run(["dead", id, "--list", "--json"])).dead;
    expect(dead).toMatchObject([{ url: `${site.url}/p/1#parse`, reason: "handler_failed", status: 200 }]);
    expect(spooledPagesOf(fleet)).toHaveLength(1);

    rmSync(join(fleet.cwd, "broken"));
    expect(lastJson(await fleet.run(["dead", id, "--replay", "--json"]))).toEqual({ replayed: 1 });
    await drain(fleet, ["parse"]);
    expect((await recordsOf(fleet, id)).map(({ title }) => title).sort()).toContain("Kettle");
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { dead: 0 } });
    expect(pagesRequested(site)).toEqual(requested);
    expect(spooledPagesOf(fleet)).toEqual([]);
  });

  it("fails a page that the parse worker cannot find, prints the fix, and parses it after a replay", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/": "<h1>home</h1>" })];
    const { id } = await fleet.submit([`${site.url}/`, "--parse", "queue", "--ignore-robots", "-e", "title=h1"]);
    await drain(fleet, ["fetch"]);
    await drain(fleet, ["parse"], { TRAWL_BODIES: "file:elsewhere" });

    const [letter] = lastJson<{ dead: { reason: string }[] }>(await fleet.run(["dead", "--list", "--json"])).dead;
    expect(letter).toMatchObject({
      reason: "body_missing",
      history: [{ detail: expect.stringMatching(/not in TRAWL_BODIES of this worker.*set the same TRAWL_BODIES/) }],
    });

    await fleet.run(["dead", id, "--replay"]);
    await drain(fleet, ["parse"]);
    expect((await recordsOf(fleet, id)).map(({ title }) => title)).toEqual(["home"]);
  });

  it("refuses a job whose pages cannot be passed to parse workers, before anything is queued", async () => {
    const fleet = await newFleet(broker);
    const args = ["submit", "http://127.0.0.1:9/", "--parse", "queue"];

    const end = await fleet.run(args, { env: { TRAWL_BODIES: "none" } });

    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toMatch(
      /BAD_JOB: parse: "queue" stores pages for parse workers in TRAWL_BODIES, which is none; set it to a folder/,
    );
    expect(lastJson(await fleet.run(["jobs", "--json"]))).toMatchObject({ jobs: [] });
  });
}

async function shop() {
  return originOf({
    "/robots.txt": { headers: { "content-type": "text/plain" }, body: "User-agent: *\nDisallow: /private\n" },
    "/": linksTo("/p/1", "/p/2", "/moved", "/private"),
    "/p/1": { headers: { "content-type": "text/html", "x-stock": "7" }, body: "<h1>Kettle</h1>" },
    "/p/2": "<h1>Pan</h1>",
    "/p/3": "<h1>Ladle</h1>",
    "/moved": { status: 301, headers: { location: "/p/3" } },
    "/private": "<h1>Secret</h1>",
  });
}

/** The records contain everything that a handler can read of a page. */
function spider(start: string): string {
  return `
    import { existsSync } from "node:fs";
    export default {
      name: "shop",
      start: [${JSON.stringify(start)}],
      politeness: { rate: "unlimited" },
      page({ $, url, page, depth, carry, emit, follow }) {
        emit({ title: $("h1").text(), url, depth, carry, stock: page.headers["x-stock"], type: page.contentType });
        follow("a", { to: "product", carry: { from: url } });
      },
      handlers: {
        product({ $, url, page, depth, carry, emit }) {
          if (url.endsWith("/p/1") && existsSync("broken")) throw new Error("not today");
          emit({ title: $("h1").text(), url, depth, carry, stock: page.headers["x-stock"], bytes: page.bodyBytes });
        },
      },
    };`;
}

async function drain(fleet: Fleet, queues: readonly string[], env: Record<string, string> = {}): Promise<void> {
  const end = await fleet.run(["worker", "--queues", queues.join(","), "--drain", "--quiet"], { env });
  expect(end, end.stderr).toMatchObject({ code: 0 });
}

function ended(fleet: Fleet, id: string): Promise<Summary> {
  return fleet.poll(
    () => fleet.job(id),
    ({ state }) => state !== "running",
  );
}

async function recordsOf(fleet: Fleet, id: string): Promise<Line[]> {
  return jsonLines<Line>((await fleet.run(["records", id])).stdout).sort((one, other) =>
    one._url < other._url ? -1 : 1,
  );
}

function plain({ _job, _fetchedAt, ...rest }: Line): object {
  return rest;
}

/** Files of pages that are not parsed yet. */
function spooledPagesOf(fleet: Fleet): string[] {
  const folder = join(fleet.cwd, ".trawl/bodies/spool");
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".gz"));
}

/** `trawl trace` shows the events of all processes, on every broker backend. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CliEnd, jsonLines, lastJson } from "../cli.ts";
import { FAST, type Fleet, type FleetBroker, newFleet } from "../fleet/fleet.ts";
import { linksTo, originOf } from "../sites.ts";
import { registry } from "./registry.ts";

type TracedLease = { kind: string; token: number; worker?: string; leasedAt?: string; [field: string]: unknown };
type TraceAnswer = {
  stories: {
    url: string;
    job: string;
    requestId: string;
    state: string;
    waits: string[];
    tasks: { taskId: string; step: string; leases: TracedLease[] }[];
  }[];
};
type LogLine = { event: string; level: string; [field: string]: unknown };

const SECRET = "hunter2-s3cret";
/** Soon again, and not long patient. */
const HASTE = { TRAWL_BACKOFF: "100ms", TRAWL_IDLE_TIMEOUT: "2s", TRAWL_LEASE: "3s" };
/** A worker without a supervisor: if it is killed, no end of its attempts is recorded. */
const SOLO = ["--pool", "solo"];
const ALONE = ["--follow", "none", "--ignore-robots", ...FAST];

export function describeTrace(name: string, broker: FleetBroker): void {
  describe(`traces and workers on ${name}`, () => {
    trouble(broker);
    wholeJobs(broker);
    steps(broker);
    asking(broker);
    registry(broker);
  });
}

/** A page that fails, does not answer, is held by a worker that is killed, and then is there. */
async function flakySite() {
  let asked = 0;
  return originOf({
    "/flaky": (_, response) => {
      asked += 1;
      if (asked === 1) response.writeHead(500).end("no");
      if (asked > 3) response.writeHead(200, { "content-type": "text/html" }).end("<h1>there</h1>");
    },
  });
}

function trouble(broker: FleetBroker): void {
  it("tells every try of a page in order, by whom, the lost one too, without its secrets", async () => {
    const [fleet, site] = [await newFleet(broker), await flakySite()];
    const url = `${site.url}/flaky?api_key=${SECRET}`;
    const flags = ["--header", `Authorization: Bearer ${SECRET}`, "--request-id", "order-4711", "--keep-bodies"];
    const { id, requestId } = await fleet.submit([url, ...ALONE, ...flags], { env: HASTE });
    expect(requestId).toBe("order-4711");
    const doomed = await fleet.worker(SOLO, { ...HASTE, TRAWL_LOG_LEVEL: "info" });
    await site.waitForRequests(3);
    doomed.kill("SIGKILL");
    const first = await doomed.ended;

    const second = await (await fleet.worker([...SOLO, "--drain"], { ...HASTE, TRAWL_LOG_LEVEL: "debug" })).ended;

    const [before, after] = [workerOf(first), workerOf(second)];
    const end = await fleet.run(["trace", "order-4711", "--json"]);
    const [story] = lastJson<TraceAnswer>(end).stories;
    expect(story).toMatchObject({ job: id, requestId, state: "ended", waits: [], tasks: [{ step: "fetch" }] });
    const leases = story?.tasks[0]?.leases ?? [];
    expect(leases).toMatchObject(
      [
        { kind: "try", token: 1, attempt: 1, worker: before, fate: "retry", because: "server_error", status: 500 },
        { kind: "try", token: 2, attempt: 2, worker: before, fate: "retry", because: "timeout" },
        { kind: "lost", token: 3 },
        { kind: "page", token: 4, attempt: 3, worker: after, status: 200, bytes: 14, records: 1, bodyRef: /./ },
      ].map(({ bodyRef, ...lease }) =>
        bodyRef === undefined ? lease : { ...lease, bodyRef: expect.stringMatching(bodyRef) },
      ),
    );
    const times = leases.flatMap(({ leasedAt, endedAt }) => [leasedAt, endedAt]).filter((at) => at !== undefined);
    expect(times).toEqual([...times].sort());

    const text = await fleet.run(["trace", url]);
    expect(text.stdout).toMatch(
      /submitted by request order-4711[\s\S]*attempt 1[\s\S]*status 500[\s\S]*attempt 2[\s\S]*timeout[\s\S]*the worker crashed[\s\S]*attempt 3[\s\S]*status 200[\s\S]*1 record[\s\S]*complete, .* after submission/,
    );
    for (const said of [end.stdout, text.stdout, first.stderr, second.stderr]) expect(said).not.toContain(SECRET);
    expectCorrelated(first, second, { requestId, jobId: id, taskId: story?.tasks[0]?.taskId });
  });

  it("tells which process died with it, and how, where a supervisor saw it", async () => {
    let asked = 0;
    const site = await originOf({
      "/": (_, response) => {
        asked += 1;
        if (asked > 1) response.writeHead(200, { "content-type": "text/html" }).end("<h1>there</h1>");
      },
    });
    const fleet = await newFleet(broker);
    const { id } = await fleet.submit([`${site.url}/`, ...ALONE]);
    const pool = await fleet.worker(["--drain"]);
    await site.waitForRequests(1);
    const { workers } = lastJson<{ workers: { pid: number; worker: string }[] }>(
      await fleet.run(["workers", "--json"]),
    );
    const [doomed] = workers;
    process.kill(doomed?.pid ?? 0, "SIGKILL");
    expect(await pool.ended).toMatchObject({ code: 0 });

    const { stories } = await tell(fleet, id);

    const detail = "its process died (SIGKILL)";
    expect(stories[0]?.tasks[0]?.leases).toMatchObject([
      { kind: "try", token: 1, worker: doomed?.worker, fate: "retry", because: "crashed_worker", detail },
      { kind: "page", token: 2, attempt: 1, status: 200 },
    ]);
  });

  it("tells that a worker handed it back when it stopped, and where it waits until the next one comes", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/slow": () => {} })];
    const { id } = await fleet.submit([`${site.url}/slow`, ...ALONE]);
    expect((await tell(fleet, id)).stories).toMatchObject(
      [{ state: "queued", tasks: [], waits: [/free worker/] }].map(worded),
    );
    const worker = await fleet.worker([], { TRAWL_GRACE: "0ms" });
    await site.waitForRequests(1);
    worker.kill("SIGTERM");
    expect(await worker.ended).toMatchObject({ code: 0 });

    const { stories } = await tell(fleet, id);

    expect(stories).toMatchObject([{ state: "queued", tasks: [{ leases: [{ kind: "try", fate: "returned" }] }] }]);
    expect((await fleet.run(["trace", id])).stdout).toMatch(
      /returned the task[\s\S]*waits for a free worker on queue fetch/,
    );
  });

  it("keeps no tries of a job that keeps no pages, and says so", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/": "<h1>home</h1>" })];
    const job = { urls: [`${site.url}/`], keep: { pages: false, records: true }, politeness: { robots: false } };
    writeFileSync(join(fleet.cwd, "job.json"), JSON.stringify(job));
    const { id } = await fleet.submit(["job.json"]);
    await (await fleet.worker(["--drain"])).ended;

    expect((await tell(fleet, id)).stories).toMatchObject([
      { state: "ended", tasks: [{ leases: [{ kind: "page", status: 200, records: 1 }] }] },
    ]);
    expect((await tell(fleet, id)).stories[0]?.tasks[0]?.leases[0]).toMatchObject({ worker: null });
  });
}

function wholeJobs(broker: FleetBroker): void {
  it("sums a job up: what failed, what took longest, and how to trace one", async () => {
    const fleet = await newFleet(broker);
    const site = await originOf({
      "/": linksTo("/a", "/gone", "/to"),
      "/a": "<h1>a</h1>",
      "/to": { status: 302, headers: { location: "/a" } },
    });
    const { id, requestId } = await fleet.submit([`${site.url}/`, "--ignore-robots", ...FAST]);
    await (await fleet.worker(["--drain"])).ended;

    const { jobs } = lastJson<{ jobs: Record<string, unknown>[] }>(await fleet.run(["trace", requestId, "--json"]));
    const text = await fleet.run(["trace", id]);

    expect(jobs).toMatchObject([
      {
        job: { id, requestId, state: "finished" },
        tries: [{ fate: "dead", because: "http_status", status: 404, tries: 1 }],
      },
    ]);
    expect(jobs[0]?.slowest).toHaveLength(3);
    expect(text.stdout).toMatch(/\nfailed\n.*http_status +404 .*\/gone\n[\s\S]*slowest[\s\S]*trace http/);
    expect(text.stdout.split("\n").length).toBeLessThan(30);
    expect((await fleet.run(["trace", `${site.url}/to`])).stdout).toMatch(/status 302.*redirected to \/a/);
  });
}

function steps(broker: FleetBroker): void {
  it("tells the steps of a page that several workers had as one story", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/": "<h1>home</h1>" })];
    const job = { urls: [`${site.url}/`], parse: "queue", politeness: { robots: false } };
    writeFileSync(join(fleet.cwd, "job.json"), JSON.stringify(job));
    const { id } = await fleet.submit(["job.json"]);
    await (await fleet.worker([...SOLO, "--drain"])).ended;
    expect((await tell(fleet, id)).stories).toMatchObject([
      worded({ state: "queued", tasks: [{ leases: [{ fate: "passed", status: 200 }] }], waits: [/queue parse/] }),
    ]);

    const parser = await (await fleet.worker([...SOLO, "--drain", "--queues", "parse"])).ended;

    const { stories } = await tell(fleet, `${site.url}/`);
    expect(stories).toMatchObject([
      {
        job: id,
        state: "ended",
        tasks: [
          { step: "fetch", leases: [{ kind: "try", fate: "passed", because: "left to parse", status: 200 }] },
          { step: "parse", leases: [{ kind: "page", worker: workerOf(parser), status: 200, records: 1 }] },
        ],
      },
    ]);
    expect((await fleet.run(["trace", id])).stdout).toMatch(/left to parse[\s\S]*attempt 1 to parse[\s\S]*1 record/);
  });
}

function asking(broker: FleetBroker): void {
  it("finds a task by its number, and says what to do where it finds nothing", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/a": "<h1>a</h1>" })];
    const { id } = await fleet.submit([`${site.url}/a`, `${site.url}/b`, ...ALONE]);
    await (await fleet.worker(["--drain"])).ended;
    const [story] = (await tell(fleet, `${site.url}/b`)).stories;
    const taskId = story?.tasks[0]?.taskId ?? "";

    expect((await tell(fleet, taskId)).stories).toMatchObject([{ job: id, url: `${site.url}/b`, state: "dead" }]);
    for (const nothing of ["nobody", `${site.url}/never`]) {
      const end = await fleet.run(["trace", nothing]);
      expect(end).toMatchObject({ stdout: "", code: 2 });
      expect(end.stderr).toMatch(/^trawl: NOT_FOUND: /);
    }
  });

  it("refuses a request id that is none", async () => {
    const fleet = await newFleet(broker);

    const end = await fleet.run(["submit", "http://127.0.0.1:9/", "--request-id", "two words"]);

    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(/--request-id takes letters, digits/);
  });
}

/** Lines of both workers about the one task carry all that finds them again. */
function expectCorrelated(first: CliEnd, second: CliEnd, ids: Record<string, unknown>): void {
  const linesOf = (end: CliEnd) => jsonLines<LogLine>(end.stderr).filter(({ event }) => event.startsWith("task."));
  const [infos, debugs] = [linesOf(first), linesOf(second)];
  expect(infos.map(({ event, because, attempt }) => [event, because, attempt])).toEqual([
    ["task.retry", "server_error", 1],
    ["task.retry", "timeout", 2],
  ]);
  expect(debugs.map(({ event }) => event)).toEqual(["task.leased", "task.fetched", "task.settled"]);
  expect(debugs[1]).toMatchObject({ status: 200, bytes: 14, ms: expect.any(Number) });
  for (const line of [...infos, ...debugs]) {
    expect(line).toMatchObject({
      ...ids,
      workerId: expect.stringMatching(/\S/),
      url: expect.stringContaining("/flaky?api_key=***"),
    });
  }
}

async function tell(fleet: Fleet, what: string): Promise<TraceAnswer> {
  return lastJson<TraceAnswer>(await fleet.run(["trace", what, "--json"]));
}

/** Read from the worker's start message. */
function workerOf({ stderr }: CliEnd): unknown {
  return jsonLines<LogLine>(stderr).find(({ event }) => event === "worker.started")?.worker;
}

function worded<T extends { waits: RegExp[] }>({ waits, ...story }: T) {
  return { ...story, waits: waits.map((words) => expect.stringMatching(words)) };
}

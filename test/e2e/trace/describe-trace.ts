/** Tests that `trawl trace` shows the attempts of all processes, on every broker backend. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CliEnd, jsonLines, lastJson } from "../cli.ts";
import { FAST, type Fleet, type FleetBroker, newFleet } from "../fleet/fleet.ts";
import { linksTo, originOf } from "../sites.ts";
import { registry } from "./registry.ts";

type TracedLease = { kind: string; token: number; worker?: string; leasedAt?: string; [field: string]: unknown };
type TraceAnswer = {
  timelines: {
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
/** Short times for retries, timeouts and leases. */
const SHORT_TIMES = { TRAWL_BACKOFF: "100ms", TRAWL_IDLE_TIMEOUT: "2s", TRAWL_LEASE: "3s" };
/** A worker without a supervisor: if it is killed, no end of its attempts is recorded. */
const SOLO = ["--pool", "solo"];
const ALONE = ["--follow", "none", "--ignore-robots", ...FAST];

export function describeTrace(name: string, broker: FleetBroker): void {
  describe(`traces and workers on ${name}`, () => {
    failedAttempts(broker);
    jobSummaries(broker);
    steps(broker);
    lookups(broker);
    registry(broker);
  });
}

/** The first request for the page fails, the next two get no answer, and all later ones succeed. */
async function flakySite() {
  let requests = 0;
  return originOf({
    "/flaky": (_, response) => {
      requests += 1;
      if (requests === 1) response.writeHead(500).end("no");
      if (requests > 3) response.writeHead(200, { "content-type": "text/html" }).end("<h1>there</h1>");
    },
  });
}

/** Tests attempts that fail, crash or are returned. */
function failedAttempts(broker: FleetBroker): void {
  it("shows every attempt of a page in order, with its worker, including a lost attempt, and no secrets", async () => {
    const [fleet, site] = [await newFleet(broker), await flakySite()];
    const url = `${site.url}/flaky?api_key=${SECRET}`;
    const flags = ["--header", `Authorization: Bearer ${SECRET}`, "--request-id", "order-4711", "--keep-bodies"];
    const { id, requestId } = await fleet.submit([url, ...ALONE, ...flags], { env: SHORT_TIMES });
    expect(requestId).toBe("order-4711");
    const killed = await fleet.worker(SOLO, { ...SHORT_TIMES, TRAWL_LOG_LEVEL: "info" });
    await site.waitForRequests(3);
    killed.kill("SIGKILL");
    const first = await killed.ended;

    const second = await (await fleet.worker([...SOLO, "--drain"], { ...SHORT_TIMES, TRAWL_LOG_LEVEL: "debug" })).ended;

    const [before, after] = [workerOf(first), workerOf(second)];
    const end = await fleet.run(["trace", "order-4711", "--json"]);
    const [timeline] = lastJson<TraceAnswer>(end).timelines;
    expect(timeline).toMatchObject({ job: id, requestId, state: "ended", waits: [], tasks: [{ step: "fetch" }] });
    const leases = timeline?.tasks[0]?.leases ?? [];
    expect(leases).toMatchObject(
      [
        {
          kind: "attempt",
          token: 1,
          attempt: 1,
          worker: before,
          outcome: "retry",
          because: "server_error",
          status: 500,
        },
        { kind: "attempt", token: 2, attempt: 2, worker: before, outcome: "retry", because: "timeout" },
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
    for (const output of [end.stdout, text.stdout, first.stderr, second.stderr]) expect(output).not.toContain(SECRET);
    expectCorrelated(first, second, { requestId, jobId: id, taskId: timeline?.tasks[0]?.taskId });
  });

  it("shows which process died with a task, and how it died, if a supervisor noticed the death", async () => {
    let requests = 0;
    const site = await originOf({
      "/": (_, response) => {
        requests += 1;
        if (requests > 1) response.writeHead(200, { "content-type": "text/html" }).end("<h1>there</h1>");
      },
    });
    const fleet = await newFleet(broker);
    const { id } = await fleet.submit([`${site.url}/`, ...ALONE]);
    const pool = await fleet.worker(["--drain"]);
    await site.waitForRequests(1);
    const { workers } = lastJson<{ workers: { pid: number; worker: string }[] }>(
      await fleet.run(["workers", "--json"]),
    );
    const [killed] = workers;
    process.kill(killed?.pid ?? 0, "SIGKILL");
    expect(await pool.ended).toMatchObject({ code: 0 });

    const { timelines } = await trace(fleet, id);

    const detail = "its process died (SIGKILL)";
    expect(timelines[0]?.tasks[0]?.leases).toMatchObject([
      { kind: "attempt", token: 1, worker: killed?.worker, outcome: "retry", because: "crashed_worker", detail },
      { kind: "page", token: 2, attempt: 1, status: 200 },
    ]);
  });

  it("shows that a worker returned a task when it stopped, and for which queue the task waits", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/slow": () => {} })];
    const { id } = await fleet.submit([`${site.url}/slow`, ...ALONE]);
    expect((await trace(fleet, id)).timelines).toMatchObject(
      [{ state: "queued", tasks: [], waits: [/free worker/] }].map(withPatterns),
    );
    const worker = await fleet.worker([], { TRAWL_GRACE: "0ms" });
    await site.waitForRequests(1);
    worker.kill("SIGTERM");
    expect(await worker.ended).toMatchObject({ code: 0 });

    const { timelines } = await trace(fleet, id);

    expect(timelines).toMatchObject([
      { state: "queued", tasks: [{ leases: [{ kind: "attempt", outcome: "returned" }] }] },
    ]);
    expect((await fleet.run(["trace", id])).stdout).toMatch(
      /returned the task[\s\S]*waits for a free worker on queue fetch/,
    );
  });

  it("shows no worker for a job that keeps no pages, because its attempts are not stored", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/": "<h1>home</h1>" })];
    const job = { urls: [`${site.url}/`], keep: { pages: false, records: true }, politeness: { robots: false } };
    writeFileSync(join(fleet.cwd, "job.json"), JSON.stringify(job));
    const { id } = await fleet.submit(["job.json"]);
    await (await fleet.worker(["--drain"])).ended;

    expect((await trace(fleet, id)).timelines).toMatchObject([
      { state: "ended", tasks: [{ leases: [{ kind: "page", status: 200, records: 1 }] }] },
    ]);
    expect((await trace(fleet, id)).timelines[0]?.tasks[0]?.leases[0]).toMatchObject({ worker: null });
  });
}

function jobSummaries(broker: FleetBroker): void {
  it("summarizes a job: failed and slowest pages, and how to trace one page", async () => {
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
        attempts: [{ outcome: "dead", because: "http_status", status: 404, count: 1 }],
      },
    ]);
    expect(jobs[0]?.slowest).toHaveLength(3);
    expect(text.stdout).toMatch(/\nfailed\n.*http_status +404 .*\/gone\n[\s\S]*slowest[\s\S]*trace http/);
    expect(text.stdout.split("\n").length).toBeLessThan(30);
    expect((await fleet.run(["trace", `${site.url}/to`])).stdout).toMatch(/status 302.*redirected to \/a/);
  });
}

function steps(broker: FleetBroker): void {
  it("shows the steps of a page that several workers processed as one timeline", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/": "<h1>home</h1>" })];
    const job = { urls: [`${site.url}/`], parse: "queue", politeness: { robots: false } };
    writeFileSync(join(fleet.cwd, "job.json"), JSON.stringify(job));
    const { id } = await fleet.submit(["job.json"]);
    await (await fleet.worker([...SOLO, "--drain"])).ended;
    expect((await trace(fleet, id)).timelines).toMatchObject([
      withPatterns({
        state: "queued",
        tasks: [{ leases: [{ outcome: "passed", status: 200 }] }],
        waits: [/queue parse/],
      }),
    ]);

    const parser = await (await fleet.worker([...SOLO, "--drain", "--queues", "parse"])).ended;

    const { timelines } = await trace(fleet, `${site.url}/`);
    expect(timelines).toMatchObject([
      {
        job: id,
        state: "ended",
        tasks: [
          {
            step: "fetch",
            leases: [{ kind: "attempt", outcome: "passed", because: "passed on to parse", status: 200 }],
          },
          { step: "parse", leases: [{ kind: "page", worker: workerOf(parser), status: 200, records: 1 }] },
        ],
      },
    ]);
    expect((await fleet.run(["trace", id])).stdout).toMatch(
      /passed on to parse[\s\S]*attempt 1 to parse[\s\S]*1 record/,
    );
  });
}

function lookups(broker: FleetBroker): void {
  it("finds a task by its id, and reports an error if it finds nothing", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/a": "<h1>a</h1>" })];
    const { id } = await fleet.submit([`${site.url}/a`, `${site.url}/b`, ...ALONE]);
    await (await fleet.worker(["--drain"])).ended;
    const [timeline] = (await trace(fleet, `${site.url}/b`)).timelines;
    const taskId = timeline?.tasks[0]?.taskId ?? "";

    expect((await trace(fleet, taskId)).timelines).toMatchObject([{ job: id, url: `${site.url}/b`, state: "dead" }]);
    for (const unknown of ["unknown", `${site.url}/never`]) {
      const end = await fleet.run(["trace", unknown]);
      expect(end).toMatchObject({ stdout: "", code: 2 });
      expect(end.stderr).toMatch(/^trawl: NOT_FOUND: /);
    }
  });

  it("refuses an invalid request id, and a request id for a schedule", async () => {
    const fleet = await newFleet(broker);

    const end = await fleet.run(["submit", "http://127.0.0.1:9/", "--request-id", "two words"]);
    const schedule = ["schedule", "add", "http://127.0.0.1:9/", "--every", "1d", "--request-id", "mine"];

    expect(end.code).toBe(2);
    expect(end.stderr).toMatch(/--request-id may contain only letters, digits/);
    expect(await fleet.run(schedule)).toMatchObject({ code: 2, stderr: expect.stringContaining("--request-id") });
  });
}

/** Expects that all log lines of both workers about the task contain its ids. */
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

async function trace(fleet: Fleet, target: string): Promise<TraceAnswer> {
  return lastJson<TraceAnswer>(await fleet.run(["trace", target, "--json"]));
}

/** The worker's name, from its start message. */
function workerOf({ stderr }: CliEnd): unknown {
  return jsonLines<LogLine>(stderr).find(({ event }) => event === "worker.started")?.worker;
}

function withPatterns<T extends { waits: RegExp[] }>({ waits, ...timeline }: T) {
  return { ...timeline, waits: waits.map((pattern) => expect.stringMatching(pattern)) };
}

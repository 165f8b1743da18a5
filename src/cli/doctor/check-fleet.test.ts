import { describe, expect, it } from "vitest";
import { aJobSpec } from "../../../test/submit/a-job-spec.ts";
import { emptyLedger } from "../../domain/job.ts";
import type { JobView, WorkerView } from "../../frontier/frontier-admin.ts";
import { checkFleet, type FleetFacts } from "./check-fleet.ts";

function aJob(parts: Partial<JobView>): JobView {
  return {
    id: "j1",
    name: "shop",
    state: "running",
    sealed: true,
    queue: "fetch",
    priority: 5,
    policy: { intervalMs: 0, burst: 1, perSite: 1 },
    limits: { pages: undefined, deadlineAt: undefined },
    createdAt: 0,
    finishedAt: undefined,
    counts: emptyLedger(),
    tally: { pages: 0, records: 0, invalid: 0, bytes: 0 },
    spec: aJobSpec({ queue: parts.queue ?? "fetch" }),
    ...parts,
  };
}

function aWorker(worker: string, parts: Partial<WorkerView> = {}): WorkerView {
  return { worker, queues: ["fetch"], unknownSpiders: [], version: "1.0.0", seenAt: 0, ...parts };
}

/** All findings that are not ok. */
function troubles(facts: Partial<FleetFacts>): string[] {
  const whole = { workers: [], queues: [], jobs: [], version: "1.0.0", storeFile: undefined, ...facts };
  return checkFleet(whole)
    .filter(({ verdict }) => verdict !== "ok")
    .map(({ check, verdict, message, fix }) => `${verdict}: ${check}: ${message}; ${fix}`);
}

describe("the fleet check", () => {
  it("knows the queues of a job with routes", () => {
    const routed = aJob({ spec: aJobSpec({ routes: [{ queue: "slow", priority: 5 }] }) });

    expect(troubles({ queues: [{ queue: "slow", waiting: 3 }], jobs: [routed] })).toEqual([
      "problem: queue slow: 3 URLs waiting, and no worker is running; start one with: trawl worker --queues slow",
    ]);
    expect(troubles({ jobs: [routed] })).toEqual([
      "problem: jobs: 1 job running (j1), and no worker is running; start one with: trawl worker --queues fetch,slow",
    ]);
  });

  it("finds no problem without jobs and workers, and with both", () => {
    const queues = [{ queue: "fetch", waiting: 3 }];

    expect(troubles({})).toEqual([]);
    expect(troubles({ workers: [aWorker("a/1/1")] })).toEqual([]);
    expect(troubles({ workers: [aWorker("a/1/1")], jobs: [aJob({})], queues })).toEqual([]);
  });

  it("reports a queue that no worker serves, and a running job without workers", () => {
    const queues = [{ queue: "fetch", waiting: 3 }];

    expect(troubles({ queues, jobs: [aJob({})] })).toEqual([
      "problem: queue fetch: 3 URLs waiting, and no worker is running; start one with: trawl worker --queues fetch",
    ]);
    expect(troubles({ jobs: [aJob({})] })).toEqual([
      "problem: jobs: 1 job running (j1), and no worker is running; start one with: trawl worker --queues fetch",
    ]);
    expect(troubles({ jobs: [aJob({ sealed: false })] })[0]).toContain("submit --resume j1");
  });

  it("only warns about paused jobs and interrupted crawls", () => {
    const paused = troubles({ queues: [{ queue: "fetch", waiting: 1 }], jobs: [aJob({ state: "paused" })] });
    const crawl = aJob({ queue: "crawl:j1" });

    expect(paused).toEqual([expect.stringMatching(/^warning: queue fetch: .*trawl resume j1/)]);
    expect(troubles({ queues: [{ queue: "crawl:j1", waiting: 9 }], jobs: [crawl] })).toEqual([
      expect.stringMatching(/^warning: queue crawl:j1: 9 URLs of an interrupted crawl.*trawl crawl --resume j1/),
    ]);
  });

  it("warns about a misspelt queue, a missing spider, different versions and several file stores", () => {
    const jobs = [aJob({ state: "finished" })];

    expect(troubles({ jobs, workers: [aWorker("a/1/1", { queues: ["fecth"] })] })[0]).toMatch(/^warning: queue fecth/);
    expect(troubles({ workers: [aWorker("a/1/1", { unknownSpiders: ["/srv/x.ts"] })] })[0]).toMatch(
      /^warning: spiders: worker a\/1 cannot load \/srv\/x\.ts/,
    );
    expect(troubles({ workers: [aWorker("a/1/1", { version: "0.9.0" })] })[0]).toMatch(/^warning: versions: .*0\.9\.0/);
    const machines = [aWorker("a/1/1"), aWorker("b/1/1")];
    expect(troubles({ workers: machines, storeFile: "sqlite:x.db" })[0]).toMatch(/^warning: store: .*2 machines/);
  });
});

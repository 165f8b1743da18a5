import { describe, expect, it } from "vitest";
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
    spec: { queue: parts.queue ?? "fetch", routes: [] },
    ...parts,
  };
}

function aWorker(worker: string, parts: Partial<WorkerView> = {}): WorkerView {
  return { worker, queues: ["fetch"], unknownSpiders: [], version: "1.0.0", seenAt: 0, ...parts };
}

/** What is not as it should be. */
function troubles(facts: Partial<FleetFacts>): string[] {
  const whole = { workers: [], queues: [], jobs: [], version: "1.0.0", storeFile: undefined, ...facts };
  return checkFleet(whole)
    .filter(({ verdict }) => verdict !== "ok")
    .map(({ check, verdict, says, fix }) => `${verdict}: ${check}: ${says}; ${fix}`);
}

describe("work and workers", () => {
  it("of a job with routes are on the queues that those name", () => {
    const routed = aJob({ spec: { queue: "fetch", routes: [{ queue: "slow" }] } });

    expect(troubles({ queues: [{ queue: "slow", waiting: 3 }], jobs: [routed] })).toEqual([
      "problem: queue slow: 3 URLs waiting, and there is no worker at all; start one: trawl worker --queues slow",
    ]);
    expect(troubles({ jobs: [routed] })).toEqual([
      "problem: jobs: 1 job running (j1), and there is no worker at all; start one: trawl worker --queues fetch,slow",
    ]);
  });

  it("are well when there is neither, and when there are both", () => {
    const queues = [{ queue: "fetch", waiting: 3 }];

    expect(troubles({})).toEqual([]);
    expect(troubles({ workers: [aWorker("a/1/1")] })).toEqual([]);
    expect(troubles({ workers: [aWorker("a/1/1")], jobs: [aJob({})], queues })).toEqual([]);
  });

  it("need each other: a queue that nobody serves, a job that runs while nobody is there", () => {
    const queues = [{ queue: "fetch", waiting: 3 }];

    expect(troubles({ queues, jobs: [aJob({})] })).toEqual([
      "problem: queue fetch: 3 URLs waiting, and there is no worker at all; start one: trawl worker --queues fetch",
    ]);
    expect(troubles({ jobs: [aJob({})] })).toEqual([
      "problem: jobs: 1 job running (j1), and there is no worker at all; start one: trawl worker --queues fetch",
    ]);
    expect(troubles({ jobs: [aJob({ sealed: false })] })[0]).toContain("submit --resume j1");
  });

  it("do not need each other for what is paused, or is a crawl that was interrupted", () => {
    const paused = troubles({ queues: [{ queue: "fetch", waiting: 1 }], jobs: [aJob({ state: "paused" })] });
    const crawl = aJob({ queue: "crawl:j1" });

    expect(paused).toEqual([expect.stringMatching(/^warning: queue fetch: .*trawl resume j1/)]);
    expect(troubles({ queues: [{ queue: "crawl:j1", waiting: 9 }], jobs: [crawl] })).toEqual([
      expect.stringMatching(/^warning: queue crawl:j1: 9 URLs of a crawl .*trawl crawl --resume j1/),
    ]);
  });

  it("miss each other where a queue is misspelt, a spider is not there, versions differ, or stores are many", () => {
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
